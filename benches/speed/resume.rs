//! `sop resume` of a run that has nothing left to do, beside reading its journal.

use std::path::PathBuf;

use crate::race::{Entrant, finish, race};
use crate::scratch::{Place, Repository};
use crate::table::{Aim, compare, heading, note};
use crate::validate::itself;
use crate::{journal, plans};

/// Finished WPs.
const COUNT: usize = 1_000;

pub fn run(place: &Place) {
    heading("resume", "a run with 1,000 finished work packages");
    note("floor: read and parse every record of the journal, as a process and within one");
    let repository = place.repository(20);
    let plan = repository.plan(&plans::nothing_to_do(COUNT, 4));
    finish(&mut repository.sop(&["apply", "--yes", &plan]));
    let file = journal_of(&repository);
    let shown = file.to_string_lossy().into_owned();
    let size = std::fs::metadata(&file).map_or(0, |found| found.len());
    note(&format!("{} records, {} KiB", journal::read(&file), size / 1024));
    let mut entrants = vec![
        Entrant::command("sop resume", repository.sop(&["resume", "true-work-1"])),
        Entrant::command("reading the journal (a process)", itself(&["__journal", &shown])),
        Entrant::timed("reading the journal (no process)", || {
            journal::read(&file);
        }),
    ];
    race(15, &mut entrants);
    compare("resume", &entrants, &[Aim::AtMost(1.5), Aim::None]);
    let mut entrants = vec![
        Entrant::command("sop status", repository.sop(&["status", "true-work-1"])),
        Entrant::command("reading the journal (a process)", itself(&["__journal", &shown])),
    ];
    race(15, &mut entrants);
    compare("status", &entrants, &[Aim::None]);
}

fn journal_of(repository: &Repository) -> PathBuf {
    repository.top().join(".git/sop-run/true-work-1/journal.jsonl")
}
