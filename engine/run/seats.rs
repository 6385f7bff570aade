//! Room on tiers: how many are at work on one that says how many there may be, packages and reviewers alike.
//! A package has a seat from its worktree to its checks; while workers review it, it gives that up and each
//! of their sessions has one. Nobody who has a seat waits for another.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::watch;

use super::lookout::SessionOf;
use crate::ledger::{Ledger, Phase, ReviewState};
use crate::model::ids::{TierId, WpId};
use crate::model::plan::Plan;

/// The seats of a run.
#[derive(Debug)]
pub struct Seats {
    most: HashMap<TierId, usize>,
    taken: Mutex<Taken>,
    freed: watch::Sender<()>,
}

#[derive(Debug, Default)]
struct Taken {
    on: HashMap<TierId, usize>,
    /// Reviewers that were at work when this engine came: their seats are kept until it takes them up.
    kept: HashSet<SessionOf>,
}

/// A seat on a tier; dropped, it is free.
#[derive(Debug)]
pub struct Seat {
    seats: Arc<Seats>,
    tier: TierId,
}

impl Seats {
    /// All free.
    #[must_use]
    pub fn new(plan: &Plan) -> Arc<Self> {
        let most =
            plan.tiers.iter().filter_map(|(id, tier)| Some((id.clone(), tier.max_parallel?)));
        let (freed, _) = watch::channel(());
        Arc::new(Self { most: most.collect(), taken: Mutex::default(), freed })
    }

    /// Keeps seats for the reviewers that the ledger has at work: they outlive their engine.
    pub(super) fn keep(&self, ledger: &Ledger) {
        let of_wps = ledger.wps.iter().filter(|wp| wp.phase == Phase::Reviewing);
        let of_wps = of_wps.map(|wp| (Some(&wp.id), &wp.review));
        let of_all = ledger.verify.iter().filter(|look| !look.ended);
        let of_all = of_all.map(|look| (None, &look.review));
        let mut taken = self.lock();
        for (wp, review) in of_wps.chain(of_all) {
            for (lens, tier) in at_work(review) {
                if taken.kept.insert(session_of(wp, lens)) {
                    *taken.on.entry(tier.clone()).or_default() += 1;
                }
            }
        }
    }

    /// A seat on this tier, if one is free.
    #[must_use]
    pub fn take(self: &Arc<Self>, tier: &TierId) -> Option<Seat> {
        let mut taken = self.lock();
        let on = taken.on.entry(tier.clone()).or_default();
        if self.most.get(tier).is_some_and(|most| *on >= *most) {
            return None;
        }
        *on += 1;
        Some(Seat { seats: Arc::clone(self), tier: tier.clone() })
    }

    /// The seat of a reviewer that is at work already, whether or not there would be one.
    pub(super) fn adopt(self: &Arc<Self>, session: &SessionOf, tier: &TierId) -> Seat {
        let mut taken = self.lock();
        if !taken.kept.remove(session) {
            *taken.on.entry(tier.clone()).or_default() += 1;
        }
        Seat { seats: Arc::clone(self), tier: tier.clone() }
    }

    /// Tells of each seat that becomes free from now on.
    #[must_use]
    pub fn watch(&self) -> watch::Receiver<()> {
        self.freed.subscribe()
    }

    fn lock(&self) -> MutexGuard<'_, Taken> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Seat {
    /// The tier it is on.
    #[must_use]
    pub fn tier(&self) -> &TierId {
        &self.tier
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        if let Some(on) = self.seats.lock().on.get_mut(&self.tier) {
            *on = on.saturating_sub(1);
        }
        self.seats.freed.send_replace(());
    }
}

/// Who is at work, and on which tier.
fn at_work(review: &ReviewState) -> impl Iterator<Item = (&str, &TierId)> {
    review.reviewers.iter().filter_map(|it| Some((it.lens.as_str(), &it.at_work.as_ref()?.tier)))
}

fn session_of(wp: Option<&WpId>, lens: &str) -> SessionOf {
    SessionOf { wp: wp.cloned(), lens: Some(lens.to_owned()) }
}
