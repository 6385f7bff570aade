//! What an engine starts: the gate and the last look when they are due, and the units of WPs for which there
//! is room.

use std::sync::Arc;

use tokio::sync::watch;

use super::dispatcher::{Engine, EngineError};
use super::seats::Seat;
use super::step::Order;
use super::unit::{Line, Message, Unit};
use super::{gate, verify};
use crate::event::Event;
use crate::ledger::{NextGate, NextVerify, Phase, WpState};
use crate::model::ids::WpId;
use crate::model::plan::Kind;

impl Engine<'_> {
    pub(super) fn start_what_can(&mut self) -> Result<(), EngineError> {
        if self.order != Order::Go {
            return Ok(());
        }
        self.start_for_lead()?;
        if self.only.is_some() {
            return Ok(());
        }
        loop {
            let defer = self.ledger.to_defer();
            if defer.is_empty() {
                break;
            }
            let events = defer.into_iter().map(|(wp, because)| Event::WpDeferred { wp, because });
            self.record(events.collect())?;
        }
        self.start_gate()?;
        self.start_verify()?;
        self.start_deliveries();
        self.start_units()
    }

    fn start_verify(&mut self) -> Result<(), EngineError> {
        if self.verify.is_some() {
            return Ok(());
        }
        if let Some(NextVerify::Ready(commit)) = self.ledger.next_verify() {
            let wanted = self.site.plan.verify.as_ref();
            let reviewer = wanted.and_then(|verify| verify.review_tier.clone());
            let live = wanted.map_or(0, |verify| verify.live.len());
            let live = u32::try_from(live).unwrap_or(u32::MAX);
            self.record(vec![Event::VerifyStarted { commit, reviewer, live }])?;
        }
        let Some(NextVerify::Open(state)) = self.ledger.next_verify() else { return Ok(()) };
        let (state, base) = (state.clone(), self.ledger.base.clone());
        let (orders, ordered) = watch::channel(self.order);
        let (site, line) = (Arc::clone(&self.site), Line(self.line.clone()));
        self.verify = Some(orders);
        tokio::spawn(async move {
            let result = verify::run(site, line.clone(), ordered, base, state).await;
            let _ = line.0.send(Message::VerifyDone(result)).await;
        });
        Ok(())
    }

    fn start_gate(&mut self) -> Result<(), EngineError> {
        if self.gate.is_some() {
            return Ok(());
        }
        if let Some(NextGate::Ready { level, wps }) = self.ledger.next_gate() {
            let gate = u32::try_from(self.ledger.gates.len()).unwrap_or(u32::MAX) + 1;
            let onto = self.ledger.trunk.clone();
            self.record(vec![Event::GateStarted { gate, level, onto, wps }])?;
        }
        let Some(state) =
            self.ledger.gates.last().filter(|gate| gate.phase.open() && gate.halted.is_none())
        else {
            return Ok(());
        };
        let state = state.clone();
        let members: Vec<WpState> =
            state.wps.iter().filter_map(|wp| self.ledger.wp(wp)).cloned().collect();
        let (orders, ordered) = watch::channel(self.order);
        let (site, line) = (Arc::clone(&self.site), Line(self.line.clone()));
        self.gate = Some(orders);
        tokio::spawn(async move {
            let result = gate::run(site, line.clone(), ordered, state, members).await;
            let _ = line.0.send(Message::GateDone(result)).await;
        });
        Ok(())
    }

    fn start_units(&mut self) -> Result<(), EngineError> {
        if self.slots.full() {
            return Ok(());
        }
        let mut chosen = Vec::new();
        for wp in self.ledger.startable() {
            if self.slots.full() {
                break;
            }
            if self.site.paused(wp) {
                continue;
            }
            let locks = &self.site.wp(&wp.id).locks;
            if self.units.contains_key(&wp.id) || !self.slots.fits(&wp.id, locks) {
                continue;
            }
            let tier = self.site.seat_for(wp);
            let seat = tier.as_ref().map(|tier| self.site.seats.take(tier));
            if matches!(seat, Some(None)) {
                continue;
            }
            self.slots.take(&wp.id, locks);
            chosen.push((wp.id.clone(), wp.phase, seat.flatten()));
        }
        let fresh = chosen.iter().filter(|(_, phase, _)| *phase == Phase::Waiting);
        let events = fresh.map(|(wp, ..)| self.started(wp)).collect::<Vec<_>>();
        if !events.is_empty() {
            self.record(events)?;
        }
        for (wp, _, seat) in chosen {
            self.spawn(&wp, self.order, seat);
        }
        Ok(())
    }

    pub(super) fn started(&self, wp: &WpId) -> Event {
        Event::WpStarted {
            wp: wp.clone(),
            base: self.ledger.trunk.clone(),
            branch: format!("sop/{}/{wp}", self.site.dir.run()),
            worktree: self.site.worktree_path(wp.as_str()).to_string_lossy().into_owned(),
        }
    }

    pub(super) fn spawn(&mut self, wp: &WpId, order: Order, seat: Option<Seat>) {
        let Some(state) = self.ledger.wp(wp).cloned() else { return };
        // A consolidation builds on what all of its stage say, everyone else on the scouts' word.
        let stage = self.site.wp(wp).consolidates.as_ref();
        let before = self.ledger.wps.iter().filter(|other| {
            stage == Some(&other.stage)
                || (other.kind == Kind::Scout && state.after.names(&other.id, &other.stage))
        });
        let reports = before
            .filter(|other| other.phase.got_through())
            .filter_map(|other| Some((other.id.clone(), other.report.clone()?)))
            .collect();
        let (orders, ordered) = watch::channel(order);
        self.units.insert(wp.clone(), orders);
        let line = Line(self.line.clone());
        tokio::spawn(Unit::new(Arc::clone(&self.site), line, ordered, state, reports, seat).run());
    }
}
