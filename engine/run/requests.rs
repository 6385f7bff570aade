//! What other processes ask of a run: a review, a cancellation, another try. A request is a file in the
//! run directory; the engine that holds the run turns it into an event and removes it. With no engine
//! there it waits for the next one.
//!
//! Each names the round it was made for, so that one which is read twice (a crash between the event
//! and the removal) or too late changes nothing.

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use serde::{Deserialize, Serialize};

use super::directory::{DirectoryError, RunDir, write_whole};
use crate::event::Event;
use crate::ledger::{Ledger, Phase};
use crate::model::ids::WpId;
use crate::model::verdict::Verdict;
use crate::plain_file;

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
