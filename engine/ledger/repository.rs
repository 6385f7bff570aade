//! What the rest of the repository is compared with: as it was when the run began, and as it was accepted since.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Ledger;
use crate::event::{Event, Record, Taken};
use crate::model::time::Timestamp;

/// The rest of the repository as an engine left it, with nothing at work.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Left {
    /// SHA-256 of what was taken down.
    pub guard: String,
    /// When.
    pub at: Timestamp,
}

/// What became of the repository and was taken as it is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Accepted {
    /// When.
    pub at: Timestamp,
    /// SHA-256 of what the repository was compared with before.
    pub from: String,
    /// SHA-256 of what it is compared with since.
    pub guard: String,
    /// Which places; none where only such things changed as are anybody's to change.
    pub changed: Vec<Taken>,
    /// Who accepts what would be held against the run; nothing for what changed while nothing was at work.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
}

impl Ledger {
    /// What was taken as it is before somebody was let in is no news to what was taken down for them.
    pub(super) fn note_taken_before(&mut self, event: &Event) {
        let before = self.accepted.len();
        let n = event.wp().and_then(|wp| self.index.get(wp).copied());
        match (event, n.and_then(|n| self.wps.get_mut(n)), &mut self.verify) {
            (Event::AttemptStarted { .. }, Some(wp), _) => wp.taken_before = before,
            (Event::ReviewStarted { .. }, Some(wp), _) => wp.review.taken_before = before,
            (Event::ReviewStarted { wp: None, .. }, _, Some(look)) => {
                look.review.taken_before = before;
            }
            _ => {}
        }
    }

    pub(super) fn follow_repository(&mut self, record: &Record) {
        match &record.event {
            Event::RepositoryLeft { guard } => {
                self.left = Some(Left { guard: guard.clone(), at: record.at });
            }
            Event::RepositoryAccepted { guard, changed, by } => {
                let from = self.guard.replace(guard.clone()).unwrap_or_default();
                self.left = None;
                // What was found there before says nothing of what may be found there from now on.
                let taken = |place: &str| changed.iter().any(|taken| taken.place == place);
                self.tampering.retain(|standing| !taken(&standing.place));
                self.seen.retain(|seen| !taken(&seen.place));
                let (guard, changed, by) = (guard.clone(), changed.clone(), by.clone());
                self.accepted.push(Accepted { at: record.at, from, guard, changed, by });
            }
            _ => {}
        }
    }
}
