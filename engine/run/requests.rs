//! What other processes ask of a run: a review, a cancellation, another try. A request is a file in the
//! run directory; the engine that holds the run turns it into an event and removes it. With no engine
//! there it waits for the next one.
//!
//! Each names the round it was made for, so that one which is read twice (a crash between the event
//! and the removal) or too late changes nothing.

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
use crate::event::Event;
use crate::ledger::{Ledger, Phase};
use crate::model::ids::WpId;
use crate::model::verdict::{Judgment, Verdict};
use crate::plain_file;

/// How long the turn of another is waited for. Asking takes a moment.
const PATIENCE: Duration = Duration::from_secs(10);

/// A request, as it is on disk.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Request {
    /// The WP.
    pub wp: WpId,
    /// The round it was in when this was asked.
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
}

/// Why a request makes no sense now.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    /// No such WP.
    #[error("the run has no work package `{0}`; it has {1}")]
    Unknown(WpId, String),
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

/// Refuses a second review of a round. Of the others it makes no difference who asks again.
///
/// # Errors
/// Who was first.
pub fn not_yet_reviewed(
    ledger: &Ledger,
    waiting: &[Request],
    wanted: &Request,
) -> Result<(), Refused> {
    if !matches!(wanted.ask, Ask::Review(_)) {
        return Ok(());
    }
    let first = waiting.iter().find_map(|other| match &other.ask {
        Ask::Review(verdict) if other.wp == wanted.wp && other.round == wanted.round => {
            make(ledger, &other.wp, &other.by, other.ask.clone()).ok()?;
            Some((other.by.clone(), verdict.verdict))
        }
        _ => None,
    });
    match first {
        None => Ok(()),
        Some((by, judgment)) => Err(Refused::Reviewed {
            wp: wanted.wp.clone(),
            by: crate::process::escape(by.as_bytes()),
            judgment: match judgment {
                Judgment::Approve => "approved",
                Judgment::RequestChanges => "changes requested",
            },
        }),
    }
}

/// The request for a WP as it stands now.
///
/// # Errors
/// Why it makes no sense.
pub fn make(ledger: &Ledger, wp: &WpId, by: &str, ask: Ask) -> Result<Request, Refused> {
    let Some(state) = ledger.wp(wp) else {
        let known: Vec<String> = ledger.wps.iter().map(|wp| format!("`{}`", wp.id)).collect();
        return Err(Refused::Unknown(wp.clone(), known.join(", ")));
    };
    let refused = |why| Err(Refused::Phase { wp: wp.clone(), phase: state.phase.name(), why });
    match ask {
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
        _ => {}
    }
    Ok(Request { wp: wp.clone(), round: state.round, by: by.to_owned(), ask })
}

impl Request {
    /// Leaves the request for the engine.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn leave(&self, dir: &RunDir, at: jiff::Timestamp) -> Result<(), DirectoryError> {
        let name = format!("{}-{}-{}.json", at.as_nanosecond(), std::process::id(), self.wp);
        let bytes = serde_json::to_vec(self).unwrap_or_default();
        write_whole(&dir.requests().join(name), &bytes)
    }

    /// The event it comes to, if it still makes sense.
    #[must_use]
    pub fn event(self, ledger: &Ledger) -> Option<Event> {
        let state = ledger.wp(&self.wp)?;
        if state.round != self.round {
            return None;
        }
        let again = make(ledger, &self.wp, &self.by, self.ask).ok()?;
        let (wp, by) = (again.wp, again.by);
        Some(match again.ask {
            Ask::Review(verdict) => Event::Reviewed { wp, round: state.round, by, verdict },
            Ask::Cancel => Event::WpCancelled { wp, by },
            Ask::Retry => Event::WpRetried { wp, by },
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

/// Whoever looks for requests does so many times a second.
fn tell_once(path: &Path, error: &io::Error) {
    static TOLD: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());
    if TOLD.lock().unwrap_or_else(PoisonError::into_inner).insert(path.to_owned()) {
        tracing::warn!(?path, %error, "no request, and left alone");
    }
}
