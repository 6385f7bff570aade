//! The engine: one loop that owns the truth. Units and gates do the work and report facts; the
//! dispatcher puts them in one order, on disk before they count, and starts whatever may start next.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::sync::{mpsc, oneshot, watch};

use crate::event::{Event, Record};
use crate::journal::{Journal, JournalError};
use crate::ledger::{Fork, Ledger, LedgerError, NextGate, NextVerify, Phase, RESUMED, WpState};
use crate::model::ids::WpId;
use crate::model::outcome::Problem;
use crate::model::plan::Kind;
use crate::model::time::Timestamp;

use super::directory::{EngineLock, write_whole};
use super::let_go::Ending;
use super::seats::Seat;
use super::site::{Halt, Site};
use super::slots::Slots;
use super::spending::Spending;
use super::step::Order;
use super::stop::Stop;
use super::unit::{Answer, Line, Message, Unit};
use super::{asking, deliver, gate, requests, say, verify};

/// How often requests are looked for and the view is told that time passes.
const TICK: Duration = Duration::from_millis(100);
/// How often `state.json` is written while a run is going on.
const STATE_EVERY: Duration = Duration::from_secs(1);
/// Facts that may wait for the dispatcher; more than that and units wait.
const LINE: usize = 1024;

/// Why an engine cannot go on. Everything recorded so far stands.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    /// The journal cannot be written.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// A fact that cannot be: a fault of `sop` itself.
    #[error("{0}; this is a fault of sop itself, and nothing is lost: `sop resume` goes on")]
    Ledger(#[from] LedgerError),
    /// What the run has made is not there any more.
    #[error("{0}")]
    Lost(String),
    /// Signals cannot be listened to.
    #[error("cannot listen to signals: {0}")]
    Signals(std::io::Error),
}

/// Who watches a run.
pub trait Observer: Send {
    /// Something happened; `ledger` has it already.
    fn event(&mut self, record: &Record, ledger: &Ledger);
    /// Time passes.
    fn tick(&mut self, ledger: &Ledger);
    /// Somebody said stop, and this is what it means now.
    fn stopping(&mut self, order: Order);
}

/// One engine, on one run.
pub struct Engine<'a> {
    pub(super) site: Arc<Site>,
    pub(super) ledger: Ledger,
    journal: Journal,
    observer: &'a mut dyn Observer,
    slots: Slots,
    spending: Spending,
    line: mpsc::Sender<Message>,
    messages: mpsc::Receiver<Message>,
    units: HashMap<WpId, watch::Sender<Order>>,
    /// Those of them whose WP is through.
    leaving: HashSet<WpId>,
    cancelling: HashMap<WpId, Event>,
    gate: Option<watch::Sender<Order>>,
    verify: Option<watch::Sender<Order>>,
    deliveries: HashMap<Option<WpId>, watch::Sender<Order>>,
    pub(super) order: Order,
    state_written: Option<Instant>,
    _lock: EngineLock,
}

impl<'a> Engine<'a> {
    /// Takes the run whose journal is at its end `ledger`.
    #[must_use]
    pub fn new(
        site: Arc<Site>,
        lock: EngineLock,
        journal: Journal,
        ledger: Ledger,
        observer: &'a mut dyn Observer,
    ) -> Self {
        let (line, messages) = mpsc::channel(LINE);
        let slots = Slots::new(&site.plan);
        let spending = Spending::new(&site.plan);
        site.settled.take_over(&ledger);
        site.lookout.take_over(&ledger);
        site.seats.keep(&ledger);
        Self {
            site,
            ledger,
            journal,
            observer,
            slots,
            spending,
            line,
            messages,
            units: HashMap::new(),
            leaving: HashSet::new(),
            cancelling: HashMap::new(),
            gate: None,
            verify: None,
            deliveries: HashMap::new(),
            order: Order::Go,
            state_written: None,
            _lock: lock,
        }
    }

    /// Runs until nothing is left to do, somebody has to decide, or somebody says stop.
    ///
    /// # Errors
    /// When the journal cannot be written, or a fact cannot be.
    pub async fn run(mut self) -> Result<(Ending, Ledger), EngineError> {
        let mut stop = Stop::listen().map_err(EngineError::Signals)?;
        let mut tick = tokio::time::interval(TICK);
        tick.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Skip);
        self.take_up()?;
        let mut ticked = true;
        loop {
            if std::mem::take(&mut ticked) || self.idle() {
                self.take_requests()?;
                self.take_defaults()?;
            }
            // Asked before anything is started: what was put off till now would be in neither.
            let put_off = self.order == Order::Go && self.later();
            self.start_what_can()?;
            if self.idle() && !put_off {
                break;
            }
            self.site.leaving.others_at_work(self.units.len() > self.leaving.len());
            tokio::select! {
                message = self.messages.recv() => self.take(message)?,
                order = stop.next() => self.tell_all(order),
                _ = tick.tick() => {
                    ticked = true;
                    self.spending.look(&self.site, &self.ledger);
                    self.observer.tick(&self.ledger);
                    self.write_state(false);
                }
            }
        }
        self.let_go().await
    }

    /// Says that this engine has the run, and gives what infrastructure blocked another chance.
    fn take_up(&mut self) -> Result<(), EngineError> {
        if let Err(error) = asking::write(&self.site.dir) {
            // Whoever asks without it is told the same by `sop ask --help`.
            tracing::warn!(%error, "cannot write how to ask");
        }
        let sop = env!("CARGO_PKG_VERSION").to_owned();
        let mut events = vec![Event::EngineStarted { pid: std::process::id(), sop }];
        let blocked = self.ledger.wps.iter().filter(|wp| wp.phase == Phase::Blocked);
        events.extend(
            blocked.map(|wp| Event::WpRetried { wp: wp.id.clone(), by: RESUMED.to_owned() }),
        );
        self.record(events).map(drop)
    }

    /// Records events in their order: on disk, then in the ledger's answers, then for whoever watches.
    pub(super) fn record(&mut self, events: Vec<Event>) -> Result<(), EngineError> {
        let at = Timestamp(jiff::Timestamp::now());
        let mut records = Vec::with_capacity(events.len());
        for event in events {
            let record = Record { seq: self.ledger.seq + 1, at, event };
            self.ledger.apply(&record)?;
            self.site.settled.follow(&record.event, &self.ledger);
            self.site.lookout.follow(&record.event, &self.ledger);
            records.push(record);
        }
        self.journal.append(&records)?;
        for record in &records {
            self.observer.event(record, &self.ledger);
        }
        Ok(())
    }

    /// Takes a message and all that wait behind it: their facts share one sync.
    fn take(&mut self, first: Option<Message>) -> Result<(), EngineError> {
        let mut next = first;
        let (mut events, mut replies) = (Vec::new(), Vec::new());
        let mut done = Vec::new();
        while let Some(message) = next {
            match message {
                Message::Record { event, reply } => {
                    replies.push((event.wp().cloned(), reply));
                    events.push(*event);
                }
                other => done.push(other),
            }
            next = self.messages.try_recv().ok();
        }
        self.record(events)?;
        for (wp, reply) in replies {
            self.answer(wp.as_ref(), reply);
        }
        for message in done {
            self.done(message)?;
        }
        Ok(())
    }

    fn answer(&self, wp: Option<&WpId>, reply: oneshot::Sender<Answer>) {
        let state = wp.and_then(|wp| self.ledger.wp(wp)).cloned().map(Box::new);
        // A unit that is gone needs no answer.
        let _ = reply.send(Answer::Recorded(state));
    }

    fn done(&mut self, message: Message) -> Result<(), EngineError> {
        match message {
            Message::Leaving(wp) => {
                self.slots.give_back(&wp);
                self.leaving.insert(wp);
            }
            Message::UnitDone(wp) => {
                self.units.remove(&wp);
                self.leaving.remove(&wp);
                self.slots.give_back(&wp);
                if let Some(event) = self.cancelling.remove(&wp)
                    && self.ledger.wp(&wp).is_some_and(|wp| !wp.phase.got_through())
                {
                    self.record(vec![event])?;
                }
            }
            Message::GateDone(result) => {
                self.gate = None;
                match result {
                    Ok(()) | Err(Halt::Stopped) => {}
                    Err(Halt::Blocked { problem, .. }) => {
                        tracing::warn!(?problem, "the gate is blocked");
                        self.gate_blocked(problem)?;
                    }
                }
            }
            Message::VerifyDone(result) => {
                self.verify = None;
                if let Err(Halt::Blocked { problem, .. }) = result {
                    tracing::warn!(?problem, "the last look is blocked");
                    self.record(vec![Event::VerifyHalted { problem }])?;
                }
            }
            Message::DeliveryDone(wp) => drop(self.deliveries.remove(&wp)),
            Message::Record { .. } => unreachable!("facts are taken before"),
        }
        Ok(())
    }

    /// Infrastructure keeps a gate from going on: its first WP carries the news, and a later engine
    /// takes the gate up where it is.
    fn gate_blocked(&mut self, problem: Problem) -> Result<(), EngineError> {
        let gate = self.ledger.gates.last().map(|gate| gate.gate).unwrap_or_default();
        self.record(vec![Event::GateHalted { gate, problem }])
    }

    fn take_requests(&mut self) -> Result<(), EngineError> {
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

    fn start_what_can(&mut self) -> Result<(), EngineError> {
        if self.order != Order::Go {
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

    fn start_deliveries(&mut self) {
        for what in self.ledger.to_deliver() {
            if self.deliveries.contains_key(&what.wp) {
                continue;
            }
            let (orders, ordered) = watch::channel(self.order);
            let wp = what.wp.clone();
            self.deliveries.insert(wp.clone(), orders);
            let (site, line) = (Arc::clone(&self.site), Line(self.line.clone()));
            let ledger = self.ledger.clone();
            tokio::spawn(async move {
                // Whatever it came to is on record; a later engine goes on with what is not.
                let _ = deliver::run(site, line.clone(), ordered, what, ledger).await;
                let _ = line.0.send(Message::DeliveryDone(wp)).await;
            });
        }
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
            self.spawn(&wp, seat);
        }
        Ok(())
    }

    fn started(&self, wp: &WpId) -> Event {
        Event::WpStarted {
            wp: wp.clone(),
            base: self.ledger.trunk.clone(),
            branch: format!("sop/{}/{wp}", self.site.dir.run()),
            worktree: self.site.worktree_path(wp.as_str()).to_string_lossy().into_owned(),
        }
    }

    fn spawn(&mut self, wp: &WpId, seat: Option<Seat>) {
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
        let (orders, ordered) = watch::channel(self.order);
        self.units.insert(wp.clone(), orders);
        let line = Line(self.line.clone());
        tokio::spawn(Unit::new(Arc::clone(&self.site), line, ordered, state, reports, seat).run());
    }

    fn tell_all(&mut self, order: Order) {
        self.order = order;
        self.observer.stopping(order);
        let all = self.units.values().chain(&self.gate).chain(&self.verify);
        for orders in all.chain(self.deliveries.values()) {
            orders.send_replace(order);
        }
    }

    fn idle(&self) -> bool {
        self.units.is_empty()
            && self.gate.is_none()
            && self.verify.is_none()
            && self.deliveries.is_empty()
            && !(self.order == Order::Go && self.later())
    }

    /// Whether something begins by itself when its time comes: a start that was put off, a question
    /// whose default is taken.
    fn later(&self) -> bool {
        self.ledger.wps.iter().any(|wp| self.site.paused(wp) || self.site.default_due(wp).is_some())
    }

    /// Takes the defaults of questions whose time to be answered is over.
    fn take_defaults(&mut self) -> Result<(), EngineError> {
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

    pub(super) fn write_state(&mut self, now: bool) {
        let due = self.state_written.is_none_or(|at| at.elapsed() >= STATE_EVERY);
        if !due && !now {
            return;
        }
        self.state_written = Some(Instant::now());
        let written = serde_json::to_vec_pretty(&self.ledger)
            .map_err(|error| error.to_string())
            .and_then(|bytes| {
                write_whole(&self.site.dir.state(), &bytes).map_err(|error| error.to_string())
            });
        if let Err(error) = written {
            // The journal is the truth; this is a convenience.
            tracing::warn!(error, "cannot write state.json");
        }
    }
}
