//! Docker's networks against what would run at once.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Docker's networks against what would run at once.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct DockerPool {
    /// Whether a Docker engine answers; false where there is no `docker`, absent where there is one that nobody
    /// asked, since nothing here uses it.
    pub docker: Option<bool>,
    /// What makes use of it.
    pub used_by: Vec<String>,
    /// Networks that its address pools hold.
    pub networks: Option<u64>,
    /// Networks that there are.
    pub taken: Option<u64>,
    /// Networks that are left.
    pub free: Option<u64>,
    /// Packages at work at once, at most.
    pub max_parallel: u64,
}
