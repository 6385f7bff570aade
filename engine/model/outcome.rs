//! What happened, classed as DESIGN's outcome table classes it. Lifecycle, verification and
//! judgment stay separate facts.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::time::Length;

/// Who or what has to answer for a failure, and so what it costs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Class {
    /// The work is not right: findings go into the next round.
    Work,
    /// The machine, the tools or the provider failed: costs no round.
    Infrastructure,
    /// Only a person can go on from here.
    Decision,
    /// The same failure twice with the same diff: another round would be burnt.
    Stuck,
}

impl fmt::Display for Class {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Work => "work",
            Self::Infrastructure => "infrastructure",
            Self::Decision => "decision",
            Self::Stuck => "stuck",
        })
    }
}

/// Which check a problem comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Check {
    /// Worktree, copies, setup.
    Provision,
    /// The worker itself: did not start, was ended, changed nothing.
    Worker,
    /// Paths outside the whitelist, or the rest of the repository touched.
    Scope,
    /// A Definition-of-Done command.
    Dod,
    /// A reviewer.
    Review,
    /// The merge of a stage.
    Merge,
}

impl fmt::Display for Check {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Provision => "provision",
            Self::Worker => "worker",
            Self::Scope => "scope",
            Self::Dod => "dod",
            Self::Review => "review",
            Self::Merge => "merge",
        })
    }
}

/// One thing that is wrong with a WP's work or surroundings. Goes into the next brief as it stands.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
pub struct Problem {
    /// Where it was found.
    pub check: Check,
    /// What is wrong and, where known, what to do. Paths in it are escaped.
    pub message: String,
    /// The path, command or file:line it is about, escaped for display.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subject: Option<String>,
    /// Last lines of the command's output, escaped for display.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tail: Option<String>,
    /// Name of the whole log within the run directory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub log: Option<String>,
}

impl Problem {
    /// A problem with a message alone.
    #[must_use]
    pub fn new(check: Check, message: impl Into<String>) -> Self {
        Self { check, message: message.into(), subject: None, tail: None, log: None }
    }

    /// The same problem, about `subject`.
    #[must_use]
    pub fn about(mut self, subject: impl Into<String>) -> Self {
        self.subject = Some(subject.into());
        self
    }

    /// The same problem, with where its output is.
    #[must_use]
    pub fn logged(mut self, log: impl Into<String>, tail: impl Into<String>) -> Self {
        self.log = Some(log.into());
        self.tail = Some(tail.into());
        self
    }
}

/// How a process came to its end.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", tag = "how")]
pub enum End {
    /// Ended by itself with this code.
    Exit {
        /// 0 to 255.
        code: i32,
    },
    /// Killed by a signal that `sop` did not send.
    Signal {
        /// The signal's number.
        signal: i32,
    },
    /// Outlived its wall clock and was ended.
    Timeout {
        /// The limit it had.
        limit: Length,
    },
    /// Printed nothing for too long and was ended.
    Idle {
        /// The limit it had.
        limit: Length,
    },
    /// Ended because somebody asked for it.
    Cancelled,
    /// Never started: not found, not executable, no working directory.
    NotStarted {
        /// The system's word for it.
        error: String,
    },
    /// Its holder or the machine died, so that nobody knows how it ended.
    Lost,
}

impl End {
    /// Exit code 0, by itself.
    #[must_use]
    pub fn success(&self) -> bool {
        matches!(self, Self::Exit { code: 0 })
    }

    /// The command itself could not run (126, 127, not found): nobody's work is to blame.
    #[must_use]
    pub fn broken(&self) -> bool {
        matches!(self, Self::Exit { code: 126 | 127 } | Self::NotStarted { .. })
    }
}

impl fmt::Display for End {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exit { code } => write!(f, "exit {code}"),
            Self::Signal { signal } => write!(f, "killed by signal {signal}"),
            Self::Timeout { limit } => write!(f, "ended at its timeout of {limit}"),
            Self::Idle { limit } => write!(f, "ended after {limit} without output"),
            Self::Cancelled => write!(f, "cancelled"),
            Self::NotStarted { error } => write!(f, "could not start: {error}"),
            Self::Lost => write!(f, "lost: its holder is gone and left no result"),
        }
    }
}

/// What a DoD command said on the base, before any work.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum DodClass {
    /// Fails: it will prove something.
    Red,
    /// Passes: it guards.
    Green,
    /// Could not run.
    Broken,
}

impl fmt::Display for DodClass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Red => "red",
            Self::Green => "green",
            Self::Broken => "broken",
        })
    }
}

/// One command run by `sop`: the facts, and where the output is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Ran {
    /// The command as the plan has it.
    pub run: String,
    /// How it ended.
    pub end: End,
    /// Lines of output.
    pub lines: u64,
    /// Name of the log within the run directory.
    pub log: String,
    /// Why the log is not complete, other than by its limit: a full disk, say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub log_error: Option<String>,
    /// How long it took.
    pub took: Length,
}

impl Ran {
    /// That the log is not all that the command printed, where it is so.
    #[must_use]
    pub fn incomplete(&self) -> Option<String> {
        self.log_error.as_ref().map(|error| format!("{} is incomplete: {error}", self.log))
    }
}
