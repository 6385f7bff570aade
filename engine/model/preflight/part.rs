//! What every part has: its state, what was found, and what to do about it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Whether a run can start.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// It can.
    #[default]
    Go,
    /// It can, and somebody should look first.
    Warn,
    /// It cannot.
    Stop,
}

impl State {
    /// The word in the JSON.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Go => "go",
            Self::Warn => "warn",
            Self::Stop => "stop",
        }
    }
}

/// One part: its facts, and what they come to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "{T}Part")]
pub struct Part<T> {
    /// The worst of what it has to say.
    pub state: State,
    /// What was found, in one sentence; the worst, where there is more.
    pub what: String,
    /// What to do about that; nothing where nothing is to be done.
    #[serde(rename = "do")]
    pub help: Option<String>,
    /// What else somebody should look at, the worst first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub more: Vec<Word>,
    /// What was found, in full; nothing where it could not be found out.
    #[serde(flatten)]
    pub facts: Option<T>,
}

impl<T> Part<T> {
    /// A part with these facts. `fine` is what there is to say where `words` has nothing.
    #[must_use]
    pub fn new(facts: T, fine: impl Into<String>, mut words: Vec<Word>) -> Self {
        // Stable: what was looked at first is told first.
        words.sort_by_key(|word| std::cmp::Reverse(word.state));
        let mut words = words.into_iter();
        let worst = words.next().unwrap_or_else(|| Word::fine(fine));
        Self {
            state: worst.state,
            what: worst.what,
            help: worst.help,
            more: words.collect(),
            facts: Some(facts),
        }
    }

    /// A part that could not be found out.
    #[must_use]
    pub fn unknown(word: Word) -> Self {
        let Word { state, what, help } = word;
        Self { state, what, help, more: Vec::new(), facts: None }
    }

    /// What somebody should look at; nothing where all is well.
    pub fn words(&self) -> impl Iterator<Item = Word> {
        let worst = Word { state: self.state, what: self.what.clone(), help: self.help.clone() };
        let worst = Some(worst).filter(|word| word.state > State::Go);
        worst.into_iter().chain(self.more.iter().cloned())
    }
}

/// One thing that somebody should look at.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Word {
    /// How bad it is.
    pub state: State,
    /// What was found.
    pub what: String,
    /// What to do about it.
    #[serde(rename = "do")]
    pub help: Option<String>,
}

impl Word {
    /// Nothing is to be done.
    #[must_use]
    pub fn fine(what: impl Into<String>) -> Self {
        Self { state: State::Go, what: what.into(), help: None }
    }

    /// A run can start all the same.
    #[must_use]
    pub fn warn(what: impl Into<String>, help: impl Into<String>) -> Self {
        Self { state: State::Warn, what: what.into(), help: Some(help.into()) }
    }

    /// No run can start.
    #[must_use]
    pub fn stop(what: impl Into<String>, help: impl Into<String>) -> Self {
        Self { state: State::Stop, what: what.into(), help: Some(help.into()) }
    }
}

/// What a part comes to, whatever its facts are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Summed {
    /// Its state.
    pub state: State,
    /// What was found.
    pub what: String,
    /// What somebody should look at.
    pub words: Vec<Word>,
}
