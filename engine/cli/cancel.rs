//! `sop cancel`: ends WPs, with an engine at work and without.

use super::failure::{Failure, written};
use super::request::{self, no_worker};
use super::run_args::{self, RunArg};
use super::{drive, exit, prompt};
use crate::ledger::{Ledger, Phase};
use crate::model::ids::WpId;
use crate::run::directory::RunDir;
use crate::run::ending;
use crate::run::requests::Ask;

/// End a WP, or with `--all` every WP that is not done, and do not start it again.
///
/// What it has done so far stays in its worktree. When no engine has the run, what one that died has left
/// at work is ended before this says so: asked first (TERM), and after its grace ended (KILL).
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The WP.
    #[arg(value_name = "WP", conflicts_with = "all")]
    pub wp: Option<String>,
    /// All that are not done.
    #[arg(long)]
    pub all: bool,
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
/// The WP is done or cancelled already, nobody said which, or what is at work could not be ended.
pub fn run(args: &Args) -> Result<u8, Failure> {
    no_worker()?;
    let repo = run_args::repository()?;
    let dir = run_args::find(&repo, args.run.run.as_deref())?;
    let ledger = run_args::fold(&dir)?;
    let wps = match &args.wp {
        Some(wp) => vec![run_args::wp(wp)?],
        None => left(&ledger),
    };
    let all = args.wp.is_none();
    if all && !wps.is_empty() && !args.all && !means_all(&dir, &wps)? {
        return Err(Failure::new(exit::WAITING, "nothing was cancelled"));
    }
    if wps.is_empty() {
        let ended = if dir.held() { None } else { end(&dir, &ledger, |_| true)? };
        let nothing = format!("nothing in `{}` is left to cancel", dir.run());
        let failure = Failure::usage(match ended {
            Some(1..) => format!("{nothing}; what was still at work on the whole was ended"),
            _ => nothing,
        });
        let archive =
            format!("to give the run up as it is: `sop run archive {} --unfinished`", dir.run());
        return Err(if ledger.outcome.is_none() { failure.help(archive) } else { failure });
    }
    let left = request::about_wps(&args.run, &wps, "cancel", || Ask::Cancel)?;
    let whose = |unit: &str| all || wps.iter().any(|wp| wp.as_str() == unit);
    let ended = if left.held { None } else { end(&dir, &ledger, whose)? };
    let code = left.tell(args.json)?;
    if let Some(1..) = ended.filter(|_| !args.json) {
        let mut out = std::io::stdout().lock();
        written(std::io::Write::write_all(
            &mut out,
            b"what an engine had left at work was ended; nothing of it is alive\n",
        ))?;
    }
    Ok(code)
}

/// WPs that are not done.
fn left(ledger: &Ledger) -> Vec<WpId> {
    let left =
        ledger.wps.iter().filter(|wp| !wp.phase.got_through() && wp.phase != Phase::Cancelled);
    left.map(|wp| wp.id.clone()).collect()
}

/// Whether somebody who named no WP means all of them.
fn means_all(dir: &RunDir, wps: &[WpId]) -> Result<bool, Failure> {
    let names: Vec<String> = wps.iter().take(5).map(|wp| format!("`{wp}`")).collect();
    let more = wps.len().saturating_sub(names.len());
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    let names = format!("{}{more}", names.join(", "));
    if prompt::can_ask() {
        let question = format!("Cancel all of `{}` that is not done: {names}?", dir.run());
        return prompt::confirm(&question, "interrupted: nothing was cancelled");
    }
    Err(Failure::usage(format!("cancel which? `{}` has {names} that are not done", dir.run()))
        .help("name one: `sop cancel WP`; or end them all: `sop cancel --all`"))
}

/// A worker outlives its engine, and what is cancelled does not wait for the next one.
fn end(
    dir: &RunDir,
    ledger: &Ledger,
    whose: impl Fn(&str) -> bool,
) -> Result<Option<usize>, Failure> {
    let ended = drive::runtime()?.block_on(ending::end_without_engine(dir, ledger, whose));
    ended.map_err(|error| {
        Failure::infrastructure(format!("not everything could be ended: {error}"))
            .help("`sop cancel` can be given again")
    })
}
