//! One WP's lifecycle: what it is doing is its [`Phase`], and the phase is also what an engine does
//! next with it, whether it has just come there or finds it so after a crash.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{LedgerError, impossible};
use crate::event::{After, Classed, Event, LevelShape, NextStep, Record, WpShape};
use crate::model::ids::{CommitId, StageId, TierId, TreeId, WpId};
use crate::model::outcome::{Check, Class, End, Problem, Ran};
use crate::model::plan::{Kind, Risk};
use crate::model::time::Timestamp;
use crate::model::verdict::{Judgment, Verdict};

/// Passes in which a DoD may change files: one that never leaves them alone proves nothing.
const PASSES: u32 = 4;

/// Where a WP is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    /// What it needs is not there yet.
    Waiting,
    /// Its worktree is being made.
    Provisioning,
    /// Its DoD is being run on the base.
    Classing,
    /// Its brief is being written.
    Briefing,
    /// A worker is to be started.
    Starting,
    /// A worker is at work.
    Working,
    /// What it leaves behind is being compared with the whitelist.
    Scoping,
    /// Its DoD is being run.
    Proving,
    /// Whether the DoD changed anything is being looked at.
    Rechecking,
    /// A reviewer is to be asked.
    Reviewing,
    /// A person is to review it.
    AwaitingReview,
    /// The round is being judged.
    Deciding,
    /// The checked tree is being committed.
    Committing,
    /// Committed on its branch, or its report delivered.
    Passed,
    /// Part of the integrated result.
    Integrated,
    /// A person decides.
    Escalated,
    /// Infrastructure is in the way.
    Blocked,
    /// Something it needs did not get through.
    Deferred,
    /// Somebody cancelled it.
    Cancelled,
}

impl Phase {
    /// The name as in `state.json` and on the screen.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Waiting => "waiting",
            Self::Provisioning => "provisioning",
            Self::Classing => "classing",
            Self::Briefing => "briefing",
            Self::Starting => "starting",
            Self::Working => "working",
            Self::Scoping => "scoping",
            Self::Proving => "proving",
            Self::Rechecking => "rechecking",
            Self::Reviewing => "reviewing",
            Self::AwaitingReview => "awaiting_review",
            Self::Deciding => "deciding",
            Self::Committing => "committing",
            Self::Passed => "passed",
            Self::Integrated => "integrated",
            Self::Escalated => "escalated",
            Self::Blocked => "blocked",
            Self::Deferred => "deferred",
            Self::Cancelled => "cancelled",
        }
    }

    /// An engine has something to do with it right now.
    #[must_use]
    pub fn active(self) -> bool {
        !self.settled() && !matches!(self, Self::Waiting | Self::AwaitingReview)
    }

    /// Nothing more happens to it unless somebody asks.
    #[must_use]
    pub fn settled(self) -> bool {
        self.got_through() || self.stuck()
    }

    /// Its work is done and checked.
    #[must_use]
    pub fn got_through(self) -> bool {
        matches!(self, Self::Passed | Self::Integrated)
    }

    /// It ended without getting through.
    #[must_use]
    pub fn stuck(self) -> bool {
        matches!(self, Self::Escalated | Self::Blocked | Self::Deferred | Self::Cancelled)
    }
}

/// One finished round.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RoundRecord {
    /// From 1.
    pub round: u32,
    /// Who worked in it.
    pub tier: TierId,
    /// What it left behind.
    pub tree: Option<TreeId>,
    /// What kind of failure it was; `None` when it passed.
    pub class: Option<Class>,
    /// Everything that was wrong.
    pub problems: Vec<Problem>,
}

/// A start that infrastructure spoilt, in the current round.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Spoilt {
    /// The tier it was.
    pub tier: TierId,
    /// Trying the same again cannot help.
    pub hopeless: bool,
    /// When it ended.
    pub at: Timestamp,
    /// What happened, for people.
    pub what: String,
}

/// The state of one WP.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WpState {
    /// Its id.
    pub id: WpId,
    /// One line for people.
    pub title: String,
    /// The stage it belongs to.
    pub stage: StageId,
    /// The level it belongs to, from 0.
    pub level: usize,
    /// What it leaves behind.
    pub kind: Kind,
    /// How much can go wrong.
    pub risk: Risk,
    /// Where it is.
    pub phase: Phase,
    /// Who works on it now, or next.
    pub tier: TierId,
    /// The round it is in; 0 before the first.
    pub round: u32,
    /// The last round there may be before a person decides.
    pub last_round: u32,
    /// Workers started so far.
    pub attempt: u32,
    /// The commit it started from.
    pub base: Option<CommitId>,
    /// Where its branch stood before the worker that is next or at work: the base, or the commit that
    /// is being tried again.
    pub began_at: Option<CommitId>,
    /// Its branch.
    pub branch: Option<String>,
    /// Its worktree, while there is one.
    pub worktree: Option<String>,
    /// What provisioning copied in.
    pub copied: Vec<String>,
    /// Its DoD on the base.
    pub classes: Vec<Classed>,
    /// The last worker's end.
    pub worked: Option<Ran>,
    /// The last snapshot that was checked.
    pub tree: Option<TreeId>,
    /// The commit it was compared with, and the parent of its commit.
    pub against: Option<CommitId>,
    /// Paths in it that differ from that.
    pub changed: u64,
    /// 1 after the worker, more when the DoD changed files.
    pub pass: u32,
    /// DoD commands that have run in this pass.
    pub proved: Vec<Ran>,
    /// What is wrong in this round so far.
    pub problems: Vec<Problem>,
    /// What was seen and is blamed on no one.
    pub notes: Vec<String>,
    /// The last reviewer's answer.
    pub verdict: Option<Verdict>,
    /// Who gave it: a person's name or the command.
    pub reviewed_by: Option<String>,
    /// Rounds that are over.
    pub rounds: Vec<RoundRecord>,
    /// Starts of this round that infrastructure spoilt.
    pub spoilt: Vec<Spoilt>,
    /// The checked commit.
    pub commit: Option<CommitId>,
    /// The report's name within the run directory.
    pub report: Option<String>,
    /// Why its worktree stays.
    pub kept: Option<String>,
    /// Why it was deferred.
    pub because: Option<WpId>,
    /// What blocked it.
    pub blocked_by: Option<Problem>,
    /// Where it was when it was blocked or cancelled.
    pub was: Option<Phase>,
    /// When it began.
    pub started_at: Option<Timestamp>,
    /// When its phase changed last.
    pub since: Option<Timestamp>,
    /// When its own work came to an end, whatever became of it; a later merge does not count.
    pub settled_at: Option<Timestamp>,
    /// What it waits for.
    pub after: After,
    dods: u32,
    reviewed: bool,
    budget: u32,
}

impl WpState {
    pub(super) fn new(shape: &WpShape, level: &LevelShape, n: usize) -> Self {
        Self {
            id: shape.id.clone(),
            title: shape.title.clone(),
            stage: level.stage.clone(),
            level: n,
            kind: shape.kind,
            risk: shape.risk,
            phase: Phase::Waiting,
            tier: shape.tier.clone(),
            round: 0,
            last_round: shape.rounds,
            attempt: 0,
            base: None,
            began_at: None,
            branch: None,
            worktree: None,
            copied: Vec::new(),
            classes: Vec::new(),
            worked: None,
            tree: None,
            against: None,
            changed: 0,
            pass: 0,
            proved: Vec::new(),
            problems: Vec::new(),
            notes: Vec::new(),
            verdict: None,
            reviewed_by: None,
            rounds: Vec::new(),
            spoilt: Vec::new(),
            commit: None,
            report: None,
            kept: None,
            because: None,
            blocked_by: None,
            was: None,
            started_at: None,
            since: None,
            settled_at: None,
            after: shape.after.clone(),
            dods: shape.dods,
            reviewed: shape.reviewed,
            budget: shape.rounds,
        }
    }

    /// What went wrong in the round before this one: what the next brief carries.
    #[must_use]
    pub fn carried(&self) -> &[Problem] {
        self.rounds.last().map_or(&[], |round| &round.problems)
    }

    pub(super) fn apply(&mut self, record: &Record) -> Result<(), LedgerError> {
        let before = self.phase;
        self.step(record)?;
        if self.phase != before {
            self.since = Some(record.at);
            self.settled_at = self.phase.settled().then_some(record.at);
        }
        Ok(())
    }

    fn step(&mut self, record: &Record) -> Result<(), LedgerError> {
        use Phase as P;
        match (self.phase, &record.event) {
            (P::Waiting, Event::WpStarted { base, branch, worktree, .. }) => {
                self.base = Some(base.clone());
                self.began_at = Some(base.clone());
                self.branch = Some(branch.clone());
                self.worktree = Some(worktree.clone());
                self.started_at = Some(record.at);
                self.phase = P::Provisioning;
            }
            (P::Provisioning, Event::WpProvisioned { copied, .. }) => {
                self.copied.clone_from(copied);
                self.phase = P::Classing;
            }
            (P::Classing, Event::DodClassed { classes, .. }) => {
                self.classes.clone_from(classes);
                self.phase = P::Briefing;
            }
            (P::Briefing, Event::RoundStarted { round, tier, .. }) if *round == self.round + 1 => {
                self.round = *round;
                self.tier = tier.clone();
                self.problems.clear();
                self.notes.clear();
                self.spoilt.clear();
                self.proved.clear();
                self.verdict = None;
                self.reviewed_by = None;
                self.pass = 0;
                self.phase = P::Starting;
            }
            (P::Starting, Event::AttemptStarted { round, attempt, tier, .. })
                if *round == self.round && *attempt == self.attempt + 1 =>
            {
                self.attempt = *attempt;
                self.tier = tier.clone();
                self.phase = P::Working;
            }
            (P::Working, Event::AttemptEnded { attempt, ran, report, .. })
                if *attempt == self.attempt =>
            {
                self.report = report.clone().or_else(|| self.report.take());
                self.attempt_ended(record.at, ran);
            }
            (P::Scoping | P::Rechecking, Event::ScopeChecked { round, pass, .. })
                if *round == self.round && *pass == self.pass + 1 =>
            {
                self.scope_checked(&record.event);
            }
            (P::Proving, Event::DodRan { round, pass, index, ran, tail, .. })
                if (*round, *pass) == (self.round, self.pass)
                    && usize::try_from(*index) == Ok(self.proved.len()) =>
            {
                self.dod_ran(ran, tail.as_deref());
            }
            (P::Reviewing, Event::ReviewRequested { round, tree, .. })
                if *round == self.round && Some(tree) == self.tree.as_ref() =>
            {
                self.phase = P::AwaitingReview;
            }
            (P::Reviewing | P::AwaitingReview, Event::Reviewed { round, by, verdict, .. })
                if *round == self.round =>
            {
                if verdict.verdict == Judgment::RequestChanges {
                    self.problems.extend(review_problems(verdict));
                }
                self.verdict = Some(verdict.clone());
                self.reviewed_by = Some(by.clone());
                self.phase = P::Deciding;
            }
            (P::Deciding, Event::RoundEnded { round, class, problems, next, .. })
                // What is wrong cannot be committed, whoever says so.
                if *round == self.round
                    && (*next == NextStep::Commit) == self.problems.is_empty() =>
            {
                self.round_ended(*class, problems, next);
            }
            (P::Committing, Event::WpCommitted { commit, tree, .. })
                if self.kind == Kind::Change && Some(tree) == self.tree.as_ref() =>
            {
                self.commit = Some(commit.clone());
                self.phase = P::Passed;
            }
            (P::Committing, Event::WpReported { report, .. }) if self.kind == Kind::Scout => {
                self.report = Some(report.clone());
                self.phase = P::Passed;
            }
            (phase, Event::WpBlocked { problem, .. }) if phase.active() => {
                self.blocked_by = Some(problem.clone());
                self.was = Some(phase);
                self.phase = P::Blocked;
            }
            (P::Waiting, Event::WpDeferred { because, .. }) => {
                self.because = Some(because.clone());
                self.phase = P::Deferred;
            }
            (phase, Event::WpCancelled { .. }) if !phase.got_through() && phase != P::Cancelled => {
                // One that was blocked goes back to where it was blocked: it may have no more than half
                // a worktree.
                if phase != P::Blocked {
                    self.was = Some(phase);
                }
                self.because = None;
                self.phase = P::Cancelled;
            }
            (
                P::Escalated | P::Blocked | P::Cancelled | P::Passed | P::Deferred,
                Event::WpRetried { .. },
            ) => self.retried(),
            (phase, Event::WorktreeRemoved { .. }) if phase.settled() => self.worktree = None,
            (phase, Event::WorktreeKept { why, .. }) if phase.settled() => {
                self.kept = Some(why.clone());
            }
            (phase, _) => {
                return Err(impossible(record, format!("`{}`", self.id), phase.name()));
            }
        }
        Ok(())
    }

    fn attempt_ended(&mut self, at: Timestamp, ran: &Ran) {
        self.worked = Some(ran.clone());
        self.phase = match &ran.end {
            // Somebody stopped it: the attempt counts for nothing.
            End::Cancelled => Phase::Starting,
            end if end.broken() => self.spoil(at, end, true),
            end @ (End::Signal { .. } | End::Lost) => self.spoil(at, end, false),
            end @ (End::Timeout { .. } | End::Idle { .. }) => {
                let problem = Problem::new(Check::Worker, format!("the worker was {end}"));
                self.problems.push(problem.logged(&ran.log, ""));
                Phase::Scoping
            }
            // The DoD and the diff decide, not what the worker's exit code claims.
            _ => Phase::Scoping,
        };
    }

    fn spoil(&mut self, at: Timestamp, end: &End, hopeless: bool) -> Phase {
        let what = end.to_string();
        self.spoilt.push(Spoilt { tier: self.tier.clone(), hopeless, at, what });
        Phase::Starting
    }

    fn scope_checked(&mut self, event: &Event) {
        let Event::ScopeChecked { pass, tree, against, changed, problems, notes, .. } = event
        else {
            return;
        };
        let same = self.tree.as_ref() == Some(tree);
        let rechecked = self.phase == Phase::Rechecking;
        self.pass = *pass;
        if rechecked && !same && *pass > PASSES {
            let text = format!("change files each time they run ({PASSES} times in a row)");
            let problem = Problem::new(Check::Dod, text);
            self.problems.push(problem.about("the DoD commands"));
        }
        self.tree = Some(tree.clone());
        self.against = Some(against.clone());
        self.changed = *changed;
        self.problems.extend(problems.iter().cloned());
        self.notes.extend(notes.iter().cloned());
        self.phase = if !self.problems.is_empty() {
            Phase::Deciding
        } else if self.dods == 0 || (rechecked && same) {
            self.proven()
        } else {
            // A tree that the DoD has not seen is not proven, whoever made it.
            self.proved.clear();
            Phase::Proving
        };
    }

    fn dod_ran(&mut self, ran: &Ran, tail: Option<&str>) {
        if !ran.end.success() {
            let message = match &ran.end {
                End::Exit { code } => format!("exits {code}"),
                end => end.to_string(),
            };
            self.problems.push(
                Problem::new(Check::Dod, message)
                    .about(&ran.run)
                    .logged(&ran.log, tail.unwrap_or("")),
            );
        }
        self.proved.push(ran.clone());
        if self.proved.len() >= self.dods as usize {
            self.phase = if self.problems.is_empty() { Phase::Rechecking } else { Phase::Deciding };
        }
    }

    fn proven(&self) -> Phase {
        if self.reviewed { Phase::Reviewing } else { Phase::Deciding }
    }

    fn round_ended(&mut self, class: Option<Class>, problems: &[Problem], next: &NextStep) {
        self.rounds.push(RoundRecord {
            round: self.round,
            tier: self.tier.clone(),
            tree: self.tree.clone(),
            class,
            problems: problems.to_vec(),
        });
        self.phase = match next {
            NextStep::Commit => Phase::Committing,
            NextStep::Round { tier } => {
                self.tier = tier.clone();
                Phase::Briefing
            }
            NextStep::Escalate => Phase::Escalated,
        };
    }

    fn retried(&mut self) {
        self.because = None;
        self.kept = None;
        self.blocked_by = None;
        self.began_at = self.commit.take().or(self.began_at.take());
        // Whoever stood in for the tier whose provider failed has failed as well: begin again with it.
        if let Some(first) = self.spoilt.first() {
            self.tier = first.tier.clone();
        }
        self.spoilt.clear();
        self.last_round = self.round + self.budget;
        let was = self.was.take();
        self.phase = match (self.phase, was) {
            _ if self.worktree.is_none() => Phase::Waiting,
            // The disk may have mended; nothing of the round is lost.
            (Phase::Blocked, Some(was)) => was,
            (_, Some(was @ (Phase::Provisioning | Phase::Classing))) => was,
            _ => Phase::Briefing,
        };
    }
}

fn review_problems(verdict: &Verdict) -> Vec<Problem> {
    if verdict.findings.is_empty() {
        return vec![Problem::new(Check::Review, verdict.summary.clone())];
    }
    let place = |file: &String, line: Option<u32>| match line {
        Some(line) => format!("{file}:{line}"),
        None => file.clone(),
    };
    verdict
        .findings
        .iter()
        .map(|finding| Problem {
            subject: finding.file.as_ref().map(|file| place(file, finding.line)),
            ..Problem::new(Check::Review, finding.message.clone())
        })
        .collect()
}
