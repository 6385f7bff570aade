//! Runs that are not over.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::model::ids::RunId;

/// Runs that are not over.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Runs {
    /// Oldest first.
    pub open: Vec<OpenRun>,
}

/// One of them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct OpenRun {
    /// Its name.
    pub run: RunId,
    /// Whether an engine has it right now.
    pub engine: bool,
    /// Whether `sop resume` can go on with it.
    pub resumable: bool,
    /// Why not; or how it stands.
    pub how: String,
}
