//! Why there is no run, or none that can be gone on with.

use std::path::PathBuf;

use super::directory::DirectoryError;
use crate::brief::LoadError;
use crate::git::GitError;
use crate::journal::JournalError;
use crate::launch::LaunchError;
use crate::ledger::LedgerError;
use crate::model::ids::{CommitId, IdError, RunId};
use crate::process::escape_path;

/// Why a run cannot be made or opened.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// Git said no.
    #[error(transparent)]
    Git(#[from] GitError),
    /// The run directory.
    #[error(transparent)]
    Directory(#[from] DirectoryError),
    /// The journal.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// The journal's records do not follow from each other.
    #[error("the journal of this run does not hold together: {0}")]
    Ledger(#[from] LedgerError),
    /// The steps of the run.
    #[error(transparent)]
    Steps(#[from] LaunchError),
    /// Templates.
    #[error(transparent)]
    Templates(#[from] LoadError),
    /// The plan's name is too long to be numbered.
    #[error("no run can be named after this plan: `{name}` {why}")]
    Name {
        /// What was tried.
        name: String,
        /// Why it is no id.
        why: IdError,
    },
    /// A file of the run.
    #[error("cannot read {}: {why}", escape_path(path))]
    Frozen {
        /// Which.
        path: PathBuf,
        /// Why.
        why: String,
    },
    /// What was approved is not what is there.
    #[error(
        "{} is not the plan that was approved (its SHA-256 is {found}, the approval says {approved}); a run's plan is never edited: start a new run",
        escape_path(path)
    )]
    Changed {
        /// The frozen plan.
        path: PathBuf,
        /// Its digest.
        found: String,
        /// The approved one.
        approved: String,
    },
    /// What is frozen beside the plan is not as it was when the run was made.
    #[error(
        "{} and {} are not as they were when the run was made (together their SHA-256 is {found}, the journal \
         says {approved}): what is frozen in a run is never edited; start a new run",
        escape_path(templates),
        escape_path(classed)
    )]
    ChangedBeside {
        /// The folder of templates.
        templates: PathBuf,
        /// What the DoD said on the base.
        classed: PathBuf,
        /// Their digest.
        found: String,
        /// The one that was recorded.
        approved: String,
    },
    /// Nobody said yes to this plan.
    #[error("the run `{0}` was never approved; start a new one with `sop apply`")]
    Unapproved(RunId),
    /// The commit that the run starts from is not in this repository.
    #[error(
        "the run `{run}` starts from {base}, which this repository does not have: fetch it first"
    )]
    NoBase {
        /// The run.
        run: RunId,
        /// Its base.
        base: CommitId,
    },
    /// No place for worktrees.
    #[error("there is no place for worktrees: set SOP_WORKTREES, or HOME")]
    NoHome,
    /// A branch that git lets no other stand below.
    #[error(
        "the branch `{0}` leaves no room for those of a run (`{0}/…`): rename it (`git branch -m {0} NAME`)"
    )]
    NoRoom(&'static str),
}
