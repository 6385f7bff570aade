//! The plan as resolved: every default applied, every name checked, nothing left to look up. What
//! the file may say, and how, is `plan::document`; this is what the engine runs.

mod tier;
mod wp;

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::critic::{self, Critic, When};
use super::delivery::Delivery;
use super::ids::{RunId, StageId, TierId, WorkerId, WpId};
use super::time::Length;
use super::turn::Usd;
use super::verdict::ReviewSeverity;

pub use tier::{Adapter, BUILT_IN_WORKERS, BriefBy, Continue, Does, Tier, Worker, grace};
pub use wp::{Dod, Fork, Kind, ReportForm, Review, Risk, Wp};

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
    /// Files that the lead may change in a WP that it takes, before a worker has to look at it.
    #[serde(default = "lead_may_fix")]
    pub lead_may_fix: u32,
    /// Whether the session that approves a run leaves it to another.
    #[serde(default)]
    pub session_split: SessionSplit,
    /// What all workers and reviewers of the run may use together.
    #[serde(default)]
    pub budget: Budget,
    /// What is looked at once more when everything is integrated.
    #[serde(default)]
    pub verify: Option<Verify>,
    /// How work leaves the machine; without it nothing does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delivery: Option<Delivery>,
    /// Who reads the plan before anybody says yes to it; without it nobody does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub critic: Option<Critic>,
}

/// What a lead may change by hand where nothing is said.
pub const LEAD_MAY_FIX: u32 = 1;

fn lead_may_fix() -> u32 {
    LEAD_MAY_FIX
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

/// Whether an approved run goes on in the session that approved it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SessionSplit {
    /// It does: who approves at a terminal wants to see it run.
    #[default]
    Never,
    /// It stops there where that pays: a high risk, stages, or [`MANY`] work packages.
    Auto,
    /// It stops there.
    Always,
}

/// Work packages from which on [`SessionSplit::Auto`] splits.
pub const MANY: usize = 3;

/// What may be used up. `None` is no limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Budget {
    /// Money.
    #[serde(default)]
    pub usd: Option<Usd>,
    /// Tokens, input and output.
    #[serde(default)]
    pub tokens: Option<u64>,
}

/// The last look at the whole, after everything is integrated. It reports and mends nothing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Verify {
    /// Who reads the whole diff against the briefs.
    pub review_tier: Option<TierId>,
    /// Least severity of what they find from which the whole does not hold.
    #[serde(default = "block_from")]
    pub block_from: ReviewSeverity,
    /// End-to-end commands that are run on the integrated tree.
    pub live: Vec<Dod>,
}

impl Default for Verify {
    fn default() -> Self {
        Self { review_tier: None, block_from: block_from(), live: Vec::new() }
    }
}

/// Least severity of a review's finding that blocks, where the plan does not say.
#[must_use]
pub fn block_from() -> ReviewSeverity {
    ReviewSeverity::Minor
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

/// WPs that run in parallel.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stage {
    /// Its name.
    pub id: StageId,
    /// Paths that no WP of the stage may touch: left for consolidation.
    pub shared: Vec<String>,
}

impl Plan {
    /// The WP of this name.
    #[must_use]
    pub fn wp(&self, id: &WpId) -> Option<&Wp> {
        self.wps.iter().find(|wp| &wp.id == id)
    }

    /// Why a run of it stops once it is approved, and goes on in another session; nothing where it runs on.
    #[must_use]
    pub fn splits(&self) -> Option<String> {
        match self.session_split {
            SessionSplit::Never => None,
            SessionSplit::Always => Some("`session_split = \"always\"`".to_owned()),
            SessionSplit::Auto => {
                Some(format!("`session_split = \"auto\"`: {}", self.weighs(MANY)?))
            }
        }
    }

    /// Why a critic is to read it before anybody says yes; nothing where none is.
    #[must_use]
    pub fn criticised(&self) -> Option<String> {
        match self.critic.as_ref().map(|it| it.when).unwrap_or_default() {
            When::Never => None,
            When::Always => Some("`when = \"always\"` under `[critic]`".to_owned()),
            When::Auto => self.weighs(critic::MANY),
        }
    }

    /// Why it is more than one can see at a glance: a high risk, stages, or this many work packages.
    fn weighs(&self, many: usize) -> Option<String> {
        if let Some(wp) = self.wps.iter().find(|wp| wp.risk == Risk::High) {
            return Some(format!("the risk of `{}` is high", wp.id));
        }
        if self.mode == Mode::Staged {
            return Some("it has stages".to_owned());
        }
        (self.wps.len() >= many).then(|| format!("it has {} work packages", self.wps.len()))
    }

    /// The tier of the critic that is to read it, where one is and there is somebody to.
    #[must_use]
    pub fn critic_tier(&self) -> Option<&TierId> {
        self.criticised()?;
        self.critic.as_ref()?.tier.as_ref()
    }

    /// Every tier that a session of this WP may be of: its own, those that rounds go on to or that stand in,
    /// and its reviewers'.
    #[must_use]
    pub fn tiers_of<'a>(&'a self, wp: &'a Wp) -> BTreeSet<&'a TierId> {
        let mut tiers = self.reached(&wp.tier, true);
        if let Review::Worker { tier, .. } = &wp.review {
            tiers.extend(self.reached(tier, false));
        }
        tiers
    }

    /// Every tier that a session of the run may be of.
    #[must_use]
    pub fn tiers_in_use(&self) -> BTreeSet<&TierId> {
        let last = self.verify.as_ref().and_then(|verify| verify.review_tier.as_ref());
        let last = last.into_iter().flat_map(|tier| self.reached(tier, false));
        self.wps.iter().flat_map(|wp| self.tiers_of(wp)).chain(last).collect()
    }

    /// A tier and those that may stand in for it; of a worker's, also those that later rounds may go to.
    fn reached<'a>(&'a self, first: &'a TierId, later: bool) -> BTreeSet<&'a TierId> {
        let (mut found, mut open) = (BTreeSet::new(), vec![first]);
        while let Some(name) = open.pop() {
            let Some(tier) = self.tiers.get(name) else { continue };
            if found.insert(name) && (later || name == first) {
                open.extend(&tier.fallback);
                open.extend(tier.escalate_to.iter().filter(|_| later));
            }
        }
        found
    }
}
