//! The last look at the whole in retrospect: that there was one, or that there was none.

use std::io::{self, Write};

use schemars::JsonSchema;
use serde::Serialize;

use crate::ledger::Ledger;
use crate::model::outcome::Problem;
use crate::report::line::{Flow, Line};
use crate::report::narrate::one;
use crate::report::palette::{Look, Tone};
use crate::report::words;

/// The last look, in a plan that wants one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct VerifySummary {
    /// Where it is.
    pub state: VerifyWord,
    /// Commands that were run on the integrated tree, and how many of them exit 0.
    pub ran: (usize, usize),
    /// Who read the whole.
    pub reviewed_by: Option<String>,
    /// What is wrong, or in the way.
    pub problems: Vec<Problem>,
}

/// Where the last look is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum VerifyWord {
    /// Not everything is integrated yet.
    NotReached,
    /// It was begun.
    Open,
    /// Infrastructure is in the way.
    Halted,
    /// The whole holds.
    Held,
    /// It does not.
    Failed,
}

impl VerifySummary {
    /// Of a run whose plan wants a last look.
    #[must_use]
    pub fn of(ledger: &Ledger) -> Option<Self> {
        if !ledger.to_verify {
            return None;
        }
        let none = Self {
            state: VerifyWord::NotReached,
            ran: (0, 0),
            reviewed_by: None,
            problems: Vec::new(),
        };
        let Some(state) = &ledger.verify else { return Some(none) };
        let word = match (&state.halted, state.ended) {
            (Some(_), _) => VerifyWord::Halted,
            (None, false) => VerifyWord::Open,
            (None, true) if state.failed() => VerifyWord::Failed,
            (None, true) => VerifyWord::Held,
        };
        let passed = state.ran.iter().filter(|it| it.ran.end.success()).count();
        Some(Self {
            state: word,
            ran: (state.ran.len(), passed),
            reviewed_by: state.reviewed_by.clone(),
            problems: state.halted.iter().chain(&state.problems).cloned().collect(),
        })
    }

    /// Writes it for people.
    ///
    /// # Errors
    /// When `out` cannot be written.
    pub fn write(&self, out: &mut impl Write, look: &Look) -> io::Result<()> {
        let (tone, word) = match self.state {
            VerifyWord::NotReached => (Tone::Faint, "not reached"),
            VerifyWord::Open => (Tone::Active, "open"),
            VerifyWord::Halted => (Tone::Bad, "cannot go on"),
            VerifyWord::Held => (Tone::Good, "the whole holds"),
            VerifyWord::Failed => (Tone::Bad, "the whole does not hold"),
        };
        let head = Line::new(look)
            .then(tone, words::tone_mark(tone, look))
            .then(Tone::Strong, " last look ");
        let mut text = Flow::after(head).then(tone, word);
        if self.ran.0 > 0 {
            let (ran, passed) = self.ran;
            text = text.dot().then(Tone::Normal, &format!("{passed}/{ran} commands passed"));
        }
        if let Some(by) = &self.reviewed_by {
            text = text.dot().then(Tone::Normal, &format!("read by {by}"));
        }
        text.write(out)?;
        for problem in &self.problems {
            let text = Flow::after(Line::new(look).gap(4));
            text.then(Tone::Bad, &one(problem)).write(out)?;
        }
        Ok(())
    }
}
