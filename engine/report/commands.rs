//! Commands as a person can type them, on whatever line they are told. A test parses each one with the
//! command line's own parser.

use crate::model::ids::{RunId, WpId};

/// Approves the work of `wp`.
#[must_use]
pub fn approve(run: &RunId, wp: &WpId) -> String {
    format!("sop review {wp} --approve --run {run}")
}

/// Asks for changes in the work of `wp`, in a file that is to be named.
#[must_use]
pub fn request_changes(run: &RunId, wp: &WpId) -> String {
    format!("sop review {wp} --request-changes FILE --run {run}")
}

/// Gives `wp` up.
#[must_use]
pub fn cancel(run: &RunId, wp: &WpId) -> String {
    format!("sop cancel {wp} --run {run}")
}

/// Shows what differs between two trees, new files and all.
#[must_use]
pub fn diff(from: &str, to: &str) -> String {
    format!("git diff {from} {to}")
}

/// Answers question `number`, in the words that are to be put in.
#[must_use]
pub fn answer(run: &RunId, number: u32) -> String {
    format!("sop answer q{number} 'TEXT' --run {run}")
}

/// Takes the default of question `number`.
#[must_use]
pub fn take_default(run: &RunId, number: u32) -> String {
    format!("sop answer q{number} --take-default --run {run}")
}

/// Corrects the plan's facts, in the words that are to be put in.
#[must_use]
pub fn note(run: &RunId) -> String {
    format!("sop note 'TEXT' --run {run}")
}

/// Everything that waits for a person in the run.
#[must_use]
pub fn inbox(run: &RunId) -> String {
    format!("sop inbox --run {run}")
}

/// Tries `wp` again.
#[must_use]
pub fn retry(run: &RunId, wp: &WpId) -> String {
    format!("sop retry {wp} --run {run}")
}

/// Goes on with the run.
#[must_use]
pub fn resume(run: &RunId) -> String {
    format!("sop resume {run}")
}

/// Shows how the run stands.
#[must_use]
pub fn status(run: &RunId) -> String {
    format!("sop status {run}")
}

/// Looks at what a run has left, and clears what is safe.
#[must_use]
pub fn clean(run: &RunId) -> String {
    format!("sop run clean {run}")
}
