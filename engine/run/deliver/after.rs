//! A command for after the merge, which a person has just said yes to.

use std::os::unix::process::ExitStatusExt;
use std::process::Command;
use std::time::Instant;

use crate::event::{Event, Record};
use crate::git::Repo;
use crate::journal::Journal;
use crate::ledger::Ledger;
use crate::model::delivery::AfterMerge;
use crate::model::outcome::{End, Ran};
use crate::model::time::{Length, Timestamp};
use crate::run::directory::RunDir;
use crate::run::error::RunError;
use crate::run::site::argv;

/// Runs a command of the plan in the user's checkout, at the user's terminal. That it begins is on record
/// before it does. The run is nobody else's meanwhile.
///
/// # Errors
/// Another engine has the run, or its journal takes nothing.
pub fn run_after_merge(
    repo: &Repo,
    dir: &RunDir,
    after: &AfterMerge,
    by: &str,
) -> Result<Ran, RunError> {
    let _lock = dir.lock()?;
    let (mut journal, records) = Journal::resume(&dir.journal())?;
    let mut ledger = Ledger::fold(&records)?;
    let mut record = |event| -> Result<(), RunError> {
        let at = Timestamp(jiff::Timestamp::now());
        let record = Record { seq: ledger.seq + 1, at, event };
        ledger.apply(&record)?;
        Ok(journal.append(&[record])?)
    };
    let run = after.text.clone();
    record(Event::AfterMergeStarted { by: by.to_owned(), run: run.clone() })?;
    let words = argv(&after.command);
    let began = Instant::now();
    let mut command = Command::new(&words[0]);
    command.args(&words[1..]);
    if let Some(top) = repo.top() {
        command.current_dir(top);
    }
    let end = match command.status() {
        Ok(status) => match (status.code(), status.signal()) {
            (Some(code), _) => End::Exit { code },
            (None, Some(signal)) => End::Signal { signal },
            (None, None) => End::Lost,
        },
        Err(error) => End::NotStarted { error: error.to_string() },
    };
    let took = Length(began.elapsed());
    // Its output was the user's to see, and is in no log.
    let ran = Ran { run, end, lines: 0, log: String::new(), log_error: None, took };
    record(Event::AfterMergeRan { by: by.to_owned(), ran: ran.clone() })?;
    Ok(ran)
}
