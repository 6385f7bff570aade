//! When a provider says that it can be tried again. It is told in many ways: seconds since 1970, an
//! instant, "in 20s", a moment of a clock or a calendar. What is not understood is not guessed at.

use std::str::FromStr;

use jiff::{SignedDuration, Timestamp as Instant};

use super::calendar::moment_after;
use crate::model::time::Timestamp;

/// Words after which a length of time stands.
const LENGTHS: [&str; 7] = [
    "try again in",
    "retry in",
    "resets in",
    "reset in",
    "retry-after",
    "retry after",
    "retrydelay",
];
/// Words after which a time of day stands, or a date.
const CLOCKS: [&str; 8] = [
    "resets at",
    "reset at",
    "resets on",
    "try again at",
    "try again on",
    "retry at",
    "resets",
    "until",
];
/// The longest wait that is believed.
const LONGEST: SignedDuration = SignedDuration::from_hours(24 * 32);

/// The moment from which on the provider says it can be tried again, if `text` tells one.
#[must_use]
pub fn reset_time(text: &str, now: Instant) -> Option<Timestamp> {
    let text = text.to_lowercase();
    let length = LENGTHS.iter().find_map(|word| length_after(&text, word));
    let found = length
        .and_then(|length| now.checked_add(length).ok())
        .or_else(|| instant(&text))
        .or_else(|| epoch(&text))
        .or_else(|| CLOCKS.iter().find_map(|word| moment_after(&text, word, now)))?;
    let wait = found.duration_since(now);
    (wait > -LONGEST && wait < LONGEST).then_some(Timestamp(found))
}

/// `in 1h2m3s`, `in 1.5 seconds`, `in 2 days 3 hours and 5 minutes`, `retry-after: 20`.
fn length_after(text: &str, word: &str) -> Option<SignedDuration> {
    let (_, mut rest) = text.split_once(word)?;
    let mut total = None;
    loop {
        rest = rest.trim_start_matches(|c: char| c.is_whitespace() || ":=\"',".contains(c));
        rest = rest.strip_prefix("and ").unwrap_or(rest).trim_start();
        let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
        let Ok(number) = rest[..end].trim_end_matches('.').parse::<f64>() else {
            return total;
        };
        let after = rest[end..].trim_start();
        let end = after.find(|c: char| !c.is_alphabetic()).unwrap_or(after.len());
        let unit = match &after[..end] {
            "ms" | "millisecond" | "milliseconds" => 0.001,
            "s" | "sec" | "secs" | "second" | "seconds" => 1.0,
            "m" | "min" | "mins" | "minute" | "minutes" => 60.0,
            "h" | "hr" | "hrs" | "hour" | "hours" => 3600.0,
            "d" | "day" | "days" => 86_400.0,
            // A bare number is seconds, as in the header.
            _ if total.is_none() => return SignedDuration::try_from_secs_f64(number).ok(),
            _ => return total,
        };
        let part = SignedDuration::try_from_secs_f64(number * unit).ok()?;
        total = Some(total.unwrap_or(SignedDuration::ZERO).checked_add(part)?);
        rest = &after[end..];
    }
}

/// `2026-01-05T15:04:05Z`.
fn instant(text: &str) -> Option<Instant> {
    text.split(|c: char| c.is_whitespace() || "\"'(),|".contains(c))
        .filter(|word| word.len() >= 17 && word.starts_with("20"))
        .find_map(|word| Instant::from_str(&word.trim_end_matches('.').to_uppercase()).ok())
}

/// `limit reached|1795981200`, `"resets_at":1795981200`.
fn epoch(text: &str) -> Option<Instant> {
    text.split(|c: char| !c.is_ascii_alphanumeric())
        .filter(|word| word.len() == 10)
        .find_map(|word| Instant::from_second(word.parse().ok()?).ok())
}
