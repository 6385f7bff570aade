//! What other processes ask of a run: a review, an answer, a correction, a cancellation, another try, a
//! word to a worker. A request is a file in the run directory; the engine that holds the run turns it
//! into an event and removes it. With no engine there it waits for the next one.
//!
//! Each names what it was made for (the round, the question's number, the attempt and which word), so
//! that one which is read twice (a crash between the event and the removal) or too late changes nothing.

use std::collections::BTreeSet;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use rustix::fs::{FlockOperation, fcntl_lock};
use rustix::io::Errno;
use serde::{Deserialize, Serialize};

use super::directory::{DirectoryError, RunDir, write_whole};
use super::say::Word;
use crate::event::{Event, Record};
use crate::ledger::{Fork, Ledger, Note, Phase, WpState};
use crate::model::ids::{RunId, WpId};
use crate::model::time::Timestamp;
use crate::model::verdict::{Judgment, Verdict};
use crate::plain_file;

/// How long the turn of another is waited for. Asking takes a moment.
const PATIENCE: Duration = Duration::from_secs(10);

/// So many WPs are named to somebody who named none of them.
const NAMED: usize = 20;

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

/// Why a request makes no sense now.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    /// No such WP.
    #[error("`{run}` has no WP `{wp}`; it has {known}")]
    Unknown {
        /// The run.
        run: RunId,
        /// What was named.
        wp: String,
        /// What there is.
        known: String,
    },
    /// It is not in a phase in which this can be asked.
    #[error("`{wp}` is {phase}; {why}")]
    Phase {
        /// The WP.
        wp: WpId,
        /// Where it is.
        phase: &'static str,
        /// What would have to be.
        why: &'static str,
    },
    /// Somebody else has judged it.
    #[error(
        "`{wp}` has a review already, by {by} ({judgment}), which the run takes up next; this one was not recorded"
    )]
    Reviewed {
        /// The WP.
        wp: WpId,
        /// Who was first.
        by: String,
        /// What they said.
        judgment: &'static str,
    },
    /// No such question.
    #[error("the run has no question q{number}; {open}")]
    NoQuestion {
        /// Its number.
        number: u32,
        /// What is open instead.
        open: String,
    },
    /// The question is answered, or nobody waits for its answer any more.
    #[error("q{number} (`{wp}`) {state}; this answer was not recorded")]
    Closed {
        /// Its number.
        number: u32,
        /// The WP.
        wp: WpId,
        /// What became of it.
        state: String,
    },
    /// The question has no default that could be taken.
    #[error("q{0} has no default")]
    NoDefault(u32),
    /// The same correction, by the same person.
    #[error("that is noted already")]
    Noted,
}

/// The turn of one who asks: others wait for it, so that nobody asks for what was just asked for. Whoever has it
/// looks at what waits ([`waiting`]) first and folds the journal then: what an engine took meanwhile is in one
/// of the two, since it is recorded before its file goes.
#[derive(Debug)]
pub struct Turn(#[expect(dead_code, reason = "held, not read")] File);

impl Turn {
    /// Waits for it.
    ///
    /// # Errors
    /// Somebody has it for longer than asking takes, or there is no place for its lock.
    pub fn take(dir: &RunDir) -> Result<Self, DirectoryError> {
        let path = dir.requests().join("turn.lock");
        let fail = |source| DirectoryError::Io { what: "lock", path: path.clone(), source };
        let file = plain_file::create(&path).map_err(fail)?;
        let deadline = Instant::now() + PATIENCE;
        loop {
            match fcntl_lock(&file, FlockOperation::NonBlockingLockExclusive) {
                Ok(()) => return Ok(Self(file)),
                Err(Errno::AGAIN | Errno::ACCESS) if Instant::now() < deadline => {
                    std::thread::sleep(Duration::from_millis(5));
                }
                Err(error) => return Err(fail(error.into())),
            }
        }
    }
}

/// Refuses a second review of a round, or a second answer to a question. Of the others it makes no
/// difference who asks again.
///
/// # Errors
/// Who was first.
pub fn is_first(ledger: &Ledger, waiting: &[Request], wanted: &Request) -> Result<(), Refused> {
    let makes_sense = |other: &Request| {
        make(ledger, other.wp.as_ref(), &other.by, other.ask.clone()).is_ok()
            && other.wp == wanted.wp
    };
    let by = |other: &Request| crate::process::escape(other.by.as_bytes());
    for other in waiting.iter().filter(|other| makes_sense(other)) {
        match (&other.ask, &wanted.ask, &wanted.wp) {
            (Ask::Review(verdict), Ask::Review(_), Some(wp)) if other.round == wanted.round => {
                return Err(Refused::Reviewed {
                    wp: wp.clone(),
                    by: by(other),
                    judgment: match verdict.verdict {
                        Judgment::Approve => "approved",
                        Judgment::RequestChanges => "changes requested",
                    },
                });
            }
            (Ask::Answer { number: first, .. }, Ask::Answer { number, .. }, Some(wp))
                if first == number =>
            {
                let state = format!("has an answer by {}, which the run takes up next", by(other));
                return Err(Refused::Closed { number: *number, wp: wp.clone(), state });
            }
            (Ask::Note { text: first }, Ask::Note { text }, _)
                if (first, &other.by) == (text, &wanted.by) =>
            {
                return Err(Refused::Noted);
            }
            _ => {}
        }
    }
    Ok(())
}

/// The request about a WP, or about the run, as it stands now.
///
/// # Errors
/// Why it makes no sense.
pub fn make(ledger: &Ledger, wp: Option<&WpId>, by: &str, ask: Ask) -> Result<Request, Refused> {
    let by = by.to_owned();
    let wp = match &ask {
        Ask::Note { text } => {
            let same = |note: &Note| (&note.text, &note.by) == (text, &by);
            return match ledger.notes.iter().any(same) {
                true => Err(Refused::Noted),
                false => Ok(Request { wp: None, round: 0, by, ask }),
            };
        }
        Ask::Answer { number, .. } => Some(&open_question(ledger, *number)?.0.id),
        _ => wp,
    };
    let state = wp
        .and_then(|wp| ledger.wp(wp))
        .ok_or_else(|| unknown(ledger, wp.map_or("", WpId::as_str)))?;
    let refused =
        |why| Err(Refused::Phase { wp: state.id.clone(), phase: state.phase.name(), why });
    match &ask {
        Ask::Review(_) if state.phase != Phase::AwaitingReview => {
            return refused("only work that awaits a review can be reviewed");
        }
        Ask::Cancel if state.phase.got_through() => return refused("its work is done already"),
        Ask::Cancel if state.phase == Phase::Cancelled => return refused("there is nothing to do"),
        Ask::Retry if !ledger.may_retry(state) => {
            return refused(
                "only what was escalated, blocked, deferred or cancelled, or whose stage does not \
                 hold together, can be tried again",
            );
        }
        Ask::Interrupt { attempt, .. }
            if (state.phase, state.attempt) != (Phase::Working, *attempt) =>
        {
            return refused("no worker is at work on it that could be told anything");
        }
        _ => {}
    }
    Ok(Request { wp: Some(state.id.clone()), round: state.round, by, ask })
}

/// That the run has no such WP.
#[must_use]
pub fn unknown(ledger: &Ledger, wp: &str) -> Refused {
    let mut known: Vec<String> =
        ledger.wps.iter().take(NAMED).map(|wp| format!("`{}`", wp.id)).collect();
    if let more @ 1.. = ledger.wps.len().saturating_sub(NAMED) {
        known.push(format!("{more} more"));
    }
    Refused::Unknown { run: ledger.run.clone(), wp: wp.to_owned(), known: known.join(", ") }
}

/// The question of this number, whose answer is waited for, and its WP.
///
/// # Errors
/// There is none, or it is closed.
pub fn open_question(ledger: &Ledger, number: u32) -> Result<(&WpState, &Fork), Refused> {
    let mut forks = ledger.wps.iter().flat_map(|wp| wp.forks.iter().map(move |fork| (wp, fork)));
    let Some((wp, fork)) = forks.find(|(_, fork)| fork.number == number) else {
        let waits = |wp: &&WpState| wp.phase == Phase::AwaitingAnswer;
        let open = ledger.wps.iter().filter(waits).flat_map(WpState::unanswered);
        let open: Vec<String> = open.map(|fork| format!("q{}", fork.number)).collect();
        let open = match open.is_empty() {
            true => "none is open".to_owned(),
            false => format!("open: {}", open.join(", ")),
        };
        return Err(Refused::NoQuestion { number, open });
    };
    let closed = |state| Err(Refused::Closed { number, wp: wp.id.clone(), state });
    match (&fork.answer, &fork.by) {
        (Some(_), Some(by)) => {
            closed(format!("was answered by {}", crate::process::escape(by.as_bytes())))
        }
        (Some(_), None) => closed("was answered".to_owned()),
        (None, _) if wp.phase != Phase::AwaitingAnswer => {
            closed(format!("is not waited for: its WP is {}", wp.phase.name()))
        }
        (None, _) => Ok((wp, fork)),
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
        // A question is not asked twice under one number; all else is about the round.
        if !matches!(ask, Ask::Answer { .. }) && round != self.round {
            return None;
        }
        Some(match ask {
            Ask::Review(verdict) => Event::Reviewed { wp, round, by, verdict },
            Ask::Cancel => Event::WpCancelled { wp, by },
            Ask::Retry => Event::WpRetried { wp, by },
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

/// What is asked, and by whom, a line each.
#[must_use]
pub fn told(noted: &[Request]) -> Vec<String> {
    let told = |request: &Request| {
        let what = match request.ask.question() {
            Some(number) => format!("{} q{number}", request.ask.name()),
            None => request.ask.name().to_owned(),
        };
        let wp = match (&request.wp, &request.ask) {
            (Some(wp), Ask::Answer { .. }) => format!(" ({wp})"),
            (Some(wp), _) => format!(" {wp}"),
            (None, _) => String::new(),
        };
        format!("{what}{wp} by {}", request.by)
    };
    noted.iter().map(told).collect()
}

/// How the run will stand once the next engine has taken these up: as far as they make sense.
#[must_use]
pub fn taken(ledger: &Ledger, noted: Vec<Request>, now: Timestamp) -> Ledger {
    let mut soon = ledger.clone();
    for request in noted {
        let Some(event) = request.event(&soon) else { continue };
        let mut then = soon.clone();
        if then.apply(&Record { seq: soon.seq + 1, at: now, event }).is_ok() {
            soon = then;
        }
    }
    soon
}

/// Whoever looks for requests does so many times a second.
fn tell_once(path: &Path, error: &io::Error) {
    static TOLD: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());
    if TOLD.lock().unwrap_or_else(PoisonError::into_inner).insert(path.to_owned()) {
        tracing::warn!(?path, %error, "no request, and left alone");
    }
}
