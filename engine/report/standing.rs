//! How a run stands, for programs: `sop status --json`. The ledger's own state, and what it does not hold:
//! what is waited for and until when, what agents at work are in trouble with, what was asked and waits.

use std::io::{self, Write};

use schemars::JsonSchema;
use serde::Serialize;

use super::outlook::Wait;
use crate::ledger::Ledger;
use crate::model::ids::WpId;
use crate::model::time::Timestamp;

/// How a run stands (`schemas/status.schema.json`).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "Status")]
pub struct Standing {
    /// Its state, as in `state.json`.
    #[serde(flatten)]
    pub state: Ledger,
    /// Whether an engine has it.
    pub held: bool,
    /// What is waited for, and until when.
    pub waits: Vec<Wait>,
    /// What agents at work said last of something that went wrong.
    pub troubles: Vec<Trouble>,
    /// What was asked of the run and waits for its next engine.
    pub noted: Vec<Noted>,
}

/// What an agent at work said last of something that went wrong: it may be trying again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Trouble {
    /// The WP; nothing for a reviewer of the whole.
    pub wp: Option<WpId>,
    /// What a reviewer looks for; nothing for a worker.
    pub lens: Option<String>,
    /// Its words, one line, escaped for display.
    pub text: String,
    /// When it said so.
    pub at: Timestamp,
}

/// What was asked of a run that no engine has.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Noted {
    /// What: `review`, `cancel`, `retry`, `answer`, `interrupt` or `note`.
    pub asked: String,
    /// The WP; nothing where it is about the whole run.
    pub wp: Option<WpId>,
    /// The question, of an answer.
    pub question: Option<u32>,
    /// Who asked.
    pub by: String,
}

impl Standing {
    /// Writes it as JSON.
    ///
    /// # Errors
    /// When `out` cannot be written.
    pub fn json(&self, out: &mut impl Write) -> io::Result<()> {
        super::json::pretty(self, out)
    }
}
