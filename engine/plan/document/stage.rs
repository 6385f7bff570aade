//! `[[stage]]` and the consolidation that a stage with shared files ends with.

use schemars::JsonSchema;
use serde::Deserialize;

use super::super::scalar::{Filled, Money, Name, Whole};
use super::super::shape::{Table, Word};
use super::{Dod, Review, Tokens};
use crate::model::plan::Risk;

/// Work packages that run in parallel.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "stage")]
pub struct Stage {
    /// Name of the stage. Work packages say it in `stage`.
    #[schemars(example = &"foundation")]
    pub name: Name,

    /// Path patterns that no work package of the stage may touch. With any, the stage ends with one
    /// consolidation, which alone may touch them: the work package `NAME-shared`.
    #[serde(default)]
    #[schemars(example = serde_json::json!(["package.json", "src/extension.ts"]))]
    pub shared: Vec<Filled>,

    /// How the stage's shared files are consolidated, where the defaults do not fit. Default: the defaults of
    /// its keys.
    #[schemars(example = serde_json::json!({ "tier": "standard", "dod": ["npm test"] }))]
    pub consolidate: Option<Table<Consolidate>>,
}

/// The work package that a stage with shared files ends with.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "consolidate")]
pub struct Consolidate {
    /// One line for people. Default: one that names the stage.
    #[schemars(example = &"Wire the features up")]
    pub title: Option<Filled>,

    /// Tier that works on it first. Default: `[plan] tier`, or the only tier there is.
    #[schemars(example = &"standard")]
    pub tier: Option<Name>,

    /// How much can go wrong. It decides what may merge by itself.
    #[serde(default)]
    #[schemars(example = &"low")]
    pub risk: Word<Risk>,

    /// Commands that must all exit 0 in its worktree. Default: those of all work packages of the stage,
    /// each once and without `expect`.
    #[schemars(example = serde_json::json!(["npm test"]))]
    pub dod: Option<Vec<Dod>>,

    /// The task: a file, named from the folder of the plan file. Default: to put into the shared files what
    /// the stage's work packages report for them.
    #[schemars(example = &"briefs/wiring.md")]
    pub brief: Option<Filled>,

    /// The task itself, in place of a `brief` file. Default: as for `brief`.
    #[schemars(example = &"Register every new command in src/extension.ts, in the order of their names.")]
    pub brief_text: Option<Filled>,

    /// Template that the brief is rendered with.
    #[schemars(extend("default" = "consolidate"))]
    #[schemars(example = &"wiring")]
    pub template: Option<Name>,

    /// Resources that no two work packages may use at once, by any name.
    #[serde(default)]
    #[schemars(extend("default" = []))]
    #[schemars(example = serde_json::json!(["port-3000"]))]
    pub locks: Vec<Name>,

    /// Who judges the work after the Definition of Done has passed. Default: `[plan] review`.
    #[schemars(example = &"human")]
    pub review: Option<Review>,

    /// Rounds before a person decides. Default: `[plan] rounds`.
    #[schemars(example = 2)]
    pub rounds: Option<Whole<1, 3>>,

    /// Dollars that its workers and reviewers may cost together. codex and gemini never tell what they
    /// cost: it does not hold them, and `budget_tokens` does. Default: no limit.
    #[schemars(example = 2.5)]
    pub budget_usd: Option<Money>,

    /// Tokens, input and output, that its workers and reviewers may use together. Default: no limit.
    #[schemars(example = 500_000)]
    pub budget_tokens: Option<Tokens>,
}
