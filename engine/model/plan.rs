//! The plan as resolved: every default applied, every name checked, nothing left to look up. What
//! the file may say, and how, is `plan::document`; this is what the engine runs.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::ids::{RunId, StageId, TierId, WorkerId, WpId};
use super::outcome::DodClass;
use super::time::Length;
use super::turn::Usd;
use super::verdict::ReviewSeverity;

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
    /// Whether a worker's question may be answered with its own default.
    #[serde(default)]
    pub autonomy: Autonomy,
    /// How long a person has to answer a question before its default is taken, where that is allowed.
    #[serde(default)]
    pub decide_within: Option<Length>,
    /// What all workers and reviewers of the run may use together.
    #[serde(default)]
    pub budget: Budget,
    /// What is looked at once more when everything is integrated.
    #[serde(default)]
    pub verify: Option<Verify>,
}

/// Who answers a question that a worker asks and the plan does not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Autonomy {
    /// A person.
    #[default]
    Ask,
    /// A person, or the default that the question came with once `decide_within` has passed.
    Defaults,
}

/// What may be used up. `None` is no limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Budget {
    /// Money.
    #[serde(default)]
    pub usd: Option<Usd>,
    /// Tokens, input and output.
    #[serde(default)]
    pub tokens: Option<u64>,
}

/// The last look at the whole, after everything is integrated. It reports and mends nothing.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Verify {
    /// Who reads the whole diff against the briefs.
    pub review_tier: Option<TierId>,
    /// End-to-end commands that are run on the integrated tree.
    pub live: Vec<Dod>,
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
    /// Time between TERM and KILL.
    #[serde(default = "grace")]
    pub grace: Length,
    /// Model calls in one attempt.
    #[serde(default)]
    pub max_turns: Option<u32>,
    /// What a later attempt goes on with.
    #[serde(default)]
    pub continues: Continue,
}

/// How long a worker has after TERM, where the plan does not say.
#[must_use]
pub fn grace() -> Length {
    Length::secs(10)
}

/// What a later attempt at the same WP goes on with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Continue {
    /// The agent's own session where it has one, with only what is new; else as `fresh`.
    #[default]
    Session,
    /// A new session that gets the whole brief.
    Fresh,
}

/// What takes a brief and changes files.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Worker {
    /// What it is.
    #[serde(flatten)]
    pub does: Does,
    /// Extra environment.
    pub env: BTreeMap<String, String>,
}

/// What a worker is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Does {
    /// A coding agent, driven by its adapter.
    Agent {
        /// Which adapter.
        agent: Adapter,
        /// Program and first arguments, in place of the adapter's own; empty is the adapter's own.
        program: Vec<String>,
        /// Arguments on top of the adapter's.
        args: Vec<String>,
    },
    /// Any command.
    Command {
        /// Argument vector; each argument is a template over `wp`, `plan`, `tier`, `run`, `round`, `brief_file`.
        command: Vec<String>,
        /// How the brief is handed over.
        brief: BriefBy,
    },
}

/// Adapters to coding agents: each knows one agent's command line and stream.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Adapter {
    /// `codex exec`.
    Codex,
    /// `claude -p`.
    Claude,
    /// `gemini -p`.
    Gemini,
    /// `opencode run`.
    Opencode,
    /// `aider --message-file`.
    Aider,
    /// Any agent that speaks the Agent Client Protocol on its standard input and output.
    Acp,
}

impl Adapter {
    /// Every adapter, in the order they are listed.
    pub const ALL: [Self; 6] =
        [Self::Codex, Self::Claude, Self::Gemini, Self::Opencode, Self::Aider, Self::Acp];

    /// The name as in a plan.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Codex => "codex",
            Self::Claude => "claude",
            Self::Gemini => "gemini",
            Self::Opencode => "opencode",
            Self::Aider => "aider",
            Self::Acp => "acp",
        }
    }
}

/// Workers that need no `[workers.NAME]` table: name, adapter, and the program where it is not the
/// adapter's own.
pub const BUILT_IN_WORKERS: [(&str, Adapter, &[&str]); 9] = [
    ("codex", Adapter::Codex, &[]),
    ("claude", Adapter::Claude, &[]),
    ("gemini", Adapter::Gemini, &[]),
    ("opencode", Adapter::Opencode, &[]),
    ("aider", Adapter::Aider, &[]),
    ("codex-acp", Adapter::Acp, &["codex-acp"]),
    ("claude-acp", Adapter::Acp, &["claude-agent-acp"]),
    ("gemini-acp", Adapter::Acp, &["gemini", "--acp"]),
    ("opencode-acp", Adapter::Acp, &["opencode", "acp"]),
];

impl Worker {
    /// The program and its arguments as the plan has them; empty for an agent's own program.
    #[must_use]
    pub fn argv(&self) -> &[String] {
        match &self.does {
            Does::Command { command, .. } => command,
            Does::Agent { program, .. } => program,
        }
    }

    /// The built-in worker of this name.
    #[must_use]
    pub fn built_in(name: &str) -> Option<Self> {
        let (_, agent, program) = BUILT_IN_WORKERS.iter().find(|(known, ..)| *known == name)?;
        let program = program.iter().map(|word| (*word).to_owned()).collect();
        let does = Does::Agent { agent: *agent, program, args: Vec::new() };
        Some(Self { does, env: BTreeMap::new() })
    }
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
    /// What its workers and reviewers may use together.
    #[serde(default)]
    pub budget: Budget,
    /// The stage whose shared files it alone may touch: the consolidation WP that the stage ends with.
    #[serde(default)]
    pub consolidates: Option<StageId>,
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
    /// Sessions of another worker, one for each lens, read-only and side by side.
    Worker {
        /// Who reviews.
        tier: TierId,
        /// What to look for: names of the templates `review-NAME`.
        lenses: Vec<String>,
        /// Least severity that blocks.
        block_from: ReviewSeverity,
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
