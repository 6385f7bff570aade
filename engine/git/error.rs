//! Why the door did not open: one enum for the room, each variant with what was wrong and where.

use std::io;
use std::path::{Path, PathBuf};

use bstr::BString;

use crate::process::escape_path;

/// An operation on a repository that did not succeed. Nothing was deleted because of one.
#[derive(Debug, thiserror::Error)]
pub enum GitError {
    /// `git` ran and refused.
    #[error("`{command}` ended with {}{}", ended(*.code), tail(.stderr))]
    Failed {
        /// The command line, escaped for people.
        command: String,
        /// Exit code; `None` when a signal ended it.
        code: Option<i32>,
        /// The last lines of its standard error, control characters escaped.
        stderr: String,
    },
    /// A remote's URL that git would send elsewhere once more.
    #[error(
        "git would go to {to} for the remote `{remote}`: `{key}` rewrites its URL once more; give the remote the URL \
         that is meant, or change that key"
    )]
    Rewritten {
        /// The remote.
        remote: String,
        /// The key that does it, escaped for people.
        key: String,
        /// Where it leads, without a password.
        to: String,
    },
    /// Another process has a ref locked, or left the lock behind when it was killed.
    #[error("{} is in the way; if no git is at work here, remove it", escape_path(.lock))]
    Locked {
        /// The lock file.
        lock: std::path::PathBuf,
    },
    /// `git` could not be started at all.
    #[error("`{command}` could not be started: {source}")]
    NotStarted {
        /// The command line, escaped for people.
        command: String,
        /// What the system said.
        source: io::Error,
    },
    /// `git` was asked something, and did not answer in time or within bounds.
    #[error("`{command}` {source}")]
    NoAnswer {
        /// The command line, escaped for people.
        command: String,
        /// How that was.
        source: crate::quick::NoAnswer,
    },
    /// `git` answered something that this room does not understand.
    #[error("`{command}` gave an answer that cannot be read: {what}")]
    Answer {
        /// The command line, escaped for people.
        command: String,
        /// What was wrong with it.
        what: String,
    },
    /// No repository there.
    #[error("{} is not inside a git repository", escape_path(from))]
    NotARepository {
        /// Where the search began.
        from: PathBuf,
    },
    /// A revision that names no commit, tree or object here.
    #[error("`{rev}` names no commit in this repository")]
    UnknownRevision {
        /// As it was asked for.
        rev: String,
    },
    /// An object or ref that libgit2 could not read or write.
    #[error("{what}: {source}")]
    Objects {
        /// What was tried.
        what: String,
        /// What libgit2 said.
        source: git2::Error,
    },
    /// A file or folder that could not be read or written.
    #[error("cannot {what} {}: {source}", escape_path(path))]
    Io {
        /// A verb: "read", "create", …
        what: &'static str,
        /// Which one.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// Where a worktree should go there is something else already.
    #[error(
        "{} is in the way: {what}; move it away or choose another folder (nothing was deleted)",
        escape_path(path)
    )]
    PathTaken {
        /// The place.
        path: PathBuf,
        /// What is there.
        what: String,
    },
    /// A branch of that name exists and this run did not make it.
    #[error(
        "branch `{branch}` exists already, at {at}; delete or rename it if nothing on it is needed (nothing was deleted)"
    )]
    BranchTaken {
        /// Its short name.
        branch: String,
        /// Where it stands.
        at: String,
    },
    /// A ref is not where it was expected, so it was left alone.
    #[error("`{name}` is at {found}, not at {expected}; it was left alone")]
    RefMoved {
        /// The full name.
        name: String,
        /// What the caller knew.
        expected: String,
        /// What is there.
        found: String,
    },
    /// A name that cannot be a ref, or is not one of this run's.
    #[error("`{name}` cannot be used as a branch name")]
    BadName {
        /// As it was given.
        name: String,
    },
    /// An index file in a form that cannot be read.
    #[error("the index {} cannot be read: {what}", escape_path(path))]
    Index {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        what: String,
    },
    /// A file changed or vanished while it was being looked at: something still writes there.
    #[error(
        "{path:?} changed while it was being read; is something still writing in the worktree?"
    )]
    Unsettled {
        /// Relative to the worktree.
        path: BString,
    },
    /// A folder that was a worktree is not one any more.
    #[error("{} is not the worktree it was: {what}", escape_path(path))]
    NotAWorktree {
        /// The folder.
        path: PathBuf,
        /// What is wrong.
        what: String,
    },
    /// Files that git takes into no tree, by their names.
    #[error("git stores no file of such a name: {}; rename it, or move it away", listed(.paths))]
    Unstorable {
        /// Relative to the worktree.
        paths: Vec<BString>,
    },
    /// A removal was cut short, and files were put into the folder that it had moved aside.
    #[error(
        "its removal was cut short, and since then something came into {}: {}; move that out of there",
        escape_path(place), listed(.files)
    )]
    CameSince {
        /// The folder aside.
        place: PathBuf,
        /// What came, relative to it.
        files: Vec<BString>,
    },
    /// Objects that a result needs are not in the repository any more.
    #[error(
        "objects of the repository are gone or overwritten: {what}; put them back (from a clone, a backup or \
         `git fetch`) and resume"
    )]
    Lost {
        /// Which, escaped for people.
        what: String,
    },
}

impl GitError {
    /// For `map_err`: an [`GitError::Io`] about `path`.
    pub(super) fn io(what: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_path_buf();
        move |source| Self::Io { what, path, source }
    }

    /// For `map_err`: an [`GitError::Objects`].
    pub(super) fn objects(what: impl Into<String>) -> impl FnOnce(git2::Error) -> Self {
        let what = what.into();
        move |source| Self::Objects { what, source }
    }
}

fn listed(paths: &[BString]) -> String {
    let shown: Vec<String> = paths.iter().take(5).map(|path| format!("{path:?}")).collect();
    shown.join(", ")
}

fn ended(code: Option<i32>) -> String {
    code.map_or_else(|| "a signal".to_owned(), |code| format!("exit code {code}"))
}

fn tail(stderr: &str) -> String {
    // Told in one line, wherever it is told.
    let lines: Vec<&str> = stderr.lines().collect();
    if lines.is_empty() { String::new() } else { format!(": {}", lines.join("; ")) }
}
