//! How a run stands, in one word: the same wherever it is told.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How a run stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Stand {
    /// An engine has it.
    Running,
    /// It is approved, and nothing has begun.
    NotBegun,
    /// No engine has it, and one would go on with it: the last one was killed, or was only there for the lead.
    NotRunning,
    /// It was stopped by a person.
    Interrupted,
    /// A person is waited for.
    Waiting,
    /// Infrastructure is in the way.
    Blocked,
    /// It is over, and not all got through.
    Failed,
    /// It is over.
    Done,
}

impl Stand {
    /// The name, as in JSON.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::NotBegun => "not_begun",
            Self::NotRunning => "not_running",
            Self::Interrupted => "interrupted",
            Self::Waiting => "waiting",
            Self::Blocked => "blocked",
            Self::Failed => "failed",
            Self::Done => "done",
        }
    }
}
