//! What work is likely to cost, in words.

use std::fmt::Display;

use super::words;
use crate::model::checkpoint::{Checkpoint, PlannedWp};
use crate::model::estimate::{Estimate, Spread};

/// What a whole run is likely to use.
#[must_use]
pub fn run(plan: &Checkpoint) -> String {
    match &plan.estimate {
        None => "no past runs".to_owned(),
        Some(estimate) => {
            let all = plan.wps().count() as u64;
            format!("{}; of {} of {}", used(estimate), estimate.of, words::count(all, "WP"))
        }
    }
}

/// What a work package is likely to use.
#[must_use]
pub fn wp(wp: &PlannedWp) -> String {
    match &wp.estimate {
        None => format!("none with {}", wp.tier),
        Some(estimate) => {
            let of = words::count(u64::from(estimate.of), "WP");
            format!("{}; {of} with {}", used(estimate), wp.tier)
        }
    }
}

/// The middle, and the ends where they differ: `$0.42 ($0.10 to $1.20), 34.5k tokens, 3m of sessions`.
fn used(estimate: &Estimate) -> String {
    let usd = estimate.usd.map(|it| spread(it, |usd| usd.to_string(), ""));
    let tokens = estimate.tokens.map(|it| spread(it, words::about, " tokens"));
    let took = estimate.took.map(|it| spread(it, words::took, " of sessions"));
    let parts: Vec<String> = [usd, tokens, took].into_iter().flatten().collect();
    if parts.is_empty() { "nothing was told".to_owned() } else { parts.join(", ") }
}

fn spread<T: Copy, D: Display + PartialEq>(of: Spread<T>, say: fn(T) -> D, unit: &str) -> String {
    let (low, median, high) = (say(of.low), say(of.median), say(of.high));
    match low == high {
        true => format!("{median}{unit}"),
        false => format!("{median}{unit} ({low} to {high})"),
    }
}
