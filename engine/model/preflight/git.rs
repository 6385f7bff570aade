//! Git, and what is special about a repository.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Git, and what is special about this repository.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Git {
    /// The version of `git`.
    pub version: String,
    /// The version of libgit2.
    pub libgit2: String,
    /// Whether libgit2 can open the repository; otherwise every step starts `git`.
    pub in_process: bool,
    /// How objects are named: `sha1` or `sha256`.
    pub object_format: String,
    /// How refs are stored: `files` or `reftable`.
    pub ref_format: String,
    /// Whether the checkout is sparse.
    pub sparse: bool,
    /// Submodules.
    pub submodules: Submodules,
    /// Large files.
    pub lfs: Lfs,
    /// Whether the history is cut off.
    pub shallow: bool,
    /// Whether objects are fetched when they are needed.
    pub partial: bool,
    /// Whether worktrees have settings of their own.
    pub worktree_config: bool,
    /// Whether git takes names for equal that differ in case.
    pub ignore_case: bool,
    /// What each of these means here.
    pub means: Vec<Means>,
}

/// Submodules of the base.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Submodules {
    /// How many the checkout's HEAD has.
    pub count: u64,
    /// How many of them are initialised.
    pub initialised: u64,
}

/// Large files.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Lfs {
    /// Whether attributes send files through `filter=lfs`.
    pub used: bool,
    /// Whether `git-lfs` is there; absent where nobody asked.
    pub installed: Option<bool>,
}

/// What a feature of the repository means for a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Means {
    /// The feature.
    pub feature: String,
    /// Whether a run works with it.
    pub works: bool,
    /// How, or why not.
    pub why: String,
}
