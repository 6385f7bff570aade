//! What `aider --no-pretty --no-stream` prints: a head, the model's words, what was applied, and a line
//! of tokens for each model call.

use crate::model::turn::{Fault, FaultClass, Usage, Usd};
use crate::worker::results::ANSWER;
use crate::worker::seam::{End, Ended, Heard, Reader};
use crate::worker::{Tally, fault};

/// Its word for an answer without a word.
const EMPTY: &str = "Empty response received from LLM";

#[derive(Debug, Default)]
pub(super) struct AiderReader {
    /// The head is over: what comes now is the model's.
    begun: bool,
    /// The words of the model call that is being told.
    words: Vec<String>,
    size: usize,
    /// Those of the last one that was told whole.
    answer: Option<String>,
    empty: bool,
    /// The error of a call, which is folded over several lines; gone once a call succeeds.
    error: Option<String>,
    /// Whether the line before belonged to it.
    in_error: bool,
}

impl AiderReader {
    fn call(&mut self, line: &str, tally: &mut Tally) -> Heard {
        let number = |word: &str| {
            let before = line.split(word).next().filter(|before| before.len() < line.len())?;
            tokens(before.split_whitespace().next_back()?)
        };
        tally.turns = tally.turns.saturating_add(1);
        tally.usage += Usage {
            input: number(" sent").unwrap_or(0),
            cached: number(" cache hit").unwrap_or(0),
            output: number(" received").unwrap_or(0),
        };
        // The session's cost, which is the turn's.
        let cost = line.split('$').nth(2).and_then(|cost| cost.split_whitespace().next());
        if let Some(cost) = cost.and_then(|cost| cost.replace(',', "").parse::<f64>().ok()) {
            tally.cost_usd = Some(Usd::from(cost));
        }
        let words = std::mem::take(&mut self.words).join("\n");
        self.size = 0;
        self.answer = Some(words.trim().to_owned()).filter(|words| !words.is_empty());
        self.error = None;
        Heard::nothing()
    }

    fn said(&mut self, line: &str) -> Heard {
        if line.starts_with(EMPTY) {
            self.empty = true;
            return Heard::say(line);
        }
        if line.starts_with("litellm.") {
            self.error = Some(line.to_owned());
            self.in_error = true;
            return Heard::error(line);
        }
        if line.starts_with("Retrying in ") {
            self.in_error = false;
            return Heard::say(line);
        }
        if let Some(error) = self.error.as_mut().filter(|_| self.in_error) {
            error.push(' ');
            error.push_str(line);
            return Heard::say(line);
        }
        self.size += line.len();
        if self.size as u64 <= ANSWER {
            self.words.push(line.to_owned());
        }
        if line.trim().is_empty() { Heard::nothing() } else { Heard::say(line) }
    }
}

impl Reader for AiderReader {
    fn line(&mut self, line: &[u8], tally: &mut Tally) -> Heard {
        let line = String::from_utf8_lossy(line);
        let line = line.trim_end();
        if let Some(model) = line.strip_prefix("Model: ").filter(|_| !self.begun) {
            tally.note_model(model.split(" with ").next().unwrap_or(model));
            return Heard::nothing();
        }
        if line.starts_with("Tokens: ") && line.contains(" received") {
            return self.call(line, tally);
        }
        if !self.begun {
            self.begun = line.starts_with("Repo-map: ");
            return Heard::nothing();
        }
        self.said(line)
    }

    fn end(self: Box<Self>, ended: &Ended<'_>, _: &mut Tally) -> End {
        let fault = if let Some(error) = &self.error {
            // Also where it was ended while it was still trying again.
            let class = fault::of_text(error).unwrap_or(FaultClass::Provider);
            Some(Fault { class, ..fault::told(error, None, ended.now) })
        } else if self.empty {
            Some(fault::empty())
        } else if self.answer.is_none() {
            Some(fault::untold(ended))
        } else {
            None
        };
        End { text: self.answer.filter(|_| fault.is_none()), fault, stopped_at: None }
    }
}

/// `1.3k`, `20`, `2.1M`.
fn tokens(text: &str) -> Option<u64> {
    let (number, unit) = match text.strip_suffix('k') {
        Some(number) => (number, 1e3),
        None => text.strip_suffix('M').map_or((text, 1.0), |number| (number, 1e6)),
    };
    let number = number.replace(',', "").parse::<f64>().ok()?;
    Some((number * unit).round() as u64)
}
