//! `[tiers.NAME]` and `[workers.NAME]`.

use schemars::JsonSchema;
use serde::Deserialize;

use super::super::scalar::{Filled, Name, Size, Time, Variable, Whole};
use super::super::shape::{Named, Word};
use super::Argv;
use crate::model::plan::{Adapter, BriefBy, Continue};

/// A named choice of worker, model and effort.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "tier")]
pub struct Tier {
    /// Who works: a built-in worker, such as `codex` or `claude`, or the name of a `[workers.NAME]` table.
    #[schemars(example = &"codex")]
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

    /// How many are at work on this tier at once, work packages and sessions of reviewers together. Default: as many
    /// as `[plan] max_parallel` allows.
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

    /// How long a worker that is told to end has before it is killed.
    #[schemars(extend("default" = "10s"))]
    #[schemars(example = &"30s")]
    pub grace: Option<Time>,

    /// Model calls that one attempt may make, for workers whose calls can be counted. Default: no limit.
    #[schemars(example = 60)]
    pub max_turns: Option<Whole<1, 10_000>>,

    /// What a later attempt at the same work package goes on with.
    #[serde(rename = "continue")]
    #[schemars(extend("default" = "session"))]
    #[schemars(example = &"fresh")]
    pub continues: Option<Word<Continue>>,
}

/// What takes a brief and changes files: a `command`, or an `agent`.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "worker")]
pub struct Worker {
    /// Any command: the program and its arguments. Each is a template over `wp`, `plan`, `tier`, `run`, `round` and
    /// `brief_file`. Default: none, and then `agent` says what works.
    #[schemars(example = serde_json::json!(["scripts/codemod.sh", "{{ wp.id }}"]))]
    pub command: Option<Argv>,

    /// How the brief is handed over to a `command`.
    #[schemars(extend("default" = "stdin"))]
    #[schemars(example = &"file")]
    pub brief: Option<Word<BriefBy>>,

    /// A coding agent, by the adapter that drives it. Default: none, and then `command` says what works.
    #[schemars(example = &"codex")]
    pub agent: Option<Word<Adapter>>,

    /// Program of the `agent` and its first arguments. Default: the adapter's own; `acp` has none.
    #[schemars(example = serde_json::json!(["npx", "@openai/codex"]))]
    pub program: Option<Argv>,

    /// Arguments for the `agent` on top of the adapter's.
    #[serde(default)]
    #[schemars(example = serde_json::json!(["--config", "sandbox_mode=workspace-write"]))]
    pub args: Vec<String>,

    /// Environment variables that are set for it.
    #[serde(default)]
    #[schemars(extend("default" = {}))]
    #[schemars(example = serde_json::json!({ "RUST_BACKTRACE": "1" }))]
    pub env: Named<Variable, String>,
}
