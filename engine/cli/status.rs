//! `sop status`: how a run stands.

use std::io::{self, Write as _};

use super::drive::summary;
use super::exit;
use super::failure::{Failure, written};
use super::run_args;
use super::terminal::{self, Color};
use crate::launch;
use crate::ledger::{Ledger, Phase};
use crate::model::ids::WpId;
use crate::model::time::Timestamp;
use crate::report::json;
use crate::report::outlook;
use crate::report::standing::{Noted, Standing, Trouble};
use crate::report::status::{self, AtWork};
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
    /// Which run.
    #[command(flatten)]
    pub run: run_args::Which,
    /// Print the state as JSON (`sop schema status`).
    #[arg(long)]
    pub json: bool,
    /// Print the summary that `sop apply` ends with; with `--json`, as JSON (`sop schema summary`).
    #[arg(long)]
    pub summary: bool,
}

/// Runs the verb.
///
/// # Errors
/// There is no such run, or its journal cannot be read.
pub fn run(args: &Args, color: Color) -> Result<u8, Failure> {
    let repo = run_args::repository()?;
    let dir = run_args::find_any(&repo, args.run.name())?;
    let ledger = run_args::fold(&dir)?;
    let mut out = io::BufWriter::new(io::stdout().lock());
    let look = terminal::look(color);
    let now = Timestamp(jiff::Timestamp::now());
    let drawn = if args.json && args.summary {
        json::pretty(&summary(&ledger, &dir), &mut out)
    } else if args.summary {
        summary(&ledger, &dir).write(&mut out, &look)
    } else if args.json {
        standing(ledger, &dir, now).json(&mut out)
    } else {
        let held = dir.held();
        let troubles = troubles(&ledger, &dir);
        let plan = freeze::thaw(&dir, &ledger.plan_sha256).ok();
        let steps = if held { Vec::new() } else { launch::at_work(&dir.path()) };
        let at_work = AtWork { engine: held, steps: &steps };
        let told = status::write(&ledger, plan.as_ref(), now, at_work, &troubles, &mut out, &look);
        told.and_then(|()| {
            if held {
                // The engine goes on by itself.
                return Ok(());
            }
            if dir.is_archived() {
                return Summary::of(&ledger, &dir.path()).put_away().write_next(&mut out, &look);
            }
            let noted = requests::noted(&dir);
            status::write_noted(&ledger.run, &requests::told(&noted), &mut out, &look)?;
            // Nobody is asked for what they have said.
            let any = !noted.is_empty();
            let soon = Summary::of(&requests::taken(&ledger, noted, now), &dir.path());
            let soon = if any { soon.asked_of(&ledger) } else { soon };
            soon.write_next(&mut out, &look)
        })
    };
    written(drawn.and_then(|()| out.flush()))?;
    Ok(exit::DONE)
}

/// How the run stands, for programs.
fn standing(ledger: Ledger, dir: &RunDir, now: Timestamp) -> Standing {
    let held = dir.held();
    let plan = freeze::thaw(dir, &ledger.plan_sha256).ok();
    let noted = |request: requests::Request| Noted {
        asked: request.ask.name().to_owned(),
        wp: request.wp,
        question: request.ask.question(),
        by: request.by,
    };
    // An engine takes them up by itself.
    let noted =
        if held { Vec::new() } else { requests::noted(dir).into_iter().map(noted).collect() };
    Standing {
        held,
        waits: plan.map(|plan| outlook::waits(&plan, &ledger, now)).unwrap_or_default(),
        troubles: troubles(&ledger, dir),
        noted,
        state: ledger,
    }
}

/// What the agents that are at work, workers and reviewers, said last of something that went wrong.
fn troubles(ledger: &Ledger, dir: &RunDir) -> Vec<Trouble> {
    let told = |wp: Option<&WpId>, lens: Option<&str>, folder: String| {
        let (text, at) = trouble::last(&dir.named(&folder))?;
        Some(Trouble { wp: wp.cloned(), lens: lens.map(str::to_owned), text, at: Timestamp(at) })
    };
    let working = ledger.wps.iter().filter(|wp| wp.phase == Phase::Working);
    let workers =
        working.filter_map(|wp| told(Some(&wp.id), None, RunDir::turn_name(&wp.id, wp.attempt)));
    let reviewing = ledger.wps.iter().filter(|wp| wp.phase == Phase::Reviewing);
    let reviews = reviewing
        .map(|wp| (Some(&wp.id), RunDir::review_stem(&wp.id, wp.round), &wp.review))
        .chain(
            ledger.verify.iter().map(|look| (None, RunDir::verify_stem(look.look), &look.review)),
        );
    let reviewers = reviews.flat_map(|(wp, stem, review)| {
        let at_work = review.reviewers.iter().filter_map(|it| Some((it, it.at_work.as_ref()?)));
        let told = at_work.filter_map(|(it, sitting)| {
            told(wp, Some(&it.lens), RunDir::sitting_name(&stem, &it.lens, sitting.number))
        });
        told.collect::<Vec<_>>()
    });
    workers.chain(reviewers).collect()
}
