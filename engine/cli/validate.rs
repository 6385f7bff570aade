//! `sop validate`: are these plans right?
//!
//! A file that cannot be read at all is a mistake in the command line (exit 2), not in a plan; the other
//! files are checked all the same. A file that is read and is not a plan has findings (exit 1).

use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};

use super::exit;
use super::failure::{Failure, written};
use super::terminal::{Color, stdout_look};
use crate::finding::{Finding, Severity, any_error};
use crate::git::{GitError, Repo};
use crate::model::plan::Mode;
use crate::plan::Source;
use crate::report::escape::visible;
use crate::report::findings::{self, Sources};
use crate::run::compile::{Outcome, Purpose, compile};

/// What standard input is called in findings.
const STDIN: &str = "<stdin>";

/// Checks plan files and reports everything that is wrong with them.
///
/// Exit code 0: nothing is wrong, or warnings alone. 1: findings. 2: a file cannot be read.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Plan files; `-` is standard input.
    #[arg(value_name = "FILES", default_value = "plan.toml")]
    pub files: Vec<PathBuf>,
    /// How findings are printed.
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t)]
    pub format: Format,
    /// Take warnings for errors.
    #[arg(long)]
    pub strict: bool,
    /// Check the file alone, and nothing against the repository that it lies in.
    #[arg(long)]
    pub no_repo: bool,
}

/// How findings are printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum)]
pub enum Format {
    /// For people: source line and caret.
    #[default]
    Human,
    /// One JSON document.
    Json,
    /// SARIF 2.1.0, for code scanning.
    Sarif,
    /// Annotations in a GitHub workflow.
    Github,
}

impl From<Format> for findings::Format {
    fn from(format: Format) -> Self {
        match format {
            Format::Human => Self::Human,
            Format::Json => Self::Json,
            Format::Sarif => Self::Sarif,
            Format::Github => Self::Github,
        }
    }
}

/// Runs the verb.
///
/// # Errors
/// A file cannot be read (usage); git or standard output fails (infrastructure).
pub fn run(args: &Args, color: Color) -> Result<u8, Failure> {
    let mut all = Vec::new();
    let mut checked = Vec::new();
    let mut unread: Option<Failure> = None;
    for path in &args.files {
        let (source, dir) = match read(path) {
            Ok(Text::Plan(source, dir)) => (source, dir),
            Ok(Text::NotUtf8(source, finding)) => {
                all.push(finding);
                checked.push((source, None));
                continue;
            }
            Err(failure) => {
                // The last one becomes the verb's own failure; those before are said as they come.
                if let Some(before) = unread.replace(failure) {
                    before.print(color);
                }
                continue;
            }
        };
        let outcome = check(&source, &dir, args.no_repo)?;
        all.extend(outcome.findings.iter().cloned());
        checked.push((source, Some(outcome)));
    }

    let mut sources = Sources::new();
    for (source, outcome) in &checked {
        sources.add(&source.file, &source.text);
        for (file, text) in outcome.iter().flat_map(|outcome| &outcome.texts) {
            sources.add(file, text);
        }
    }
    let mut out = io::BufWriter::new(io::stdout().lock());
    let look = stdout_look(color);
    written(findings::draw(args.format.into(), &all, &sources, look, &mut out))?;
    if args.format == Format::Human && all.is_empty() {
        for (source, outcome) in &checked {
            written(writeln!(out, "{}", praise(source, outcome.as_ref())))?;
        }
    }
    written(out.flush())?;

    let bad = |f: &Finding| args.strict && f.severity == Severity::Warning;
    match unread {
        Some(failure) => Err(failure),
        None if any_error(&all) || all.iter().any(bad) => Ok(exit::FINDINGS),
        None => Ok(exit::DONE),
    }
}

/// Says of a good plan what was understood, so that a person can see whether it is what was meant.
fn praise(source: &Source, outcome: Option<&Outcome>) -> String {
    let file = visible(&source.file);
    let Some(compiled) = outcome.and_then(|outcome| outcome.compiled.as_ref()) else {
        return format!("{file}: no findings");
    };
    let count = |n: usize, noun: &str| format!("{n} {noun}{}", if n == 1 { "" } else { "s" });
    let wps = count(compiled.plan.wps.len(), "WP");
    match compiled.plan.mode {
        Mode::Independent => format!("{file}: no findings; {wps}, independent"),
        Mode::Staged => {
            let stages = count(compiled.graph.stages().len(), "stage");
            format!("{file}: no findings; {wps} in {stages}")
        }
    }
}

/// Compiles one plan against the repository that its folder lies in, if any.
fn check(source: &Source, dir: &Path, no_repo: bool) -> Result<Outcome, Failure> {
    let git = |error: GitError| Failure::infrastructure(error.to_string());
    let repo = if no_repo { None } else { Some(Repo::discover(dir)) };
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
    let mut outcome = compile(source, dir, repo.as_ref(), Purpose::Check).map_err(git)?;
    outcome.findings.extend(note);
    Ok(outcome)
}

enum Text {
    /// A text, and the folder that its relative names start from.
    Plan(Source, PathBuf),
    /// Bytes that are no text, as near as one can come to showing them.
    NotUtf8(Source, Finding),
}

fn read(path: &Path) -> Result<Text, Failure> {
    let (file, dir, bytes) = if path == Path::new("-") {
        let mut bytes = Vec::new();
        io::stdin()
            .read_to_end(&mut bytes)
            .map_err(|error| Failure::usage(format!("could not read standard input: {error}")))?;
        (STDIN.to_owned(), PathBuf::from("."), bytes)
    } else {
        let bytes = std::fs::read(path).map_err(|error| unreadable(path, &error))?;
        (path.display().to_string(), folder_of(path), bytes)
    };
    match String::from_utf8(bytes) {
        Ok(text) => Ok(Text::Plan(Source::new(file, text), dir)),
        Err(error) => {
            let at = error.utf8_error().valid_up_to();
            let text = String::from_utf8_lossy(error.as_bytes()).into_owned();
            let byte = error.as_bytes()[at];
            let finding = Finding::error("not-utf8", &file, "the file is not UTF-8")
                .at(at..at + char::REPLACEMENT_CHARACTER.len_utf8())
                .label(format!("byte {byte:#04x}"))
                .help("save it as UTF-8; TOML allows no other encoding");
            Ok(Text::NotUtf8(Source::new(file, text), finding))
        }
    }
}

fn unreadable(path: &Path, error: &io::Error) -> Failure {
    let shown = path.display();
    match error.kind() {
        io::ErrorKind::NotFound => Failure::usage(format!("there is no {shown}"))
            .help("name the plan file, or start one with `sop init`"),
        io::ErrorKind::IsADirectory => {
            Failure::usage(format!("{shown} is a folder")).help("name the plan file in it")
        }
        _ => Failure::usage(format!("could not read {shown}: {error}")),
    }
}

fn folder_of(file: &Path) -> PathBuf {
    match file.parent() {
        Some(folder) if folder != Path::new("") => folder.to_path_buf(),
        _ => PathBuf::from("."),
    }
}
