//! The words that people read: one for each state, and how lengths of time and counts are said.

use super::palette::{Look, Tone};
use crate::event::{Outcome, Taken};
use crate::ledger::{Ledger, Phase, WpState};
use crate::model::ids::WpId;
use crate::model::outcome::DodClass;
use crate::model::plan::{Kind, Risk};
use crate::model::stand::Stand;
use crate::model::time::{Length, Timestamp};

/// Below this an instant is told by how long it is to it.
const SOON: Length = Length::secs(120);

/// A state as people say it.
#[must_use]
pub fn state(phase: Phase) -> &'static str {
    match phase {
        Phase::Waiting => "waiting",
        Phase::Provisioning => "provisioning",
        Phase::Classing => "dry run",
        Phase::Briefing => "briefing",
        Phase::Starting => "starting",
        Phase::Working => "working",
        Phase::Scoping => "scope",
        Phase::Proving => "dod",
        Phase::Rechecking => "scope again",
        Phase::Reviewing => "review",
        Phase::AwaitingReview => "awaits review",
        Phase::AwaitingAnswer => "awaits answer",
        Phase::Deciding => "judging",
        Phase::Committing => "committing",
        Phase::Taken => "taken",
        Phase::Passed => "passed",
        Phase::Integrated => "integrated",
        Phase::Escalated => "escalated",
        Phase::Blocked => "blocked",
        Phase::Deferred => "deferred",
        Phase::Cancelled => "cancelled",
    }
}

/// A state that an engine or a worker would be busy with, and nobody is.
#[must_use]
pub fn is_left(phase: Phase, at_work: bool) -> bool {
    phase.active() && !at_work
}

/// A state as people say it, where it is known whether anybody is at work on it.
#[must_use]
pub fn state_of(phase: Phase, at_work: bool) -> &'static str {
    if is_left(phase, at_work) { "interrupted" } else { state(phase) }
}

/// How a state looks.
#[must_use]
pub fn tone(phase: Phase) -> Tone {
    match phase {
        Phase::Waiting | Phase::Deferred => Tone::Faint,
        Phase::Passed | Phase::Integrated => Tone::Good,
        Phase::Escalated | Phase::Blocked => Tone::Bad,
        Phase::AwaitingReview | Phase::AwaitingAnswer | Phase::Taken | Phase::Cancelled => {
            Tone::Warn
        }
        _ => Tone::Active,
    }
}

/// The symbol that stands before a state's word.
#[must_use]
pub fn mark(phase: Phase, look: &Look) -> &'static str {
    match phase {
        Phase::Waiting => look.pick("·", "."),
        Phase::Deferred => look.pick("–", "-"),
        Phase::Passed | Phase::Integrated => look.pick("✓", "+"),
        Phase::Escalated => look.pick("✗", "x"),
        Phase::Blocked => "!",
        Phase::AwaitingReview | Phase::AwaitingAnswer | Phase::Taken => "?",
        Phase::Cancelled => look.pick("■", "#"),
        _ => look.pick("●", "*"),
    }
}

/// The symbol for a text in this tone, where it is not about one state.
#[must_use]
pub fn tone_mark(tone: Tone, look: &Look) -> &'static str {
    match tone {
        Tone::Good => look.pick("✓", "+"),
        Tone::Bad => look.pick("✗", "x"),
        Tone::Warn => "?",
        Tone::Active => look.pick("●", "*"),
        _ => look.pick("·", "."),
    }
}

/// How a run stands, in the word that people read everywhere.
#[must_use]
pub fn stand(stand: Stand) -> (&'static str, Tone) {
    match stand {
        Stand::Running => ("running", Tone::Active),
        Stand::NotBegun => ("approved, not begun", Tone::Warn),
        Stand::NotRunning => ("not running", Tone::Warn),
        Stand::Interrupted => ("interrupted", Tone::Warn),
        Stand::Waiting => outcome(Outcome::Waiting),
        Stand::Blocked => outcome(Outcome::Blocked),
        Stand::Failed => outcome(Outcome::Failed),
        Stand::Done => outcome(Outcome::Done),
    }
}

/// How a run ended, as people say it.
#[must_use]
pub fn outcome(outcome: Outcome) -> (&'static str, Tone) {
    match outcome {
        Outcome::Done => ("done", Tone::Good),
        Outcome::Failed => ("failed", Tone::Bad),
        Outcome::Waiting => ("waiting", Tone::Warn),
        Outcome::Blocked => ("blocked", Tone::Bad),
    }
}

/// What a run failed in, where every WP got through: that is no WP's failure then.
#[must_use]
pub fn failed_in(ledger: &Ledger) -> Option<String> {
    let failed = ledger.outcome.unwrap_or_else(|| ledger.standing()) == Outcome::Failed;
    if !failed || !ledger.wps.iter().all(|wp| wp.phase.got_through()) {
        return None;
    }
    let stage = ledger.gates.last().filter(|_| ledger.gate_failed()).and_then(|gate| {
        let wp = ledger.wps.iter().find(|wp| wp.level == gate.level)?;
        Some(format!("stage {} does not hold together", wp.stage))
    });
    let whole = ledger.verify.as_ref().filter(|verify| verify.failed());
    let whole = whole.map(|_| "the whole does not hold".to_owned());
    let touched = ledger.tampered().then(|| "what is nobody's to touch was changed".to_owned());
    stage.or(whole).or(touched)
}

/// A word for how a run stands, and what it failed in.
#[must_use]
pub fn with_reason(word: &str, reason: Option<&str>) -> String {
    reason.map_or_else(|| word.to_owned(), |reason| format!("{word} ({reason})"))
}

/// A DoD command's class on the base. Red is no failure here: it is what the work will turn green.
#[must_use]
pub fn class_tone(class: DodClass) -> Tone {
    match class {
        DodClass::Red => Tone::Warn,
        DodClass::Green => Tone::Good,
        DodClass::Broken => Tone::Bad,
    }
}

/// A risk as the plan writes it.
#[must_use]
pub fn risk(risk: Risk) -> &'static str {
    match risk {
        Risk::Low => "low",
        Risk::Medium => "medium",
        Risk::High => "high",
    }
}

/// Whether the WP changes anything, as the plan writes it.
#[must_use]
pub fn kind(kind: Kind) -> &'static str {
    match kind {
        Kind::Change => "change",
        Kind::Scout => "scout",
    }
}

/// The title of a WP where it says more than the id, which it is if the plan has none.
#[must_use]
pub fn title<'a>(id: &WpId, title: &'a str) -> &'a str {
    if id.as_str() == title { "" } else { title }
}

/// Which round a WP is in and how many there may be, those before a retry not counted; of one that is
/// settled, how many it took.
#[must_use]
pub fn round(wp: &WpState) -> String {
    let before = wp.rounds_before_retry();
    match (wp.round, before) {
        (0, _) => String::new(),
        (round, _) if wp.phase.settled() || before > 0 && round <= before => round.to_string(),
        (round, _) => format!("{}/{}", round - before, wp.last_round - before),
    }
}

/// A length of time with as much of it as a person wants: `0.3s`, `42s`, `5m03s`, `1h05m`.
#[must_use]
pub fn took(length: Length) -> String {
    let millis = length.0.as_millis();
    let seconds = millis / 1000;
    match seconds {
        0..10 => format!("{seconds}.{}s", millis % 1000 / 100),
        10..60 => format!("{seconds}s"),
        60..3600 => format!("{}m{:02}s", seconds / 60, seconds % 60),
        _ => format!("{}h{:02}m", seconds / 3600, seconds / 60 % 60),
    }
}

/// A length of time in whole seconds, for a view that is drawn again and again.
#[must_use]
pub fn clock(length: Length) -> String {
    took(Length::secs(length.0.as_secs())).replace(".0s", "s")
}

/// An instant to come, as a person at the clock on the wall would say it: `in 42s`, `at 12:30`, or with
/// its day.
#[must_use]
pub fn due(at: Timestamp, now: Timestamp) -> String {
    let left = at.since(now);
    if left < SOON {
        return format!("in {}", clock(left));
    }
    format!("at {}", instant(at, now))
}

/// An instant on the clock on the wall: `12:30`, and its day where that is not today.
#[must_use]
pub fn instant(at: Timestamp, now: Timestamp) -> String {
    let here = |at: Timestamp| at.0.to_zoned_datetime(jiff::tz::TimeZone::system());
    let (at, now) = (here(at), here(now));
    let form = if at.date() == now.date() { "%H:%M" } else { "%Y-%m-%d %H:%M" };
    at.strftime(form).to_string()
}

/// A count with as much of it as a person wants: `950`, `12.3k`, `4.5M`.
#[must_use]
pub fn about(n: u64) -> String {
    match n {
        0..1000 => n.to_string(),
        1000..1_000_000 => format!("{}.{}k", n / 1000, n % 1000 / 100),
        _ => format!("{}.{}M", n / 1_000_000, n % 1_000_000 / 100_000),
    }
}

/// `1 path`, `3 paths`.
#[must_use]
pub fn count(n: u64, thing: &str) -> String {
    if n == 1 { format!("1 {thing}") } else { format!("{n} {thing}s") }
}

/// What became of the repository and is taken as it is: accepted by somebody, or changed while nothing was at work.
#[must_use]
pub fn accepted(changed: &[Taken], by: Option<&str>) -> String {
    let changed: Vec<String> = changed.iter().map(ToString::to_string).collect();
    let changed = changed.join("; ");
    match by {
        Some(by) => format!("accepted by {by}, as it is now: {changed}"),
        None => format!("changed while nothing was at work: taken as yours: {changed}"),
    }
}
