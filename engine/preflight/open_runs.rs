//! Runs that are not over: whether an engine has them, and whether `sop resume` could go on.

use super::Ask;
use crate::event::Outcome;
use crate::journal;
use crate::ledger::Ledger;
use crate::model::preflight::{OpenRun, Part, Runs, Word};
use crate::run::directory::RunDir;
use crate::run::freeze;

/// Runs that are told.
const MOST: usize = 20;

pub(super) fn look(ask: &Ask) -> Part<Runs> {
    let root = RunDir::root_in(ask.repo.common_dir());
    let dirs = match RunDir::list(&root) {
        Ok(dirs) => dirs,
        Err(error) => {
            return Part::unknown(Word::warn(
                format!("the runs from before could not be listed: {error}"),
                "look at what is there",
            ));
        }
    };
    let mut open: Vec<OpenRun> =
        dirs.iter().filter(|dir| !journal::is_over(&dir.journal())).map(standing).collect();
    open.retain(|run| run.engine || !run.how.is_empty());
    let words = open.iter().map(|run| {
        let name = &run.run;
        match (run.engine, run.resumable) {
            (true, _) => Word::warn(
                format!("an engine is at work on `{name}`"),
                format!("`sop status {name}` shows what it does; a second run works beside it"),
            ),
            (false, true) => Word::warn(
                format!("the run `{name}` is not over: {}", run.how),
                format!("`sop resume {name}` goes on with it"),
            ),
            (false, false) => Word::warn(
                format!("the run `{name}` cannot be resumed: {}", run.how),
                format!("look at it with `sop status {name}`; `sop run clean {name}` clears it"),
            ),
        }
    });
    let words = words.collect();
    let more = open.len().saturating_sub(MOST);
    open.drain(..more);
    Part::new(Runs { open }, "no run is open", words)
}

/// How a run stands whose journal does not end with its end. Its `how` is empty where it turns out to be over.
fn standing(dir: &RunDir) -> OpenRun {
    let engine = dir.held();
    let run = dir.run().clone();
    let ledger = journal::read(&dir.journal())
        .map_err(|error| error.to_string())
        .and_then(|contents| Ledger::fold(&contents.records).map_err(|error| error.to_string()));
    let ledger = match ledger {
        Ok(ledger) => ledger,
        Err(why) => return OpenRun { run, engine, resumable: false, how: why },
    };
    if let Some(outcome) = ledger.outcome {
        let how = match outcome {
            Outcome::Waiting => "it waits for a person".to_owned(),
            _ => String::new(),
        };
        return OpenRun { run, engine, resumable: true, how };
    }
    if let Err(why) = freeze::thaw(dir, &ledger.plan_sha256) {
        return OpenRun { run, engine, resumable: false, how: why.to_string() };
    }
    let through = ledger.wps.iter().filter(|wp| wp.phase.got_through()).count();
    let of = ledger.wps.len();
    let how = match (engine, ledger.stopped) {
        (true, _) => format!("{through} of {of} packages are through"),
        (false, Some(_)) => format!("it was stopped with {through} of {of} packages through"),
        (false, None) if ledger.unbegun() => "it is approved, and nothing has begun".to_owned(),
        (false, None) => format!("its engine is gone, {through} of {of} packages were through"),
    };
    OpenRun { run, engine, resumable: true, how }
}
