//! The state of one WP: everything that is known of it. What each fact does to it is `transition`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::cost::{Allowed, Cost, total};
use super::hands::{Hands, SentBack};
use super::phase::Phase;
use super::review::ReviewState;
use crate::event::{After, Classed, LevelShape, WpShape};
use crate::model::ids::{CommitId, StageId, TierId, TreeId, WorkerId, WpId};
use crate::model::outcome::{Class, Problem, Ran};
use crate::model::plan::{Kind, Risk};
use crate::model::question::Question;
use crate::model::time::Timestamp;
use crate::model::turn::{Fault, FaultClass, Spent, Usd};
use crate::model::verdict::Verdict;

/// Who answers what the plan has settled.
pub(super) const PLAN: &str = "plan";

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
    /// The limit that left nothing to go on with. The first of the problems says so.
    #[serde(default)]
    pub spent: Option<Spent>,
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
    /// What happened, for people: the agent's own words where it said any.
    pub what: String,
    /// What kind of fault it was, where the worker's stream says.
    #[serde(default)]
    pub class: Option<FaultClass>,
    /// When the provider says that it can be tried again.
    #[serde(default)]
    pub resets_at: Option<Timestamp>,
}

/// A fault and whose it was: by the time it is read, another worker may be at work.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Faulted {
    /// The tier that worked.
    pub tier: TierId,
    /// Its worker.
    pub worker: WorkerId,
    /// Which start it was.
    pub attempt: u32,
    /// What was wrong, in the agent's own words.
    #[serde(flatten)]
    pub fault: Fault,
}

/// A question of the WP's worker.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Fork {
    /// Its number in the run, from 1.
    pub number: u32,
    /// The choice.
    pub question: String,
    /// What the worker would do.
    pub default: Option<String>,
    /// When it was asked.
    pub asked_at: Timestamp,
    /// The answer.
    pub answer: Option<String>,
    /// Who answered: a person's name, `plan`, or `default`.
    pub by: Option<String>,
}

/// What settles `question`: a choice that the plan has made, or what was answered before. Gives the
/// answer, and who gave it.
#[must_use]
pub fn settled<'a>(
    question: &Question,
    plan: &'a [crate::model::plan::Fork],
    before: &'a [Fork],
) -> Option<(&'a str, &'a str)> {
    let planned = plan.iter().find(|fork| question.is(&fork.question));
    if let Some(fork) = planned {
        return Some((&fork.default, PLAN));
    }
    before.iter().filter(|fork| question.is(&fork.question)).find_map(|fork| {
        let answer = fork.answer.as_deref().filter(|answer| !answer.is_empty())?;
        Some((answer, fork.by.as_deref().unwrap_or(PLAN)))
    })
}

/// An agent's session that a later attempt can go on with.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Session {
    /// The agent's own name for it.
    pub id: String,
    /// The tier it was of: another model or agent cannot go on with it.
    pub tier: TierId,
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
    /// SHA-256 of what was taken down about the rest of the repository before the last worker.
    pub guard: Option<String>,
    /// How often what became of the repository was taken as it is before that.
    #[serde(default)]
    pub taken_before: usize,
    /// The commit it started from.
    pub base: Option<CommitId>,
    /// Where its branch stood before the worker that is next or at work: the base, or the commit that
    /// is being tried again.
    pub began_at: Option<CommitId>,
    /// Times that it began, with a worktree made for it.
    #[serde(default)]
    pub begun: u32,
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
    /// What is known of the workers that review this round.
    #[serde(default)]
    pub review: ReviewState,
    /// Rounds that are over.
    pub rounds: Vec<RoundRecord>,
    /// Starts of this round that infrastructure spoilt.
    pub spoilt: Vec<Spoilt>,
    /// What its workers asked, answered or not.
    #[serde(default)]
    pub forks: Vec<Fork>,
    /// Attempts of this round that ended with a question.
    #[serde(default)]
    pub asked: u32,
    /// Times that the worker at work was told something.
    #[serde(default)]
    pub redirected: u32,
    /// The worker of the last attempt.
    #[serde(default)]
    pub worker: Option<WorkerId>,
    /// What the last attempt was told: a name within the run directory.
    #[serde(default)]
    pub prompt: Option<String>,
    /// The session that it went on with.
    #[serde(default)]
    pub resumed: Option<String>,
    /// The agent's session that the last attempt left, and its tier.
    #[serde(default)]
    pub session: Option<Session>,
    /// The fault of the last attempt that is over, and whose it was.
    #[serde(default)]
    pub fault: Option<Faulted>,
    /// What its sessions used, by tier and role.
    #[serde(default)]
    pub costs: Vec<Cost>,
    /// Of that, what was used when a person asked for another try: a budget is given anew then.
    #[serde(default)]
    pub allowed: Allowed,
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
    /// When its last round was judged: also the date of its commit, so that a commit made again after
    /// a crash is the same commit.
    pub judged_at: Option<Timestamp>,
    /// When its phase changed last.
    pub since: Option<Timestamp>,
    /// When its own work came to an end, whatever became of it; a later merge does not count.
    pub settled_at: Option<Timestamp>,
    /// What it waits for.
    pub after: After,
    /// Findings that it deals with.
    #[serde(default)]
    pub findings: Vec<String>,
    /// What of it is, or was, in the lead's own hands.
    #[serde(default)]
    pub hands: Option<Hands>,
    /// What the lead's work has wrong that a worker is to mend.
    #[serde(default)]
    pub sent_back: Option<SentBack>,
    /// Times that its checks began anew within a round.
    #[serde(default)]
    pub looks: u32,
    /// Passes of this round that were over when its checks last began.
    #[serde(default)]
    pub pass_from: u32,
    pub(super) dods: u32,
    pub(super) reviewed: bool,
    pub(super) budget: u32,
}

impl WpState {
    /// Rounds that were over when somebody last gave it more of them; 0 where nobody did.
    #[must_use]
    pub fn rounds_before_retry(&self) -> u32 {
        self.last_round.saturating_sub(self.budget)
    }

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
            guard: None,
            taken_before: 0,
            base: None,
            began_at: None,
            begun: 0,
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
            review: ReviewState::default(),
            rounds: Vec::new(),
            spoilt: Vec::new(),
            forks: Vec::new(),
            asked: 0,
            redirected: 0,
            worker: None,
            prompt: None,
            resumed: None,
            session: None,
            fault: None,
            costs: Vec::new(),
            allowed: Allowed::default(),
            commit: None,
            report: None,
            kept: None,
            because: None,
            blocked_by: None,
            was: None,
            started_at: None,
            judged_at: None,
            since: None,
            settled_at: None,
            after: shape.after.clone(),
            findings: shape.findings.clone(),
            hands: None,
            sent_back: None,
            looks: 0,
            pass_from: 0,
            dods: shape.dods,
            reviewed: shape.reviewed,
            budget: shape.rounds,
        }
    }

    /// Tokens and money that count against its budget.
    #[must_use]
    pub fn spent(&self) -> (u64, Usd) {
        self.allowed.beyond(total(&self.costs))
    }

    /// Whether something that its worker asked has no answer yet.
    pub fn unanswered(&self) -> impl Iterator<Item = &Fork> {
        self.forks.iter().filter(|fork| fork.answer.is_none())
    }

    /// What went wrong in the round before this one.
    #[must_use]
    pub fn carried(&self) -> &[Problem] {
        self.rounds.last().map_or(&[], |round| &round.problems)
    }

    /// What of that the next brief carries: a limit that was used up is not the worker's to mend.
    #[must_use]
    pub fn to_mend(&self) -> &[Problem] {
        let over = self.rounds.last().map_or(0, |round| round.round);
        if let Some(sent_back) = self.sent_back.as_ref().filter(|it| it.round > over) {
            return &sent_back.problems;
        }
        let Some((last, before)) = self.rounds.split_last() else { return &[] };
        if last.spent.is_none() {
            return &last.problems;
        }
        match last.problems.get(1..) {
            Some(rest) if !rest.is_empty() => rest,
            // It was used up before the next round could begin.
            _ => before.iter().rfind(|it| it.spent.is_none()).map_or(&[], |it| &it.problems),
        }
    }
}
