//! `sop lesson`: what runs have taught, kept for those that come.

use std::io::{self, Write as _};

use serde::Serialize;

use super::exit;
use super::failure::{Failure, written};
use super::request::no_worker;
use super::run_args;
use crate::model::lesson::Lesson;
use crate::process::escape;
use crate::report::escape::visible;
use crate::report::json;
use crate::run::lessons::{self, Added, NOTES, NotesError};

/// Keep what a run has taught in `.sop/notes.md`, a list that you can edit as well.
///
/// Briefs of later runs carry those lessons that are about no paths, or about paths that the WP may change. Nothing is
/// ever committed: the file is yours.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// What to do.
    #[command(subcommand)]
    pub verb: Verb,
}

/// What there is to do.
#[derive(Debug, clap::Subcommand)]
pub enum Verb {
    /// Append a lesson, with today's date.
    Add(Add),
    /// Print the lessons, and what of the notes is none.
    List(List),
}

/// What is to be added.
#[derive(Debug, clap::Args)]
pub struct Add {
    /// What was learned.
    #[arg(value_name = "TEXT")]
    pub text: String,
    /// Paths that it is about: a pattern as in a whitelist; may be given more than once. Without it, it is about all.
    #[arg(long = "for", value_name = "PATHS")]
    pub paths: Vec<String>,
    /// Print the answer as JSON.
    #[arg(long)]
    pub json: bool,
}

/// How they are printed.
#[derive(Debug, clap::Args)]
pub struct List {
    /// Print them as JSON.
    #[arg(long)]
    pub json: bool,
}

/// A lesson and where it stands.
#[derive(Debug, Serialize)]
struct Listed<'a> {
    line: usize,
    #[serde(flatten)]
    lesson: &'a Lesson,
}

/// A line that is none.
#[derive(Debug, Serialize)]
struct Wrong<'a> {
    line: usize,
    message: &'a str,
    help: &'a str,
}

/// The notes.
#[derive(Debug, Serialize)]
struct All<'a> {
    file: &'static str,
    lessons: Vec<Listed<'a>>,
    findings: Vec<Wrong<'a>>,
}

/// What was added.
#[derive(Debug, Serialize)]
struct Answer<'a> {
    file: &'static str,
    added: bool,
    #[serde(flatten)]
    lesson: &'a Lesson,
}

/// Runs the verb.
///
/// # Errors
/// A worker asks, it is no lesson, or the notes cannot be read or written.
pub fn run(args: &Args) -> Result<u8, Failure> {
    match &args.verb {
        Verb::Add(args) => add(args),
        Verb::List(args) => list(args),
    }
}

fn add(args: &Add) -> Result<u8, Failure> {
    no_worker()?;
    let repo = run_args::repository()?;
    let rows = args.text.lines().map(|row| escape(row.trim().as_bytes()));
    let rows: Vec<String> = rows.filter(|row| !row.is_empty()).collect();
    let lesson = Lesson {
        date: jiff::Timestamp::now().strftime("%Y-%m-%d").to_string(),
        paths: args.paths.clone(),
        text: rows.join("\n"),
    };
    let added = lessons::add(&repo, &lesson).map_err(|error| match error {
        NotesError::Wrong(message, help) => Failure::usage(message).help(help),
        error => Failure::infrastructure(error.to_string()),
    })?;
    let mut out = io::stdout().lock();
    if args.json {
        let answer = Answer { file: NOTES, added: added == Added::Now, lesson: &lesson };
        written(json::line(&answer, &mut out))?;
        return Ok(exit::DONE);
    }
    written(match added {
        Added::Now => writeln!(out, "{NOTES}: {}", visible(lessons::line(&lesson).trim_end())),
        Added::Before => writeln!(out, "{NOTES} has that already"),
    })?;
    Ok(exit::DONE)
}

fn list(args: &List) -> Result<u8, Failure> {
    let repo = run_args::repository()?;
    let top = repo.top().ok_or_else(|| Failure::usage(NotesError::Bare.to_string()))?;
    let notes = lessons::read(top).map_err(|error| Failure::infrastructure(error.to_string()))?;
    let notes = notes.unwrap_or_default();
    let code = if notes.faults.is_empty() { exit::DONE } else { exit::FINDINGS };
    let mut out = io::stdout().lock();
    if args.json {
        let lessons = notes.lessons.iter().map(|(line, lesson)| Listed { line: *line, lesson });
        let wrong = notes.faults.iter().map(|fault| Wrong {
            line: fault.line,
            message: &fault.message,
            help: &fault.help,
        });
        let all = All { file: NOTES, lessons: lessons.collect(), findings: wrong.collect() };
        written(json::line(&all, &mut out))?;
        return Ok(code);
    }
    if notes.lessons.is_empty() && notes.faults.is_empty() {
        written(writeln!(out, "No lessons yet: `sop lesson add TEXT` keeps one in {NOTES}."))?;
    }
    for (_, lesson) in &notes.lessons {
        for row in lessons::line(lesson).lines() {
            written(writeln!(out, "{}", visible(row)))?;
        }
    }
    let mut err = io::stderr().lock();
    for fault in &notes.faults {
        // Where standard error is gone, there is nobody left to tell.
        let _ =
            writeln!(err, "{NOTES}:{}: {}; {}", fault.line, visible(&fault.message), fault.help);
    }
    Ok(code)
}
