//! The runs that a repository has had.

use super::directory::{DirectoryError, RunDir};
use crate::git::Repo;
use crate::journal;
use crate::ledger::Ledger;
use crate::model::estimate::Past;

/// Runs that an estimate is made from, the newest: of a repository with thousands nobody waits for all, and what the
/// oldest took says little of today's models.
const NEWEST: usize = 100;

/// The directories of all runs: those that were put away, then those that stand, each oldest first.
///
/// # Errors
/// They cannot be listed.
pub fn dirs(repo: &Repo) -> Result<Vec<RunDir>, DirectoryError> {
    let mut dirs = RunDir::list(&RunDir::archive_in(repo.common_dir()))?;
    dirs.extend(RunDir::list(&RunDir::root_in(repo.common_dir()))?);
    Ok(dirs)
}

/// What work packages of the newest runs used. A run that cannot be read says nothing: `sop stats` names it.
///
/// # Errors
/// As [`dirs`].
pub fn used(repo: &Repo) -> Result<Past, DirectoryError> {
    let mut past = Past::new();
    for dir in dirs(repo)?.iter().rev().take(NEWEST) {
        let Ok(contents) = journal::read(&dir.journal()) else { continue };
        let Ok(ledger) = Ledger::fold(&contents.records) else { continue };
        for (kind, tier, sample) in ledger.used() {
            past.entry((kind, tier.clone())).or_default().push(sample);
        }
    }
    Ok(past)
}
