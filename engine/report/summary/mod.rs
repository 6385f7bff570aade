//! What a run came to: for each WP what was verified and where its work is, what to type next, and the
//! first cause of a failure. As data for programs; `human` draws it.

mod closing;
mod facts;
mod failure;
mod findings;
mod human;
mod next;

use std::path::Path;

use schemars::JsonSchema;
use serde::Serialize;

pub use closing::{Closing, Deferred, Remains, SessionEnd};
pub use failure::Failure;
pub use findings::{DealtWith, Findings, Left as LeftFinding};
pub use next::NextCommand;

use crate::event::{Outcome, Standing, StopReason};
use crate::ledger::{Accepted, Fork, GatePhase, Ledger, Note, Outage, Phase};
use crate::model::critic::Reading;
use crate::model::ids::{CommitId, RunId, StageId, TierId, WpId};
use crate::model::outcome::{Class, End, Problem};
use crate::model::plan::Kind;
use crate::model::stand::Stand;
use crate::model::time::Length;
use crate::model::turn::Fault;
use crate::model::verdict::Judgment;
use crate::report::commands;
use crate::report::costs::Costs;
use crate::report::delivery::Delivered;
use crate::report::whole::Whole;
use crate::report::words;

/// What a command begins with that takes the result.
const TAKES: &str = "git merge ";

/// A run in retrospect.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Summary {
    /// The run.
    pub run: RunId,
    /// What it is for.
    pub goal: String,
    /// How it stands, as far as its work is concerned.
    pub outcome: Outcome,
    /// The same, with whether anybody is at work on it: the word that all reports say.
    pub stand: Stand,
    /// Whether it was put away: nobody goes on with it.
    pub archived: bool,
    /// What failed, where every WP got through and it failed all the same.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failed_in: Option<String>,
    /// Why the engine let it go, where it did so before the end.
    pub stopped: Option<StopReason>,
    /// From the run's first record to its last.
    pub took: Length,
    /// The commit that everything started from.
    pub base: CommitId,
    /// WPs that got through.
    pub through: usize,
    /// WPs by level, then in the plan's order.
    pub wps: Vec<WpSummary>,
    /// Stages that were merged, or that do not hold together.
    pub stages: Vec<StageSummary>,
    /// What left the machine, where the plan has it do so.
    pub delivery: Option<Delivered>,
    /// The last look at the whole, where there is a whole.
    pub verify: Option<Whole>,
    /// What of the repository is nobody's to touch and is not as it was when the run began.
    pub tampering: Vec<Standing>,
    /// What became of the repository and was taken as it is, by whom.
    pub accepted: Vec<Accepted>,
    /// What a critic said of the plan before it was approved, and what was answered; nothing where none read it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub critic: Option<Reading>,
    /// Corrections of the plan's facts.
    pub corrections: Vec<Note>,
    /// Providers that fail.
    pub outages: Vec<Outage>,
    /// What sessions used; nothing where none of them told any.
    pub costs: Option<Costs>,
    /// Steps that still run although the run is over.
    pub left: Vec<Left>,
    /// Lessons that the run's failures suggest, each as the command that keeps it.
    pub lessons: Vec<NextCommand>,
    /// What is left now that it is over, and what became of the user's checkout.
    pub closing: Closing,
    /// What to type, the most useful first.
    pub next: Vec<NextCommand>,
    /// The first cause of a failure.
    pub failure: Option<Failure>,
    /// The run directory.
    pub directory: String,
}

/// A step that nobody waits for any more, and that still runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Left {
    /// Whose it is: a WP, or another unit of the run.
    pub unit: String,
    /// Which.
    pub step: String,
}

/// A WP in retrospect.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct WpSummary {
    /// Its id.
    pub id: WpId,
    /// One line for people.
    pub title: String,
    /// The stage it belongs to.
    pub stage: StageId,
    /// What it leaves behind.
    pub kind: Kind,
    /// Where it is.
    pub state: Phase,
    /// What `sop` checked by itself in the last round.
    pub verified: Verified,
    /// Rounds it took.
    pub rounds: u32,
    /// Workers that were started.
    pub attempts: u32,
    /// Who worked, in order.
    pub tiers: Vec<TierId>,
    /// How long its own work took.
    pub took: Option<Length>,
    /// Its branch.
    pub branch: Option<String>,
    /// The checked commit.
    pub commit: Option<CommitId>,
    /// Its worktree, while there is one.
    pub worktree: Option<String>,
    /// Why its worktree stays, where somebody has to know.
    pub kept: Option<String>,
    /// That its branch is not at the checked commit, and what sets it right.
    pub moved: Option<Moved>,
    /// The report's name within the run directory.
    pub report: Option<String>,
    /// The WP that it could not go on without.
    pub because: Option<WpId>,
    /// What its worker asks and nobody has answered.
    pub asks: Vec<Fork>,
    /// Why its last session is no finished turn, in the agent's own words, where it did not get through.
    pub fault: Option<Fault>,
    /// What is wrong with it.
    pub problems: Vec<Problem>,
    /// What was seen and is blamed on no one.
    pub notes: Vec<String>,
    /// Who of the lead has it in their own hands.
    pub taken_by: Option<String>,
    /// Files that the lead changed in it by hand, no worker.
    pub by_lead: Vec<String>,
}

/// A branch that is not where its work was checked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Moved {
    /// What became of it.
    pub what: String,
    /// The command that sets it right.
    pub command: String,
}

/// What was checked, and what the checks said. What is absent was not checked.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, JsonSchema)]
pub struct Verified {
    /// The diff against the whitelist.
    pub scope: Option<ScopeSummary>,
    /// DoD commands in the plan's order.
    pub dod: Vec<DodSummary>,
    /// The review.
    pub review: Option<ReviewSummary>,
}

/// The scope check.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ScopeSummary {
    /// Paths that differ from the base.
    pub paths: u64,
    /// Whether all of them may.
    pub ok: bool,
}

/// A DoD command.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct DodSummary {
    /// The command as the plan has it.
    pub run: String,
    /// How it ended.
    pub end: End,
    /// Name of its log within the run directory.
    pub log: String,
}

/// A review.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ReviewSummary {
    /// A person's name or the command.
    pub by: String,
    /// The judgment.
    pub verdict: Judgment,
}

/// A stage's gate.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct StageSummary {
    /// The gate's number.
    pub gate: u32,
    /// The stage.
    pub stage: StageId,
    /// Where the gate is.
    pub state: GatePhase,
    /// WPs that were merged.
    pub wps: Vec<WpId>,
    /// DoD commands run on the merged tree, and how many of them exit 0.
    pub dod: (usize, usize),
    /// The branch that holds the result.
    pub branch: Option<String>,
    /// The merged commit.
    pub commit: Option<CommitId>,
    /// That the branch is not at that commit, and what sets it right.
    pub moved: Option<Moved>,
    /// Whose answer a failure needs.
    pub class: Option<Class>,
    /// What is wrong.
    pub problems: Vec<Problem>,
}

impl Summary {
    /// Sums up `ledger`, whose logs are in the run directory `directory`.
    #[must_use]
    pub fn of(ledger: &Ledger, directory: &Path) -> Self {
        Self {
            run: ledger.run.clone(),
            goal: ledger.goal.clone(),
            outcome: ledger.outcome.unwrap_or_else(|| ledger.standing()),
            stand: ledger.stands(false),
            archived: false,
            failed_in: words::failed_in(ledger),
            stopped: ledger.stopped.filter(|_| ledger.outcome.is_none()),
            took: ledger.updated_at.since(ledger.created_at),
            base: ledger.base.clone(),
            through: ledger.wps.iter().filter(|wp| wp.phase.got_through()).count(),
            wps: ledger.wps.iter().map(|wp| WpSummary::of(wp, ledger)).collect(),
            stages: ledger.gates.iter().filter_map(|gate| StageSummary::of(gate, ledger)).collect(),
            delivery: Delivered::of(ledger),
            verify: Whole::of(ledger),
            tampering: ledger.tampering.clone(),
            accepted: ledger.accepted.clone(),
            critic: None,
            corrections: ledger.notes.clone(),
            outages: ledger.outages.clone(),
            costs: Costs::of(ledger),
            left: Vec::new(),
            lessons: next::lessons(ledger),
            closing: Closing::of(ledger),
            next: next::commands(ledger),
            failure: Failure::first(ledger, directory),
            directory: directory.display().to_string(),
        }
    }

    /// The same, with steps that still run although the run is over: the unit and the step of each.
    #[must_use]
    pub fn with_at_work(mut self, steps: Vec<(String, String)>) -> Self {
        if !self.is_over() {
            return self;
        }
        self.left.extend(steps.into_iter().map(|(unit, step)| Left { unit, step }));
        let clean = commands::clean(&self.run);
        let any = !self.left.is_empty() || !self.closing.remains.is_empty();
        if any && !self.next.iter().any(|next| next.command == clean) {
            let why = "see what is left of it, and what of that may go".to_owned();
            self.next.push(NextCommand { command: clean, why });
        }
        self
    }

    /// The same, with what a critic said of its plan.
    #[must_use]
    pub fn read_by(mut self, critic: Option<Reading>) -> Self {
        self.critic = critic;
        self
    }

    /// The same, of worktrees that are still there, as `is_there` says: a run's journal ends before they are cleared away.
    #[must_use]
    pub fn as_found(mut self, is_there: impl Fn(&str) -> bool) -> Self {
        if self.is_over() {
            self.closing.found(&is_there);
            for wp in &mut self.wps {
                if wp.worktree.as_deref().is_some_and(|path| !is_there(path)) {
                    (wp.worktree, wp.kept) = (None, None);
                }
            }
        }
        self
    }

    /// The same of a run that an engine has.
    #[must_use]
    pub fn running(mut self) -> Self {
        if self.stopped.is_none() && !matches!(self.stand, Stand::Done | Stand::Failed) {
            self.stand = Stand::Running;
        }
        self
    }

    /// The same of a run that was put away: what it left can be taken, and nothing else can be done with it.
    #[must_use]
    pub fn put_away(mut self) -> Self {
        self.archived = true;
        self.next.retain(|next| next.command.starts_with(TAKES));
        let clean = commands::clean(&self.run);
        self.closing.remains.retain(|it| it.command == clean);
        self
    }

    /// The same, what was asked of the run included, that stood so before: an engine takes that up first.
    #[must_use]
    pub fn asked_of(mut self, before: &Ledger) -> Self {
        let resume = commands::resume(&self.run);
        let fresh = |wp: &WpSummary| {
            wp.state == Phase::Cancelled
                && before.wp(&wp.id).is_some_and(|it| it.phase != Phase::Cancelled)
        };
        let undone: Vec<String> = (self.wps.iter().filter(|wp| fresh(wp)))
            .map(|wp| commands::retry(&self.run, &wp.id))
            .collect();
        self.next.retain(|next| next.command != resume && !undone.contains(&next.command));
        let why = "take up what was asked for".to_owned();
        self.next.insert(0, NextCommand { command: resume, why });
        self
    }

    fn is_over(&self) -> bool {
        self.stopped.is_none() && matches!(self.outcome, Outcome::Done | Outcome::Failed)
    }
}
