//! Commands as a person can type them, on whatever line they are told. A test parses each one with the
//! command line's own parser.

use super::escape::visible;
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

/// Takes `wp` into the lead's own hands.
#[must_use]
pub fn take(run: &RunId, wp: &WpId) -> String {
    format!("sop take {wp} --run {run}")
}

/// Gives `wp` back.
#[must_use]
pub fn give_back(run: &RunId, wp: &WpId) -> String {
    format!("sop take {wp} --back --run {run}")
}

/// Has what the lead left in `wp` checked.
#[must_use]
pub fn recheck(run: &RunId, wp: &WpId) -> String {
    format!("sop recheck {wp} --run {run}")
}

/// Has it checked, and a worker go on with what is wrong.
#[must_use]
pub fn recheck_to_worker(run: &RunId, wp: &WpId) -> String {
    format!("sop recheck {wp} --to-worker --run {run}")
}

/// Keeps a lesson. What a worker or a plan wrote is made visible, in one line, and nothing for a shell.
#[must_use]
pub fn add_lesson(text: &str, paths: &[String]) -> String {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut command = format!("sop lesson add {}", quoted(&text));
    for path in paths {
        command.push_str(&format!(" --for {}", quoted(path)));
    }
    command
}

/// A word for a shell.
fn quoted(text: &str) -> String {
    let text = visible(text);
    shlex::try_quote(&text).map(std::borrow::Cow::into_owned).unwrap_or_default()
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
