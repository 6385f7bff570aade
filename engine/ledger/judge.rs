//! What follows a round, and what follows a start that infrastructure spoilt: DESIGN's outcome table.

use std::time::Duration;

use super::wp::WpState;
use crate::event::NextStep;
use crate::model::ids::TierId;
use crate::model::outcome::{Class, Problem};
use crate::model::time::{Length, Timestamp};

/// Starts on one tier that a transient fault may spoil before the next tier is tried.
const STARTS_PER_TIER: usize = 3;

/// Longest pause before a spoilt start is tried again.
const LONGEST_PAUSE: Length = Length::secs(300);

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
        /// Earliest instant, where an earlier start was spoilt.
        not_before: Option<Timestamp>,
    },
    /// Every tier has been tried: a person has to look. Holds what happened last.
    GiveUp(String),
}

/// The next start of `wp`'s current round; `fallback` are the tiers to go on with, in order. Tiers
/// that have failed in this round are not tried again.
#[must_use]
pub fn next_attempt(wp: &WpState, fallback: &[TierId]) -> NextAttempt {
    let Some(last) = wp.spoilt.last() else {
        return NextAttempt::Start { tier: wp.tier.clone(), not_before: None };
    };
    let on_tier = wp.spoilt.iter().filter(|s| s.tier == last.tier).count();
    if !last.hopeless && on_tier < STARTS_PER_TIER {
        let not_before = last.at.after(pause(wp, on_tier));
        return NextAttempt::Start { tier: last.tier.clone(), not_before: Some(not_before) };
    }
    let tried = |tier: &TierId| wp.spoilt.iter().any(|s| &s.tier == tier);
    match fallback.iter().find(|tier| !tried(tier)) {
        Some(tier) => NextAttempt::Start { tier: tier.clone(), not_before: None },
        None => NextAttempt::GiveUp(last.what.clone()),
    }
}

/// Exponential from one second, with up to a quarter of jitter taken from the WP's name and attempt
/// so that it is the same after a crash and differs between WPs.
fn pause(wp: &WpState, failures: usize) -> Length {
    let base = Duration::from_secs(1) * 4_u32.saturating_pow(failures.saturating_sub(1) as u32);
    let seed = wp
        .id
        .as_str()
        .bytes()
        .fold(u64::from(wp.attempt), |h, b| (h ^ u64::from(b)).wrapping_mul(0x0100_0000_01b3));
    let jitter = base.mul_f64((seed % 256) as f64 / 1024.0);
    Length(base + jitter).min(LONGEST_PAUSE)
}
