//! What runs have taught: `.sop/notes.md` in the user's checkout, a Markdown list that people keep as well. Those that
//! meet a WP's paths go into its briefs. A run keeps what there was when it was approved.

mod file;
mod grammar;

use std::path::Path;

pub use file::{Added, NotesError, add};
pub use grammar::{Fault, Notes, line, parse, wellformed};

use super::directory::RunDir;
use crate::brief::LessonLine;
use crate::finding::Finding;
use crate::git::Repo;
use crate::model::lesson::Lesson;
use crate::model::plan::{Kind, Wp};
use crate::plain_file;
use crate::whitelist::{Overlap, OverlapKind, Whitelist, overlaps};

/// Where the notes are, from the repository's root.
pub const NOTES: &str = ".sop/notes.md";

/// What a run keeps of them, within its directory.
pub(super) const FROZEN: &str = "lessons.json";

/// The lessons of a repository, and what of its notes is none. Returns the text too, where something is found in it.
#[must_use]
pub fn of(
    repo: Option<&Repo>,
    findings: &mut Vec<Finding>,
) -> (Vec<Lesson>, Option<(String, String)>) {
    let Some(top) = repo.and_then(Repo::top) else { return (Vec::new(), None) };
    let text = match file::read(top) {
        Ok(Some(text)) => text,
        Ok(None) => return (Vec::new(), None),
        Err(error) => {
            findings.push(Finding::warning("notes-unreadable", NOTES, error.to_string()));
            return (Vec::new(), None);
        }
    };
    let notes = parse(&text);
    let faulty = !notes.faults.is_empty();
    findings.extend(notes.faults.into_iter().map(finding));
    (
        notes.lessons.into_iter().map(|(_, lesson)| lesson).collect(),
        faulty.then(|| (NOTES.to_owned(), text)),
    )
}

/// A line that is no lesson, as a finding.
#[must_use]
pub fn finding(fault: Fault) -> Finding {
    Finding::warning("no-lesson", NOTES, fault.message).at(fault.span).help(fault.help)
}

/// Those of the lessons that concern a WP: about no paths, or about some that it may change.
#[must_use]
pub fn concerning<'a>(lessons: &'a [Lesson], wp: &Wp) -> Vec<LessonLine<'a>> {
    let own = Whitelist::parse(&wp.whitelist).ok().map(|parsed| parsed.whitelist);
    let meets = |lesson: &&Lesson| {
        if lesson.paths.is_empty() {
            return true;
        }
        let about = Whitelist::parse(&lesson.paths).ok().map(|parsed| parsed.whitelist);
        match (&own, &about) {
            (Some(own), Some(about)) if wp.kind == Kind::Change => {
                let clash = |it: &Overlap| matches!(it.kind, OverlapKind::Clash { .. });
                let met = overlaps::<&[u8]>(&[own, about], &[]);
                met.pairs.iter().any(|it| !clash(it))
            }
            _ => false,
        }
    };
    let line = |lesson: &'a Lesson| LessonLine {
        date: &lesson.date,
        paths: &lesson.paths,
        text: &lesson.text,
    };
    lessons.iter().filter(meets).map(line).collect()
}

/// What a run has kept; none where it has kept nothing.
#[must_use]
pub(super) fn kept(dir: &RunDir) -> Vec<Lesson> {
    let bytes = plain_file::read_own(&dir.named(FROZEN)).ok();
    bytes.and_then(|bytes| serde_json::from_slice(&bytes).ok()).unwrap_or_default()
}

/// The notes as they are in the checkout at `top`.
///
/// # Errors
/// They cannot be read.
pub fn read(top: &Path) -> Result<Option<Notes>, NotesError> {
    Ok(file::read(top)?.map(|text| parse(&text)))
}
