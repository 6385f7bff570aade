//! `[delivery]`: how checked work leaves the machine.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::super::scalar::{Name, Time};
use super::super::shape::Word;
use super::Run;
use crate::model::delivery::{ForgeKind, MergeMethod};

/// How checked work leaves the machine: pushed, asked to be merged at the forge, merged.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "delivery")]
pub struct Delivery {
    /// How the forge is spoken to: by the program of this name, which has to be logged in.
    #[schemars(extend("default" = "gh"))]
    #[schemars(example = &"gh")]
    pub forge: Option<Word<ForgeKind>>,

    /// The remote that branches are pushed to.
    #[schemars(extend("default" = "origin"))]
    #[schemars(example = &"origin")]
    pub remote: Option<Name>,

    /// Whether branches are pushed.
    #[schemars(extend("default" = true))]
    #[schemars(example = true)]
    pub push: Option<bool>,

    /// Whether a pull request is opened: for each work package where they are independent, one for the whole
    /// where there are stages.
    #[schemars(extend("default" = true))]
    #[schemars(example = false)]
    pub pull_request: Option<bool>,

    /// The highest `risk` that merges by itself, once its checks are green and as far as the branch's protection
    /// allows.
    #[schemars(extend("default" = "none"))]
    #[schemars(example = &"low")]
    pub auto_merge_risk: Option<Word<AutoMerge>>,

    /// How pull requests are merged.
    #[schemars(extend("default" = "squash"))]
    #[schemars(example = &"rebase")]
    pub merge_method: Option<Word<MergeMethod>>,

    /// Whether pull requests are opened as drafts. A draft does not merge by itself.
    #[schemars(extend("default" = false))]
    #[schemars(example = true)]
    pub draft: Option<bool>,

    /// Whether a pull request says what made it.
    #[schemars(extend("default" = false))]
    #[schemars(example = true)]
    pub attribution: Option<bool>,

    /// How long a pull request that would merge by itself waits for its checks. What is not merged by then stays
    /// open; `sop resume` looks again.
    #[schemars(extend("default" = "10m"))]
    #[schemars(example = &"30m")]
    pub wait_for_checks: Option<Time>,

    /// Commands for when all has landed, such as a deployment. They are never run by themselves: `sop deliver
    /// --after-merge` asks about each, each time.
    #[serde(default)]
    #[schemars(extend("default" = []))]
    #[schemars(example = serde_json::json!(["scripts/deploy.sh staging"]))]
    pub after_merge: Vec<Run>,

    /// Whether worktrees are removed once their work is safe, and local branches once it is proven to have landed.
    #[schemars(extend("default" = true))]
    #[schemars(example = false)]
    pub cleanup: Option<bool>,
}

/// The highest risk that merges by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum AutoMerge {
    /// Nothing does.
    None,
    /// Low alone.
    Low,
    /// Low and medium.
    Medium,
    /// Everything.
    High,
}
