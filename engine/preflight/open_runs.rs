//! Runs that are not over: whether an engine has them, and whether `sop resume` could go on.

use super::Ask;
use crate::event::{Outcome, StopReason};
use crate::journal;
use crate::ledger::Ledger;
use crate::model::ids::RunId;
use crate::model::preflight::{OpenRun, Part, Runs, Word};
use crate::report::inbox::Waiting;
use crate::report::{commands, words};
use crate::run::directory::RunDir;
use crate::run::{freeze, requests};

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
    let mut open: Vec<(OpenRun, String)> = open.collect();
    open.retain(|(run, _)| run.engine || !run.how.is_empty());
    let words = open.iter().map(|(run, help)| {
        let name = &run.run;
        let what = match (run.engine, run.resumable) {
            (true, _) => format!("an engine is at work on `{name}`"),
            (false, true) => format!("the run `{name}` is not over: {}", run.how),
            (false, false) => format!("the run `{name}` cannot be resumed: {}", run.how),
        };
        Word::warn(what, help)
    });
    let words = words.collect();
    let more = open.len().saturating_sub(MOST);
    let open = open.into_iter().skip(more).map(|(run, _)| run).collect();
    Part::new(Runs { open }, "no run is open", words)
}

/// How a run stands whose journal does not end with its end, and what to do about it. Its `how` is empty where it
/// turns out to be over.
fn standing(dir: &RunDir) -> (OpenRun, String) {
    let (engine, run) = (dir.held(), dir.run().clone());
    let said = |resumable: bool, how: String, help: String| {
        let help = match engine {
            true => format!("`sop status {run}` shows what it does; a second run works beside it"),
            false => help,
        };
        (OpenRun { run: run.clone(), engine, resumable, how }, help)
    };
    let damaged = || format!("look at it with `sop status {run}`; `sop run clean {run}` clears it");
    let ledger = journal::read(&dir.journal())
        .map_err(|error| error.to_string())
        .and_then(|contents| Ledger::fold(&contents.records).map_err(|error| error.to_string()));
    let ledger = match ledger {
        Ok(ledger) => ledger,
        Err(why) => return said(false, why, damaged()),
    };
    let (word, _) = words::stand(ledger.stands(engine));
    if let Some(outcome) = ledger.outcome {
        return match outcome {
            Outcome::Waiting => said(true, word.to_owned(), for_a_person(dir, &ledger)),
            _ => said(true, String::new(), String::new()),
        };
    }
    if let Err(why) = freeze::thaw(dir, &ledger.plan_sha256) {
        return said(false, why.to_string(), damaged());
    }
    let through = ledger.wps.iter().filter(|wp| wp.phase.got_through()).count();
    let how = format!("{word}, {through} of {} packages through", ledger.wps.len());
    let help = match ledger.stopped {
        Some(StopReason::Waiting) if !ledger.goes_on() => for_a_person(dir, &ledger),
        _ => goes_on(&run),
    };
    said(true, how, help)
}

fn goes_on(run: &RunId) -> String {
    format!("`sop resume {run}` goes on with it")
}

/// What a person does first about a run that waits for one. What they have done already waits for an engine.
fn for_a_person(dir: &RunDir, ledger: &Ledger) -> String {
    let run = dir.run();
    if !requests::noted(dir).is_empty() {
        return goes_on(run);
    }
    let waiting =
        Waiting { ledger, plan: None, answered: &[], decided: &[], requests: 0, held: false };
    let resume = commands::resume(run);
    let items = waiting.items();
    let Some(first) = items.iter().find(|item| item.command != resume) else { return goes_on(run) };
    let or = first.or.as_ref().map(|or| format!(" or `{or}`")).unwrap_or_default();
    let others = match items.len() {
        1 => String::new(),
        _ => format!("; `{}` lists what else waits", commands::inbox(run)),
    };
    format!("`{}`{or}, and then `{resume}`{others}", first.command)
}
