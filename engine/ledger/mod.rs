//! The truth in memory: a fold of the journal. Pure — the same transition serves a live run, `sop
//! status` and recovery, so a crash cannot mean anything that the live run would not.
//!
//! [`Ledger::apply`] takes one record; an event that cannot follow from the state is an error that
//! names both. What may happen next is asked of the same state: [`Ledger::startable`],
//! [`Ledger::to_defer`], [`Ledger::next_gate`], [`Ledger::standing`].

mod attempt;
mod cost;
mod delivery;
mod gate;
mod hands;
mod judge;
mod lessons;
mod outage;
mod phase;
mod ready;
mod repository;
mod review;
mod seen;
mod stand;
mod transition;
mod used;
mod verify;
mod wp;

use std::collections::HashMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use cost::{Allowed, Cost, Role, total};
pub use delivery::{AfterRan, Deliverable, DeliveryState, Held, Item};
pub use gate::{GatePhase, GateState};
pub use hands::{Hands, LeadAsks, SentBack};
pub use judge::{
    Candidate, NextAttempt, Starts, candidates, candidates_from, default_due, judge, next_attempt,
    next_start,
};
pub use outage::{Means, Outage};
pub use phase::Phase;
pub use ready::NextGate;
pub use repository::{Accepted, Left};
pub use review::{ReviewState, Reviewer, Sitting};
pub use seen::Seen;
pub use verify::{NextVerify, VerifyRan, VerifyState};
pub use wp::{Faulted, Fork, RoundRecord, Session, Spoilt, WpState, settled};

use crate::event::{Event, MovedBranch, Outcome, Record, Standing, StopReason};
use crate::model::approval::Covers;
use crate::model::baseline::Compared;
use crate::model::delivery::Destination;
use crate::model::ids::{CommitId, RunId, WpId};
use crate::model::outcome::End;
use crate::model::plan::Mode;
use crate::model::time::Timestamp;
use crate::model::turn::Usd;

/// Who asks for another try of what infrastructure blocked: an engine that takes the run up again.
pub const RESUMED: &str = "resume";

/// An event that cannot follow from the state it met.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LedgerError {
    /// The first record must create the run, and only the first.
    #[error("record {seq}: `{event}` where the run {expected}")]
    Creation {
        /// The record.
        seq: u64,
        /// Its event.
        event: String,
        /// What the run needed instead.
        expected: &'static str,
    },
    /// Records without gaps, in order.
    #[error("record {found} follows record {last}: the journal has a gap or a repetition")]
    Sequence {
        /// The last good one.
        last: u64,
        /// The one that does not follow.
        found: u64,
    },
    /// A WP, a gate or a level that the run does not have.
    #[error("record {seq}: `{event}` names {what}, which this run does not have")]
    Unknown {
        /// The record.
        seq: u64,
        /// Its event.
        event: String,
        /// What it names.
        what: String,
    },
    /// The transition does not exist.
    #[error("record {seq}: `{event}` cannot happen to {what} while it is {state}")]
    Impossible {
        /// The record.
        seq: u64,
        /// Its event.
        event: String,
        /// The WP, gate or run it happened to.
        what: String,
        /// The state it met.
        state: String,
    },
}

/// The state of a run (`schemas/state.schema.json`).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Ledger {
    /// Records folded so far.
    pub seq: u64,
    /// The run.
    pub run: RunId,
    /// What it is for.
    pub goal: String,
    /// SHA-256 of the frozen plan.
    pub plan_sha256: String,
    /// The commit that everything starts from.
    pub base: CommitId,
    /// The newest integrated commit; the base before the first gate.
    pub trunk: CommitId,
    /// How WPs relate.
    pub mode: Mode,
    /// Whether somebody said yes.
    pub approved: bool,
    /// Engines that have held the run.
    pub engines: u32,
    /// Why the last engine let go, if it did so in order.
    pub stopped: Option<StopReason>,
    /// Infrastructure failed so that nothing new should start.
    pub halted: bool,
    /// How the run ended, if it did.
    pub outcome: Option<Outcome>,
    /// When the run was made.
    pub created_at: Timestamp,
    /// When the last record was written.
    pub updated_at: Timestamp,
    /// WPs by level, then in the plan's order.
    pub wps: Vec<WpState>,
    /// Gates so far.
    pub gates: Vec<GateState>,
    /// Branches that were not where their checked work is when an engine last looked.
    #[serde(default)]
    pub moved: Vec<MovedBranch>,
    /// The user's checkout, compared when the run was last over.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checkout: Option<Compared>,
    /// SHA-256 of what was taken down about the rest of the repository before the first worker.
    #[serde(default)]
    pub guard: Option<String>,
    /// What was taken down when the last engine let go, with nothing at work; nothing while one has the run, and where
    /// it was cut off.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub left: Option<Left>,
    /// What became of the repository and was taken as it is.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub accepted: Vec<Accepted>,
    /// What of the repository is nobody's to touch and was touched, when an engine last looked.
    #[serde(default)]
    pub tampering: Vec<Standing>,
    /// What was found in the rest of the repository when workers had been there, through all rounds.
    #[serde(default)]
    pub seen: Vec<Seen>,
    /// Corrections of the plan's facts: every later brief carries them.
    #[serde(default)]
    pub notes: Vec<Note>,
    /// Providers that fail.
    #[serde(default)]
    pub outages: Vec<Outage>,
    /// What was used when a person last asked for another try: the run's budget is given anew then.
    #[serde(default)]
    pub allowed: Allowed,
    /// Questions that workers have asked so far.
    #[serde(default)]
    pub questions: u32,
    /// Whether the plan wants the whole looked at once more.
    #[serde(default)]
    pub to_verify: bool,
    /// That last look.
    #[serde(default)]
    pub verify: Option<VerifyState>,
    /// What the approval covers.
    #[serde(default)]
    pub covers: Covers,
    /// Where the approval lets branches be pushed to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<Destination>,
    /// How work leaves the machine, where the plan wants that.
    #[serde(default)]
    pub delivery: Option<DeliveryState>,
    #[serde(skip)]
    index: HashMap<WpId, usize>,
}

/// A correction of the plan's facts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Note {
    /// When it was added.
    pub at: Timestamp,
    /// The correction.
    pub text: String,
    /// Who.
    pub by: String,
}

impl Ledger {
    /// Whether it is approved, and no engine has had it: nothing of it has begun.
    #[must_use]
    pub fn unbegun(&self) -> bool {
        self.approved && self.engines == 0 && self.outcome.is_none()
    }

    /// Starts from the record that creates the run.
    ///
    /// # Errors
    /// When the record is any other.
    pub fn open(record: &Record) -> Result<Self, LedgerError> {
        let Event::RunCreated {
            run, goal, plan_sha256, base, mode, levels, verify, delivery, ..
        } = &record.event
        else {
            return Err(LedgerError::Creation {
                seq: record.seq,
                event: record.event.name(),
                expected: "is not created yet",
            });
        };
        if record.seq != 1 {
            return Err(LedgerError::Sequence { last: 0, found: record.seq });
        }
        let wps: Vec<WpState> = levels
            .iter()
            .enumerate()
            .flat_map(|(n, level)| level.wps.iter().map(move |wp| WpState::new(wp, level, n)))
            .collect();
        let index = wps.iter().enumerate().map(|(n, wp)| (wp.id.clone(), n)).collect();
        Ok(Self {
            seq: 1,
            run: run.clone(),
            goal: goal.clone(),
            plan_sha256: plan_sha256.clone(),
            base: base.clone(),
            trunk: base.clone(),
            mode: *mode,
            approved: false,
            engines: 0,
            stopped: None,
            halted: false,
            outcome: None,
            created_at: record.at,
            updated_at: record.at,
            wps,
            gates: Vec::new(),
            moved: Vec::new(),
            checkout: None,
            guard: None,
            left: None,
            accepted: Vec::new(),
            tampering: Vec::new(),
            seen: Vec::new(),
            notes: Vec::new(),
            outages: Vec::new(),
            allowed: Allowed::default(),
            questions: 0,
            to_verify: *verify,
            verify: None,
            covers: Covers::default(),
            to: None,
            delivery: delivery.clone().map(DeliveryState::new),
            index,
        })
    }

    /// Folds a whole journal.
    ///
    /// # Errors
    /// At the first record that does not follow, or when there is none at all.
    pub fn fold<'a>(records: impl IntoIterator<Item = &'a Record>) -> Result<Self, LedgerError> {
        let mut records = records.into_iter();
        let first = records.next().ok_or_else(|| LedgerError::Creation {
            seq: 0,
            event: "end of journal".to_owned(),
            expected: "is not created yet",
        })?;
        let mut ledger = Self::open(first)?;
        for record in records {
            ledger.apply(record)?;
        }
        Ok(ledger)
    }

    /// Takes one record; on an error the state is as it was.
    ///
    /// # Errors
    /// When the record cannot follow.
    pub fn apply(&mut self, record: &Record) -> Result<(), LedgerError> {
        if record.seq != self.seq + 1 {
            return Err(LedgerError::Sequence { last: self.seq, found: record.seq });
        }
        if self.outcome.is_some() && !reopens(&record.event) {
            return Err(impossible(record, "the run", "finished"));
        }
        match &record.event {
            Event::RunCreated { .. } => {
                return Err(LedgerError::Creation {
                    seq: record.seq,
                    event: record.event.name(),
                    expected: "exists already",
                });
            }
            Event::RunApproved { plan_sha256, covers, to, .. } => {
                if *plan_sha256 != self.plan_sha256 {
                    return Err(impossible(record, "the run", "one of another plan"));
                }
                self.covers = if self.approved { self.covers.with(covers) } else { covers.clone() };
                self.approved = true;
                self.to = to.clone().or(self.to.take());
            }
            Event::EngineStarted { .. } => {
                self.engines += 1;
                self.stopped = None;
                // From now on something may be at work.
                self.left = None;
                self.halted = false;
                self.take_up_verify();
                if let Some(delivery) = &mut self.delivery {
                    delivery.take_up();
                }
                self.outcome = None;
                self.checkout = None;
                // Whoever starts an engine again has looked, and providers mend.
                self.outages.clear();
                if let Some(gate) = self.gates.last_mut() {
                    gate.halted = None;
                }
                if let Some(verify) = self.verify.as_mut().filter(|look| look.halted.is_some()) {
                    verify.halted = None;
                    verify.review.try_again();
                }
            }
            Event::EngineStopped { why } => self.stopped = Some(*why),
            Event::BranchesMoved { moved } => self.moved.clone_from(moved),
            Event::CheckoutCompared { compared } => self.checkout = Some(compared.clone()),
            Event::RunGuarded { guard } => self.guard = Some(guard.clone()),
            Event::RepositoryChanged { standing } => self.tampering.clone_from(standing),
            Event::RepositoryLeft { .. } | Event::RepositoryAccepted { .. } => {
                self.follow_repository(record);
            }
            Event::RunFinished { outcome } => self.outcome = Some(*outcome),
            Event::GateStarted { .. }
            | Event::GateMerged { .. }
            | Event::GateDodRan { .. }
            | Event::GatePassed { .. }
            | Event::GateFailed { .. }
            | Event::GateHalted { .. } => self.apply_gate(record)?,
            Event::VerifyStarted { .. }
            | Event::VerifyRan { .. }
            | Event::ReviewStarted { wp: None, .. }
            | Event::ReviewerStarted { wp: None, .. }
            | Event::ReviewerEnded { wp: None, .. }
            | Event::VerifyReviewed { .. }
            | Event::VerifyEnded { .. }
            | Event::VerifyHalted { .. } => {
                self.apply_verify(record)?;
                self.follow_outages(record, None);
            }
            event if event.of_delivery() => self.apply_delivery(record)?,
            Event::NoteAdded { text, by } => {
                let (text, by) = (text.clone(), by.clone());
                self.notes.push(Note { at: record.at, text, by });
            }
            event => {
                if let Some(id) = event.wp() {
                    let n = self.position(record, id)?;
                    self.refuse_retry(record, n)?;
                    self.wps[n].apply(record)?;
                    self.after_wp(record, n);
                }
            }
        }
        self.note_seen(&record.event);
        self.note_taken_before(&record.event);
        self.seq = record.seq;
        self.updated_at = record.at;
        Ok(())
    }

    /// Whether `wp` can be tried again now. What passed is tried again only because it does not hold
    /// together with the rest of its stage: others may be building on it.
    #[must_use]
    pub fn may_retry(&self, wp: &WpState) -> bool {
        match wp.phase {
            Phase::Passed => self.gates.last().is_some_and(|gate| {
                matches!(gate.phase, GatePhase::Failed | GatePhase::Superseded)
                    && gate.wps.contains(&wp.id)
            }),
            phase => phase.stuck(),
        }
    }

    fn refuse_retry(&self, record: &Record, n: usize) -> Result<(), LedgerError> {
        let wp = &self.wps[n];
        if !matches!(record.event, Event::WpRetried { .. }) || self.may_retry(wp) {
            return Ok(());
        }
        let gate = self.gates.last().filter(|g| g.phase.open() && g.wps.contains(&wp.id));
        let state = match gate {
            Some(gate) => format!("in the open gate {}", gate.gate),
            None => wp.phase.name().to_owned(),
        };
        Err(impossible(record, format!("`{}`", wp.id), state))
    }

    /// What a WP's event means for the rest of the run.
    fn after_wp(&mut self, record: &Record, n: usize) {
        self.follow_outages(record, Some(n));
        match &record.event {
            Event::WpBlocked { halt: true, .. } => self.halted = true,
            Event::AttemptEnded { .. } => {
                for fork in self.wps[n].forks.iter_mut().filter(|fork| fork.number == 0) {
                    self.questions += 1;
                    fork.number = self.questions;
                }
            }
            Event::WpTaken { .. } => {
                self.outcome = None;
                self.another_chance(n);
            }
            Event::WpRetried { by, .. } => {
                self.outcome = None;
                // An engine that takes a run up again is not somebody who grants money.
                if by != RESUMED {
                    self.wps[n].allowed = Allowed::all(total(&self.wps[n].costs));
                    self.allowed = Allowed::all(total(self.costs()));
                }
                self.another_chance(n);
            }
            _ => {}
        }
    }

    /// The WP may get through after all: whoever was put off because of it has a chance again, and so has its
    /// stage.
    fn another_chance(&mut self, n: usize) {
        let mut freed = vec![self.wps[n].id.clone()];
        while let Some(cause) = freed.pop() {
            for wp in &mut self.wps {
                if wp.phase == Phase::Deferred && wp.because.as_ref() == Some(&cause) {
                    wp.phase = Phase::Waiting;
                    wp.because = None;
                    freed.push(wp.id.clone());
                }
            }
        }
        self.reopen_gate_of(n);
    }

    /// What a session's end says of its provider.
    fn follow_outages(&mut self, record: &Record, n: Option<usize>) {
        match &record.event {
            Event::AttemptEnded { ran, fault, .. } => {
                let Some(wp) = n.map(|n| &self.wps[n]) else { return };
                let (Some(worker), false) = (&wp.worker, ran.end == End::Cancelled) else { return };
                // What a worker's own limits ended says nothing of its provider.
                if fault.is_none() && !matches!(ran.end, End::Exit { .. }) {
                    return;
                }
                outage::follow(&mut self.outages, &wp.tier, worker, fault.as_ref(), record.at);
            }
            Event::ReviewerEnded { tier, worker, ran, fault, .. } => {
                if fault.is_none() && !matches!(ran.end, End::Exit { .. }) {
                    return;
                }
                outage::follow(&mut self.outages, tier, worker, fault.as_ref(), record.at);
            }
            Event::WpRetried { .. } => self.outages.clear(),
            _ => {}
        }
    }

    /// Tokens and money that count against the run's budget.
    #[must_use]
    pub fn spent(&self) -> (u64, Usd) {
        self.allowed.beyond(total(self.costs()))
    }

    /// What all sessions of the run used, by tier and role, each WP's lines and then the last look's.
    pub fn costs(&self) -> impl Iterator<Item = &Cost> {
        let last = self.verify.iter().flat_map(|verify| &verify.costs);
        self.wps.iter().flat_map(|wp| &wp.costs).chain(last)
    }

    /// The state of one WP.
    #[must_use]
    pub fn wp(&self, id: &WpId) -> Option<&WpState> {
        match self.index.get(id) {
            Some(n) => self.wps.get(*n),
            // A state read back from `state.json` has no index.
            None => self.wps.iter().find(|wp| &wp.id == id),
        }
    }

    fn position(&self, record: &Record, id: &WpId) -> Result<usize, LedgerError> {
        self.index.get(id).copied().ok_or_else(|| LedgerError::Unknown {
            seq: record.seq,
            event: record.event.name(),
            what: format!("the work package `{id}`"),
        })
    }
}

/// Events that may follow the end of a run: a person asks for more, or an engine takes it again.
fn reopens(event: &Event) -> bool {
    matches!(
        event,
        Event::WpRetried { .. }
            | Event::RunApproved { .. }
            | Event::AfterMergeStarted { .. }
            | Event::AfterMergeRan { .. }
            | Event::WpTaken { .. }
            | Event::RepositoryAccepted { .. }
            | Event::EngineStarted { .. }
            | Event::EngineStopped { .. }
            | Event::WpCancelled { .. }
            | Event::Reviewed { .. }
            | Event::Answered { .. }
            | Event::NoteAdded { .. }
            | Event::WorktreeRemoved { .. }
            | Event::WorktreeKept { .. }
    )
}

fn impossible(record: &Record, what: impl Into<String>, state: impl Into<String>) -> LedgerError {
    LedgerError::Impossible {
        seq: record.seq,
        event: record.event.name(),
        what: what.into(),
        state: state.into(),
    }
}
