//! What workers were found to have done to the rest of the repository. A round ends and is forgotten, a WP is
//! cancelled or tried again; what was done outside its worktree stands until somebody puts it back.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Ledger;
use crate::event::Event;
use crate::model::ids::WpId;
use crate::model::outcome::{Check, Problem};

/// A place outside all worktrees that was found touched when a worker had been there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Seen {
    /// Which place, as findings name it.
    pub place: String,
    /// The WP whose worker or reviewer was at work; nothing for a reviewer of the whole.
    pub wp: Option<WpId>,
}

impl Ledger {
    pub(super) fn note_seen(&mut self, event: &Event) {
        let problems: &[Problem] = match event {
            Event::ScopeChecked { problems, .. } | Event::AttemptEnded { problems, .. } => problems,
            Event::ReviewerEnded { touched, .. } => touched,
            _ => return,
        };
        for problem in problems.iter().filter(|problem| problem.check == Check::Scope) {
            let Some(place) = problem.subject.as_ref().filter(|place| is_outside(place)) else {
                continue;
            };
            let seen = Seen { place: place.clone(), wp: event.wp().cloned() };
            if !self.seen.contains(&seen) {
                self.seen.push(seen);
            }
        }
    }
}

/// Whether a place is a ref or a file of git's own. A file of a worktree may be named like a ref; to have it here
/// does no harm, since it is what differs from the run's beginning that counts.
fn is_outside(place: &str) -> bool {
    place.starts_with("refs/") || place.ends_with("(of git's own)")
}
