//! Commands as a person can type them, on whatever line they are told. A test parses each one with the
//! command line's own parser.

use std::path::Path;

use super::escape::visible;
use crate::model::approval::Cover;
use crate::model::ids::{RunId, WpId};
use crate::process::escape_path;

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

/// Shows what a run came to, an archived one too.
#[must_use]
pub fn show(run: &RunId) -> String {
    format!("sop run show {run}")
}

/// Answers remarks of the critic on the plan in `file`, in words that are to be put in, and applies it. `approve`: what
/// was approved on the command line.
#[must_use]
pub fn answer_remarks(file: &Path, approve: Option<&str>, numbers: &[u32]) -> String {
    let answers = numbers.iter().map(|n| format!(" --answer '{n}=refused: REASON'"));
    let approve = approve.map(|said| format!(" {said}")).unwrap_or_default();
    format!("sop apply {}{approve}{}", word(file), answers.collect::<String>())
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

/// Goes on with the run, and accepts what was changed in the repository and is held against it.
#[must_use]
pub fn accept_changes(run: &RunId) -> String {
    format!("sop resume {run} --accept-changes")
}

/// Goes on with the run, and says yes to more of it.
#[must_use]
pub fn cover(run: &RunId, cover: Cover) -> String {
    format!("sop resume {run} --approve {cover}")
}

/// Delivers what is left.
#[must_use]
pub fn deliver(run: &RunId) -> String {
    format!("sop deliver {run}")
}

/// Delivers what is left, and merges what may merge.
#[must_use]
pub fn deliver_merge(run: &RunId) -> String {
    format!("sop deliver {run} --merge")
}

/// Asks about each command for after the merge.
#[must_use]
pub fn after_merge(run: &RunId) -> String {
    format!("sop deliver {run} --after-merge")
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

/// Goes on with an audit, and writes its report.
#[must_use]
pub fn audit_resume(run: &RunId) -> String {
    format!("sop audit --resume {run}")
}

/// Makes a plan of a gap report.
#[must_use]
pub fn draft(report: &Path) -> String {
    format!("sop draft {}", word(report))
}

/// Checks a plan file.
#[must_use]
pub fn validate(plan: &Path) -> String {
    format!("sop validate {}", word(plan))
}

/// Runs a plan file.
#[must_use]
pub fn apply(plan: &Path) -> String {
    format!("sop apply {}", word(plan))
}

/// A path as it is typed, or shown where it cannot be.
fn word(path: &Path) -> String {
    let typed = path.to_str().and_then(|path| shlex::try_quote(path).ok());
    typed.map_or_else(|| escape_path(path), std::borrow::Cow::into_owned)
}
