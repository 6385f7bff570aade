//! How a run stands in one word, and whether an engine would go on with it.

use super::Ledger;
use crate::event::{Outcome, StopReason};
use crate::model::stand::Stand;

impl From<Outcome> for Stand {
    fn from(outcome: Outcome) -> Self {
        match outcome {
            Outcome::Done => Self::Done,
            Outcome::Failed => Self::Failed,
            Outcome::Waiting => Self::Waiting,
            Outcome::Blocked => Self::Blocked,
        }
    }
}

impl Ledger {
    /// How the run stands; `held` says whether an engine has it, which its journal cannot.
    #[must_use]
    pub fn stands(&self, held: bool) -> Stand {
        match (self.outcome, self.stopped) {
            (Some(outcome), _) => outcome.into(),
            (None, _) if held => Stand::Running,
            (None, _) if self.unbegun() => Stand::NotBegun,
            // An engine that took it for the lead left the rest to another one.
            (None, Some(StopReason::Waiting)) if self.goes_on() => Stand::NotRunning,
            (None, Some(StopReason::Interrupted)) => Stand::Interrupted,
            (None, Some(StopReason::Halted)) => Stand::Blocked,
            (None, Some(StopReason::Waiting)) => Stand::Waiting,
            (None, None) => Stand::NotRunning,
        }
    }

    /// Whether an engine that took the run now would have something to do, without anybody deciding or mending
    /// anything first.
    #[must_use]
    pub fn goes_on(&self) -> bool {
        if !self.approved || self.outcome.is_some() {
            return false;
        }
        let gate = self.gates.last().is_none_or(|gate| gate.halted.is_none());
        let look = self.verify.as_ref().is_none_or(|look| look.halted.is_none());
        let (here, whole) = (self.standing_here(), self.standing());
        let to_be_ended = self.wps.iter().all(|wp| wp.phase.settled())
            && !self.halted
            && gate
            && look
            && !self.uncovered_gate()
            && (here != Outcome::Done || whole == Outcome::Done);
        to_be_ended
            || !self.startable().is_empty()
            || self.for_the_lead().next().is_some()
            || !self.to_defer().is_empty()
            || gate && self.next_gate().is_some()
            || look && self.next_verify().is_some()
            || !self.to_deliver().is_empty()
    }
}
