//! What one turn of a coding agent came to, as its own stream told it: a session to go on with, what
//! it used, and why it failed where it did. None of it proves work; the diff and the DoD do.

use std::fmt;
use std::ops::AddAssign;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::time::Timestamp;

/// Dollars, to the millionth: `0.0123` in JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize)]
#[serde(from = "f64", into = "f64")]
pub struct Usd(
    /// Millionths of a dollar.
    pub u64,
);

impl JsonSchema for Usd {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Usd".into()
    }
    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "type": "number", "minimum": 0 })
    }
}

impl From<f64> for Usd {
    /// What is no amount (negative, not a number) is nothing.
    fn from(dollars: f64) -> Self {
        // A cast of floats saturates, and makes 0 of NaN.
        Self((dollars * 1e6).round() as u64)
    }
}

impl From<Usd> for f64 {
    fn from(usd: Usd) -> Self {
        usd.0 as f64 / 1e6
    }
}

impl fmt::Display for Usd {
    /// `$0.0123` below ten cents, `$12.34` above.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let dollars = f64::from(*self);
        let digits = if self.0 > 0 && self.0 < 100_000 { 4 } else { 2 };
        f.pad(&format!("${dollars:.digits$}"))
    }
}

/// Tokens of a turn, or of many. A provider that tells none leaves zeros.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Usage {
    /// Read by the model, cached ones included.
    #[serde(default)]
    pub input: u64,
    /// Of those, read from the provider's cache.
    #[serde(default)]
    pub cached: u64,
    /// Written by the model, its reasoning included.
    #[serde(default)]
    pub output: u64,
}

impl Usage {
    /// What a budget of tokens counts: input and output.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.input.saturating_add(self.output)
    }
}

impl AddAssign for Usage {
    fn add_assign(&mut self, other: Self) {
        self.input = self.input.saturating_add(other.input);
        self.cached = self.cached.saturating_add(other.cached);
        self.output = self.output.saturating_add(other.output);
    }
}

/// One turn of an agent.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Turn {
    /// The agent's own name for the conversation: what a later turn goes on with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// The model that answered, where the agent says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Tokens.
    #[serde(default)]
    pub usage: Usage,
    /// What it cost, where the agent says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost_usd: Option<Usd>,
    /// Model calls that were answered.
    #[serde(default)]
    pub turns: u32,
    /// Tools it was not allowed to use, escaped for display.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub denials: Vec<String>,
    /// Whether it ended with an answer of at least a word.
    #[serde(default)]
    pub answered: bool,
    /// Why it is no finished turn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fault: Option<Fault>,
    /// The limit that it was ended at.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stopped_at: Option<Spent>,
}

/// Why a turn is no finished turn.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Fault {
    /// What kind.
    pub class: FaultClass,
    /// The agent's own last words about it, one line, escaped for display.
    pub message: String,
    /// When the provider says that it can be tried again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resets_at: Option<Timestamp>,
}

/// Kinds of faults. All are infrastructure: none costs a round.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FaultClass {
    /// The account is out of credit.
    Credit,
    /// Too many requests or tokens for now.
    RateLimit,
    /// Not logged in, or the key is not accepted.
    Auth,
    /// The provider does not have this model, or not for this account.
    ModelUnknown,
    /// The provider failed: 5xx, overloaded, a stream that was cut.
    Provider,
    /// The turn ended and said nothing.
    EmptyTurn,
    /// Somebody ended it.
    Interrupted,
    /// The agent itself fell over, or did not say how it ended.
    Crash,
}

impl FaultClass {
    /// The name as in events and on the screen.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Credit => "credit",
            Self::RateLimit => "rate_limit",
            Self::Auth => "auth",
            Self::ModelUnknown => "model_unknown",
            Self::Provider => "provider",
            Self::EmptyTurn => "empty_turn",
            Self::Interrupted => "interrupted",
            Self::Crash => "crash",
        }
    }

    /// Trying the same again, on the same worker and model, cannot help before somebody acts.
    #[must_use]
    pub fn lasts(self) -> bool {
        matches!(self, Self::Credit | Self::Auth | Self::ModelUnknown)
    }

    /// It says something of the provider, not of this one turn: whoever else uses the same provider
    /// would find the same.
    #[must_use]
    pub fn of_provider(self) -> bool {
        !matches!(self, Self::EmptyTurn | Self::Interrupted | Self::Crash)
    }
}

impl fmt::Display for FaultClass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// A limit of the plan that a turn was ended at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", tag = "limit")]
pub enum Spent {
    /// Model calls.
    Turns {
        /// How many it was allowed.
        most: u32,
    },
    /// Money.
    Usd {
        /// How much it was allowed.
        most: Usd,
    },
    /// Tokens.
    Tokens {
        /// How many it was allowed.
        most: u64,
    },
    /// Money of the whole run, whose sessions used it together.
    RunUsd {
        /// How much the run was allowed.
        most: Usd,
    },
    /// Tokens of the whole run, whose sessions used them together.
    RunTokens {
        /// How many the run was allowed.
        most: u64,
    },
}

impl Spent {
    /// It is one of money or tokens: more of them would have let the turn go on.
    #[must_use]
    pub fn is_budget(self) -> bool {
        !matches!(self, Self::Turns { .. })
    }

    /// The same limit, as one of the whole run.
    #[must_use]
    pub fn of_run(self) -> Self {
        match self {
            Self::Usd { most } => Self::RunUsd { most },
            Self::Tokens { most } => Self::RunTokens { most },
            other => other,
        }
    }
}

impl fmt::Display for Spent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Turns { most } => write!(f, "its limit of {most} turns"),
            Self::Usd { most } => write!(f, "its budget of {most}"),
            Self::Tokens { most } => write!(f, "its budget of {most} tokens"),
            Self::RunUsd { most } => write!(f, "the run's budget of {most}"),
            Self::RunTokens { most } => write!(f, "the run's budget of {most} tokens"),
        }
    }
}
