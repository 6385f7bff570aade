//! Limits and budgets in words.

use super::words;
use crate::model::checkpoint::PlannedTier;
use crate::model::plan::Budget;

/// What holds each session of a tier, on one line.
#[must_use]
pub fn tier(tier: &PlannedTier) -> String {
    let mut limits = vec![format!("{} a session", tier.timeout)];
    if let Some(most) = tier.idle_timeout {
        limits.push(format!("{most} without output"));
    }
    if let Some(most) = tier.max_turns {
        limits.push(words::count(u64::from(most), "model call"));
    }
    limits.push(format!("{} of log", size(tier.log_limit)));
    if let Some(most) = tier.max_parallel {
        limits.push(format!("at most {most} at once"));
    }
    limits.join(", ")
}

/// What may be used up, where that is limited.
#[must_use]
pub fn budget(budget: Budget) -> Option<String> {
    let usd = budget.usd.map(|most| most.to_string());
    let tokens = budget.tokens.map(|most| format!("{} tokens", grouped(most)));
    let limits: Vec<String> = usd.into_iter().chain(tokens).collect();
    (!limits.is_empty()).then(|| format!("at most {}", limits.join(" and ")))
}

/// `64 MB`: whole, as a plan would say it.
fn size(bytes: u64) -> String {
    let units = [("GiB", 1 << 30), ("GB", 1_000_000_000), ("MiB", 1 << 20), ("MB", 1_000_000)];
    let units = units.into_iter().chain([("KiB", 1 << 10), ("kB", 1000)]);
    let whole = |(_, unit): &(&str, u64)| bytes > 0 && bytes.is_multiple_of(*unit);
    match units.into_iter().find(whole) {
        Some((name, unit)) => format!("{} {name}", bytes / unit),
        None => format!("{} bytes", grouped(bytes)),
    }
}

/// `5,000,000`.
fn grouped(n: u64) -> String {
    let digits = n.to_string();
    let mut text = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}
