//! The settings that a run would have, and who says each.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::model::setting::{At, Level};

/// A value and who says so.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Said<T> {
    /// The value.
    pub value: T,
    /// Who says so; absent where it is found and not said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<Level>,
    /// Where; absent for what is built in or found.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<At>,
}

impl<T> Said<T> {
    /// A value that is found and not said.
    #[must_use]
    pub fn found(value: T) -> Self {
        Self { value, from: None, at: None }
    }
}

/// The settings that a run would have.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Config {
    /// The checkout that runs start from and never touch; none in a bare repository.
    pub source_worktree: Said<Option<String>>,
    /// What a run starts from.
    pub default_base: Said<String>,
    /// What a fresh worktree gets.
    pub provision: ProvisionSetting,
    /// Packages at work at once, at most.
    pub max_parallel: Said<u64>,
    /// The highest risk that may merge by itself.
    pub auto_merge_risk: Said<String>,
    /// How pull requests are merged.
    pub merge_method: Said<String>,
    /// Whether worktrees and branches go once landing is proven.
    pub auto_cleanup: Said<bool>,
    /// Whether the repository has its checkout around it, or is bare with worktrees beside it.
    pub layout: Said<Layout>,
}

/// What a fresh worktree gets.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ProvisionSetting {
    /// Untracked files that are brought along.
    pub copy: Said<Vec<String>>,
    /// Commands that are run in it.
    pub setup: Said<Vec<String>>,
    /// Limit for each of them.
    pub timeout: Said<String>,
}

/// How a repository lies on disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Layout {
    /// A checkout with `.git` in it.
    Plain,
    /// A bare repository, its worktrees beside it.
    Bare,
}
