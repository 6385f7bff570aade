//! What an engine takes over from outside: what people ask of the run, and the defaults of questions that nobody
//! has answered in time.

use super::dispatcher::{Engine, EngineError};
use super::step::Order;
use super::{requests, say};
use crate::event::Event;
use crate::ledger::Fork;

impl Engine<'_> {
    pub(super) fn take_requests(&mut self) -> Result<(), EngineError> {
        for (path, request) in requests::waiting(&self.site.dir.requests()) {
            let (wp, asked) = (request.wp.clone(), request.clone());
            match (request.event(&self.ledger), &wp) {
                (Some(event @ Event::WpCancelled { .. }), Some(wp))
                    if self.units.contains_key(wp) =>
                {
                    if let Some(orders) = self.units.get(wp) {
                        orders.send_replace(Order::Term);
                    }
                    self.cancelling.insert(wp.clone(), event);
                }
                (Some(event), _) => self.record(vec![event])?,
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

    /// Takes the defaults of questions whose time to be answered is over.
    pub(super) fn take_defaults(&mut self) -> Result<(), EngineError> {
        let due = self.ledger.wps.iter().filter_map(|wp| Some((wp, self.site.default_due(wp)?)));
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
