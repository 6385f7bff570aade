//! What agents and providers say when they fail, as a class. Only for texts that are errors: an agent
//! that writes about rate limits has none.
//!
//! A structured word (a status code in a field) comes before the text, and the text before the exit
//! code, which proves nothing. Wordings are those of the agents and providers themselves, as seen in
//! their streams and documented by them.

mod calendar;
mod reset;

use jiff::Timestamp;

use super::seam::Ended;
use crate::model::turn::{Fault, FaultClass};
use crate::process::plain;
use crate::process::reap::Death;

pub use reset::reset_time;

/// Characters of a message that are kept.
const MESSAGE: usize = 400;

/// What a provider's HTTP status means.
#[must_use]
pub fn of_status(status: u16) -> Option<FaultClass> {
    match status {
        401 | 403 => Some(FaultClass::Auth),
        402 => Some(FaultClass::Credit),
        404 => Some(FaultClass::ModelUnknown),
        429 => Some(FaultClass::RateLimit),
        408 | 500..=599 => Some(FaultClass::Provider),
        _ => None,
    }
}

/// Texts that tell more than the status they come with: an account without credit is a 400 with one
/// provider and a 429 with another.
const FIRST: &[(FaultClass, &[&str])] = &[
    (
        FaultClass::Credit,
        &[
            "insufficient_quota",
            "insufficient quota",
            "insufficient credit",
            "insufficient balance",
            "insufficient funds",
            "credit balance is too low",
            "out of credit",
            "requires more credits",
            "payment required",
            "exceeded your current quota, please check your plan and billing",
            "billing_error",
            "billing hard limit",
        ],
    ),
    (
        FaultClass::ModelUnknown,
        &[
            "model_not_found",
            "model not found",
            "modelnotfound",
            "unknown model",
            "invalid model",
            "no such model",
            "not a valid model",
            "issue with the selected model",
            "does not exist or you do not have access",
            "model is not supported",
            "is not supported when using",
            "is not found for api version",
        ],
    ),
];

/// Texts that are looked for where no status is told.
const SECOND: &[(FaultClass, &[&str])] = &[
    (
        FaultClass::RateLimit,
        &[
            "rate limit",
            "rate_limit",
            "ratelimit",
            "too many requests",
            "resource_exhausted",
            "resource has been exhausted",
            "quota exceeded",
            "exceeded your current quota",
            "exhausted your capacity",
            "usage limit",
            "usage_limit",
            "session limit",
            "weekly limit",
            "limit reached",
        ],
    ),
    (
        FaultClass::Auth,
        &[
            "unauthorized",
            "unauthenticated",
            "authentication",
            "authenticate",
            "permission_denied",
            "invalid api key",
            "invalid x-api-key",
            "invalid_api_key",
            "incorrect api key",
            "api key not valid",
            "api key not found",
            "no api key",
            "missing api key",
            "missing environment variable",
            "not logged in",
            "please log in",
            "please run /login",
            "auth method",
            "token has expired",
            "refresh token",
        ],
    ),
    (
        FaultClass::Provider,
        &[
            "overloaded",
            "high demand",
            "internal server error",
            "internal error",
            "server_error",
            "server had an error",
            "bad gateway",
            "service unavailable",
            "gateway timeout",
            "temporarily unavailable",
            "stream disconnected",
            "stream closed",
            "stream ended",
            "incomplete stream",
            "connection error",
            "connection refused",
            "connection reset",
            "error sending request",
            "econnrefused",
            "econnreset",
            "etimedout",
            "enotfound",
            "eai_again",
            "fetch failed",
            "socket hang up",
            "request timed out",
            "other side closed",
            "terminated",
        ],
    ),
];

/// The class that an error text names, if it names one.
#[must_use]
pub fn of_text(text: &str) -> Option<FaultClass> {
    let text = text.to_lowercase();
    let among = |list: &[(FaultClass, &[&str])]| {
        list.iter()
            .find(|(_, words)| words.iter().any(|word| text.contains(word)))
            .map(|(class, _)| *class)
    };
    among(FIRST).or_else(|| stated(&text).and_then(of_status)).or_else(|| among(SECOND))
}

/// A fault from an error that an agent told, with the class of its status or kind where it told one.
/// What names no class is the agent's own, [`FaultClass::Crash`].
#[must_use]
pub fn told(message: &str, stated: Option<FaultClass>, now: Timestamp) -> Fault {
    let lower = message.to_lowercase();
    let first = FIRST.iter().find(|(_, words)| words.iter().any(|word| lower.contains(word)));
    let class = first
        .map(|(class, _)| *class)
        .or(stated)
        .or_else(|| of_text(message))
        .unwrap_or(FaultClass::Crash);
    let resets_at = if class == FaultClass::RateLimit { reset_time(message, now) } else { None };
    Fault { class, message: line(message), resets_at }
}

/// The fault of a turn of which the stream told no end: whatever the agent last said to standard
/// error, or how it ended.
#[must_use]
pub fn untold(ended: &Ended<'_>) -> Fault {
    let last = last_line(ended.errors);
    if ended.stopped {
        return fault(FaultClass::Interrupted, last.unwrap_or_else(|| how(ended.exit)));
    }
    if let Some(message) = &last
        && let Some(class) = of_text(message)
    {
        return Fault { class, ..told(message, None, ended.now) };
    }
    // A signal from outside is somebody's word; one that a program gets for its own doing is not.
    let class = match ended.exit {
        Death::Signal(signal) if !is_own_doing(signal) => FaultClass::Interrupted,
        _ => FaultClass::Crash,
    };
    fault(class, last.unwrap_or_else(|| how(ended.exit)))
}

/// The fault of a turn that came to its end and said nothing.
#[must_use]
pub fn empty() -> Fault {
    fault(FaultClass::EmptyTurn, "the turn ended without a word".to_owned())
}

fn fault(class: FaultClass, message: String) -> Fault {
    Fault { class, message, resets_at: None }
}

/// The signals of a program that fell over.
fn is_own_doing(signal: i32) -> bool {
    use rustix::process::Signal;
    [
        Signal::ILL,
        Signal::TRAP,
        Signal::ABORT,
        Signal::BUS,
        Signal::FPE,
        Signal::SEGV,
        Signal::SYS,
        Signal::PIPE,
        Signal::XCPU,
        Signal::XFSZ,
    ]
    .iter()
    .any(|own| own.as_raw() == signal)
}

fn how(exit: Death) -> String {
    match exit {
        Death::Code(code) => format!("it exited with {code} and told no end of its turn"),
        Death::Signal(signal) => format!("signal {signal} ended it"),
    }
}

/// The last line of standard error that has something to say.
fn last_line(errors: &[u8]) -> Option<String> {
    errors
        .rsplit(|byte| *byte == b'\n')
        .map(|bytes| line(&plain(bytes)))
        .find(|text| text.chars().any(char::is_alphanumeric))
}

/// One line for display: the text's own newlines become blanks.
fn line(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    let mut cut: String = words.join(" ").chars().take(MESSAGE + 1).collect();
    if cut.chars().count() > MESSAGE {
        cut.pop();
        cut.push('…');
    }
    plain(cut.as_bytes())
}

/// A status that a text states: `status 402`, `API Error: 500`, `rejected (429)`, `"code":404`.
fn stated(lower: &str) -> Option<u16> {
    let bytes = lower.as_bytes();
    for at in 0..bytes.len().saturating_sub(2) {
        let digits = &bytes[at..at + 3];
        let whole = digits.iter().all(u8::is_ascii_digit)
            && bytes.get(at + 3).is_none_or(|next| !next.is_ascii_alphanumeric() && *next != b'.')
            && at > 0
            && b" (:=\"[".contains(&bytes[at - 1]);
        let said = || {
            let before = String::from_utf8_lossy(&bytes[at.saturating_sub(20)..at]);
            ["status", "error", "http ", "http/", "code", "rejected"]
                .iter()
                .any(|word| before.contains(word))
        };
        if whole && said() {
            return std::str::from_utf8(digits).ok()?.parse().ok();
        }
    }
    None
}
