//! `[tiers.NAME]` and `[workers.NAME]`.

use schemars::JsonSchema;
use serde::Deserialize;

use super::super::scalar::{Filled, Name, Named, Size, Time, Variable, Whole, Word};
use super::Argv;
use crate::model::plan::BriefBy;

/// A named choice of worker, model and effort.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "tier")]
pub struct Tier {
    /// Who works: the name of a `[workers.NAME]` table.
    #[schemars(example = &"codemod")]
    pub worker: Name,

    /// Model, for workers that take one. Default: the worker's own.
    #[schemars(example = &"small")]
    pub model: Option<Filled>,

    /// Effort, for workers that take one. Default: the worker's own.
    #[schemars(example = &"high")]
    pub effort: Option<Filled>,

    /// Tier of the next round after a round on this tier has failed. Default: this tier again.
    #[schemars(example = &"standard")]
    pub escalate_to: Option<Name>,

    /// Tiers to go on with, in this order, when this tier's provider is out of credit or down.
    #[serde(default)]
    #[schemars(extend("default" = []))]
    #[schemars(example = serde_json::json!(["light-elsewhere"]))]
    pub fallback: Vec<Name>,

    /// How many work packages are at work on this tier at once. Default: as many as `[plan] max_parallel` allows.
    #[schemars(example = 2)]
    pub max_parallel: Option<Whole<1, 1000>>,

    /// How long one attempt may take.
    #[schemars(extend("default" = "30m"))]
    #[schemars(example = &"1h30m")]
    pub timeout: Option<Time>,

    /// How long one attempt may print nothing. Default: no limit.
    #[schemars(example = &"10m")]
    pub idle_timeout: Option<Time>,

    /// How large the log of one attempt may grow: a number of bytes, or a text like `64MB`.
    #[schemars(extend("default" = "64MB"))]
    #[schemars(example = &"256MiB")]
    pub log_limit: Option<Size>,
}

/// A command that takes a brief and changes files.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "worker")]
pub struct Worker {
    /// The program and its arguments. Each is a template over `wp`, `plan`, `tier`, `run`, `round` and `brief_file`.
    #[schemars(example = serde_json::json!(["scripts/codemod.sh", "{{ wp.id }}"]))]
    pub command: Argv,

    /// How the brief is handed over.
    #[serde(default)]
    #[schemars(example = &"file")]
    pub brief: Word<BriefBy>,

    /// Environment variables that are set for it.
    #[serde(default)]
    #[schemars(extend("default" = {}))]
    #[schemars(example = serde_json::json!({ "RUST_BACKTRACE": "1" }))]
    pub env: Named<Variable, String>,
}
