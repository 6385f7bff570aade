//! A config file: what holds for plans that do not say otherwise. There is one of the user's own, and one
//! in the repository.

use schemars::JsonSchema;
use serde::Deserialize;

use super::super::scalar::{Filled, Name, Time, Whole};
use super::super::shape::{Named, Table, Word};
use super::{Critic, Delivery, Review, ReviewTable, Run, Tier, Worker};
use crate::model::plan::{Approval, Autonomy, Checkout, SessionSplit};

/// Settings for the plans of a repository (`.sop/config.toml`), or for all plans of a user
/// (`~/.config/sop/config.toml`). What a plan says itself goes before.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "config")]
pub struct Config {
    /// Keys of `[plan]`, for plans that leave them out.
    #[serde(default)]
    #[schemars(extend("default" = {}))]
    #[schemars(example = serde_json::json!({ "max_parallel": 8, "tier": "standard" }))]
    pub defaults: Table<Defaults>,

    /// Keys of `[provision]`, for plans that leave them out.
    #[serde(default)]
    #[schemars(extend("default" = {}))]
    #[schemars(example = serde_json::json!({ "timeout": "20m" }))]
    pub provision: Table<ProvisionDefaults>,

    /// Review by sessions of another worker, for plans without a `[review]` of their own. Default: none.
    #[schemars(example = serde_json::json!({ "tier": "lead", "lenses": ["quality", "security"] }))]
    pub review: Option<Table<ReviewTable>>,

    /// Who reads a plan before anybody says yes to it, for plans without a `[critic]` of their own. Default: the tier
    /// called `critic`, where there is one; else nobody.
    #[schemars(example = serde_json::json!({ "tier": "lead" }))]
    pub critic: Option<Table<Critic>>,

    /// How checked work leaves the machine, for plans without a `[delivery]` of their own. Default: nothing leaves
    /// the machine.
    #[schemars(example = serde_json::json!({ "auto_merge_risk": "low" }))]
    pub delivery: Option<Table<Delivery>>,

    /// Tiers that plans may name. One of a plan takes the place of the one here that is called so, whole.
    #[serde(default)]
    #[schemars(extend("default" = {}))]
    #[schemars(example = serde_json::json!({ "light": { "worker": "codex", "model": "small" } }))]
    pub tiers: Named<Name, Table<Tier>>,

    /// Workers that tiers may name. One of a plan takes the place of the one here that is called so, whole.
    #[serde(default)]
    #[schemars(extend("default" = {}))]
    #[schemars(example = serde_json::json!({ "codemod": { "command": ["scripts/codemod.sh", "{{ wp.id }}"] } }))]
    pub workers: Named<Name, Table<Worker>>,
}

/// Keys of `[plan]`, for plans that leave them out.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "defaults")]
pub struct Defaults {
    /// How many work packages are at work at once, at most.
    #[schemars(extend("default" = 4))]
    #[schemars(example = 8)]
    pub max_parallel: Option<Whole<1, 1000>>,

    /// Whether a person is asked before a run starts.
    #[schemars(extend("default" = "ask"))]
    #[schemars(example = &"auto")]
    pub approval: Option<Word<Approval>>,

    /// What a change in your own checkout means while workers are at work.
    #[schemars(extend("default" = "watched"))]
    #[schemars(example = &"frozen")]
    pub checkout: Option<Word<Checkout>>,

    /// Who answers a question that a worker asks and no `forks` entry settles.
    #[schemars(extend("default" = "ask"))]
    #[schemars(example = &"defaults")]
    pub autonomy: Option<Word<Autonomy>>,

    /// How long a person has to answer before the default that the question came with is taken, under
    /// `autonomy = "defaults"`.
    #[schemars(extend("default" = "30m"))]
    #[schemars(example = &"2h")]
    pub decide_within: Option<Time>,

    /// Files that the lead may change in a work package that it takes (`sop take`); 0 is none. With more, a worker
    /// has to go on with it.
    #[schemars(extend("default" = 1))]
    #[schemars(example = 3)]
    pub lead_may_fix: Option<Whole<0, 1000>>,

    /// Whether `sop apply` stops once the run is approved and frozen, and `sop resume` goes on with it from another
    /// session, with another model or on another machine. `never`: whoever approves at a terminal wants to see it run,
    /// so nothing stops by itself. `auto`: it stops for a high risk, for stages and for three or more work packages.
    #[schemars(extend("default" = "never"))]
    #[schemars(example = &"auto")]
    pub session_split: Option<Word<SessionSplit>>,

    /// Tier of the work packages that name none, in plans that do not declare one tier alone. Default: the only
    /// tier there is, if there is only one.
    #[schemars(example = &"standard")]
    pub tier: Option<Name>,

    /// Rounds of work, check and review that a work package gets before a person decides.
    #[schemars(extend("default" = 3))]
    #[schemars(example = 2)]
    pub rounds: Option<Whole<1, 3>>,

    /// Who judges a work package after its Definition of Done has passed. A plan's own `[review]` goes before.
    /// Default: `worker` with a `[review]` table, else `none`.
    #[schemars(example = &"human")]
    pub review: Option<Review>,

    /// Template of the briefs of work packages that change files: a built-in one, or NAME of `.sop/templates/NAME.md.j2`.
    #[schemars(extend("default" = "change"))]
    #[schemars(example = &"migration")]
    pub template: Option<Name>,
}

/// Keys of `[provision]`, for plans that leave them out.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "provision_defaults")]
pub struct ProvisionDefaults {
    /// Untracked files or folders of the checkout that are brought along into every worktree, those of `sop worktree new`
    /// too. They are never committed.
    #[schemars(extend("default" = []))]
    #[schemars(example = serde_json::json!([".env.test"]))]
    pub copy: Option<Vec<Filled>>,

    /// Commands that are run in a fresh worktree, in this order; in those of `sop worktree new` too.
    #[schemars(extend("default" = []))]
    #[schemars(example = serde_json::json!(["npm ci --prefer-offline"]))]
    pub setup: Option<Vec<Run>>,

    /// How long each setup command may take.
    #[schemars(extend("default" = "10m"))]
    #[schemars(example = &"90s")]
    pub timeout: Option<Time>,
}
