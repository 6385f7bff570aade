//! What an engine takes over from outside: what people ask of the run, and the defaults of questions that nobody
//! has answered in time.

use std::path::PathBuf;

use super::dispatcher::{Engine, EngineError};
use super::step::Order;
use super::{again, requests, say};
use crate::event::Event;
use crate::ledger::{Fork, Phase};
use crate::model::ids::WpId;

impl Engine<'_> {
    /// Turns requests into events, each of which is recorded before its file goes.
    pub(super) fn take_requests(&mut self) -> Result<(), EngineError> {
        for (path, request) in requests::waiting(&self.site.dir.requests()) {
            if !self.concerns(request.wp.as_ref()) {
                continue;
            }
            let (wp, asked) = (request.wp.clone(), request.clone());
            if wp.as_ref().is_some_and(|wp| self.cancelling.contains_key(wp)) {
                // What it means is known when the cancellation is done.
                continue;
            }
            match (request.event(&self.ledger), wp) {
                (Some(event @ Event::WpCancelled { .. }), Some(wp)) if self.may_run(&wp) => {
                    self.cancel(wp, event, path);
                    continue;
                }
                (Some(event), wp) => {
                    let again = matches!(event, Event::WpRetried { .. });
                    let state = wp.as_ref().filter(|_| again).and_then(|wp| self.ledger.wp(wp));
                    let gone = state.and_then(|state| again::gone(&self.site, state));
                    self.record(gone.into_iter().chain([event]).collect())?;
                    self.stop_for_lead(wp.as_ref());
                }
                (None, _) => tracing::warn!(?path, "a request that makes no sense any more"),
            }
            // Recorded by this engine, or by one that died before it could tell the worker.
            if let Some(word) = asked.word(&self.ledger)
                && let Err(error) = say::leave(&self.site.dir, &word)
            {
                tracing::warn!(%error, "a worker cannot be told");
            }
            let _ = std::fs::remove_file(path);
        }
        Ok(())
    }

    /// Whether something of a WP may be at work: of this engine, or of one that died.
    fn may_run(&self, wp: &WpId) -> bool {
        let phase = self.ledger.wp(wp).map(|wp| wp.phase);
        self.units.contains_key(wp)
            || phase.is_some_and(|phase| phase.active() || phase == Phase::Blocked)
    }

    /// Ends what is at work on a WP. That it is cancelled is recorded when nothing is.
    fn cancel(&mut self, wp: WpId, event: Event, request: PathBuf) {
        let order = self.order.max(Order::Term);
        match self.units.get(&wp) {
            Some(orders) => drop(orders.send_replace(order)),
            // Nobody has taken it up since its engine died: somebody has to, to see it to its end.
            None => self.spawn(&wp, order, None),
        }
        self.cancelling.insert(wp, (event, request));
    }

    /// Nothing is at work any more on a WP that was to be cancelled.
    pub(super) fn cancelled(&mut self, wp: &WpId) -> Result<(), EngineError> {
        let Some((event, request)) = self.cancelling.remove(wp) else { return Ok(()) };
        let state = self.ledger.wp(wp);
        if state.is_some_and(|wp| !wp.phase.got_through() && wp.phase != Phase::Cancelled) {
            self.record(vec![event])?;
        }
        let _ = std::fs::remove_file(request);
        Ok(())
    }

    /// Takes the defaults of questions whose time to be answered is over.
    pub(super) fn take_defaults(&mut self) -> Result<(), EngineError> {
        let wps = self.ledger.wps.iter().filter(|wp| self.concerns(Some(&wp.id)));
        let due = wps.filter_map(|wp| Some((wp, self.site.default_due(wp)?)));
        let over = due.filter(|(_, (at, _))| self.site.due.is_over(*at));
        let events = over.flat_map(|(wp, (_, forks))| {
            let answered = |fork: &Fork| Event::Answered {
                wp: wp.id.clone(),
                number: fork.number,
                answer: fork.default.clone().unwrap_or_default(),
                by: "default".to_owned(),
            };
            forks.into_iter().map(answered).collect::<Vec<_>>()
        });
        let events: Vec<Event> = events.collect();
        if events.is_empty() { Ok(()) } else { self.record(events) }
    }
}
