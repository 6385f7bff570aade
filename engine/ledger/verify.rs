//! The last look at the whole: every DoD again, the end-to-end commands and a reviewer, on the integrated
//! commit. It reports and mends nothing.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::cost::{Allowed, Cost, total};
use super::review::ReviewState;
use super::{Ledger, LedgerError, impossible};
use crate::event::{Event, Record};
use crate::model::ids::{CommitId, TierId, WpId};
use crate::model::outcome::{Check, Problem, Ran};
use crate::model::plan::Mode;
use crate::model::verdict::Verdict;

/// The state of the last look.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct VerifyState {
    /// The integrated commit that is looked at.
    pub commit: CommitId,
    /// How often it was begun, this time included: a run that ended with it can be taken up once more.
    #[serde(default)]
    pub look: u32,
    /// Somebody has taken the run up again after it did not hold.
    #[serde(default)]
    pub again: bool,
    /// Commands that have run on it: whose DoD (nothing for an end-to-end command), and how it went.
    pub ran: Vec<VerifyRan>,
    /// Who reads the whole, where the plan has somebody do so.
    #[serde(default)]
    pub reviewer: Option<TierId>,
    /// End-to-end commands that the plan has.
    #[serde(default)]
    pub live: u32,
    /// What is known of the worker that reads the whole.
    #[serde(default)]
    pub review: ReviewState,
    /// Who reviewed it.
    pub reviewed_by: Option<String>,
    /// The reviewer's answer.
    pub verdict: Option<Verdict>,
    /// Whether it is over.
    pub ended: bool,
    /// Everything that is wrong.
    pub problems: Vec<Problem>,
    /// What keeps the engine from going on with it.
    pub halted: Option<Problem>,
    /// What its reviewers used.
    pub costs: Vec<Cost>,
}

/// A command of the last look.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct VerifyRan {
    /// Whose DoD it is; nothing for an end-to-end command.
    pub wp: Option<WpId>,
    /// How it went.
    pub ran: Ran,
    /// Last lines of its output when it failed.
    pub tail: Option<String>,
}

impl VerifyRan {
    /// That it failed, if it did.
    #[must_use]
    pub fn problem(&self) -> Option<Problem> {
        let Self { wp, ran, tail } = self;
        let whose = match wp {
            Some(wp) => format!("of {wp}"),
            None => "end to end".to_owned(),
        };
        let text = format!("fails on the integrated tree ({whose}): {}", ran.end);
        let problem = Problem::new(Check::Dod, text).about(&ran.run);
        (!ran.end.success()).then(|| problem.logged(&ran.log, tail.clone().unwrap_or_default()))
    }
}

/// What the last look has to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NextVerify<'a> {
    /// One was begun and is not over.
    Open(&'a VerifyState),
    /// Everything is integrated, and nobody has looked at it yet.
    Ready(CommitId),
}

impl VerifyState {
    /// It is over, and the whole holds.
    #[must_use]
    pub fn held(&self) -> bool {
        self.ended && self.problems.is_empty()
    }

    /// It is over, and the whole does not hold.
    #[must_use]
    pub fn failed(&self) -> bool {
        self.ended && !self.problems.is_empty() && !self.again
    }
}

impl Ledger {
    /// The last look that is open, or due: when every WP got through and is integrated.
    #[must_use]
    pub fn next_verify(&self) -> Option<NextVerify<'_>> {
        if !self.to_verify || self.mode == Mode::Independent || self.halted {
            return None;
        }
        match &self.verify {
            Some(state) if state.commit == self.trunk && !state.again => {
                (!state.ended).then_some(NextVerify::Open(state))
            }
            _ => {
                let through = self.wps.iter().all(|wp| wp.phase.got_through());
                let merged = self.next_gate().is_none() && !self.gate_failed();
                (through && merged).then(|| NextVerify::Ready(self.trunk.clone()))
            }
        }
    }

    /// An engine takes the run. One that was over, because the whole does not hold, is taken up by somebody
    /// who wants it looked at once more; one whose engine died is not over.
    pub(super) fn take_up_verify(&mut self) {
        let over = self.outcome.is_some();
        let Some(verify) = self.verify.as_mut().filter(|verify| over && verify.failed()) else {
            return;
        };
        verify.again = true;
        self.allowed = Allowed::all(total(self.costs()));
    }

    pub(super) fn apply_verify(&mut self, record: &Record) -> Result<(), LedgerError> {
        if let Event::VerifyStarted { commit, reviewer, live } = &record.event {
            if !self.to_verify || *commit != self.trunk {
                return Err(impossible(record, "the last look", "not due"));
            }
            let before = self.verify.take();
            self.verify = Some(VerifyState {
                commit: commit.clone(),
                look: before.as_ref().map_or(0, |before| before.look) + 1,
                again: false,
                ran: Vec::new(),
                reviewer: reviewer.clone(),
                live: *live,
                review: ReviewState::default(),
                reviewed_by: None,
                verdict: None,
                ended: false,
                problems: Vec::new(),
                halted: None,
                costs: before.map(|before| before.costs).unwrap_or_default(),
            });
            return Ok(());
        }
        let Some(state) = self.verify.as_mut().filter(|state| !state.ended) else {
            return Err(impossible(record, "the last look", "not open"));
        };
        match &record.event {
            Event::VerifyRan { wp, ran, tail } => {
                let (wp, ran, tail) = (wp.clone(), ran.clone(), tail.clone());
                state.ran.push(VerifyRan { wp, ran, tail });
            }
            event @ (Event::ReviewStarted { round: 0, .. }
            | Event::ReviewerStarted { round: 0, .. }
            | Event::ReviewerEnded { round: 0, .. })
                if state.review.allows(event) =>
            {
                state.review.apply(record.at, event, &mut state.costs);
            }
            Event::VerifyReviewed { by, verdict } => {
                state.reviewed_by = Some(by.clone());
                state.verdict = Some(verdict.clone());
            }
            Event::VerifyEnded { problems } => {
                state.ended = true;
                state.problems.clone_from(problems);
            }
            Event::VerifyHalted { problem } => {
                state.halted = Some(problem.clone());
                self.halted = true;
            }
            _ => return Err(impossible(record, "the last look", "open")),
        }
        Ok(())
    }
}
