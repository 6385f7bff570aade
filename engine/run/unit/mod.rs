//! One WP's rounds. A unit does what the WP's phase says, reports one fact, and looks at the phase
//! again — so a WP that has just come to a phase and one that a crash left there are the same.

mod agent;
mod brief;
mod commit;
mod hands;
pub mod prove;
mod pushes;
pub(super) mod review;
mod scope;
pub mod told;
mod wiring;
mod work;

use std::sync::Arc;

use tokio::sync::{mpsc, oneshot};

use crate::event::Event;
use crate::git::Worktree;
use crate::launch::Key;
use crate::ledger::{Phase, WpState, judge};
use crate::model::ids::{CommitId, WpId};
use crate::model::outcome::{Check, Problem};
use crate::model::plan::{Mode, Wp};

use super::in_flight::of_wp;
use super::seats::Seat;
use super::site::{Halt, Site};
use super::step::{Order, Orders};
use super::{again, clean, ending, provision};

/// What units and gates say to the dispatcher.
#[derive(Debug)]
pub enum Message {
    /// A fact. It is on disk when the answer comes.
    Record {
        /// What happened.
        event: Box<Event>,
        /// Where the answer goes.
        reply: oneshot::Sender<Answer>,
    },
    /// A WP is through: its unit needs no room any more, and only its worktree has to go.
    Leaving(WpId),
    /// A WP's unit has nothing more to do.
    UnitDone(WpId),
    /// The gate has nothing more to do.
    GateDone(Result<(), Halt>),
    /// The last look at the whole has nothing more to do.
    VerifyDone(Result<(), Halt>),
    /// The delivery of a WP, or of the whole, has nothing more to do.
    DeliveryDone(Option<WpId>),
}

/// What the dispatcher answers to a fact about a WP.
#[must_use]
#[derive(Debug)]
pub enum Answer {
    /// It is recorded; the WP as it is now (nothing for a fact about a gate).
    Recorded(Option<Box<WpState>>),
    /// The journal takes nothing more.
    Closed,
}

/// The line to the dispatcher.
#[derive(Debug, Clone)]
pub struct Line(pub mpsc::Sender<Message>);

impl Line {
    /// Reports a fact and waits until it is on disk.
    ///
    /// # Errors
    /// [`Halt::Stopped`] when the dispatcher takes nothing more.
    pub async fn record(&self, event: Event) -> Result<Option<Box<WpState>>, Halt> {
        let (reply, answer) = oneshot::channel();
        let event = Box::new(event);
        let sent = self.0.send(Message::Record { event, reply }).await;
        match (sent, answer.await) {
            (Ok(()), Ok(Answer::Recorded(state))) => Ok(state),
            _ => Err(Halt::Stopped),
        }
    }
}

/// The one who works on a WP.
pub struct Unit {
    site: Arc<Site>,
    line: Line,
    orders: Orders,
    state: Box<WpState>,
    reports: Vec<(WpId, String)>,
    /// Its room on a tier, where it needs any.
    seat: Option<Seat>,
    /// The worktree as it was when the last worker was let in.
    entered: Option<Worktree>,
}

impl Unit {
    /// Takes up a WP where its state says it is. `reports` are those of the scouts it waits for: who,
    /// and the report's name within the run directory. `seat` is on the tier that it needs room on.
    #[must_use]
    pub fn new(
        site: Arc<Site>,
        line: Line,
        orders: Orders,
        state: WpState,
        reports: Vec<(WpId, String)>,
        seat: Option<Seat>,
    ) -> Self {
        Self { site, line, orders, state: Box::new(state), reports, seat, entered: None }
    }

    /// Goes on until nothing is left to do or somebody says stop.
    pub async fn run(mut self) {
        let id = self.state.id.clone();
        let by_hand = self.state.is_with_lead();
        while self.state.phase.active() || self.state.lead_asks().is_some() {
            if self.stopping() && !self.is_seen_through() {
                break;
            }
            let asked = self.state.lead_asks();
            if asked.is_none() && self.site.paused(&self.state) {
                break;
            }
            // On another tier there may be no room now: whoever gives it out takes this up again.
            if asked.is_none() && !self.is_seated() {
                break;
            }
            let done = match asked {
                Some(asked) => self.for_the_lead(asked).await,
                None => self.advance().await,
            };
            let recorded = match done {
                Ok(event) => self.line.record(event).await,
                Err(Halt::Stopped) => break,
                Err(Halt::Blocked { problem, everywhere }) => {
                    let wp = id.clone();
                    self.line.record(Event::WpBlocked { wp, problem, halt: everywhere }).await
                }
            };
            match recorded {
                Ok(Some(state)) => self.state = state,
                _ => break,
            }
            // Given back: whoever gives room out takes it up.
            if by_hand && !self.state.is_with_lead() {
                break;
            }
        }
        if self.stopping() {
            self.end_what_runs().await;
        }
        self.clean().await;
        let _ = self.line.0.send(Message::UnitDone(id)).await;
    }

    /// Whether it has the room that the next step needs; gives up what it needs no more.
    fn is_seated(&mut self) -> bool {
        let tier = self.site.seat_for(&self.state);
        let to_work = matches!(self.state.phase, Phase::Briefing | Phase::Starting);
        match (tier, &self.seat) {
            (None, _) => {
                self.seat = None;
                true
            }
            (Some(tier), Some(seat)) => seat.tier() == &tier || !to_work,
            // After its review; what is left of the round is short, and the next one is work.
            (Some(_), None) => !to_work,
        }
    }

    /// Of what goes on when somebody says stop: a worker or a reviewer that runs (it was told to end), and the look
    /// at what a worker has done to the repository, which nobody else will take. Nothing else is begun.
    fn is_seen_through(&self) -> bool {
        match self.state.phase {
            Phase::Working => true,
            Phase::Scoping => *self.orders.borrow() != Order::Kill,
            Phase::Reviewing => self.state.review.is_at_work(),
            _ => false,
        }
    }

    /// What an engine that died has left at work, and nobody took up.
    async fn end_what_runs(&self) {
        let plan = &self.site.plan;
        let open = |key: &Key| of_wp(&self.state, plan, key.step(), key.attempt());
        let (launcher, unit) = (&self.site.launcher, self.state.id.as_str());
        let keys = launcher.steps_of(self.site.dir.run(), unit);
        let keys = keys.map(|keys| keys.into_iter().filter(open).collect());
        let ended = match keys {
            Ok(keys) => ending::end(launcher, keys, &self.orders).await,
            Err(error) => Err(error),
        };
        if let Err(error) = ended {
            let wp = self.state.id.clone();
            tracing::warn!(%wp, %error, "something is still at work");
            let problem = Problem::new(self.check(), error.to_string());
            if self.state.phase.active() {
                let _ = self.line.record(Event::WpBlocked { wp, problem, halt: false }).await;
            }
        }
    }

    /// Where nothing is integrated, nobody needs the worktree once its work is on its branch.
    async fn clean(&mut self) {
        self.seat = None;
        let over = self.state.phase == Phase::Passed && self.site.plan.mode == Mode::Independent;
        if !over || self.line.0.send(Message::Leaving(self.state.id.clone())).await.is_err() {
            return;
        }
        if let Some(event) = clean::clean_with_others(&self.site, &self.state).await {
            let _ = self.line.record(event).await;
        }
    }

    /// Does what the phase says and tells what happened.
    async fn advance(&mut self) -> Result<Event, Halt> {
        match self.state.phase {
            Phase::Provisioning => self.provision().await,
            Phase::Classing => self.class().await,
            Phase::Briefing => self.brief(),
            Phase::Starting => self.start().await,
            Phase::Working => self.work().await,
            Phase::Scoping | Phase::Rechecking => self.scope().await,
            Phase::Proving => self.prove().await,
            Phase::Reviewing => self.review().await,
            Phase::Deciding => Ok(self.decide()),
            Phase::Committing => self.commit().await,
            phase => unreachable!("a unit does nothing in phase {}", phase.name()),
        }
    }

    async fn provision(&mut self) -> Result<Event, Halt> {
        let worktree = self.worktree().await?;
        let site = Arc::clone(&self.site);
        let unit = self.state.id.to_string();
        let copied =
            provision::provision(&site, (&unit, self.state.begun), &worktree, &mut self.orders)
                .await?;
        Ok(Event::WpProvisioned { wp: self.state.id.clone(), copied })
    }

    fn decide(&self) -> Event {
        if self.state.rechecks() {
            return self.recheck_ended();
        }
        let tier = self.site.plan.tiers.get(&self.state.tier);
        let (class, next) = judge(&self.state, tier.and_then(|tier| tier.escalate_to.as_ref()));
        Event::RoundEnded {
            wp: self.state.id.clone(),
            round: self.state.round,
            class,
            problems: self.state.problems.clone(),
            next,
        }
    }

    /// The worktree: made, or finished after a crash, while it is being provisioned; from then on it is
    /// somebody's work, and one that is gone is not made again as if nothing had been there.
    async fn worktree(&self) -> Result<Worktree, Halt> {
        let (id, branch) = (self.state.id.to_string(), self.state.branch.clone());
        let base = self.base()?;
        if self.state.phase == Phase::Provisioning {
            let (wp, anew) = (self.state.id.clone(), self.state.begun > 1);
            return self
                .site
                .blocking(Check::Provision, move |site| {
                    if let Some(branch) = branch.as_deref().filter(|_| anew) {
                        site.make_way(&wp, branch, &base)?;
                    }
                    site.worktree(&id, branch.as_deref(), &base)
                })
                .await;
        }
        let found = self
            .site
            .blocking(self.check(), move |site| site.standing(&id, branch.as_deref(), &base))
            .await?;
        found.ok_or_else(|| {
            let path = self.state.worktree.as_deref().unwrap_or_default();
            let text = again::told(&self.site, &self.state);
            Halt::blocked(Problem::new(Check::Scope, text).about(path))
        })
    }

    fn base(&self) -> Result<CommitId, Halt> {
        self.state.base.clone().ok_or_else(|| {
            Halt::blocked(Problem::new(Check::Provision, "the journal names no base for it"))
        })
    }

    /// What is being done with the WP, for whoever has to name it.
    fn check(&self) -> Check {
        match self.state.phase {
            Phase::Briefing | Phase::Starting | Phase::Working => Check::Worker,
            Phase::Scoping | Phase::Rechecking | Phase::Committing => Check::Scope,
            Phase::Proving => Check::Dod,
            Phase::Reviewing => Check::Review,
            _ => Check::Provision,
        }
    }

    fn wp(&self) -> &Wp {
        self.site.wp(&self.state.id)
    }

    fn stopping(&self) -> bool {
        *self.orders.borrow() != Order::Go
    }
}
