//! What can go wrong in launching. All of it is infrastructure: none of it says anything about the
//! command's work.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::process::escape_path;

use super::Key;

/// Why a step could not be launched or followed.
#[derive(Debug, Clone, thiserror::Error)]
pub enum LaunchError {
    /// A file of the step could not be read or written.
    #[error("cannot {what} {}: {source}", escape_path(path))]
    File {
        /// What was tried: `read`, `write`, …
        what: &'static str,
        /// On which file.
        path: PathBuf,
        /// What the system said.
        source: Arc<io::Error>,
    },
    /// A file of the step does not hold what this version writes.
    #[error(
        "{} is damaged: {message}; remove the folder only if nothing of it still runs",
        escape_path(path)
    )]
    Damaged {
        /// Which file.
        path: PathBuf,
        /// What the parser said.
        message: String,
    },
    /// The command has no program.
    #[error("step {0} has an empty command")]
    Empty(Key),
    /// The holder process could not be started.
    #[error("cannot start the holder of step {key} ({}): {source}", escape_path(program))]
    NoHolder {
        /// Of which step.
        key: Key,
        /// The program that should hold it: this one.
        program: PathBuf,
        /// What the system said.
        source: Arc<io::Error>,
    },
    /// The holder gave up before it started anything.
    #[error("the holder of step {key} gave up before it started: {message}")]
    HolderFailed {
        /// Of which step.
        key: Key,
        /// What it said.
        message: String,
    },
    /// Processes of a step whose holder was killed do not die.
    #[error("step {key} lost its holder, and {} of its processes cannot be ended: {pids:?}; end them, then resume", pids.len())]
    Undead {
        /// Of which step.
        key: Key,
        /// Which processes.
        pids: Vec<i32>,
    },
    /// The folder of a step that this engine never started was there already.
    #[error("{}", foreign(path, moved_to.as_deref()))]
    Foreign {
        /// The folder.
        path: PathBuf,
        /// Where it is now; nowhere else if it could not be moved.
        moved_to: Option<PathBuf>,
    },
    /// A step does not get to its end.
    #[error(
        "step {key} was cut off {times} times, by nobody's order; look in its log for what ends the \
         process that holds it, then resume"
    )]
    CutOff {
        /// The last start of it.
        key: Key,
        /// How many starts this engine saw.
        times: u32,
    },
    /// A step whose holder was to end it at once, and then to be ended itself, is still there.
    #[error(
        "step {0} does not end: it was told to, and the process that holds it was killed; what is left of it \
         is left alone, and `sop resume` takes it up again"
    )]
    Left(Key),
    /// The engine is on its way out and no longer follows the step.
    #[error("step {0} is no longer followed: the engine is shutting down")]
    Abandoned(Key),
}

impl LaunchError {
    pub(super) fn file(what: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::File { what, path, source: Arc::new(source) }
    }
}

fn foreign(path: &Path, moved_to: Option<&Path>) -> String {
    let what_now = match moved_to {
        Some(place) => format!("it has been moved to {} to be looked at", escape_path(place)),
        None => "it cannot be moved away: remove it before you resume".to_owned(),
    };
    format!(
        "{} was made by somebody else before its step was started, so what it says is not believed; \
         {what_now}",
        escape_path(path)
    )
}
