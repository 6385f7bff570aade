//! How a turn stopped, in the agent's words, and what that is told as.

use jiff::Timestamp;
use serde_json::Value;

use super::wire;
use crate::model::turn::{Fault, FaultClass};
use crate::worker::fault;

/// The end of a turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Stop {
    /// As it should.
    Finished,
    /// Somebody cancelled it.
    Cancelled,
    /// With an error that the agent, or this side, told.
    Told {
        /// In words.
        message: String,
        /// The error's code, where it has one.
        code: Option<i64>,
        /// Its class, where it is known from elsewhere.
        class: Option<FaultClass>,
    },
}

impl Stop {
    /// What a prompt's `stopReason` says.
    #[must_use]
    pub fn of_reason(reason: Option<&str>) -> Self {
        let message = match reason {
            Some("end_turn") => return Self::Finished,
            Some("cancelled") => return Self::Cancelled,
            Some("max_tokens") => "the model's answer was cut at its limit of tokens",
            Some("max_turn_requests") => "the agent stopped at its own limit of model calls",
            Some("refusal") => "the model refuses to go on",
            _ => "the agent ended its turn without a reason",
        };
        // None of it says anything of the provider, and all of it may go otherwise once more.
        Self::Told { message: message.to_owned(), code: None, class: Some(FaultClass::Crash) }
    }

    /// Why it is no finished turn; nothing for one that is.
    #[must_use]
    pub fn fault(&self, answered: bool, now: Timestamp) -> Option<Fault> {
        let (message, code, class) = match self {
            Self::Finished if answered => return None,
            Self::Finished => return Some(fault::empty()),
            Self::Cancelled => ("the turn was cancelled", None, Some(FaultClass::Interrupted)),
            Self::Told { message, code, class } => (message.as_str(), *code, *class),
        };
        let known = class.or((code == Some(wire::AUTH_REQUIRED)).then_some(FaultClass::Auth));
        // gemini gives the provider's status as the code of its error.
        let status = code.and_then(|code| u16::try_from(code).ok()).and_then(fault::of_status);
        let told = fault::told(message, status, now);
        Some(Fault { class: known.unwrap_or(told.class), ..told })
    }
}

/// What an error object says: its message, and what the agent put beside it.
#[must_use]
pub fn told(error: &Value) -> String {
    let message = error.get("message").and_then(Value::as_str).unwrap_or_default();
    let beside = match error.get("data").unwrap_or(&Value::Null) {
        Value::String(text) => Some(text.as_str()),
        data => {
            ["message", "details"].iter().find_map(|key| data.get(*key)).and_then(Value::as_str)
        }
    };
    // JSON-RPC's own words say nothing, and would pass for a server's 500.
    let message = message.trim_start_matches("Internal error").trim_start_matches(": ");
    match (message.is_empty(), beside) {
        (false, Some(beside)) if !message.contains(beside) => format!("{message}: {beside}"),
        (false, _) => message.to_owned(),
        (true, Some(beside)) => beside.to_owned(),
        (true, None) => "the agent met an error and did not say which".to_owned(),
    }
}
