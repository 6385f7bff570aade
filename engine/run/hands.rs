//! What the lead takes into its own hands: when that makes sense, and an engine's part in it. It stops who is at
//! work there, hands over, checks what the lead left, and starts no worker as long as the lead has it.
//!
//! With no engine there, whoever asks is one for a moment, about that WP alone.

use super::dispatcher::{Engine, EngineError};
use super::let_go::Ending;
use super::requests::{Ask, Refused};
use super::since;
use super::step::Order;
use crate::event::{Event, StopReason};
use crate::ledger::{Ledger, Phase, WpState};
use crate::model::ids::WpId;
use crate::model::plan::Kind;
use crate::process;

/// Why what `by` asks about the lead's own work in `wp` makes no sense. Nothing for whatever else is asked.
#[must_use]
pub fn refused(ledger: &Ledger, wp: &WpState, by: &str, ask: &Ask) -> Option<Refused> {
    let because = |why| Some(Refused::Phase { wp: wp.id.clone(), phase: wp.phase.name(), why });
    let held = wp.hands.as_ref().filter(|hands| hands.held);
    if let (Some(hands), Ask::Take | Ask::Back | Ask::Recheck { .. }) = (held, ask)
        && hands.by != by
    {
        let by = process::escape(hands.by.as_bytes());
        return Some(Refused::Taken { wp: wp.id.clone(), by });
    }
    match ask {
        Ask::Take if wp.kind == Kind::Scout => {
            because("a scout only reads, so there is no work in it to take over")
        }
        Ask::Take if wp.phase.got_through() => because(
            "its work is checked and committed; change it in a plan of its own, or `sop retry` it where its \
             stage does not hold together, and take it then",
        ),
        Ask::Take if wp.phase == Phase::Committing => {
            because("its work is checked and being committed")
        }
        Ask::Take if held.is_some() && wp.phase != Phase::Blocked => {
            because("it is on its way into your hands, or there already")
        }
        Ask::Take if held.is_none() && wp.worktree.is_none() && !ledger.may_begin(wp) => {
            because("what it builds on is not there yet, so it has no worktree to take")
        }
        Ask::Back | Ask::Recheck { .. }
            if wp.phase != Phase::Taken || held.is_none_or(|hands| hands.asked.is_some()) =>
        {
            because(
                "only what you have taken (`sop take`), and what is not being checked already, can be checked or given back",
            )
        }
        _ => None,
    }
}

impl Engine<'_> {
    /// Sees to what the lead wants of one WP, and to nothing else.
    #[must_use]
    pub fn for_lead(mut self, wp: WpId) -> Self {
        self.only = Some(wp);
        self
    }

    /// Whether this engine has to do with it.
    pub(super) fn concerns(&self, wp: Option<&WpId>) -> bool {
        self.only.is_none() || self.only.as_ref() == wp
    }

    /// Ends what is at work in a WP that the lead is to have. What makes its worktree is let be.
    pub(super) fn stop_for_lead(&self, wp: Option<&WpId>) {
        let Some(state) = wp.and_then(|wp| self.ledger.wp(wp)) else { return };
        let making = matches!(state.phase, Phase::Provisioning | Phase::Classing);
        if state.is_to_be_handed_over()
            && !making
            && let Some(orders) = self.units.get(&state.id)
        {
            orders.send_replace(Order::Term);
        }
    }

    /// Starts what the lead waits for. It takes no worker's room, and waits for none.
    pub(super) fn start_for_lead(&mut self) -> Result<(), EngineError> {
        let due = |wp: &&WpState| {
            self.concerns(Some(&wp.id))
                && !self.units.contains_key(&wp.id)
                && (wp.lead_asks().is_some() || !self.site.paused(wp))
        };
        let due: Vec<_> = self.ledger.for_the_lead().filter(due).cloned().collect();
        for wp in due {
            if wp.phase == Phase::Waiting {
                let started = self.started(&wp.id);
                self.record(vec![started])?;
            }
            let locks = match wp.rechecks() {
                true => self.site.wp(&wp.id).locks.clone(),
                false => Vec::new(),
            };
            if self.slots.take_beside(&wp.id, &locks) {
                // Whoever is at work there still is taken up only to be ended.
                let stop = self.ledger.wp(&wp.id).is_some_and(WpState::is_to_be_stopped);
                let order = if stop { Order::Term } else { self.order };
                self.spawn(&wp.id, order, None);
            }
        }
        Ok(())
    }

    /// How an engine for the lead ends: the run is as it was, but for that one WP.
    pub(super) async fn let_lead_go(mut self) -> Result<(Ending, Ledger), EngineError> {
        // What stands is told when the run is let go as a whole.
        let left = since::look(&self.site, &self.ledger).await.left;
        let left = left.map(|guard| Event::RepositoryLeft { guard });
        let why = match self.order {
            Order::Go => StopReason::Waiting,
            _ => StopReason::Interrupted,
        };
        self.record(left.into_iter().chain([Event::EngineStopped { why }]).collect())?;
        self.write_state(true);
        Ok((Ending::Stopped(why), self.ledger))
    }
}
