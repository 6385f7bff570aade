//! The plan file, and the config file, as people write them. Every key has a description, a default where it may be left
//! out, and an example: the schema that editors complete from is made of these types. What the
//! keys mean once the defaults are in is `model::plan`.

mod config;
mod delivery;
mod review;
mod stage;
mod tier;
mod wp;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::scalar::{Filled, Money, Name, Slug, Time, Whole};
use super::shape::{Either, Named, Table, Word};
use crate::model::plan::{Approval, Autonomy, Checkout, SessionSplit};

pub use config::{Config, Defaults, ProvisionDefaults};
pub use delivery::{AutoMerge, Delivery};
pub use review::{Critic, ReviewTable, Verify};
pub use stage::{Consolidate, Stage};
pub use tier::{Tier, Worker};
pub use wp::{Dod, DodTable, Expect, Fork, Review, ReviewWord, Reviewer, Wp};

/// A command: a line, or an argument vector.
pub type Run = Either<Filled, Argv>;

/// A number of tokens.
pub type Tokens = Whole<1, 1_000_000_000_000>;

/// An argument vector: a program and its arguments.
#[derive(Debug, Clone, Deserialize, Serialize)]
#[serde(try_from = "Vec<String>")]
pub struct Argv(pub Vec<String>);

impl TryFrom<Vec<String>> for Argv {
    type Error = String;
    fn try_from(words: Vec<String>) -> Result<Self, String> {
        match words.is_empty() {
            true => Err("a command needs at least the program's name".to_owned()),
            false => Ok(Self(words)),
        }
    }
}

impl JsonSchema for Argv {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Argv".into()
    }
    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "type": "array", "items": { "type": "string" }, "minItems": 1 })
    }
}

/// The version of the plan file's format: 1.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
#[serde(try_from = "Whole<1, 1>")]
pub struct Version;

impl From<Whole<1, 1>> for Version {
    fn from(_: Whole<1, 1>) -> Self {
        Self
    }
}

impl JsonSchema for Version {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Version".into()
    }
    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "type": "integer", "const": 1 })
    }
}

/// A plan for `sop`: work packages that cannot tread on each other, who builds each one, and what
/// proves it done.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "plan")]
pub struct Document {
    /// The version of this format. Always 1.
    #[schemars(example = 1)]
    pub version: Version,

    /// What the plan is for, and what holds for all of it.
    #[schemars(example = serde_json::json!({ "name": "settings", "goal": "Move the settings page to the new client." }))]
    pub plan: Table<PlanTable>,

    /// What a fresh worktree needs before a worker may enter.
    #[serde(default)]
    #[schemars(extend("default" = {}))]
    #[schemars(example = serde_json::json!({ "copy": [".env.test"], "setup": ["npm ci"] }))]
    pub provision: Table<Provision>,

    /// Named choices of worker, model and effort. A work package names the tier it starts on.
    #[serde(default)]
    #[schemars(extend("default" = {}))]
    #[schemars(example = serde_json::json!({ "light": { "worker": "codemod", "escalate_to": "standard" } }))]
    pub tiers: Named<Name, Table<Tier>>,

    /// What does the work, by name: any command, or a coding agent with settings of your own. A tier names
    /// the worker it uses. Built-in workers, such as `codex` and `claude`, need no table here.
    #[serde(default)]
    #[schemars(extend("default" = {}))]
    #[schemars(example = serde_json::json!({ "codemod": { "command": ["scripts/codemod.sh", "{{ wp.id }}"] } }))]
    pub workers: Named<Name, Table<Worker>>,

    /// Review by sessions of another worker. With this table it is the review of every work package that
    /// says no other. Default: none.
    #[schemars(example = serde_json::json!({ "tier": "lead", "lenses": ["quality", "security"] }))]
    pub review: Option<Table<ReviewTable>>,

    /// The last look at the whole, after everything is integrated. It reports and mends nothing. Default: none.
    #[schemars(example = serde_json::json!({ "review_tier": "lead", "live": ["npm run e2e"] }))]
    pub verify: Option<Table<Verify>>,

    /// Who reads the plan before anybody says yes to it, read-only and once. Default: the tier called `critic`, where
    /// there is one; else nobody.
    #[schemars(example = serde_json::json!({ "tier": "lead" }))]
    pub critic: Option<Table<Critic>>,

    /// How checked work leaves the machine: pushed, asked to be merged at the forge, merged. Default: nothing
    /// leaves the machine.
    #[schemars(example = serde_json::json!({ "auto_merge_risk": "low" }))]
    pub delivery: Option<Table<Delivery>>,

    /// Stages in the order they run. The work packages of one stage run in parallel; the next stage
    /// starts from their integrated result. Without stages and without `needs` every work package is
    /// independent and gets a branch of its own.
    #[serde(default)]
    #[schemars(extend("default" = []))]
    #[schemars(example = serde_json::json!([{ "name": "foundation" }, { "name": "features" }]))]
    pub stage: Vec<Table<Stage>>,

    /// Work packages: each has one whitelist, one brief, one Definition of Done and one worker.
    #[serde(default)]
    #[schemars(extend("default" = []))]
    #[schemars(example = serde_json::json!([{
        "id": "client",
        "whitelist": ["src/client/**"],
        "dod": ["npm test -- client"],
        "brief": "briefs/client.md",
    }]))]
    pub wp: Vec<Table<Wp>>,
}

/// What the plan is for, and what holds for all of it.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "plan_table")]
pub struct PlanTable {
    /// Short name of the plan: run ids and branches start with it.
    #[schemars(example = &"settings")]
    pub name: Slug,

    /// What the whole is for, in a sentence or two. Every brief carries it.
    #[schemars(example = &"Move the settings page to the new client.")]
    pub goal: Filled,

    /// Branch, tag or commit that the run starts from. It is pinned to a commit id when the run starts.
    #[serde(default = "head")]
    #[schemars(example = &"main")]
    pub base: Filled,

    /// Files in the repository that every brief points to, such as the instructions for agents. They
    /// are never restated.
    #[serde(default)]
    #[schemars(example = serde_json::json!(["AGENTS.md"]))]
    pub instructions: Vec<Filled>,

    /// How many work packages are at work at once, at most.
    #[schemars(extend("default" = 4))]
    #[schemars(example = 8)]
    pub max_parallel: Option<Whole<1, 1000>>,

    /// Whether a person is asked before the run starts.
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

    /// Dollars that all workers and reviewers of the run may cost together. codex and gemini never tell what they
    /// cost: it does not hold them, and `budget_tokens` does. Default: no limit.
    #[schemars(example = 20.0)]
    pub budget_usd: Option<Money>,

    /// Tokens, input and output, that all workers and reviewers of the run may use together. Default: no limit.
    #[schemars(example = 5_000_000)]
    pub budget_tokens: Option<Tokens>,

    /// Tier of the work packages that name none. Default: the only tier there is, if there is only one.
    #[schemars(example = &"standard")]
    pub tier: Option<Name>,

    /// Rounds of work, check and review that a work package gets before a person decides.
    #[schemars(extend("default" = 3))]
    #[schemars(example = 2)]
    pub rounds: Option<Whole<1, 3>>,

    /// Who judges a work package after its Definition of Done has passed. Default: `worker` with a `[review]`
    /// table, else `none`.
    #[schemars(example = &"human")]
    pub review: Option<Review>,

    /// Template of the briefs of work packages that change files: a built-in one, or NAME of `.sop/templates/NAME.md.j2`.
    #[schemars(extend("default" = "change"))]
    #[schemars(example = &"migration")]
    pub template: Option<Name>,
}

fn head() -> Filled {
    Filled("HEAD".to_owned())
}

/// What a fresh worktree needs before a worker may enter.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "provision")]
pub struct Provision {
    /// Untracked files or folders of your checkout that are brought along. They are never committed.
    #[serde(default)]
    #[schemars(example = serde_json::json!([".env.test"]))]
    pub copy: Vec<Filled>,

    /// Commands that are run in the worktree, in this order.
    #[serde(default)]
    #[schemars(extend("default" = []))]
    #[schemars(example = serde_json::json!(["npm ci --prefer-offline"]))]
    pub setup: Vec<Run>,

    /// Paths that must exist afterwards. One that is missing stops the work package before a worker is paid.
    #[serde(default)]
    #[schemars(example = serde_json::json!(["node_modules"]))]
    pub expect: Vec<Filled>,

    /// How long each setup command may take.
    #[schemars(extend("default" = "10m"))]
    #[schemars(example = &"90s")]
    pub timeout: Option<Time>,
}
