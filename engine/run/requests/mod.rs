//! What other processes ask of a run: a review, an answer, a correction, a cancellation, another try, a
//! word to a worker. A request is a file in the run directory; the engine that holds the run turns it
//! into an event and removes it. With no engine there it waits for the next one.
//!
//! Each names what it was made for (the round, the question's number, the attempt and which word), so
//! that one which is read twice (a crash between the event and the removal) or too late changes nothing.

mod sense;
mod soon;
mod turn;

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use serde::{Deserialize, Serialize};

pub use sense::{Refused, is_first, make, open_question, unknown};
pub use soon::{taken, told};
pub use turn::Turn;

use super::directory::{DirectoryError, RunDir, write_whole};
use super::say::Word;
use crate::event::Event;
use crate::ledger::{Ledger, Phase, WpState};
use crate::model::ids::WpId;
use crate::model::verdict::Verdict;
use crate::plain_file;

/// A request, as it is on disk.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Request {
    /// The WP; nothing where it is about the whole run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wp: Option<WpId>,
    /// The round it was in when this was asked.
    #[serde(default)]
    pub round: u32,
    /// Who asks.
    pub by: String,
    /// What is asked.
    pub ask: Ask,
}

/// What is asked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ask {
    /// Take this as the review.
    Review(Verdict),
    /// End it, and do not start it again.
    Cancel,
    /// Try it again.
    Retry,
    /// Have no worker in it any more, and leave its worktree to whoever asks.
    Take,
    /// Take it from the lead again.
    Back,
    /// Check what the lead left in it.
    Recheck {
        /// Have a worker go on with what is wrong.
        to_worker: bool,
    },
    /// Take this as the answer to a question.
    Answer {
        /// The question's number in the run.
        number: u32,
        /// The answer.
        text: String,
    },
    /// Tell this to the worker at work.
    Interrupt {
        /// The attempt that it is.
        attempt: u32,
        /// Which word to it this is, from 1.
        n: u32,
        /// The word.
        say: String,
    },
    /// Take this as a correction of the plan's facts.
    Note {
        /// The correction.
        text: String,
    },
}

impl Ask {
    /// The verb that asks it.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::Review(_) => "review",
            Self::Cancel => "cancel",
            Self::Retry => "retry",
            Self::Take => "take",
            Self::Back => "take back",
            Self::Recheck { .. } => "recheck",
            Self::Answer { .. } => "answer",
            Self::Interrupt { .. } => "interrupt",
            Self::Note { .. } => "note",
        }
    }

    /// The number of the question that it answers.
    #[must_use]
    pub fn question(&self) -> Option<u32> {
        match self {
            Self::Answer { number, .. } => Some(*number),
            _ => None,
        }
    }
}

/// The attempt at work on `wp`, and which word to it would be the next.
#[must_use]
pub fn next_word(wp: &WpState, waiting: &[Request]) -> (u32, u32) {
    let told = waiting.iter().filter(|other| other.wp.as_ref() == Some(&wp.id));
    let told = told.filter_map(|other| match other.ask {
        Ask::Interrupt { attempt, n, .. } if attempt == wp.attempt => Some(n),
        _ => None,
    });
    (wp.attempt, told.max().unwrap_or(0).max(wp.redirected) + 1)
}

impl Request {
    /// Leaves the request for the engine.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn leave(&self, dir: &RunDir, at: jiff::Timestamp) -> Result<(), DirectoryError> {
        let about = self.wp.as_ref().map_or(dir.run().as_str(), WpId::as_str);
        let name = format!("{}-{}-{about}.json", at.as_nanosecond(), std::process::id());
        let bytes = serde_json::to_vec(self).unwrap_or_default();
        write_whole(&dir.requests().join(name), &bytes)
    }

    /// The event it comes to, if it still makes sense.
    #[must_use]
    pub fn event(self, ledger: &Ledger) -> Option<Event> {
        let again = make(ledger, self.wp.as_ref(), &self.by, self.ask).ok()?;
        let (by, round) = (again.by, again.round);
        let (wp, ask) = match (again.wp, again.ask) {
            (_, Ask::Note { text }) => return Some(Event::NoteAdded { text, by }),
            (wp, ask) => (wp?, ask),
        };
        // A question is not asked twice under one number, and a WP is taken whatever round it is in; all else is
        // about the round.
        if !matches!(ask, Ask::Answer { .. } | Ask::Take) && round != self.round {
            return None;
        }
        Some(match ask {
            Ask::Review(verdict) => Event::Reviewed { wp, round, by, verdict },
            Ask::Cancel => Event::WpCancelled { wp, by },
            Ask::Retry => Event::WpRetried { wp, by },
            Ask::Take => Event::WpTaken { wp, by },
            Ask::Back => Event::WpGivenBack { wp, by },
            Ask::Recheck { to_worker } => Event::RecheckStarted { wp, by, to_worker },
            Ask::Answer { number, text: answer } => Event::Answered { wp, number, answer, by },
            Ask::Interrupt { attempt, n, say } => {
                let next = ledger.wp(&wp).is_some_and(|state| n == state.redirected + 1);
                return next.then_some(Event::Redirected { wp, attempt, say, by });
            }
            Ask::Note { .. } => unreachable!("taken above"),
        })
    }

    /// The word that the worker at work has to get, once the event is recorded.
    #[must_use]
    pub fn word(&self, ledger: &Ledger) -> Option<Word> {
        let Ask::Interrupt { attempt, n, say } = &self.ask else { return None };
        let state = ledger.wp(self.wp.as_ref()?)?;
        let at_work = (state.phase, state.attempt) == (Phase::Working, *attempt);
        (at_work && *n <= state.redirected).then(|| Word {
            wp: state.id.clone(),
            attempt: *attempt,
            n: *n,
            text: say.clone(),
        })
    }
}

/// The requests that wait, oldest first, each with its file. What is no request is left alone.
#[must_use]
pub fn waiting(folder: &Path) -> Vec<(PathBuf, Request)> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let mut paths: Vec<PathBuf> = entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.extension().is_some_and(|ending| ending == "json"))
        .collect();
    paths.sort();
    paths
        .into_iter()
        .filter_map(|path| {
            let request = plain_file::read(&path, plain_file::DOCUMENT)
                .and_then(|bytes| serde_json::from_slice(&bytes).map_err(io::Error::from));
            request.inspect_err(|error| tell_once(&path, error)).ok().map(|request| (path, request))
        })
        .collect()
}

/// The requests that wait for an engine, oldest first.
#[must_use]
pub fn noted(dir: &RunDir) -> Vec<Request> {
    waiting(&dir.requests()).into_iter().map(|(_, request)| request).collect()
}

/// Whoever looks for requests does so many times a second.
fn tell_once(path: &Path, error: &io::Error) {
    static TOLD: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());
    if TOLD.lock().unwrap_or_else(PoisonError::into_inner).insert(path.to_owned()) {
        tracing::warn!(?path, %error, "no request, and left alone");
    }
}
