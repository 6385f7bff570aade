//! What is known of a turn so far, as the agent's stream tells it.

use crate::model::turn::{Spent, Turn, Usage, Usd};
use crate::process::escape;

/// Denials that are kept; an agent may ask in a loop.
const DENIALS: usize = 20;
/// Characters of one denial, or of a name.
const NAME: usize = 200;

/// The count.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Tally {
    /// The session, once told.
    pub session: Option<String>,
    /// The model, once told.
    pub model: Option<String>,
    /// Tokens.
    pub usage: Usage,
    /// Money, where the agent tells it.
    pub cost_usd: Option<Usd>,
    /// Model calls that were answered.
    pub turns: u32,
    /// Tools that were refused, escaped.
    pub denials: Vec<String>,
}

/// What a turn may use up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Most {
    /// Model calls.
    pub turns: Option<u32>,
    /// Money.
    pub usd: Option<Usd>,
    /// Tokens.
    pub tokens: Option<u64>,
}

impl Tally {
    /// Whether a text can be an agent's name for a session. It goes back to the agent as an argument,
    /// so it must look like a name and not like a flag.
    #[must_use]
    pub fn is_session(text: &str) -> bool {
        let name = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.:/".contains(&byte);
        (1..=NAME).contains(&text.len()) && !text.starts_with('-') && text.bytes().all(name)
    }

    /// Notes the session; what cannot be one is not noted.
    pub fn note_session(&mut self, session: &str) {
        if Self::is_session(session) {
            self.session = Some(session.to_owned());
        }
    }

    /// Notes the model that answers.
    pub fn note_model(&mut self, model: &str) {
        self.model = Some(short(model));
    }

    /// Notes a tool that was refused.
    pub fn note_denial(&mut self, what: &str) {
        if self.denials.len() < DENIALS {
            self.denials.push(short(what));
        }
    }

    /// Adds what a later part of the same turn came to.
    pub fn add(&mut self, part: Self) {
        self.session = part.session.or(self.session.take());
        self.model = part.model.or(self.model.take());
        self.usage += part.usage;
        self.cost_usd = match (self.cost_usd, part.cost_usd) {
            (Some(Usd(a)), Some(Usd(b))) => Some(Usd(a.saturating_add(b))),
            (a, b) => a.or(b),
        };
        self.turns = self.turns.saturating_add(part.turns);
        self.denials.extend(part.denials);
        self.denials.truncate(DENIALS);
    }

    /// The first limit that is passed. As many turns as are allowed are fine; one more is not. Money
    /// and tokens are told after they are spent, so reaching the limit is enough.
    #[must_use]
    pub fn passed(&self, most: &Most) -> Option<Spent> {
        let turns = most.turns.filter(|most| self.turns > *most);
        let usd = most.usd.filter(|most| self.cost_usd.is_some_and(|cost| cost >= *most));
        let tokens = most.tokens.filter(|most| self.usage.total() >= *most);
        turns
            .map(|most| Spent::Turns { most })
            .or(usd.map(|most| Spent::Usd { most }))
            .or(tokens.map(|most| Spent::Tokens { most }))
    }

    /// The turn as counted; whether it is a good one is for the end to say.
    #[must_use]
    pub fn turn(self) -> Turn {
        Turn {
            session: self.session,
            model: self.model,
            usage: self.usage,
            cost_usd: self.cost_usd,
            turns: self.turns,
            denials: self.denials,
            ..Turn::default()
        }
    }
}

/// Escaped for display and cut to [`NAME`] characters.
fn short(text: &str) -> String {
    let cut: String = text.chars().take(NAME).collect();
    escape(cut.as_bytes())
}
