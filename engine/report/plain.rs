//! For a pipe: a line for each thing worth knowing, in the order in which it happened, that no later
//! line changes.

use std::io::Write;
use std::sync::Arc;

use super::Reporter;
use super::cells::width;
use super::line::{Flow, Line, Row};
use super::narrate::narrate;
use super::outlook::Pause;
use super::palette::{Look, Tone};
use super::words;
use crate::event::{Event, Record};
use crate::ledger::Ledger;
use crate::model::plan::Plan;
use crate::model::time::Timestamp;

/// Ids longer than this do not push the words of all the others to the right.
const WIDEST_ID: usize = 24;

/// Writes lines as events come.
#[derive(Debug)]
pub struct Plain<W> {
    out: Option<W>,
    look: Look,
    lines: Lines,
}

impl<W: Write> Plain<W> {
    /// Writes to `out`, drawn as `look` says; lines are never cut.
    pub fn new(out: W, look: Look) -> Self {
        Self { out: Some(out), look: Look { width: None, ..look }, lines: Lines::default() }
    }

    /// With the plan, which says what a start waits for.
    #[must_use]
    pub fn with_plan(mut self, plan: Arc<Plan>) -> Self {
        self.lines.plan_is(plan);
        self
    }
}

impl<W: Write + Send> Reporter for Plain<W> {
    fn event(&mut self, record: &Record, ledger: &Ledger) {
        let Some(said) = self.lines.line(record, ledger, &self.look) else { return };
        let Some(out) = &mut self.out else { return };
        let written = said.rows.iter().try_for_each(|row| writeln!(out, "{}", row.trimmed()));
        if written.and_then(|()| out.flush()).is_err() {
            self.out = None;
        }
    }

    fn tick(&mut self, _: &Ledger, _: Timestamp) {}

    fn say(&mut self, text: &str) {
        let Some(out) = &mut self.out else { return };
        if writeln!(out, "{text}").and_then(|()| out.flush()).is_err() {
            self.out = None;
        }
    }

    fn finish(&mut self, _: &Ledger) {
        // What follows is the summary: not one more event.
        if let Some(mut out) = self.out.take()
            && self.lines.began().is_some()
        {
            let _ = writeln!(out).and_then(|()| out.flush());
        }
    }
}

/// Events as lines: the time since the first of them, the WP, and what happened.
#[derive(Debug, Default)]
pub struct Lines {
    began: Option<Timestamp>,
    ids: usize,
    plan: Option<Arc<Plan>>,
}

/// One event as a line.
#[derive(Debug)]
pub struct SaidLine {
    /// The line, or lines where it outgrows what `look` has room for.
    pub rows: Vec<Row>,
    /// It stands for itself, without the steps between.
    pub milestone: bool,
}

impl Lines {
    /// Takes the plan, which says what a start waits for.
    pub fn plan_is(&mut self, plan: Arc<Plan>) {
        self.plan = Some(plan);
    }

    /// The plan, if it is known.
    #[must_use]
    pub fn plan(&self) -> Option<&Plan> {
        self.plan.as_deref()
    }

    /// When the first event was, if there was one.
    #[must_use]
    pub fn began(&self) -> Option<Timestamp> {
        self.began
    }

    /// The line for `record`; `None` when nobody needs to hear of it.
    pub fn line(&mut self, record: &Record, ledger: &Ledger, look: &Look) -> Option<SaidLine> {
        let began = *self.began.get_or_insert(record.at);
        if self.ids == 0 {
            let widths = ledger.wps.iter().map(|wp| width(wp.id.as_str()));
            self.ids = widths.filter(|w| *w <= WIDEST_ID).max().unwrap_or(1);
        }
        let mut said = narrate(record, ledger, look)?;
        if let Some(pause) = self.pause(record, ledger) {
            said.text.push_str("; ");
            said.text.push_str(&pause);
        }
        let at = words::took(record.at.since(began));
        let tone = if said.milestone { said.tone } else { Tone::Normal };
        let line = Line::new(look)
            .then(Tone::Faint, &format!("{at:>7}"))
            .gap(1)
            .then(said.tone, words::tone_mark(said.tone, look))
            .gap(1);
        let line = match &said.wp {
            Some(id) => {
                let columns = self.ids.max(width(id.as_str()));
                line.cell(Tone::Strong, id.as_str(), columns).gap(1)
            }
            None => line,
        };
        let rows = Flow::after(line).then(tone, &said.text).rows();
        Some(SaidLine { rows, milestone: said.milestone })
    }

    /// What the next start waits for, where infrastructure spoilt this one.
    fn pause(&self, record: &Record, ledger: &Ledger) -> Option<String> {
        let (Event::AttemptEnded { wp, .. }, Some(plan)) = (&record.event, self.plan()) else {
            return None;
        };
        let wp = ledger.wp(wp)?;
        let pause = Pause::of(plan, ledger, wp, record.at)?;
        let due = words::due(pause.until, record.at);
        Some(format!("next on {} {due}", pause.tier))
    }
}
