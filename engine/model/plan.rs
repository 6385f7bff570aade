//! The plan as resolved: every default applied, every name checked, nothing left to look up. What
//! the file may say, and how, is `plan::document`; this is what the engine runs.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::ids::{RunId, StageId, TierId, WorkerId, WpId};
use super::outcome::DodClass;
use super::time::Length;

/// A whole plan, ready to be compiled into a graph.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Plan {
    /// Slug: prefix of run ids and branches.
    pub name: RunId,
    /// What the whole is for, in a sentence or two.
    pub goal: String,
    /// Revision that the run starts from; pinned to a commit id when it starts.
    pub base: String,
    /// Files in the repository that every brief points to.
    pub instructions: Vec<String>,
    /// WPs at work at once, at most.
    pub max_parallel: usize,
    /// Whether a person is asked before the run starts.
    pub approval: Approval,
    /// Whether changes in the user's own checkout block.
    pub checkout: Checkout,
    /// What a fresh worktree needs.
    pub provision: Provision,
    /// Tiers by name.
    pub tiers: BTreeMap<TierId, Tier>,
    /// Workers by name.
    pub workers: BTreeMap<WorkerId, Worker>,
    /// How WPs relate.
    pub mode: Mode,
    /// Stages in order; in independent mode the one stage that holds every WP. Empty where there are
    /// `needs` and no stages: the graph cuts them then, and its names count and not [`Wp::stage`].
    pub stages: Vec<Stage>,
    /// WPs in the order of the file.
    pub wps: Vec<Wp>,
}

/// How WPs relate to each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// No stages, no `needs`: each WP has a branch of its own and nothing is integrated.
    Independent,
    /// Stage by stage, each from the integrated result of the one before.
    Staged,
}

/// Whether a person is asked before a run starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Approval {
    /// The checkpoint report is shown and a person says yes.
    #[default]
    Ask,
    /// The plan's author has said yes beforehand.
    Auto,
}

/// What a change in the user's own checkout means while workers are at work.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Checkout {
    /// It is named, and blamed on no one: a person may be at work there.
    #[default]
    Watched,
    /// Nobody is at work there: a change is a scope finding.
    Frozen,
}

/// What a fresh worktree needs before a worker may enter.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Provision {
    /// Untracked files or folders of the checkout that are brought along and never committed.
    pub copy: Vec<String>,
    /// Commands to run in the worktree.
    pub setup: Vec<Command>,
    /// Paths that must exist afterwards.
    pub expect: Vec<String>,
    /// Limit for each setup command.
    pub timeout: Length,
}

/// A command line, as an argument vector or as shell text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Command {
    /// Run as it is: no shell sees it.
    Argv(Vec<String>),
    /// Needs a shell: `sh -c TEXT`.
    Shell(String),
}

/// A named choice of worker, model and effort.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tier {
    /// Who works.
    pub worker: WorkerId,
    /// Model, for workers that take one.
    pub model: Option<String>,
    /// Effort, for workers that take one.
    pub effort: Option<String>,
    /// Tier for the next round after a failed one on this tier.
    pub escalate_to: Option<TierId>,
    /// Tiers to go on with when this one's provider cannot serve.
    pub fallback: Vec<TierId>,
    /// WPs at work on this tier at once.
    pub max_parallel: Option<usize>,
    /// Wall clock of one attempt.
    pub timeout: Length,
    /// Longest silence of one attempt.
    pub idle_timeout: Option<Length>,
    /// Size of one attempt's log in bytes.
    pub log_limit: u64,
}

/// A command that takes a brief and changes files.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Worker {
    /// Argument vector; each argument is a template over `wp`, `plan`, `tier`, `run`, `round`, `brief_file`.
    pub command: Vec<String>,
    /// How the brief is handed over.
    pub brief: BriefBy,
    /// Extra environment.
    pub env: BTreeMap<String, String>,
}

/// How a worker is handed its brief.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum BriefBy {
    /// On standard input.
    #[default]
    Stdin,
    /// As a file, whose path is `{{ brief_file }}` and `SOP_BRIEF`.
    File,
    /// As the last argument.
    Arg,
}

/// WPs that run in parallel.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stage {
    /// Its name.
    pub id: StageId,
    /// Paths that no WP of the stage may touch: left for consolidation.
    pub shared: Vec<String>,
}

/// A work package.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Wp {
    /// Its name.
    pub id: WpId,
    /// The stage it belongs to.
    pub stage: StageId,
    /// One line for people.
    pub title: String,
    /// What it leaves behind.
    pub kind: Kind,
    /// Who works on it first.
    pub tier: TierId,
    /// How much can go wrong.
    pub risk: Risk,
    /// The paths it may create, change, delete or rename; `!` subtracts.
    pub whitelist: Vec<String>,
    /// What must exit 0 in its worktree.
    pub dod: Vec<Dod>,
    /// The task, as read when the run was made.
    pub brief: String,
    /// Name of the template that the brief is rendered with.
    pub template: String,
    /// What it waits for: `None` is everything in the stage before.
    pub needs: Option<Vec<WpId>>,
    /// Resources that two WPs may not use at once.
    pub locks: Vec<String>,
    /// Who judges the work after the DoD.
    pub review: Review,
    /// Rounds before a person decides.
    pub rounds: u32,
    /// Whether finishing without a change is fine.
    pub allow_empty: bool,
    /// Design choices settled beforehand.
    pub forks: Vec<Fork>,
    /// Values for the template.
    pub vars: BTreeMap<String, String>,
}

/// What a WP leaves behind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// A change.
    #[default]
    Change,
    /// A report: the WP is read-only.
    Scout,
}

/// How much can go wrong: decides what may merge by itself.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Risk {
    /// May merge by itself.
    Low,
    /// Merges after a look.
    #[default]
    Medium,
    /// A person merges it.
    High,
}

/// One Definition-of-Done command.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Dod {
    /// As the plan has it, for people.
    pub text: String,
    /// What is run.
    pub command: Command,
    /// Its limit.
    pub timeout: Length,
    /// What it must say on the base, where the plan makes that a rule.
    pub expect: Option<DodClass>,
}

/// Who judges the work after the DoD.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Review {
    /// The DoD is enough.
    #[default]
    None,
    /// A person, through `sop review`.
    Human,
    /// A command that prints a verdict, or writes it to `SOP_VERDICT`.
    Command {
        /// Argument vector; each argument is a template like a worker's.
        command: Vec<String>,
        /// Its limit.
        timeout: Length,
    },
}

/// A design choice that the plan settles, or gives a default for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fork {
    /// What may come up.
    pub question: String,
    /// The answer.
    pub default: String,
}

impl Plan {
    /// The WP of this name.
    #[must_use]
    pub fn wp(&self, id: &WpId) -> Option<&Wp> {
        self.wps.iter().find(|wp| &wp.id == id)
    }
}
