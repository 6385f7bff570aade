//! `sop status`: how a run stands.

use std::io::{self, Write as _};

use super::drive::summary;
use super::exit;
use super::failure::{Failure, written};
use super::run_args;
use super::terminal::{self, Color};
use crate::ledger::{Ledger, Phase};
use crate::model::time::Timestamp;
use crate::report::status::{self, Trouble};
use crate::report::summary::Summary;
use crate::run::directory::RunDir;
use crate::run::{freeze, requests};
use crate::worker::trouble;

/// Show how a run stands.
///
/// Reads the journal and what agents at work told last of an error, nothing else, so that it can be asked at any time, by anyone, of a run that an
/// engine has or of one that was left.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The run; the newest one of this repository if not given.
    #[arg(value_name = "RUN", conflicts_with = "named")]
    pub run: Option<String>,
    /// The same, as the other verbs take it.
    #[arg(long = "run", id = "named", value_name = "RUN")]
    pub named: Option<String>,
    /// Print the state as JSON (`sop schema state`).
    #[arg(long)]
    pub json: bool,
    /// Print the summary that `sop apply` ends with.
    #[arg(long, conflicts_with = "json")]
    pub summary: bool,
}

/// Runs the verb.
///
/// # Errors
/// There is no such run, or its journal cannot be read.
pub fn run(args: &Args, color: Color) -> Result<u8, Failure> {
    let repo = run_args::repository()?;
    let dir = run_args::find_any(&repo, args.run.as_deref().or(args.named.as_deref()))?;
    let ledger = run_args::fold(&dir)?;
    let mut out = io::BufWriter::new(io::stdout().lock());
    let look = terminal::look(color);
    let drawn = if args.json {
        status::json(&ledger, &mut out)
    } else if args.summary {
        summary(&ledger, &dir).write(&mut out, &look)
    } else {
        let now = Timestamp(jiff::Timestamp::now());
        let held = dir.held();
        let troubles = troubles(&ledger, &dir);
        let plan = freeze::thaw(&dir, &ledger.plan_sha256).ok();
        let told = status::write(&ledger, plan.as_ref(), now, held, &troubles, &mut out, &look);
        told.and_then(|()| {
            if held {
                // The engine goes on by itself.
                return Ok(());
            }
            let noted = requests::noted(&dir);
            status::write_noted(&ledger.run, &requests::told(&noted), &mut out, &look)?;
            // Nobody is asked for what they have said.
            let ledger = requests::taken(&ledger, noted, now);
            Summary::of(&ledger, &dir.path()).write_next(&mut out, &look)
        })
    };
    written(drawn.and_then(|()| out.flush()))?;
    Ok(exit::DONE)
}

/// What the agents that are at work said last of something that went wrong.
fn troubles(ledger: &Ledger, dir: &RunDir) -> Vec<Trouble> {
    let working = ledger.wps.iter().filter(|wp| wp.phase == Phase::Working);
    let told = working.filter_map(|wp| {
        let folder = dir.named(&RunDir::turn_name(&wp.id, wp.attempt));
        let (text, at) = trouble::last(&folder)?;
        Some(Trouble { wp: wp.id.clone(), text, at: Timestamp(at) })
    });
    told.collect()
}
