//! The checkpoint report: what a run of a plan would do, before anything is done. `run` finds it out,
//! `report::checkpoint` draws it, a person says yes to it.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::approval::Covers;
use super::critic::PlannedCritic;
use super::delivery::PlannedDelivery;
use super::estimate::{Estimate, Past};
use super::ids::{CommitId, RunId, StageId, TierId, WorkerId, WpId};
use super::outcome::{DodClass, Ran};
use super::plan::{Approval, Budget, Kind, Mode, Risk};
use super::preflight::{Preflight, State};
use super::time::Length;
use super::verdict::ReviewSeverity;

/// What a run would do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Checkpoint {
    /// The name that the run will have.
    pub run: RunId,
    /// The plan file as the user named it.
    pub plan: String,
    /// SHA-256 of the plan: what an approval is bound to.
    pub plan_sha256: String,
    /// What the plan is for.
    pub goal: String,
    /// The revision that the plan names as its base.
    pub base: String,
    /// The commit that the base is pinned to.
    pub commit: CommitId,
    /// How WPs relate.
    pub mode: Mode,
    /// Whether a person will be asked.
    pub approval: Approval,
    /// WPs at work at once, at most.
    pub max_parallel: usize,
    /// What every fresh worktree gets.
    pub provision: PlannedProvision,
    /// Stages in order; independent plans have one.
    pub stages: Vec<PlannedStage>,
    /// Tiers that its workers and reviewers may be of, by name, with their limits.
    #[serde(default)]
    pub tiers: BTreeMap<TierId, PlannedTier>,
    /// What all of them may use together.
    #[serde(default)]
    pub budget: Budget,
    /// What its WPs are likely to use, from earlier runs of this repository; nothing where there are none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub estimate: Option<Estimate>,
    /// The last look at the whole; nothing where nothing is integrated.
    #[serde(default)]
    pub verify: Option<PlannedVerify>,
    /// WPs of one stage whose whitelists meet.
    pub overlaps: Vec<Overlap>,
    /// What a yes to it covers.
    #[serde(default)]
    pub covers: Covers,
    /// What of that is approved, where it was named on the command line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approved: Option<Covers>,
    /// Why the run stops once it is approved, and `sop resume` goes on from another session; nothing where it runs on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_split: Option<String>,
    /// Who reads the plan before anybody says yes; nothing where no critic is to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub critic: Option<PlannedCritic>,
    /// What leaves the machine; nothing where the plan does not want that.
    #[serde(default)]
    pub delivery: Option<PlannedDelivery>,
    /// Worktrees that are removed once their work is proven merged.
    pub cleaned: Vec<String>,
    /// What the person should know before saying yes.
    pub warnings: Vec<String>,
    /// What holds before the run, as far as the plan has use for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preflight: Option<Preflight>,
}

/// A tier, and what holds each session on it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PlannedTier {
    /// Who works.
    pub worker: WorkerId,
    /// Model; nothing is the worker's own.
    pub model: Option<String>,
    /// Effort; nothing is the worker's own.
    pub effort: Option<String>,
    /// Packages at work and reviewers on it at once; nothing is no limit of its own.
    pub max_parallel: Option<usize>,
    /// Wall clock of one session.
    pub timeout: Length,
    /// Longest silence of one session; nothing is no limit.
    pub idle_timeout: Option<Length>,
    /// Model calls of one session; nothing is no limit.
    pub max_turns: Option<u32>,
    /// Size of one session's log in bytes.
    pub log_limit: u64,
    /// Time between TERM and KILL.
    pub grace: Length,
}

/// What every fresh worktree gets before a worker may enter.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct PlannedProvision {
    /// Untracked files brought along, never committed.
    pub copy: Vec<String>,
    /// Commands run in it, as people read them.
    pub setup: Vec<String>,
    /// Paths that must exist afterwards.
    pub expect: Vec<String>,
}

/// The last look at the whole: two legs, each of which a plan may lack.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct PlannedVerify {
    /// Who reads the whole: tier and worker.
    pub review: Option<String>,
    /// Least severity of a finding of theirs from which the whole does not hold.
    #[serde(default)]
    pub block_from: Option<ReviewSeverity>,
    /// End-to-end commands.
    pub live: Vec<String>,
}

/// A stage and what becomes of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PlannedStage {
    /// Its name.
    pub stage: StageId,
    /// Paths that none of its WPs may touch.
    pub shared: Vec<String>,
    /// The branch that its WPs are merged onto; `None` when nothing is merged.
    pub merged_on: Option<String>,
    /// Its WPs in the plan's order.
    pub wps: Vec<PlannedWp>,
}

/// A work package and what it may do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PlannedWp {
    /// Its id.
    pub id: WpId,
    /// One line for people.
    pub title: String,
    /// What it leaves behind.
    pub kind: Kind,
    /// Who works first.
    pub tier: TierId,
    /// The worker of that tier.
    pub worker: WorkerId,
    /// How much can go wrong.
    pub risk: Risk,
    /// The paths it may touch.
    pub whitelist: Vec<String>,
    /// Paths of the base that the whitelist matches.
    pub files: u64,
    /// What proves it done.
    pub dod: Vec<PlannedDod>,
    /// WPs it waits for by name, besides the stages before.
    pub needs: Vec<WpId>,
    /// Resources it does not share.
    pub locks: Vec<String>,
    /// Who judges the work: `none`, `human`, or the command.
    pub review: String,
    /// Rounds before a person decides.
    pub rounds: u32,
    /// What its workers and reviewers may use together.
    #[serde(default)]
    pub budget: Budget,
    /// What it is likely to use, from WPs of earlier runs that began on its tier; nothing where there are none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub estimate: Option<Estimate>,
    /// The branch that its work is committed on; `None` for a scout.
    pub committed_on: Option<String>,
    /// Findings that it deals with.
    #[serde(default)]
    pub findings: Vec<String>,
}

/// A Definition-of-Done command and what the dry run said of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PlannedDod {
    /// The command as the plan has it.
    pub run: String,
    /// Its limit.
    pub timeout: Length,
    /// What it said on the base; `None` when it was not run there.
    pub class: Option<DodClass>,
    /// What the plan says that it must say.
    pub expect: Option<DodClass>,
    /// Whether the two differ.
    pub violated: bool,
    /// The run itself.
    pub ran: Option<Ran>,
    /// Last lines of its output when it could not run, or said what it must not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tail: Option<String>,
}

/// Two WPs of one stage that may tread on each other.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Overlap {
    /// The one.
    pub left: WpId,
    /// The other.
    pub right: WpId,
    /// Whether it happens already or only could.
    pub sort: OverlapSort,
    /// Paths of the base in both, or the one path that shows that it can happen (of a clash: the file, and
    /// what needs a folder in its place); escaped.
    pub paths: Vec<String>,
    /// How many there are, where not all are listed.
    pub total: u64,
}

/// How sure an overlap is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum OverlapSort {
    /// A path in the base matches both.
    Overlap,
    /// No path in the base does, but one could.
    Possible,
    /// One could make a file where the other needs a folder.
    Clash,
}

impl PlannedDod {
    /// A command with what the plan expects of it and what the dry run found.
    #[must_use]
    pub fn new(
        run: impl Into<String>,
        timeout: Length,
        expect: Option<DodClass>,
        found: Option<(DodClass, Ran)>,
    ) -> Self {
        let class = found.as_ref().map(|(class, _)| *class);
        let violated = matches!((class, expect), (Some(class), Some(expect)) if class != expect);
        let ran = found.map(|(_, ran)| ran);
        Self { run: run.into(), timeout, class, expect, violated, ran, tail: None }
    }

    /// The same command, with the last lines of its output.
    #[must_use]
    pub fn tailed(mut self, tail: impl Into<String>) -> Self {
        self.tail = Some(tail.into());
        self
    }
}

impl Checkpoint {
    /// Every WP, stage by stage.
    pub fn wps(&self) -> impl Iterator<Item = &PlannedWp> {
        self.stages.iter().flat_map(|stage| &stage.wps)
    }

    /// The same, with what its WPs are likely to use, as `past` has it.
    #[must_use]
    pub fn estimated(mut self, past: &Past) -> Self {
        for wp in self.stages.iter_mut().flat_map(|stage| &mut stage.wps) {
            wp.estimate =
                past.get(&(wp.kind, wp.tier.clone())).and_then(|samples| Estimate::of(samples));
        }
        let parts: Vec<Estimate> = self.wps().filter_map(|wp| wp.estimate).collect();
        self.estimate = Estimate::sum(&parts);
        self
    }

    /// Whether the run would stop before any worker is paid: a DoD that cannot run, or says on the
    /// base what the plan rules out, two WPs on one path, or what preflight found.
    #[must_use]
    pub fn would_stop(&self) -> bool {
        let dods = self.wps().flat_map(|wp| &wp.dod);
        let broken = dods.into_iter().any(|d| d.violated || d.class == Some(DodClass::Broken));
        let stops = self.preflight.as_ref().is_some_and(|it| it.state == State::Stop);
        stops || broken || self.overlaps.iter().any(|o| o.sort == OverlapSort::Overlap)
    }
}
