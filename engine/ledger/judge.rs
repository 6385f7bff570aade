//! What follows a round, and what follows a start that infrastructure spoilt: DESIGN's outcome table.

use std::time::Duration;

use super::outage::{Means, Outage};
use super::phase::Phase;
use super::wp::{Fork, Spoilt, WpState};
use crate::event::NextStep;
use crate::model::ids::{TierId, WorkerId};
use crate::model::outcome::{Class, Problem};
use crate::model::plan::{Autonomy, Plan};
use crate::model::time::{Length, Timestamp};

/// Starts on one tier that a transient fault may spoil before the next tier is tried.
const STARTS_PER_TIER: usize = 3;

/// Starts on one tier that there are at most, whatever its provider says.
const STARTS_AT_ALL: usize = 12;

/// Longest pause before a spoilt start is tried again, where the provider names no instant.
const LONGEST_PAUSE: Length = Length::secs(300);

/// Longest wait for an instant that a provider names: a night.
const PATIENCE: Length = Length::secs(12 * 3600);

/// Judges the round that `wp` is in. `escalate_to` is the current tier's.
#[must_use]
pub fn judge(wp: &WpState, escalate_to: Option<&TierId>) -> (Option<Class>, NextStep) {
    if wp.problems.is_empty() {
        return (None, NextStep::Commit);
    }
    if repeats(wp) {
        return (Some(Class::Stuck), NextStep::Escalate);
    }
    if wp.round >= wp.last_round {
        return (Some(Class::Decision), NextStep::Escalate);
    }
    let tier = escalate_to.unwrap_or(&wp.tier).clone();
    (Some(Class::Work), NextStep::Round { tier })
}

/// The same failure with the same diff as in the round before.
fn repeats(wp: &WpState) -> bool {
    let essence = |problems: &[Problem]| -> Vec<_> {
        problems.iter().map(|p| (p.check, p.message.clone(), p.subject.clone())).collect()
    };
    wp.rounds.last().is_some_and(|last| {
        last.tree.is_some()
            && last.tree == wp.tree
            && essence(&last.problems) == essence(&wp.problems)
    })
}

/// What to do about the next start of a worker.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NextAttempt {
    /// Start on this tier, not before the instant given.
    Start {
        /// The tier.
        tier: TierId,
        /// Earliest instant, where an earlier start was spoilt or the provider says when.
        not_before: Option<Timestamp>,
    },
    /// Every tier has been tried, or its provider is known to be out: a person has to look. Holds what
    /// happened last.
    GiveUp(String),
}

/// A tier that a round may work on, and its worker.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Candidate<'a> {
    /// The tier.
    pub tier: &'a TierId,
    /// Its worker: whose provider serves it.
    pub worker: &'a WorkerId,
}

/// What `wp`'s current round may work on by its plan: the tier that the round began on, then that one's
/// fallbacks. One of them, where it stands in, has a list of its own that does not count.
#[must_use]
pub fn candidates<'a>(plan: &'a Plan, wp: &'a WpState) -> Vec<Candidate<'a>> {
    candidates_from(plan, wp.spoilt.first().map_or(&wp.tier, |spoilt| &spoilt.tier))
}

/// A tier and its fallbacks.
#[must_use]
pub fn candidates_from<'a>(plan: &'a Plan, first: &'a TierId) -> Vec<Candidate<'a>> {
    let fallback = plan.tiers.get(first).map_or(&[][..], |tier| &tier.fallback);
    let candidate = |tier| {
        let worker = &plan.tiers.get(tier)?.worker;
        Some(Candidate { tier, worker })
    };
    std::iter::once(first).chain(fallback).filter_map(candidate).collect()
}

/// When the defaults of `wp`'s open questions may be taken, and which questions those are: all of them
/// have a default, and the plan allows it.
#[must_use]
pub fn default_due<'a>(plan: &Plan, wp: &'a WpState) -> Option<(Timestamp, Vec<&'a Fork>)> {
    if wp.phase != Phase::AwaitingAnswer || plan.autonomy != Autonomy::Defaults {
        return None;
    }
    let open: Vec<&Fork> = wp.unanswered().collect();
    let last = open.iter().map(|fork| fork.asked_at).max()?;
    let within = plan.decide_within.unwrap_or_default();
    open.iter().all(|fork| fork.default.is_some()).then(|| (last.after(within), open))
}

/// What is known of the starts so far of one piece of work.
#[derive(Debug, Clone, Copy)]
pub struct Starts<'a> {
    /// Those that infrastructure spoilt.
    pub spoilt: &'a [Spoilt],
    /// Since when it is waited for.
    pub since: Option<Timestamp>,
    /// Its name and a number that each start changes: what jitter is taken from, so that it is the same
    /// after a crash and differs between those that wait.
    pub seed: (&'a str, u32),
}

/// The next start of `wp`'s current round: [`next_start`].
#[must_use]
pub fn next_attempt(wp: &WpState, candidates: &[Candidate<'_>], outages: &[Outage]) -> NextAttempt {
    let seed = (wp.id.as_str(), wp.attempt);
    next_start(Starts { spoilt: &wp.spoilt, since: wp.since, seed }, candidates, outages)
}

/// The next start of a piece of work. `candidates` are its own tier and then that one's fallbacks, in order; `outages` is what the run knows of providers. A tier is given up after some starts that
/// were spoilt, at once when its provider will not serve before somebody acts, and left for the next
/// one when the provider names an instant that is further off than a pause. Where no tier serves
/// sooner, the earliest such instant is waited for, a night at most.
#[must_use]
pub fn next_start(
    starts: Starts<'_>,
    candidates: &[Candidate<'_>],
    outages: &[Outage],
) -> NextAttempt {
    let (mut later, mut what) = (None::<(Timestamp, &TierId)>, None);
    for candidate in candidates {
        match start_on(starts, *candidate, outages, &mut what) {
            Start::Soon(not_before) => {
                return NextAttempt::Start { tier: candidate.tier.clone(), not_before };
            }
            Start::Later(at) if later.is_none_or(|(sooner, _)| at < sooner) => {
                later = Some((at, candidate.tier));
            }
            Start::Later(_) | Start::Never => {}
        }
    }
    match later {
        Some((at, tier)) => NextAttempt::Start { tier: tier.clone(), not_before: Some(at) },
        None => NextAttempt::GiveUp(what.unwrap_or_else(|| "no tier is left".to_owned())),
    }
}

/// When a tier can be started.
enum Start {
    /// After a pause, or at once.
    Soon(Option<Timestamp>),
    /// So late that another tier is better, if there is one.
    Later(Timestamp),
    /// It has been given up.
    Never,
}

/// `what` is told the last reason that was met.
fn start_on(
    starts: Starts<'_>,
    candidate: Candidate<'_>,
    outages: &[Outage],
    what: &mut Option<String>,
) -> Start {
    let spoilt: Vec<&Spoilt> = starts.spoilt.iter().filter(|s| &s.tier == candidate.tier).collect();
    let last = spoilt.last();
    if let Some(last) = last {
        *what = Some(last.what.clone());
    }
    // An instant that was over when it was named says nothing about when.
    let mut named = last.and_then(|last| last.resets_at.filter(|at| *at > last.at));
    let (mut left_alone, mut since) = (None, last.map(|last| last.at).max(starts.since));
    for outage in outages.iter().filter(|o| o.concerns(candidate.tier, candidate.worker)) {
        let means = outage.means();
        if means == Means::Try {
            continue;
        }
        *what = Some(format!("{} ({})", outage.what, outage.class));
        since = since.max(Some(outage.at));
        match means {
            Means::Down => return Start::Never,
            Means::NotBefore(at) => named = named.max(Some(at)),
            Means::LeftAlone(at) => left_alone = Some(at),
            Means::Try => {}
        }
    }
    let most = if named.is_some() { STARTS_AT_ALL } else { STARTS_PER_TIER };
    if spoilt.len() >= most || spoilt.iter().any(|s| s.hopeless) {
        return Start::Never;
    }
    let paused = last.map(|last| last.at.after(pause(starts.seed, spoilt.len())));
    let not_before = named.max(left_alone).max(paused);
    match (not_before, since) {
        (Some(at), Some(since)) if at.since(since) > PATIENCE => Start::Never,
        (Some(at), Some(since)) if at.since(since) > LONGEST_PAUSE => Start::Later(at),
        _ => Start::Soon(not_before),
    }
}

/// Exponential from one second, with up to a quarter of jitter.
fn pause((name, number): (&str, u32), failures: usize) -> Length {
    let base = Duration::from_secs(1) * 4_u32.saturating_pow(failures.saturating_sub(1) as u32);
    let seed = name
        .bytes()
        .fold(u64::from(number), |h, b| (h ^ u64::from(b)).wrapping_mul(0x0100_0000_01b3));
    let jitter = base.mul_f64((seed % 256) as f64 / 1024.0);
    Length(base + jitter).min(LONGEST_PAUSE)
}
