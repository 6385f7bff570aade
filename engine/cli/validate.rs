//! `sop validate`: are these plans right?
//!
//! A file that cannot be read at all is a mistake in the command line (exit 2), not in a plan; the other
//! files are checked all the same. A file that is read and is not a plan has findings (exit 1).

use std::io::{self, Write as _};
use std::path::PathBuf;

use super::exit;
use super::failure::{Failure, written};
use super::plan_file::{Against, Text, check, read};
use super::terminal::{Color, stdout_look};
use crate::finding::{Finding, Severity, any_error};
use crate::model::plan::Mode;
use crate::plan::Source;
use crate::report::escape::visible;
use crate::report::findings::{self, Sources};
use crate::run::compile::Outcome;

/// Check plan files and report everything that is wrong with them.
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
    /// Check the file alone: not against the repository that it lies in, and without any settings from outside.
    #[arg(long)]
    pub no_repo: bool,
    /// Leave out your own config and `SOP_*`, as if this were another machine.
    #[arg(long)]
    pub no_user_config: bool,
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
        let against = Against { alone: args.no_repo, no_user: args.no_user_config };
        let outcome = check(&source, &dir, against)?;
        // Plans share config files, and what is wrong with those is told once.
        let told = |finding: &Finding| finding.file != source.file && all.contains(finding);
        let new = outcome.findings.iter().filter(|finding| !told(finding)).cloned();
        all.extend(new.collect::<Vec<_>>());
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
    // The process ends now: to take thousands of WPs apart piece by piece first would only take time.
    std::mem::forget(checked);

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
