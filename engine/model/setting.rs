//! Who says a setting, and where: a file and a line, a variable, a flag.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Where a setting is said.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct At {
    /// The file, the variable or the flag.
    pub name: String,
    /// Line in the file, from 1; absent for a variable or a flag.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<usize>,
}

/// Who says a setting, from the lowest to the highest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Level {
    /// `sop` itself.
    BuiltIn,
    /// The user's config.
    User,
    /// The repository's config.
    Repository,
    /// The plan.
    Plan,
    /// A variable of the environment.
    Environment,
    /// A flag.
    Flag,
}
