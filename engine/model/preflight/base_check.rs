//! The local base against its upstream.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::model::ids::CommitId;

/// The local base against its upstream.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct BaseCheck {
    /// What the run would start from.
    pub base: String,
    /// The commit that this names now.
    pub commit: Option<CommitId>,
    /// The branch that it is, where it is one.
    pub branch: Option<String>,
    /// What it follows, as far as the last fetch knows.
    pub upstream: Option<String>,
    /// Commits that it has and its upstream lacks.
    pub ahead: Option<u64>,
    /// Commits that its upstream has and it lacks.
    pub behind: Option<u64>,
    /// Whether the upstream was fetched for this.
    pub fetched: bool,
}
