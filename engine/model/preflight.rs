//! What holds before a run: ten parts, each with what was found, what that means, and what to do about
//! it. `preflight` finds it out, `report::preflight` draws it, and the checkpoint report carries it.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::baseline::Baseline;
use super::ids::{CommitId, RunId};
use super::setting::{At, Level};

/// What holds before a run. `sop preflight` looks at every part; `sop plan` and `sop apply` leave out those
/// that the plan has no use for.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Preflight {
    /// The worst of all parts.
    pub state: State,
    /// Who would work, and whether they are there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runtime: Option<Part<Runtime>>,
    /// The settings that a run would have.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub config: Option<Part<Config>>,
    /// The repository's own files for agents, at the base and in the checkout.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instructions: Option<Part<Instructions>>,
    /// What runs from before have left.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub leftovers: Option<Part<Leftovers>>,
    /// Runs that are not over.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<Part<Runs>>,
    /// Where pull requests would go.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pr: Option<Part<Requests>>,
    /// The checkout as it is now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub baseline: Option<Part<Baseline>>,
    /// The local base against its upstream.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base_check: Option<Part<BaseCheck>>,
    /// Docker's networks against what would run at once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub docker_pool: Option<Part<DockerPool>>,
    /// Git, and what is special about this repository.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub git: Option<Part<Git>>,
}

/// Whether a run can start.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// It can.
    #[default]
    Go,
    /// It can, and somebody should look first.
    Warn,
    /// It cannot.
    Stop,
}

impl State {
    /// The word in the JSON.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Go => "go",
            Self::Warn => "warn",
            Self::Stop => "stop",
        }
    }
}

/// One part: its facts, and what they come to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "{T}Part")]
pub struct Part<T> {
    /// The worst of what it has to say.
    pub state: State,
    /// What was found, in one sentence; the worst, where there is more.
    pub what: String,
    /// What to do about that; nothing where nothing is to be done.
    #[serde(rename = "do")]
    pub help: Option<String>,
    /// What else somebody should look at, the worst first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub more: Vec<Word>,
    /// What was found, in full; nothing where it could not be found out.
    #[serde(flatten)]
    pub facts: Option<T>,
}

/// One thing that somebody should look at.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Word {
    /// How bad it is.
    pub state: State,
    /// What was found.
    pub what: String,
    /// What to do about it.
    #[serde(rename = "do")]
    pub help: Option<String>,
}

impl Word {
    /// Nothing is to be done.
    #[must_use]
    pub fn fine(what: impl Into<String>) -> Self {
        Self { state: State::Go, what: what.into(), help: None }
    }

    /// A run can start all the same.
    #[must_use]
    pub fn warn(what: impl Into<String>, help: impl Into<String>) -> Self {
        Self { state: State::Warn, what: what.into(), help: Some(help.into()) }
    }

    /// No run can start.
    #[must_use]
    pub fn stop(what: impl Into<String>, help: impl Into<String>) -> Self {
        Self { state: State::Stop, what: what.into(), help: Some(help.into()) }
    }
}

impl<T> Part<T> {
    /// A part with these facts. `fine` is what there is to say where `words` has nothing.
    #[must_use]
    pub fn new(facts: T, fine: impl Into<String>, mut words: Vec<Word>) -> Self {
        // Stable: what was looked at first is told first.
        words.sort_by_key(|word| std::cmp::Reverse(word.state));
        let mut words = words.into_iter();
        let worst = words.next().unwrap_or_else(|| Word::fine(fine));
        Self {
            state: worst.state,
            what: worst.what,
            help: worst.help,
            more: words.collect(),
            facts: Some(facts),
        }
    }

    /// A part that could not be found out.
    #[must_use]
    pub fn unknown(word: Word) -> Self {
        let Word { state, what, help } = word;
        Self { state, what, help, more: Vec::new(), facts: None }
    }

    /// What somebody should look at; nothing where all is well.
    pub fn words(&self) -> impl Iterator<Item = Word> {
        let worst = Word { state: self.state, what: self.what.clone(), help: self.help.clone() };
        let worst = Some(worst).filter(|word| word.state > State::Go);
        worst.into_iter().chain(self.more.iter().cloned())
    }
}

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

/// Who would work, and whether they are there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Runtime {
    /// Who leads: the tier `lead`.
    pub lead: Option<RoleTier>,
    /// Who leads once the plan is approved: the tier `lead_phase2`, else `lead`.
    pub lead_phase2: Option<RoleTier>,
    /// Who works: the tier `standard`.
    pub worker: Option<RoleTier>,
    /// Who does what is small: the tier `light`.
    pub worker_light: Option<RoleTier>,
    /// Who only reads: the tier `scout`.
    pub scout: Option<RoleTier>,
    /// Tiers beside those that the plan's packages start on, by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub others: BTreeMap<String, RoleTier>,
    /// Whether a run goes on in another session once its plan is approved.
    pub session_split: Said<String>,
}

/// A tier, and who stands behind it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RoleTier {
    /// The tier.
    pub tier: String,
    /// Its worker.
    pub worker: String,
    /// Who drives it; absent for a command.
    pub adapter: Option<String>,
    /// Its model, where the tier names one.
    pub model: Option<String>,
    /// Its effort, where the tier names one.
    pub effort: Option<String>,
    /// The program that is started.
    pub program: String,
    /// Where that is; absent where it is not found, or lies in the worktree.
    pub path: Option<String>,
    /// Whether it is there; absent where only a worktree would tell.
    pub found: Option<bool>,
    /// What it calls itself, where it was asked.
    pub version: Option<String>,
    /// Whether it is logged in; absent for a command.
    pub auth: Option<Auth>,
    /// Whether the plan at hand starts it.
    pub used: bool,
}

/// Whether an agent is logged in, read from its files and the names of variables. Nothing is called, and no
/// secret is ever told.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Auth {
    /// Whether it has something to show.
    pub authenticated: Known,
    /// What it would show.
    pub method: Option<Method>,
    /// The variable or the file that holds it.
    pub from: Option<String>,
    /// What to do, where it has nothing.
    #[serde(rename = "do", default, skip_serializing_if = "Option::is_none")]
    pub help: Option<String>,
}

/// What can be told from outside.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Known {
    /// It is so.
    Yes,
    /// It is not so.
    No,
    /// Only a call would tell.
    Unknown,
}

/// How an agent is logged in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Method {
    /// A key that is paid for by use.
    ApiKey,
    /// A token in the environment.
    Token,
    /// A login that it keeps in a file.
    Login,
}

/// The settings that a run would have.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Config {
    /// The checkout that runs start from and never touch; none in a bare repository.
    pub source_worktree: Said<Option<String>>,
    /// What a run starts from.
    pub default_base: Said<String>,
    /// What a fresh worktree gets.
    pub provision: Said<ProvisionSetting>,
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
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct ProvisionSetting {
    /// Untracked files that are brought along.
    pub copy: Vec<String>,
    /// Commands that are run in it.
    pub setup: Vec<String>,
    /// Limit for each of them.
    pub timeout: String,
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

/// The repository's own files for agents.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Instructions {
    /// The commit that a run would start from.
    pub base: Option<CommitId>,
    /// The files that are there, at the base or in the checkout.
    pub files: Vec<InstructionFile>,
}

/// One of them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct InstructionFile {
    /// Its path from the top of the repository.
    pub path: String,
    /// Whether the base has it: what workers get to see.
    pub tracked: bool,
    /// What the checkout has.
    pub checkout: InCheckout,
    /// Whether the plan points to it.
    pub named: bool,
}

/// What the checkout has of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum InCheckout {
    /// The same as the base.
    Same,
    /// Something else.
    Differs,
    /// Nothing.
    Missing,
}

/// What runs from before have left.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Leftovers {
    /// Worktrees of runs that are over, or of none.
    pub worktrees: Vec<Leftover>,
    /// Branches of runs that are over, or of none.
    pub branches: Vec<Leftover>,
    /// Runs that are over.
    pub runs: Vec<Leftover>,
    /// Salvage commits.
    pub salvage: Vec<Leftover>,
    /// How many there are of each, where not all are listed.
    pub total: LeftoverCount,
}

/// How much is left.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct LeftoverCount {
    /// Worktrees.
    pub worktrees: u64,
    /// Branches.
    pub branches: u64,
    /// Runs.
    pub runs: u64,
    /// Salvage commits.
    pub salvage: u64,
}

/// One thing that is left.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Leftover {
    /// A folder, a branch, a run, a ref; escaped.
    pub name: String,
    /// The run that it is of, as far as its name says.
    pub run: Option<String>,
    /// The command that clears it.
    pub clear: Option<String>,
}

/// Runs that are not over.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Runs {
    /// Oldest first.
    pub open: Vec<OpenRun>,
}

/// One of them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct OpenRun {
    /// Its name.
    pub run: RunId,
    /// Whether an engine has it right now.
    pub engine: bool,
    /// Whether `sop resume` can go on with it.
    pub resumable: bool,
    /// Why not; or how it stands.
    pub how: String,
}

/// Where pull requests would go.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Requests {
    /// The remote that branches would be pushed to.
    pub remote: Option<String>,
    /// Its host.
    pub host: Option<String>,
    /// The program that speaks to it.
    pub forge: Option<String>,
    /// Where that program is.
    pub path: Option<String>,
    /// Whether it is logged in; absent where there is no such program.
    pub auth: Option<Auth>,
    /// The branch that requests would be made against.
    pub base_branch: Option<String>,
    /// Whether that branch is protected; absent where nobody was asked.
    pub protection: Option<bool>,
}

/// The local base against its upstream.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct BaseCheck {
    /// What the run would start from.
    pub base: String,
    /// The commit that this names now.
    pub commit: Option<CommitId>,
    /// The branch that it is, where it is one.
    pub branch: Option<String>,
    /// What it follows, as far as the last fetch knows.
    pub upstream: Option<String>,
    /// Commits that it has and its upstream lacks.
    pub ahead: Option<u64>,
    /// Commits that its upstream has and it lacks.
    pub behind: Option<u64>,
    /// Whether the upstream was fetched for this.
    pub fetched: bool,
}

/// Docker's networks against what would run at once.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct DockerPool {
    /// Whether a Docker engine answers; absent where nothing here uses it and nobody was asked.
    pub docker: Option<bool>,
    /// What makes use of it.
    pub used_by: Vec<String>,
    /// Networks that its address pools hold.
    pub networks: Option<u64>,
    /// Networks that there are.
    pub taken: Option<u64>,
    /// Networks that are left.
    pub free: Option<u64>,
    /// Packages at work at once, at most.
    pub max_parallel: u64,
}

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

impl Preflight {
    /// Each part that was looked at, with its name.
    #[must_use]
    pub fn parts(&self) -> Vec<(&'static str, Summed)> {
        fn sum<T>(name: &'static str, part: &Option<Part<T>>) -> Option<(&'static str, Summed)> {
            let part = part.as_ref()?;
            let Part { state, what, .. } = part;
            let words = part.words().collect();
            Some((name, Summed { state: *state, what: what.clone(), words }))
        }
        let parts = [
            sum("runtime", &self.runtime),
            sum("config", &self.config),
            sum("instructions", &self.instructions),
            sum("leftovers", &self.leftovers),
            sum("run", &self.run),
            sum("pr", &self.pr),
            sum("baseline", &self.baseline),
            sum("base_check", &self.base_check),
            sum("docker_pool", &self.docker_pool),
            sum("git", &self.git),
        ];
        parts.into_iter().flatten().collect()
    }

    /// The same, with its state that of the worst part.
    #[must_use]
    pub fn summed(mut self) -> Self {
        self.state = self.parts().iter().map(|(_, part)| part.state).max().unwrap_or_default();
        self
    }

    /// What keeps every run from starting, each with the part that says so.
    #[must_use]
    pub fn stops(&self) -> Vec<(&'static str, Word)> {
        let words = self.parts().into_iter();
        let words = words.flat_map(|(name, part)| part.words.into_iter().map(move |w| (name, w)));
        words.filter(|(_, word)| word.state == State::Stop).collect()
    }
}

/// What a part comes to, whatever its facts are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Summed {
    /// Its state.
    pub state: State,
    /// What was found.
    pub what: String,
    /// What somebody should look at.
    pub words: Vec<Word>,
}
