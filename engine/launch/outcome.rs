//! How a step ended: the contents of `result.json`.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::Key;

/// How a step ended. By the time it exists, nothing that the step started is alive.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Outcome {
    /// Which step.
    pub key: Key,
    /// What the command itself did.
    pub exit: Exit,
    /// Who ended it.
    pub ended_by: EndedBy,
    /// When the command was started.
    pub started_at: Timestamp,
    /// When the last of its processes was gone.
    pub ended_at: Timestamp,
    /// Time between the two, by a clock that nobody sets.
    pub duration_ms: u64,
    /// Lines of output, an unfinished last one and dropped ones included.
    pub lines: u64,
    /// Bytes of output, dropped ones included.
    pub bytes: u64,
    /// Bytes of output that the log had no room for.
    pub dropped_bytes: u64,
    /// Bytes of standard output that the capture file had no room for.
    #[serde(default)]
    pub capture_dropped_bytes: u64,
    /// Why log or capture are incomplete other than by their limit: a full disk, say.
    #[serde(default)]
    pub log_error: Option<String>,
    /// Processes that the command left running when it ended by itself; they were ended.
    pub left_behind: u32,
}

/// What the command itself did.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Exit {
    /// It exited with this code.
    Code(i32),
    /// This signal ended it.
    Signal(i32),
    /// It could not be started; told apart from a command that itself exits 126 or 127.
    NotSpawned(SpawnError),
    /// It was stopped before it was started.
    NeverStarted,
    /// Nobody was there to see: the holder was killed.
    Unknown,
}

/// Why a command could not be started.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("{message}")]
pub struct SpawnError {
    /// The kind.
    pub kind: SpawnErrorKind,
    /// The program, escaped for display.
    pub program: String,
    /// What was wrong, where, in a sentence.
    pub message: String,
}

/// The kinds of [`SpawnError`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SpawnErrorKind {
    /// No such program (a shell's 127), or none such interpreter in its first line.
    NotFound,
    /// It is there and cannot be executed (a shell's 126).
    NotExecutable,
    /// The working directory is missing or not a directory.
    NoCwd,
    /// The file for standard input cannot be opened.
    NoStdin,
    /// The log or capture file cannot be created.
    NoLog,
    /// Anything else: out of processes, arguments too long, …
    Other,
}

/// Who ended a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EndedBy {
    /// The command itself.
    Itself,
    /// Its wall clock.
    Timeout,
    /// Its silence.
    Idle,
    /// An order.
    Cancel,
    /// The death of the engine that it was bound to.
    Interrupted,
    /// Its holder was killed; what was left has been ended.
    Lost,
}

impl Outcome {
    /// It ended by itself, with 0.
    #[must_use]
    pub fn succeeded(&self) -> bool {
        self.ended_by == EndedBy::Itself && self.exit == Exit::Code(0)
    }
}

impl Exit {
    /// As a shell would say it: the code, 128 + the signal, 127 or 126; nothing where the command
    /// was not started for another reason, or nobody saw its end.
    #[must_use]
    pub fn shell_code(&self) -> Option<i32> {
        match self {
            Self::Code(code) => Some(*code),
            Self::Signal(signal) => Some(128 + signal),
            Self::NotSpawned(error) => match error.kind {
                SpawnErrorKind::NotFound => Some(127),
                SpawnErrorKind::NotExecutable => Some(126),
                _ => None,
            },
            Self::NeverStarted | Self::Unknown => None,
        }
    }
}
