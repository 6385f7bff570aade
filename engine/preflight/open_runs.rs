//! Runs that are not over: whether an engine has them, and whether `sop resume` could go on.

use super::Ask;
use crate::event::Outcome;
use crate::journal;
use crate::ledger::Ledger;
use crate::model::preflight::{OpenRun, Part, Runs, Word};
use crate::report::{commands, words};
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
    let open = dirs.iter().filter(|dir| !journal::is_over(&dir.journal())).map(standing);
    let open: Vec<(OpenRun, bool)> =
        open.filter(|(run, _)| run.engine || !run.how.is_empty()).collect();
    let words = open.iter().map(|(run, goes_on)| {
        let name = &run.run;
        match (run.engine, run.resumable) {
            (true, _) => Word::warn(
                format!("an engine is at work on `{name}`"),
                format!("`sop status {name}` shows what it does; a second run works beside it"),
            ),
            (false, true) => Word::warn(
                format!("the run `{name}` is not over: {}", run.how),
                match goes_on {
                    true => format!("`{}` goes on with it", commands::resume(name)),
                    false => format!("`{}` says what it waits for", commands::inbox(name)),
                },
            ),
            (false, false) => Word::warn(
                format!("the run `{name}` cannot be resumed: {}", run.how),
                format!("look at it with `sop status {name}`; `sop run clean {name}` clears it"),
            ),
        }
    });
    let words = words.collect();
    let more = open.len().saturating_sub(MOST);
    let open = open.into_iter().skip(more).map(|(run, _)| run).collect();
    Part::new(Runs { open }, "no run is open", words)
}

/// How a run stands whose journal does not end with its end, and whether an engine would go on with it. Its `how` is
/// empty where it turns out to be over.
fn standing(dir: &RunDir) -> (OpenRun, bool) {
    let engine = dir.held();
    let run = dir.run().clone();
    let ledger = journal::read(&dir.journal())
        .map_err(|error| error.to_string())
        .and_then(|contents| Ledger::fold(&contents.records).map_err(|error| error.to_string()));
    let ledger = match ledger {
        Ok(ledger) => ledger,
        Err(why) => return (OpenRun { run, engine, resumable: false, how: why }, false),
    };
    let (word, _) = words::stand(ledger.stands(engine));
    if let Some(outcome) = ledger.outcome {
        let how = if outcome == Outcome::Waiting { word.to_owned() } else { String::new() };
        return (OpenRun { run, engine, resumable: true, how }, false);
    }
    if let Err(why) = freeze::thaw(dir, &ledger.plan_sha256) {
        return (OpenRun { run, engine, resumable: false, how: why.to_string() }, false);
    }
    let through = ledger.wps.iter().filter(|wp| wp.phase.got_through()).count();
    let how = format!("{word}, {through} of {} packages through", ledger.wps.len());
    (OpenRun { run, engine, resumable: true, how }, ledger.goes_on())
}
