//! What happens by itself, and when: a start that waits for its provider, a default that is taken. Only
//! the plan knows: its fallbacks, its patience.

use schemars::JsonSchema;
use serde::Serialize;

use crate::ledger::{
    Candidate, Ledger, NextAttempt, Phase, ReviewState, Starts, WpState, candidates,
    candidates_from, default_due, next_start,
};
use crate::model::ids::{TierId, WorkerId, WpId};
use crate::model::plan::{Plan, Review};
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
        let seed = (wp.id.as_str(), wp.attempt);
        let starts = Starts { spoilt: &wp.spoilt, since: wp.since, seed };
        Self::before(plan, ledger, starts, &candidates(plan, wp), now)
    }

    /// The pauses that reviewers of `review` are in, whose tier is `tier`: each lens with its own.
    fn of_review(
        plan: &Plan,
        ledger: &Ledger,
        (review, since): (&ReviewState, Option<Timestamp>),
        tier: &TierId,
        now: Timestamp,
    ) -> Vec<(String, Self)> {
        let open =
            review.reviewers.iter().filter(|it| it.verdict.is_none() && it.at_work.is_none());
        let paused = open.filter_map(|reviewer| {
            let starts = review.starts(&reviewer.lens, since);
            let pause = Self::before(plan, ledger, starts, &candidates_from(plan, tier), now)?;
            Some((reviewer.lens.clone(), pause))
        });
        paused.collect()
    }

    fn before(
        plan: &Plan,
        ledger: &Ledger,
        starts: Starts<'_>,
        candidates: &[Candidate<'_>],
        now: Timestamp,
    ) -> Option<Self> {
        let NextAttempt::Start { tier, not_before: Some(until) } =
            next_start(starts, candidates, &ledger.outages)
        else {
            return None;
        };
        if until <= now {
            return None;
        }
        let worker = plan.tiers.get(&tier)?.worker.clone();
        let own = starts.spoilt.iter().rev().find(|spoilt| spoilt.tier == tier);
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

/// Something that begins by itself when its time comes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Wait {
    /// The WP; nothing for a reviewer of the whole.
    pub wp: Option<WpId>,
    /// What a reviewer looks for; nothing for a worker, and for a question.
    pub lens: Option<String>,
    /// The instant that is waited for.
    pub until: Timestamp,
    /// The tier that is next; nothing where a question's default is taken then.
    pub tier: Option<TierId>,
    /// Its worker: whose provider is waited for.
    pub worker: Option<WorkerId>,
    /// Why, in the agent's own words, or the question.
    pub why: String,
}

/// The pauses of reviewers: whose work they look at (nothing for the whole), their lens, and the pause.
#[must_use]
pub fn paused_reviewers<'a>(
    plan: &Plan,
    ledger: &'a Ledger,
    now: Timestamp,
) -> Vec<(Option<&'a WpId>, String, Pause)> {
    let reviewing = ledger.wps.iter().filter(|wp| wp.phase == Phase::Reviewing);
    let of_wps = reviewing.flat_map(|wp| {
        let paused = match plan.wp(&wp.id).map(|planned| &planned.review) {
            Some(Review::Worker { tier, .. }) => {
                Pause::of_review(plan, ledger, (&wp.review, wp.since), tier, now)
            }
            _ => Vec::new(),
        };
        paused.into_iter().map(|(lens, pause)| (Some(&wp.id), lens, pause)).collect::<Vec<_>>()
    });
    let open = ledger.verify.iter().filter(|look| !look.ended);
    let of_whole = open.filter_map(|look| {
        let tier = look.reviewer.as_ref()?;
        Some(Pause::of_review(plan, ledger, (&look.review, None), tier, now))
    });
    let of_whole = of_whole.flatten().map(|(lens, pause)| (None, lens, pause));
    of_wps.chain(of_whole).collect()
}

/// All that begins by itself.
#[must_use]
pub fn waits(plan: &Plan, ledger: &Ledger, now: Timestamp) -> Vec<Wait> {
    let wait = |wp: Option<&WpId>, lens: Option<String>, pause: Pause| Wait {
        wp: wp.cloned(),
        lens,
        until: pause.until,
        tier: Some(pause.tier),
        worker: Some(pause.worker),
        why: pause.why,
    };
    let starts = ledger.wps.iter().filter_map(|wp| {
        let pause = Pause::of(plan, ledger, wp, now)?;
        Some(wait(Some(&wp.id), None, pause))
    });
    let reviews = paused_reviewers(plan, ledger, now).into_iter();
    let reviews = reviews.map(|(wp, lens, pause)| wait(wp, Some(lens), pause));
    let defaults = ledger.wps.iter().filter_map(|wp| Some((wp, default_due(plan, wp)?)));
    let defaults = defaults.flat_map(|(wp, (until, forks))| {
        let of_fork = move |question: &str| Wait {
            wp: Some(wp.id.clone()),
            lens: None,
            until,
            tier: None,
            worker: None,
            why: question.to_owned(),
        };
        forks.into_iter().map(|fork| of_fork(&fork.question)).collect::<Vec<_>>()
    });
    starts.chain(reviews).chain(defaults).collect()
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
