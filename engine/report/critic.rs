//! What a critic said of a plan, and what the lead answered to it.

use std::io::{self, Write};

use super::cells::width;
use super::escape::visible;
use super::line::{Flow, Line};
use super::palette::{Look, Tone};
use super::words;
use crate::model::critic::{Answer, Answered, PlannedCritic, Reading};
use crate::model::verdict::ReviewSeverity;

/// Widest that names push the rest to the right.
const WIDEST: usize = 24;

/// How many remarks a critic made, and what became of them.
#[must_use]
pub fn tally(reading: &Reading) -> String {
    let all = reading.all().count() as u64;
    let counts = [
        (reading.taken().count(), "taken"),
        (reading.refused().count(), "refused"),
        (reading.open().count(), "without an answer"),
    ];
    let told: Vec<String> =
        counts.iter().filter(|(n, _)| *n > 0).map(|(n, what)| format!("{n} {what}")).collect();
    match all {
        0 => "no remarks".to_owned(),
        _ if reading.open().count() as u64 == all => {
            format!("{}, none answered", words::count(all, "remark"))
        }
        _ => format!("{}: {}", words::count(all, "remark"), told.join(", ")),
    }
}

/// The critic's part of a checkpoint report, in a sentence.
#[must_use]
pub fn planned(critic: &PlannedCritic) -> (Tone, String) {
    let PlannedCritic { who, why, reading } = critic;
    match (who, reading) {
        (_, Some(reading)) if reading.remarks.is_some() => {
            let tone = if reading.open().next().is_some() { Tone::Warn } else { Tone::Normal };
            let who = format!("{} ({})", reading.tier, reading.worker);
            (tone, format!("{who} has read it: {}", tally(reading)))
        }
        (Some(who), _) => (Tone::Normal, format!("{who} reads it before anybody says yes: {why}")),
        (None, _) => {
            let text = format!("nobody reads it first, although {why}: no `[critic]`");
            (Tone::Faint, text)
        }
    }
}

/// Each remark with what was answered.
///
/// # Errors
/// When `out` cannot be written.
pub fn draw<'a>(
    remarks: impl IntoIterator<Item = &'a Answered>,
    out: &mut impl Write,
    look: &Look,
) -> io::Result<()> {
    let remarks: Vec<&Answered> = remarks.into_iter().collect();
    let about = |it: &Answered| visible(it.remark.wp.as_deref().unwrap_or("the plan")).into_owned();
    let widest = remarks.iter().map(|it| width(&about(it))).max().unwrap_or(0).min(WIDEST);
    for it in remarks {
        let (tone, severity) = match it.remark.severity {
            ReviewSeverity::Major => (Tone::Bad, "major"),
            ReviewSeverity::Minor => (Tone::Warn, "minor"),
            ReviewSeverity::Note => (Tone::Faint, "note"),
        };
        let about = about(it);
        let head = Line::new(look)
            .cell(Tone::Strong, &format!("{:>3}", it.number), 5)
            .cell(tone, severity, 7)
            .cell(Tone::Strong, &about, widest.max(width(&about)))
            .gap(2);
        let below = || Line::new(look).gap(5);
        paragraphs(head, Tone::Normal, &it.remark.text, out)?;
        if !it.remark.proposal.trim().is_empty() {
            let text = format!("proposed: {}", it.remark.proposal);
            paragraphs(below(), Tone::Faint, &text, out)?;
        }
        let (tone, text) = match &it.answer {
            Some(Answer::Taken { by, .. }) => (Tone::Good, format!("taken by {by}")),
            Some(Answer::Refused { reason, by, .. }) => {
                (Tone::Normal, format!("refused by {by}: {reason}"))
            }
            None => (Tone::Warn, "waits for an answer".to_owned()),
        };
        paragraphs(below(), tone, &text, out)?;
    }
    Ok(())
}

/// A text of possibly several lines, all of it under where it begins.
fn paragraphs(head: Line<'_>, tone: Tone, text: &str, out: &mut impl Write) -> io::Result<()> {
    let words: Vec<&str> = text.split_whitespace().collect();
    Flow::after(head).then(tone, &words.join(" ")).write(out)
}
