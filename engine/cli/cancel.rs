//! `sop cancel`: ends WPs, with an engine at work and without.

use super::failure::Failure;
use super::request;
use super::run_args::{self, RunArg};
use crate::launch::{How, Key, Launcher as _, Local};
use crate::ledger::{Ledger, Phase};
use crate::model::ids::WpId;
use crate::run::directory::RunDir;
use crate::run::requests::Ask;

/// End a WP, or every WP that is not done, and do not start it again.
///
/// What it has done so far stays in its worktree.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The WP; all that are not done if not given.
    #[arg(value_name = "WP")]
    pub wp: Option<String>,
    /// Print the answer as JSON.
    #[arg(long)]
    pub json: bool,
    /// Which run.
    #[command(flatten)]
    pub run: RunArg,
}

/// Runs the verb.
///
/// # Errors
/// The WP is done or cancelled already.
pub fn run(args: &Args) -> Result<u8, Failure> {
    let repo = run_args::repository()?;
    let dir = run_args::find(&repo, args.run.run.as_deref())?;
    let ledger = run_args::fold(&dir)?;
    let wps = match &args.wp {
        Some(wp) => vec![run_args::wp(wp)?],
        None => {
            let left = ledger
                .wps
                .iter()
                .filter(|wp| !wp.phase.got_through() && wp.phase != Phase::Cancelled);
            left.map(|wp| wp.id.clone()).collect()
        }
    };
    if wps.is_empty() {
        return Err(Failure::usage(format!("nothing in `{}` is left to cancel", dir.run())));
    }
    let code = request::about_wps(&args.run, &wps, "cancel", || Ask::Cancel)?.tell(args.json)?;
    if !dir.held() {
        stop_workers(&dir, &ledger, &wps)?;
    }
    Ok(code)
}

/// A worker outlives its engine; one whose WP is cancelled should not wait for the next.
fn stop_workers(dir: &RunDir, ledger: &Ledger, wps: &[WpId]) -> Result<(), Failure> {
    let launcher = Local::new(dir.root());
    for state in wps.iter().filter_map(|wp| ledger.wp(wp)) {
        if state.phase != Phase::Working {
            continue;
        }
        let key = Key::new(dir.run(), state.id.as_str(), "work", state.attempt);
        let key = key.map_err(|why| Failure::usage(why.to_string()))?;
        launcher
            .cancel(&key, How::Term)
            .map_err(|error| Failure::infrastructure(error.to_string()))?;
    }
    Ok(())
}
