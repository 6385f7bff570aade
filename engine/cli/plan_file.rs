//! Plan files as verbs take them: read, and compiled against the repository that they lie in.

use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};

use super::failure::Failure;
use super::layers::{self, Overrides, User};
use super::terminal::{self, Color};
use crate::finding::{Finding, Severity};
use crate::git::{GitError, Repo};
use crate::plain_file;
use crate::plan::{Layers, Source};
use crate::process::escape_path;
use crate::report::findings::{self, Sources};
use crate::run::compile::{Compiled, Outcome, Purpose, compile};

/// What standard input is called in findings.
const STDIN: &str = "<stdin>";

/// The plan in this file, for a verb that prints something made of it: where it has errors, all its
/// findings go to standard error, and there is no plan. What is no error is for `sop validate` to say.
///
/// # Errors
/// The file cannot be read (usage), or git fails (infrastructure).
pub(super) fn compiled(path: &Path, color: Color) -> Result<Option<Compiled>, Failure> {
    let (source, outcome) = match read(path)? {
        Text::Plan(source, dir) => {
            let outcome = check(&source, &dir, Against::default())?;
            (source, outcome)
        }
        Text::NotUtf8(source, finding) => {
            let outcome = Outcome { compiled: None, findings: vec![finding], texts: Vec::new() };
            (source, outcome)
        }
    };
    if outcome.compiled.is_none() {
        say(&source, &outcome, color);
    }
    Ok(outcome.compiled)
}

/// Says on standard error what is wrong with a plan.
pub(super) fn say(source: &Source, outcome: &Outcome, color: Color) {
    let mut sources = Sources::new();
    sources.add(&source.file, &source.text);
    for (file, text) in &outcome.texts {
        sources.add(file, text);
    }
    let look = terminal::stderr_look(color);
    let mut text = Vec::new();
    let drawn =
        findings::draw(findings::Format::Human, &outcome.findings, &sources, look, &mut text);
    // Where standard error is gone, there is nobody left to tell.
    let _ = drawn.and_then(|()| io::stderr().lock().write_all(&text));
}

/// What a plan is checked against.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Against {
    /// The file alone: no repository and no settings from outside of it.
    pub alone: bool,
    /// Nothing that is the user's own, neither config nor environment.
    pub no_user: bool,
}

/// Compiles one plan against the repository that its folder lies in, if any.
///
/// # Errors
/// Git fails, or a config file cannot be read.
pub(super) fn check(source: &Source, dir: &Path, against: Against) -> Result<Outcome, Failure> {
    let git = |error: GitError| Failure::infrastructure(error.to_string());
    let repo = if against.alone { None } else { Some(Repo::discover(dir)) };
    let (repo, note) = match repo {
        None => (None, None),
        Some(Ok(repo)) => (Some(repo), None),
        Some(Err(GitError::NotARepository { .. })) => {
            let message = "this is not in a git repository, so nothing was checked against one";
            let mut note = Finding::warning("no-repository", &source.file, message);
            note.severity = Severity::Note;
            (None, Some(note))
        }
        Some(Err(error)) => return Err(git(error)),
    };
    let user = if against.no_user { User::LeftOut } else { User::Heeded };
    let layers = match against.alone {
        true => Layers::default(),
        false => layers::gather(repo.as_ref(), user, &Overrides::default())?,
    };
    let outcome = compile(source, dir, &layers, repo.as_ref(), Purpose::Check);
    let mut outcome = outcome.map_err(git)?;
    outcome.findings.extend(note);
    Ok(outcome)
}

/// What a plan file turned out to hold.
pub(super) enum Text {
    /// A text, and the folder that its relative names start from.
    Plan(Source, PathBuf),
    /// Bytes that are no text, as near as one can come to showing them.
    NotUtf8(Source, Finding),
}

/// Reads a plan file; `-` is standard input.
///
/// # Errors
/// It cannot be read at all (usage).
pub(super) fn read(path: &Path) -> Result<Text, Failure> {
    let (file, dir, bytes) = if path == Path::new("-") {
        let mut bytes = Vec::new();
        io::stdin()
            .read_to_end(&mut bytes)
            .map_err(|error| Failure::usage(format!("could not read standard input: {error}")))?;
        (STDIN.to_owned(), PathBuf::from("."), bytes)
    } else {
        let bytes = plain_file::read_linked(path, plain_file::OWN)
            .map_err(|error| unreadable(path, &error))?;
        (escape_path(path), folder_of(path), bytes)
    };
    Ok(match text(file, bytes) {
        (source, None) => Text::Plan(source, dir),
        (source, Some(finding)) => Text::NotUtf8(source, finding),
    })
}

/// The text of a file. Where it is none: as near as one can come to showing it, and what is to be said of it.
pub(super) fn text(file: String, bytes: Vec<u8>) -> (Source, Option<Finding>) {
    let error = match String::from_utf8(bytes) {
        Ok(text) => return (Source::new(file, text), None),
        Err(error) => error,
    };
    let at = error.utf8_error().valid_up_to();
    let text = String::from_utf8_lossy(error.as_bytes()).into_owned();
    let byte = error.as_bytes()[at];
    let finding = Finding::error("not-utf8", &file, "the file is not UTF-8")
        .at(at..at + char::REPLACEMENT_CHARACTER.len_utf8())
        .label(format!("byte {byte:#04x}"))
        .help("save it as UTF-8; TOML allows no other encoding");
    (Source::new(file, text), Some(finding))
}

fn unreadable(path: &Path, error: &io::Error) -> Failure {
    let shown = escape_path(path);
    match error.kind() {
        io::ErrorKind::NotFound => Failure::usage(format!("there is no {shown}"))
            .help("name the plan file, or start one with `sop init`"),
        _ if path.is_dir() => {
            Failure::usage(format!("{shown} is a folder")).help("name the plan file in it")
        }
        io::ErrorKind::InvalidData => Failure::usage(format!("could not read {shown}: {error}"))
            .help("name a file, or `-` for standard input"),
        _ => Failure::usage(format!("could not read {shown}: {error}")),
    }
}

fn folder_of(file: &Path) -> PathBuf {
    match file.parent() {
        Some(folder) if folder != Path::new("") => folder.to_path_buf(),
        _ => PathBuf::from("."),
    }
}
