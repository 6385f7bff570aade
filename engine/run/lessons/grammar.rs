//! The notes' one grammar. A lesson is an item of a list:
//!
//! ```text
//! - 2026-01-31: Run the tests with `--offline`.
//! - 2026-02-01 for `src/db/**`, `migrations/*`: The database has to be up.
//!   A line that is indented goes on with the text.
//! ```
//!
//! Headings, comments and whatever else is no item of a list is the reader's.

use std::ops::Range;

use crate::model::lesson::Lesson;
use crate::whitelist::Whitelist;

/// Most bytes of a lesson's text.
pub const LONGEST: usize = 2000;
/// Most patterns of one.
const MOST_PATHS: usize = 20;
/// Most bytes of a pattern.
const LONGEST_PATH: usize = 500;

const FORM: &str = "write `- 2026-01-31: TEXT`, or `- 2026-01-31 for `PATTERN`, `PATTERN`: TEXT`";

/// Notes as they were read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Notes {
    /// The lessons, each with its line, from 1.
    pub lessons: Vec<(usize, Lesson)>,
    /// Items that are none.
    pub faults: Vec<Fault>,
}

/// An item that is no lesson.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// Its line, from 1.
    pub line: usize,
    /// Where it is in the text.
    pub span: Range<usize>,
    /// What is wrong with it.
    pub message: String,
    /// What to do.
    pub help: String,
}

/// Reads notes.
#[must_use]
pub fn parse(text: &str) -> Notes {
    let mut notes = Notes::default();
    let mut items: Vec<(usize, Range<usize>, String)> = Vec::new();
    let (mut at, mut open) = (0, false);
    for (n, whole) in text.split_inclusive('\n').enumerate() {
        let line = whole.trim_end();
        let span = at..at + line.len();
        at += whole.len();
        let item = ["- ", "* ", "+ "].iter().find_map(|mark| line.strip_prefix(mark));
        if let Some(item) = item {
            items.push((n + 1, span, item.trim().to_owned()));
            open = true;
        } else if let (Some((_, whole, text)), true) =
            (items.last_mut(), open && line.starts_with([' ', '\t']) && !line.trim().is_empty())
        {
            whole.end = span.end;
            text.push('\n');
            text.push_str(line.trim());
        } else {
            open = open && line.trim().is_empty();
        }
    }
    for (line, span, item) in items {
        match lesson(&item) {
            Ok(lesson) => notes.lessons.push((line, lesson)),
            Err((message, help)) => notes.faults.push(Fault { line, span, message, help }),
        }
    }
    notes
}

/// An item, without its mark.
fn lesson(item: &str) -> Result<Lesson, (String, String)> {
    let form = |message: &str| Err((message.to_owned(), FORM.to_owned()));
    let Some((date, rest)) = item.split_at_checked(10).filter(|(date, _)| is_date(date)) else {
        return form("a lesson begins with the day it was learned");
    };
    let mut paths = Vec::new();
    let text = match rest.strip_prefix(" for ") {
        None => rest.strip_prefix(':'),
        Some(mut rest) => loop {
            let Some((path, more)) = rest.strip_prefix('`').and_then(|rest| rest.split_once('`'))
            else {
                return form("after `for` come patterns in backticks, with commas between them");
            };
            paths.push(path.to_owned());
            match (more.strip_prefix(", "), more.strip_prefix(':')) {
                (Some(more), _) => rest = more,
                (None, text) => break text,
            }
        },
    };
    let Some(text) = text.map(str::trim) else {
        return form("a colon stands between the day, or the paths, and the text");
    };
    let lesson = Lesson { date: date.to_owned(), paths, text: text.to_owned() };
    wellformed(&lesson)?;
    Ok(lesson)
}

/// Whether it can be written, and read again as the same.
///
/// # Errors
/// What is wrong with it, and what to do.
pub fn wellformed(lesson: &Lesson) -> Result<(), (String, String)> {
    let wrong = |message: String, help: &str| Err((message, help.to_owned()));
    if lesson.text.trim().is_empty() {
        return wrong("it says nothing".to_owned(), "say what was learned");
    }
    if lesson.text.len() > LONGEST {
        let message = format!("it is longer than {LONGEST} bytes");
        return wrong(message, "make it a sentence or two, and point to a document for the rest");
    }
    if lesson.text.chars().any(|c| c.is_control() && c != '\n') {
        return wrong("it has control characters in it".to_owned(), "leave them out");
    }
    if lesson.paths.len() > MOST_PATHS {
        let message = format!("it has more than {MOST_PATHS} patterns");
        return wrong(message, "name the folder that holds them");
    }
    for path in &lesson.paths {
        let odd =
            path.len() > LONGEST_PATH || path.contains('`') || path.chars().any(char::is_control);
        if odd || path.is_empty() {
            let help = "leave out backticks and control characters, and keep it short";
            return wrong(
                format!("`{}` is no pattern that can be kept", path.escape_debug()),
                help,
            );
        }
    }
    if !lesson.paths.is_empty()
        && let Err(findings) = Whitelist::parse(&lesson.paths)
        && let Some(finding) = findings.first()
    {
        let help = finding.help();
        return wrong(format!("its paths are no patterns: {}", finding.problem), &help);
    }
    Ok(())
}

/// A lesson as it is written.
#[must_use]
pub fn line(lesson: &Lesson) -> String {
    let mut line = format!("- {}", lesson.date);
    for (n, path) in lesson.paths.iter().enumerate() {
        line.push_str(if n == 0 { " for " } else { ", " });
        line.push_str(&format!("`{path}`"));
    }
    let mut rows = lesson.text.lines().map(str::trim).filter(|row| !row.is_empty());
    line.push_str(&format!(": {}\n", rows.next().unwrap_or_default()));
    rows.for_each(|row| line.push_str(&format!("  {row}\n")));
    line
}

fn is_date(text: &str) -> bool {
    text.parse::<jiff::civil::Date>().is_ok() && text.len() == 10
}
