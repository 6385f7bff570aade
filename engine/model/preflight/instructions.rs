//! The repository's own files for agents.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::model::ids::CommitId;

/// The repository's own files for agents.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Instructions {
    /// The commit that a run would start from.
    pub base: Option<CommitId>,
    /// The files that are there, at the base or in the checkout.
    pub files: Vec<InstructionFile>,
}

/// One of them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct InstructionFile {
    /// Its path from the top of the repository.
    pub path: String,
    /// Whether the base has it: what workers get to see.
    pub tracked: bool,
    /// What the checkout has.
    pub checkout: InCheckout,
    /// Whether the plan points to it.
    pub named: bool,
}

/// What the checkout has of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum InCheckout {
    /// The same as the base.
    Same,
    /// Something else.
    Differs,
    /// Nothing.
    Missing,
}
