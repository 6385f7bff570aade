//! Why something that is left could not be seen to.

use std::path::PathBuf;

use crate::git::GitError;
use crate::model::ids::RunId;
use crate::run::directory::DirectoryError;

/// A verb of upkeep that was not done. Nothing was lost by it.
#[derive(Debug, thiserror::Error)]
pub enum UpkeepError {
    /// Git said no.
    #[error(transparent)]
    Git(#[from] GitError),
    /// A run directory.
    #[error(transparent)]
    Directory(#[from] DirectoryError),
    /// No worktree of that name.
    #[error("there is no worktree `{0}`; `sop worktree list` shows those there are")]
    NoSuchTree(String),
    /// More than one answers to the name.
    #[error("`{name}` could be {}; say it by its folder", .could.join(" or "))]
    Ambiguous {
        /// As it was asked for.
        name: String,
        /// The folders of those that it could be.
        could: Vec<String>,
    },
    /// It stays, for these reasons.
    #[error("{what} stays as it is: {}", .why.join("; "))]
    Stays {
        /// What was asked about.
        what: String,
        /// Every reason.
        why: Vec<String>,
        /// What to do, where there is something.
        help: Option<String>,
    },
    /// What was looked at is not what is there any more.
    #[error("{what} changed while it was being looked at; nothing was removed, try again")]
    Changed {
        /// What.
        what: String,
    },
    /// A name that can be no folder and branch.
    #[error("`{name}` {why}")]
    Name {
        /// As it was given.
        name: String,
        /// Why not.
        why: String,
    },
    /// It failed, and could not be undone either.
    #[error(
        "{first}; undoing what was done failed as well: {then}; once that is mended, the same command takes it up"
    )]
    Both {
        /// What failed.
        first: Box<UpkeepError>,
        /// What failed then.
        then: Box<UpkeepError>,
    },
    /// Nothing was committed in the repository yet.
    #[error("there is no commit yet that it could start from; make a first one")]
    NoCommit,
    /// No place for worktrees.
    #[error("there is no place for worktrees: set SOP_WORKTREES, or HOME")]
    NoHome,
    /// Provisioning of a new worktree failed.
    #[error("{what}: {why}; the worktree stands in {}", path.display())]
    Provision {
        /// What was to be copied or run.
        what: String,
        /// Why it was not.
        why: String,
        /// The worktree.
        path: PathBuf,
    },
    /// No such run.
    #[error("there is no run `{0}`; `sop run list` shows those there are")]
    NoSuchRun(String),
    /// The run is not over.
    #[error("the run `{0}` is not over: it can be gone on with (`sop resume {0}`)")]
    RunOpen(RunId),
    /// A file.
    #[error("cannot {what} {}: {source}", path.display())]
    Io {
        /// A verb.
        what: &'static str,
        /// Which one.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
}

impl UpkeepError {
    /// For `map_err`: an [`UpkeepError::Io`] about `path`.
    pub(super) fn io(
        what: &'static str,
        path: &std::path::Path,
    ) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.to_path_buf();
        move |source| Self::Io { what, path, source }
    }
}
