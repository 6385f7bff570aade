//! What happens by itself, and when: a start that waits for its provider, a default that is taken. Only
//! the plan knows: its fallbacks, its patience.

use crate::ledger::{Ledger, NextAttempt, Phase, WpState, candidates, default_due, next_attempt};
use crate::model::ids::{TierId, WorkerId};
use crate::model::plan::Plan;
use crate::model::time::Timestamp;

use super::words;

/// A start that waits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pause {
    /// The instant that it waits for.
    pub until: Timestamp,
    /// The tier that is next.
    pub tier: TierId,
    /// Its worker: whose provider is waited for.
    pub worker: WorkerId,
    /// What happened last, in the agent's own words.
    pub why: String,
}

impl Pause {
    /// The pause that `wp` is in at `now`, if it is in one.
    #[must_use]
    pub fn of(plan: &Plan, ledger: &Ledger, wp: &WpState, now: Timestamp) -> Option<Self> {
        if wp.phase != Phase::Starting {
            return None;
        }
        let candidates = candidates(plan, wp);
        let NextAttempt::Start { tier, not_before: Some(until) } =
            next_attempt(wp, &candidates, &ledger.outages)
        else {
            return None;
        };
        if until <= now {
            return None;
        }
        let worker = plan.tiers.get(&tier)?.worker.clone();
        let own = wp.spoilt.iter().rev().find(|spoilt| spoilt.tier == tier);
        let known = || ledger.outages.iter().find(|outage| outage.concerns(&tier, &worker));
        let why = match own {
            Some(spoilt) => spoilt.what.clone(),
            None => known().map(|it| format!("{} ({})", it.what, it.class)).unwrap_or_default(),
        };
        Some(Self { until, tier, worker, why })
    }

    /// `waits until 12:30 for codex: 429 too many requests (rate_limit)`.
    #[must_use]
    pub fn text(&self, now: Timestamp) -> String {
        let Self { tier, worker, why, .. } = self;
        let whom = match tier.as_str() == worker.as_str() {
            true => worker.to_string(),
            false => format!("{worker} on {tier}"),
        };
        format!("waits {} for {whom}: {why}", until(self.until, now))
    }
}

/// When the defaults of the questions of `wp` are taken, if that happens by itself.
#[must_use]
pub fn taken_at(plan: Option<&Plan>, wp: &WpState) -> Option<Timestamp> {
    Some(default_due(plan?, wp)?.0)
}

fn until(at: Timestamp, now: Timestamp) -> String {
    match words::due(at, now).strip_prefix("in ") {
        Some(left) => left.to_owned(),
        None => format!("until {}", words::instant(at, now)),
    }
}
