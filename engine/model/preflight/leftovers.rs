//! What runs from before have left.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What runs from before have left.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Leftovers {
    /// Worktrees of runs that are over, or of none.
    pub worktrees: Vec<Leftover>,
    /// Branches of runs that are over, or of none.
    pub branches: Vec<Leftover>,
    /// Runs that are over.
    pub runs: Vec<Leftover>,
    /// Salvage commits.
    pub salvage: Vec<Leftover>,
    /// How many there are of each, where not all are listed.
    pub total: LeftoverCount,
}

/// How much is left.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct LeftoverCount {
    /// Worktrees.
    pub worktrees: u64,
    /// Branches.
    pub branches: u64,
    /// Runs.
    pub runs: u64,
    /// Salvage commits.
    pub salvage: u64,
}

/// One thing that is left.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Leftover {
    /// A folder, a branch, a run, a ref; escaped.
    pub name: String,
    /// The run that it is of, as far as its name says.
    pub run: Option<String>,
    /// The command that clears it.
    pub clear: Option<String>,
}
