//! Events: the facts of a run, versioned. A journal record, a line of `--json` and an input of the
//! ledger are all this one type (`schemas/event.schema.json`).
//!
//! An event says what happened, never what to do; what a fact means for the WP is decided by
//! `ledger`. Where an effect in the world follows (a worktree, a worker, a commit), one event stands
//! before it and another after it.

mod shape;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use shape::{
    After, ApprovedBy, Asked, Classed, LevelShape, MovedBranch, NextStep, Outcome, Standing,
    StopReason, Taken, WpShape,
};

use crate::model::approval::Covers;
use crate::model::baseline::Compared;
use crate::model::delivery::{DeliveryShape, DeliveryStep, Destination, Hold};
use crate::model::ids::{CommitId, RunId, TierId, TreeId, WorkerId, WpId};
use crate::model::outcome::{Class, Problem, Ran};
use crate::model::plan::Mode;
use crate::model::time::Timestamp;
use crate::model::turn::{Fault, Spent, Turn};
use crate::model::verdict::{ReviewSeverity, Verdict};

/// Version of the record format; a journal of another version is refused by name.
pub const VERSION: u32 = 1;

/// One event with its place in the order of the run and its time.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Record {
    /// Place in the run, from 1, without gaps.
    pub seq: u64,
    /// When it was recorded.
    pub at: Timestamp,
    /// What happened.
    #[serde(flatten)]
    pub event: Event,
}

/// What happened.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Event {
    /// A run exists: its plan is frozen and its base pinned.
    RunCreated {
        /// Version of the record format.
        version: u32,
        /// The run.
        run: RunId,
        /// What the plan is for.
        goal: String,
        /// SHA-256 of the frozen plan (`resolved.json`: the plan with every default and brief in it), in hexadecimal.
        plan_sha256: String,
        /// The commit that everything starts from.
        base: CommitId,
        /// How WPs relate.
        mode: Mode,
        /// Levels in order, with their WPs: the sealed graph.
        levels: Vec<LevelShape>,
        /// Whether the whole is looked at once more when everything is integrated.
        #[serde(default)]
        verify: bool,
        /// SHA-256 of what is frozen beside the plan, in hexadecimal: the repository's own templates, and what
        /// the DoD said on the base.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        beside_sha256: Option<String>,
        /// Where work is delivered to, where the plan wants it to leave the machine.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        delivery: Option<DeliveryShape>,
    },
    /// Somebody said yes to exactly this plan. A later yes may cover more.
    RunApproved {
        /// How the yes was given.
        by: ApprovedBy,
        /// The plan that was approved.
        plan_sha256: String,
        /// What it covers.
        #[serde(default)]
        covers: Covers,
        /// Where it lets branches be pushed to; nothing where it covers no push.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        to: Option<Destination>,
    },
    /// An engine took the run.
    EngineStarted {
        /// The engine's process id, for people; nothing is ever signalled by it.
        pid: u32,
        /// Version of `sop`.
        sop: String,
    },
    /// The engine lets the run go without having finished it.
    EngineStopped {
        /// Why.
        why: StopReason,
    },
    /// A WP begins: its worktree will be made here.
    WpStarted {
        /// The WP.
        wp: WpId,
        /// The commit it starts from.
        base: CommitId,
        /// Its branch.
        branch: String,
        /// Its worktree.
        worktree: String,
    },
    /// The worktree stands, with all that the plan wants in it.
    WpProvisioned {
        /// The WP.
        wp: WpId,
        /// What was copied in and stays out of every commit.
        copied: Vec<String>,
    },
    /// Each DoD command was run once on the base.
    DodClassed {
        /// The WP.
        wp: WpId,
        /// One for each command, in the plan's order.
        classes: Vec<Classed>,
    },
    /// A brief is on disk and a round begins.
    RoundStarted {
        /// The WP.
        wp: WpId,
        /// From 1.
        round: u32,
        /// Who works in it.
        tier: TierId,
        /// The brief's name within the run directory.
        brief: String,
    },
    /// A worker is about to be started, once and never again under this number.
    AttemptStarted {
        /// The WP.
        wp: WpId,
        /// The round it works for.
        round: u32,
        /// From 1, through all rounds.
        attempt: u32,
        /// Who works.
        tier: TierId,
        /// SHA-256 of what was taken down about the rest of the repository before it starts.
        guard: String,
        /// The worker of that tier: whose provider it is that may fail.
        worker: WorkerId,
        /// Name within the run directory of what it is told: the round's brief, or a shorter text
        /// where it goes on with a session.
        prompt: String,
        /// The agent's session that it goes on with.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        session: Option<String>,
    },
    /// The worker has ended, and nothing of it lives on.
    AttemptEnded {
        /// The WP.
        wp: WpId,
        /// Which attempt.
        attempt: u32,
        /// How, how long and where its output is.
        ran: Ran,
        /// Processes it left running, which were ended.
        left_behind: u32,
        /// The report's name within the run directory, where it left one.
        report: Option<String>,
        /// What the agent's stream came to, where the worker is one (or says so itself).
        #[serde(default, skip_serializing_if = "Option::is_none")]
        turn: Option<Turn>,
        /// Why it is not a finished turn: it costs no round.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        fault: Option<Fault>,
        /// What it asks. Where the plan settles it, the answer is there already.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        asks: Vec<Asked>,
        /// What it did to the rest of the repository, where no scope check follows that would say so.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        problems: Vec<Problem>,
    },
    /// A question was answered.
    Answered {
        /// The WP whose worker asked.
        wp: WpId,
        /// The question's number in the run.
        number: u32,
        /// The answer.
        answer: String,
        /// Who: a person's name, or `default` when its time was over.
        by: String,
    },
    /// A live worker was told something.
    Redirected {
        /// The WP.
        wp: WpId,
        /// The attempt at work.
        attempt: u32,
        /// What it was told.
        say: String,
        /// Who.
        by: String,
    },
    /// What there is to spend is spent: the WP's, or the whole run's.
    BudgetSpent {
        /// The WP that would have gone on.
        wp: WpId,
        /// Which limit.
        limit: Spent,
        /// Whether it is the run's.
        of_run: bool,
        /// What the reviewer looked for that was ended at it, before it had answered.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reviewer: Option<String>,
    },
    /// The plan's facts were corrected: every later brief carries it.
    NoteAdded {
        /// The correction.
        text: String,
        /// Who.
        by: String,
    },
    /// What the WP leaves behind was compared with its whitelist.
    ScopeChecked {
        /// The WP.
        wp: WpId,
        /// The round.
        round: u32,
        /// 1 after the worker, then one more each time the DoD changed a file.
        pass: u32,
        /// The snapshot that was checked.
        tree: TreeId,
        /// The commit it is compared with: the WP's base, or a newer commit of the base's branch that
        /// the worker merged.
        against: CommitId,
        /// Paths that differ from the base.
        changed: u64,
        /// What is not allowed.
        problems: Vec<Problem>,
        /// What was seen and is blamed on no one.
        notes: Vec<String>,
        /// Files that the lead changed, where it is the lead's work that is checked.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        by_lead: Vec<String>,
    },
    /// A DoD command was run on the snapshot.
    DodRan {
        /// The WP.
        wp: WpId,
        /// The round.
        round: u32,
        /// The pass it belongs to.
        pass: u32,
        /// Which command, from 0.
        index: u32,
        /// How it went.
        ran: Ran,
        /// Last lines of its output when it failed.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        tail: Option<String>,
    },
    /// A person has to look at the work.
    ReviewRequested {
        /// The WP.
        wp: WpId,
        /// The round.
        round: u32,
        /// What is to be looked at.
        tree: TreeId,
    },
    /// Workers are about to be let in to review; no other of them is at work.
    ReviewStarted {
        /// The WP; nothing for the last look at the whole.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        wp: Option<WpId>,
        /// The round; 0 for the last look at the whole.
        round: u32,
        /// Least severity of a finding that blocks.
        block_from: ReviewSeverity,
        /// SHA-256 of what was taken down about the rest of the repository before they start.
        guard: String,
    },
    /// A reviewing worker is about to be started, once and never again under this number.
    ReviewerStarted {
        /// The WP; nothing for the last look at the whole.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        wp: Option<WpId>,
        /// The round; 0 for the last look at the whole.
        round: u32,
        /// What it looks for.
        lens: String,
        /// From 1, through all sessions of this lens in this round.
        number: u32,
        /// The tier it is of.
        tier: TierId,
        /// The worker of that tier.
        worker: WorkerId,
        /// Name within the run directory of what it is told.
        prompt: String,
        /// The agent's session that it goes on with.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        session: Option<String>,
    },
    /// A reviewing worker's session has ended.
    ReviewerEnded {
        /// The WP; nothing for the last look at the whole.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        wp: Option<WpId>,
        /// The round; 0 for the last look at the whole.
        round: u32,
        /// What it looked for.
        lens: String,
        /// The tier it was of.
        tier: TierId,
        /// The worker of that tier.
        worker: WorkerId,
        /// How, how long and where its output is.
        ran: Ran,
        /// What the agent's stream came to.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        turn: Option<Turn>,
        /// Why it is not a finished turn.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        fault: Option<Fault>,
        /// Its answer, where that is a verdict.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        verdict: Option<Verdict>,
        /// Why its answer is none.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        unread: Option<String>,
        /// What was changed while it was at work, by it or by one beside it: a reviewer only reads, and its
        /// verdict does not count.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        touched: Vec<Problem>,
    },
    /// A reviewer has answered.
    Reviewed {
        /// The WP.
        wp: WpId,
        /// The round.
        round: u32,
        /// Who: a person's name or the command.
        by: String,
        /// The answer.
        verdict: Verdict,
    },
    /// A round is over.
    RoundEnded {
        /// The WP.
        wp: WpId,
        /// The round.
        round: u32,
        /// What kind of failure it was; `None` when everything passed.
        class: Option<Class>,
        /// Everything that is wrong.
        problems: Vec<Problem>,
        /// What follows.
        next: NextStep,
    },
    /// Exactly the checked tree was committed on the WP's branch.
    WpCommitted {
        /// The WP.
        wp: WpId,
        /// The commit; the base itself when nothing changed and the plan allows that.
        commit: CommitId,
        /// Its tree.
        tree: TreeId,
    },
    /// A scout has delivered.
    WpReported {
        /// The WP.
        wp: WpId,
        /// The report's name within the run directory.
        report: String,
    },
    /// Infrastructure failed and will not mend itself.
    WpBlocked {
        /// The WP.
        wp: WpId,
        /// What failed.
        problem: Problem,
        /// Nothing new should start before somebody has looked.
        halt: bool,
    },
    /// The WP cannot run, because another did not get through.
    WpDeferred {
        /// The WP.
        wp: WpId,
        /// The one it waits for.
        because: WpId,
    },
    /// Somebody cancelled the WP.
    WpCancelled {
        /// The WP.
        wp: WpId,
        /// Who.
        by: String,
    },
    /// Somebody wants the WP tried again.
    WpRetried {
        /// The WP.
        wp: WpId,
        /// Who.
        by: String,
    },
    /// The lead takes the WP into its own hands: no worker is started in it any more, and one that is at
    /// work is stopped.
    WpTaken {
        /// The WP.
        wp: WpId,
        /// Who.
        by: String,
    },
    /// The worktree is the lead's: it stands, and nobody else is in it.
    WpHandedOver {
        /// The WP.
        wp: WpId,
        /// What it held then.
        tree: TreeId,
        /// Where its branch stood then; nothing where it was gone.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        branch_at: Option<CommitId>,
    },
    /// What the lead left is to be checked, as a worker's work would be.
    RecheckStarted {
        /// The WP.
        wp: WpId,
        /// Who.
        by: String,
        /// A worker goes on with it if something is wrong.
        to_worker: bool,
    },
    /// What the lead left was checked. No round was spent.
    RecheckEnded {
        /// The WP.
        wp: WpId,
        /// Everything that is wrong; nothing when it is to be committed.
        problems: Vec<Problem>,
        /// Whether a worker goes on with what is wrong; the lead keeps it otherwise.
        to_worker: bool,
    },
    /// The lead gives the WP back.
    WpGivenBack {
        /// The WP.
        wp: WpId,
        /// Who.
        by: String,
    },
    /// The WP is not in the lead's hands any more.
    WpReleased {
        /// The WP.
        wp: WpId,
        /// Files that the lead changed and nobody has checked.
        by_lead: Vec<String>,
    },
    /// A stage's work is about to be merged.
    GateStarted {
        /// From 1, through the whole run.
        gate: u32,
        /// Level whose work it is, from 0.
        level: usize,
        /// What it is merged onto.
        onto: CommitId,
        /// Who is merged, in this order.
        wps: Vec<WpId>,
    },
    /// Everything merged, on a branch of its own.
    GateMerged {
        /// The gate.
        gate: u32,
        /// The branch.
        branch: String,
        /// The merged commit.
        commit: CommitId,
        /// Its tree.
        tree: TreeId,
    },
    /// A DoD command was run on the merged tree.
    GateDodRan {
        /// The gate.
        gate: u32,
        /// Whose command it is.
        wp: WpId,
        /// How it went.
        ran: Ran,
    },
    /// The merged tree holds: it is what the next stage starts from.
    GatePassed {
        /// The gate.
        gate: u32,
        /// The integrated commit.
        commit: CommitId,
    },
    /// The stage does not hold together.
    GateFailed {
        /// The gate.
        gate: u32,
        /// Whose answer it needs.
        class: Class,
        /// WPs that are named by it.
        wps: Vec<WpId>,
        /// What is wrong.
        problems: Vec<Problem>,
    },
    /// Infrastructure is in the way of a gate; a later engine goes on with it.
    GateHalted {
        /// The gate.
        gate: u32,
        /// What failed.
        problem: Problem,
    },
    /// The whole is about to be looked at once more.
    VerifyStarted {
        /// The integrated commit.
        commit: CommitId,
        /// Who reads the whole, where the plan has somebody do so.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reviewer: Option<TierId>,
        /// End-to-end commands that the plan has.
        #[serde(default)]
        live: u32,
    },
    /// A command was run on the integrated tree: a WP's DoD again, or an end-to-end one.
    VerifyRan {
        /// Whose DoD it is; nothing for an end-to-end command.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        wp: Option<WpId>,
        /// How it went.
        ran: Ran,
        /// Last lines of its output when it failed.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        tail: Option<String>,
    },
    /// The reviewer of the whole has answered.
    VerifyReviewed {
        /// Who.
        by: String,
        /// The answer.
        verdict: Verdict,
    },
    /// The last look is over.
    VerifyEnded {
        /// Everything that is wrong; nothing when the whole holds.
        problems: Vec<Problem>,
    },
    /// Infrastructure is in the way of the last look; a later engine goes on with it.
    VerifyHalted {
        /// What failed.
        problem: Problem,
    },
    /// A worktree that was clean and proven merged is gone.
    WorktreeRemoved {
        /// The WP.
        wp: WpId,
        /// Where everything went that was not committed, when anything was.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        salvage: Option<String>,
    },
    /// A worktree stays, and why.
    WorktreeKept {
        /// The WP.
        wp: WpId,
        /// Why.
        why: String,
    },
    /// A step of delivery is about to be made: on the branch at the remote, with this commit.
    DeliveryStarted {
        /// The WP; nothing for the whole.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        wp: Option<WpId>,
        /// Which step.
        step: DeliveryStep,
        /// The branch at the remote.
        branch: String,
        /// The commit.
        commit: CommitId,
    },
    /// The branch at the remote is at the commit.
    BranchPushed {
        /// The WP; nothing for the whole.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        wp: Option<WpId>,
        /// The branch at the remote: of this run, or of an earlier one whose request is updated.
        branch: String,
        /// The commit.
        commit: CommitId,
    },
    /// A request is open at the forge.
    RequestOpened {
        /// The WP; nothing for the whole.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        wp: Option<WpId>,
        /// Its number.
        number: u64,
        /// Where a person looks at it.
        url: String,
    },
    /// A request of an earlier run is that of this one now.
    RequestUpdated {
        /// The WP; nothing for the whole.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        wp: Option<WpId>,
        /// Its number.
        number: u64,
        /// Where a person looks at it.
        url: String,
    },
    /// A request is merged, by the run or by somebody else.
    RequestMerged {
        /// The WP; nothing for the whole.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        wp: Option<WpId>,
        /// Its number.
        number: u64,
    },
    /// What a request holds was found in the branch that it was merged into: by its patch, not by a name.
    DeliveryLanded {
        /// The WP; nothing for the whole.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        wp: Option<WpId>,
        /// Where that branch stands.
        onto: CommitId,
    },
    /// A delivery goes no further, for now or at all.
    DeliveryHeld {
        /// The WP; nothing for the whole.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        wp: Option<WpId>,
        /// Why.
        why: Hold,
        /// The same in words, with what to do about it.
        text: String,
    },
    /// A local branch is gone, whose work has landed.
    BranchRemoved {
        /// Its short name.
        branch: String,
    },
    /// A person has a command for after the merge run, now.
    AfterMergeStarted {
        /// Who.
        by: String,
        /// The command as the plan has it.
        run: String,
    },
    /// It came to its end.
    AfterMergeRan {
        /// Who.
        by: String,
        /// How it went.
        ran: Ran,
    },
    /// Branches that are not where their checked work is, all of them; none when they were set right.
    BranchesMoved {
        /// Which.
        moved: Vec<MovedBranch>,
    },
    /// The user's checkout when the run was made and now that it is over: nobody is blamed for a difference, and
    /// nothing is put back.
    CheckoutCompared {
        /// Both, and the paths that are not as they were.
        compared: Compared,
    },
    /// The rest of the repository was taken down, before the first worker.
    RunGuarded {
        /// SHA-256 of what was taken down.
        guard: String,
    },
    /// What of the repository is nobody's to touch and not as it was when the run began, all of it; nothing
    /// when it was put back.
    RepositoryChanged {
        /// Which places.
        standing: Vec<Standing>,
    },
    /// The rest of the repository was taken down once more, when an engine let go of the run and nothing was at work:
    /// what becomes of it until the next one comes is the doing of nobody at work.
    RepositoryLeft {
        /// SHA-256 of what was taken down.
        guard: String,
    },
    /// What became of the repository is taken as it is: from now on it is compared with that.
    RepositoryAccepted {
        /// SHA-256 of what it is compared with.
        guard: String,
        /// Which places; none where only such things changed as are anybody's to change.
        changed: Vec<Taken>,
        /// Who accepts what would be held against the run; nothing for what changed while nothing was at work.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        by: Option<String>,
    },
    /// Nothing is left to do.
    RunFinished {
        /// How it stands.
        outcome: Outcome,
    },
}

impl Event {
    /// The WP that the event is about, if it is about one.
    #[must_use]
    pub fn wp(&self) -> Option<&WpId> {
        match self {
            Self::WpStarted { wp, .. }
            | Self::WpProvisioned { wp, .. }
            | Self::DodClassed { wp, .. }
            | Self::RoundStarted { wp, .. }
            | Self::AttemptStarted { wp, .. }
            | Self::AttemptEnded { wp, .. }
            | Self::ScopeChecked { wp, .. }
            | Self::DodRan { wp, .. }
            | Self::ReviewRequested { wp, .. }
            | Self::Reviewed { wp, .. }
            | Self::Answered { wp, .. }
            | Self::Redirected { wp, .. }
            | Self::BudgetSpent { wp, .. }
            | Self::RoundEnded { wp, .. }
            | Self::WpCommitted { wp, .. }
            | Self::WpReported { wp, .. }
            | Self::WpBlocked { wp, .. }
            | Self::WpDeferred { wp, .. }
            | Self::WpCancelled { wp, .. }
            | Self::WpRetried { wp, .. }
            | Self::WpTaken { wp, .. }
            | Self::WpHandedOver { wp, .. }
            | Self::RecheckStarted { wp, .. }
            | Self::RecheckEnded { wp, .. }
            | Self::WpGivenBack { wp, .. }
            | Self::WpReleased { wp, .. }
            | Self::GateDodRan { wp, .. }
            | Self::WorktreeRemoved { wp, .. }
            | Self::WorktreeKept { wp, .. } => Some(wp),
            Self::ReviewStarted { wp, .. }
            | Self::ReviewerStarted { wp, .. }
            | Self::ReviewerEnded { wp, .. }
            | Self::VerifyRan { wp, .. }
            | Self::DeliveryStarted { wp, .. }
            | Self::BranchPushed { wp, .. }
            | Self::RequestOpened { wp, .. }
            | Self::RequestUpdated { wp, .. }
            | Self::RequestMerged { wp, .. }
            | Self::DeliveryLanded { wp, .. }
            | Self::DeliveryHeld { wp, .. } => wp.as_ref(),
            Self::RunCreated { .. }
            | Self::RunApproved { .. }
            | Self::EngineStarted { .. }
            | Self::EngineStopped { .. }
            | Self::GateStarted { .. }
            | Self::GateMerged { .. }
            | Self::GatePassed { .. }
            | Self::GateFailed { .. }
            | Self::GateHalted { .. }
            | Self::NoteAdded { .. }
            | Self::VerifyStarted { .. }
            | Self::VerifyReviewed { .. }
            | Self::VerifyEnded { .. }
            | Self::VerifyHalted { .. }
            | Self::BranchRemoved { .. }
            | Self::AfterMergeStarted { .. }
            | Self::AfterMergeRan { .. }
            | Self::BranchesMoved { .. }
            | Self::CheckoutCompared { .. }
            | Self::RunGuarded { .. }
            | Self::RepositoryChanged { .. }
            | Self::RepositoryLeft { .. }
            | Self::RepositoryAccepted { .. }
            | Self::RunFinished { .. } => None,
        }
    }

    /// Whether it is a fact of delivery.
    #[must_use]
    pub fn of_delivery(&self) -> bool {
        matches!(
            self,
            Self::DeliveryStarted { .. }
                | Self::BranchPushed { .. }
                | Self::RequestOpened { .. }
                | Self::RequestUpdated { .. }
                | Self::RequestMerged { .. }
                | Self::DeliveryLanded { .. }
                | Self::DeliveryHeld { .. }
                | Self::BranchRemoved { .. }
                | Self::AfterMergeStarted { .. }
                | Self::AfterMergeRan { .. }
        )
    }

    /// The gate that the event is about, if it is about one.
    #[must_use]
    pub fn gate(&self) -> Option<u32> {
        match self {
            Self::GateStarted { gate, .. }
            | Self::GateMerged { gate, .. }
            | Self::GateDodRan { gate, .. }
            | Self::GatePassed { gate, .. }
            | Self::GateFailed { gate, .. }
            | Self::GateHalted { gate, .. } => Some(*gate),
            _ => None,
        }
    }

    /// The event's name as in the journal.
    #[must_use]
    pub fn name(&self) -> String {
        // The tag is serde's to know; a second table of names would drift from it.
        match serde_json::to_value(self) {
            Ok(serde_json::Value::Object(map)) => {
                map.get("event").and_then(|v| v.as_str()).unwrap_or_default().to_owned()
            }
            _ => String::new(),
        }
    }
}
