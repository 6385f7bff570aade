//! Whether a program is logged in, as far as its files and the names of variables tell.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Whether an agent is logged in, read from its files and the names of variables. Nothing is called, and no
/// secret is ever told.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Auth {
    /// Whether it has something to show.
    pub authenticated: Known,
    /// What it would show.
    pub method: Option<Method>,
    /// The variable or the file that holds it.
    pub from: Option<String>,
    /// What to do, where it has nothing.
    #[serde(rename = "do", default, skip_serializing_if = "Option::is_none")]
    pub help: Option<String>,
}

/// What can be told from outside.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Known {
    /// It is so.
    Yes,
    /// It is not so.
    No,
    /// Only a call would tell.
    Unknown,
}

/// How an agent is logged in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Method {
    /// A key that is paid for by use.
    ApiKey,
    /// A token in the environment.
    Token,
    /// A login that it keeps in a file.
    Login,
}
