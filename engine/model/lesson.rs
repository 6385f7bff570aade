//! A lesson: what a run taught, for whoever works there next.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A line of a repository's notes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Lesson {
    /// The day it was learned: `2026-01-31`.
    pub date: String,
    /// Patterns of the paths that it is about, as a whitelist has them; none where it is about all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub paths: Vec<String>,
    /// What was learned: lines without control characters.
    pub text: String,
}

/// A lesson that a run's failures suggest. Somebody has to want it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Suggestion {
    /// What was learned.
    pub text: String,
    /// The paths that it is about.
    pub paths: Vec<String>,
    /// What it is taken from.
    pub why: String,
}
