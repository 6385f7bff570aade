//! How a run stands, from its ledger alone: a table for people; for programs the ledger itself
//! (`schemas/state.schema.json`).

use std::io::{self, Write};

use super::cells::width;
use super::line::Line;
use super::narrate::{length_of, one, through};
use super::palette::{Look, Tone};
use super::whole::Whole;
use super::words;
use crate::ledger::{GatePhase, Ledger, Phase, WpState};
use crate::model::time::Timestamp;

/// Widest that a name or a stage is shown.
const WIDEST: usize = 24;

/// Writes the table of `ledger` as it stands at `now`; `held` says whether an engine has the run.
///
/// # Errors
/// When `out` cannot be written.
pub fn write(
    ledger: &Ledger,
    now: Timestamp,
    held: bool,
    out: &mut impl Write,
    look: &Look,
) -> io::Result<()> {
    writeln!(out, "{}", head(ledger, now, held, look).done().trimmed())?;
    let goal = Line::new(look).gap(2).then(Tone::Normal, &ledger.goal).done();
    writeln!(out, "{}\n", goal.trimmed())?;
    let widest = |text: fn(&WpState) -> &str, title: &str| {
        let widths = ledger.wps.iter().map(|wp| width(text(wp)));
        widths.max().unwrap_or(0).min(WIDEST).max(title.len())
    };
    let columns = Columns {
        id: widest(|wp| wp.id.as_str(), "WP"),
        stage: widest(|wp| wp.stage.as_str(), "STAGE"),
        state: widest(|wp| words::state(wp.phase), "STATE"),
        tier: widest(|wp| wp.tier.as_str(), "TIER"),
    };
    writeln!(out, "{}", columns.title(look))?;
    for wp in &ledger.wps {
        writeln!(out, "{}", columns.row(wp, now, look))?;
    }
    for gate in &ledger.gates {
        let Some(wp) = ledger.wps.iter().find(|wp| wp.level == gate.level) else { continue };
        let (tone, word) = match gate.phase {
            GatePhase::Passed => (Tone::Good, "holds together"),
            GatePhase::Failed => (Tone::Bad, "does not hold together"),
            GatePhase::Superseded => continue,
            GatePhase::Merging => (Tone::Active, "merging"),
            GatePhase::Proving => (Tone::Active, "DoD on the merged tree"),
        };
        let mut line = Line::new(look)
            .then(tone, words::tone_mark(tone, look))
            .then(Tone::Strong, &format!(" stage {}  ", wp.stage))
            .then(tone, word);
        if let (Some(branch), Some(commit)) = (&gate.branch, &gate.commit) {
            line = line.then(Tone::Normal, &format!("  {branch} at {}", commit.short()));
        }
        writeln!(out, "{}", line.done().trimmed())?;
    }
    if let Some(whole) = Whole::of(ledger) {
        whole.write(out, look)?;
    }
    Ok(())
}

/// Writes the ledger's state as JSON.
///
/// # Errors
/// When `out` cannot be written.
pub fn json(ledger: &Ledger, out: &mut impl Write) -> io::Result<()> {
    super::json::pretty(ledger, out)
}

fn head<'a>(ledger: &Ledger, now: Timestamp, held: bool, look: &'a Look) -> Line<'a> {
    let (word, tone) = match ledger.outcome {
        Some(outcome) => words::outcome(outcome),
        None if held => ("running", Tone::Active),
        None => ("not running", Tone::Warn),
    };
    let until = if held { now } else { ledger.updated_at };
    let dot = look.dot();
    Line::new(look)
        .then(tone, words::tone_mark(tone, look))
        .gap(1)
        .then(Tone::Strong, ledger.run.as_str())
        .then(Tone::Faint, dot)
        .then(tone, word)
        .then(Tone::Faint, dot)
        .then(Tone::Normal, &format!("{} of {} WPs through", through(ledger), ledger.wps.len()))
        .then(Tone::Faint, dot)
        .then(Tone::Normal, &words::took(until.since(ledger.created_at)))
}

struct Columns {
    id: usize,
    stage: usize,
    state: usize,
    tier: usize,
}

impl Columns {
    fn title(&self, look: &Look) -> String {
        let line = Line::new(look)
            .gap(2)
            .cell(Tone::Faint, "WP", self.id + 2)
            .cell(Tone::Faint, "STAGE", self.stage + 2)
            .cell(Tone::Faint, "STATE", self.state + 2)
            .cell(Tone::Faint, "ROUND", 7)
            .cell(Tone::Faint, "TIER", self.tier + 2)
            .cell(Tone::Faint, "  TIME", 8)
            .then(Tone::Faint, "WHAT");
        line.done().trimmed().to_owned()
    }

    fn row(&self, wp: &WpState, now: Timestamp, look: &Look) -> String {
        let tone = words::tone(wp.phase);
        let round =
            if wp.round == 0 { String::new() } else { format!("{}/{}", wp.round, wp.last_round) };
        let running = wp.started_at.filter(|_| !wp.phase.settled()).map(|at| now.since(at));
        let time = length_of(wp).or(running).map(words::clock).unwrap_or_default();
        let line = Line::new(look)
            .then(tone, words::mark(wp.phase, look))
            .gap(1)
            .cell(Tone::Strong, wp.id.as_str(), self.id)
            .gap(2)
            .cell(Tone::Normal, wp.stage.as_str(), self.stage)
            .gap(2)
            .cell(tone, words::state(wp.phase), self.state)
            .gap(2)
            .cell(Tone::Normal, &round, 7)
            .cell(Tone::Normal, wp.tier.as_str(), self.tier)
            .gap(2)
            .cell(Tone::Normal, &format!("{time:>6}"), 8)
            .then(Tone::Normal, &what(wp));
        line.done().trimmed().to_owned()
    }
}

/// The one thing to know of a WP besides its state.
fn what(wp: &WpState) -> String {
    match wp.phase {
        Phase::Passed | Phase::Integrated => match (&wp.branch, &wp.commit) {
            (Some(branch), Some(commit)) => format!("{branch} at {}", commit.short()),
            _ => wp.report.clone().unwrap_or_default(),
        },
        Phase::Escalated => wp.carried().first().map(one).unwrap_or_default(),
        Phase::Blocked => wp.blocked_by.as_ref().map(one).unwrap_or_default(),
        Phase::Deferred => wp.because.as_ref().map(|id| format!("needs {id}")).unwrap_or_default(),
        _ => wp.title.clone(),
    }
}
