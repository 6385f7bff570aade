//! The engine: one loop that owns the truth. Units and gates do the work and report facts; the
//! dispatcher puts them in one order, on disk before they count, and starts whatever may start next.

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::sync::{mpsc, oneshot, watch};

use crate::event::{Event, Record, StopReason};
use crate::journal::{Journal, JournalError};
use crate::ledger::{Ledger, LedgerError, Phase, RESUMED, WpState};
use crate::model::ids::WpId;
use crate::model::outcome::Problem;
use crate::model::time::Timestamp;

use super::directory::{EngineLock, write_whole};
use super::let_go::Ending;
use super::site::{Halt, Site};
use super::slots::Slots;
use super::spending::Spending;
use super::step::Order;
use super::stop::Stop;
use super::unit::{Answer, Message};
use super::{asking, meanwhile, requests, since};

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
    pub(super) slots: Slots,
    pub(super) spending: Spending,
    pub(super) line: mpsc::Sender<Message>,
    messages: mpsc::Receiver<Message>,
    pub(super) units: HashMap<WpId, watch::Sender<Order>>,
    /// Those of them whose WP is through.
    leaving: HashSet<WpId>,
    /// What is recorded of a WP when nothing of it is at work any more, and the request it was made from.
    pub(super) cancelling: HashMap<WpId, (Event, PathBuf)>,
    pub(super) gate: Option<watch::Sender<Order>>,
    pub(super) verify: Option<watch::Sender<Order>>,
    pub(super) deliveries: HashMap<Option<WpId>, watch::Sender<Order>>,
    pub(super) order: Order,
    /// The only WP that this engine does anything about, which the lead has or wants.
    pub(super) only: Option<WpId>,
    /// Who accepts what became of the repository and would be held against the run.
    accepts: Option<String>,
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
            only: None,
            accepts: None,
            state_written: None,
            _lock: lock,
        }
    }

    /// Accepts, in the name of `by`, what became of the repository and would be held against the run.
    #[must_use]
    pub fn accepting(mut self, by: Option<String>) -> Self {
        self.accepts = by;
        self
    }

    /// Runs until nothing is left to do, somebody has to decide, or somebody says stop.
    ///
    /// # Errors
    /// When the journal cannot be written, a fact cannot be, or what is to be accepted cannot be looked at.
    pub async fn run(mut self) -> Result<(Ending, Ledger), EngineError> {
        let mut stop = Stop::listen().map_err(EngineError::Signals)?;
        let mut tick = tokio::time::interval(TICK);
        tick.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Skip);
        let taken = self.taken_as_it_is().await?;
        self.take_up(taken)?;
        self.take_down().await?;
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

    /// What became of the repository since the last engine let go and is not held against the run.
    async fn taken_as_it_is(&self) -> Result<Option<Event>, EngineError> {
        let Some(by) = &self.accepts else {
            return Ok(meanwhile::taken_as_yours(&self.site, &self.ledger).await);
        };
        match meanwhile::accepted(&self.site, &self.ledger, by).await {
            Err(Halt::Blocked { problem, .. }) => Err(EngineError::Lost(problem.message)),
            accepted => Ok(accepted.ok().flatten()),
        }
    }

    /// Says that this engine has the run, after what it takes as it is, and gives what infrastructure blocked another
    /// chance.
    fn take_up(&mut self, taken: Option<Event>) -> Result<(), EngineError> {
        if let Err(error) = asking::write(&self.site.dir) {
            // Whoever asks without it is told the same by `sop ask --help`.
            tracing::warn!(%error, "cannot write how to ask");
        }
        let sop = env!("CARGO_PKG_VERSION").to_owned();
        let started = Event::EngineStarted { pid: std::process::id(), sop };
        let mut events: Vec<Event> = taken.into_iter().chain([started]).collect();
        // What a person asks for is more: it begins anew where the worktree is gone.
        let waiting = requests::noted(&self.site.dir);
        let asked = |wp: &WpState| {
            let mut retries = waiting.iter().filter(|it| matches!(it.ask, requests::Ask::Retry));
            retries.any(|it| it.wp.as_ref() == Some(&wp.id))
        };
        let again = |wp: &&WpState| wp.phase == Phase::Blocked && self.only.is_none() && !asked(wp);
        let blocked = self.ledger.wps.iter().filter(again);
        events.extend(
            blocked.map(|wp| Event::WpRetried { wp: wp.id.clone(), by: RESUMED.to_owned() }),
        );
        self.record(events).map(drop)
    }

    /// Takes the repository down before the first worker comes, once for the run.
    async fn take_down(&mut self) -> Result<(), EngineError> {
        if self.ledger.guard.is_some() {
            return Ok(());
        }
        match since::take_down(&self.site).await {
            Ok(guard) => self.record(vec![Event::RunGuarded { guard }]),
            Err(Halt::Stopped) => Ok(()),
            Err(Halt::Blocked { problem, .. }) => {
                self.record(vec![Event::EngineStopped { why: StopReason::Halted }])?;
                Err(EngineError::Lost(problem.message))
            }
        }
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
                self.cancelled(&wp)?;
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
    pub(super) fn later(&self) -> bool {
        let mut wps = self.ledger.wps.iter().filter(|wp| self.concerns(Some(&wp.id)));
        wps.any(|wp| self.site.paused(wp) || self.site.default_due(wp).is_some())
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
