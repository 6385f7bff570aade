//! `sop review`: a person judges the work of a WP.

use std::io;
use std::path::{Path, PathBuf};

use super::failure::Failure;
use super::request;
use super::run_args::{self, RunArg};
use crate::model::verdict::{Judgment, ReviewFinding, ReviewSeverity, Verdict};
use crate::plain_file;
use crate::process::escape_path;
use crate::run::requests::Ask;

/// Approve a WP's work, or ask for changes.
#[derive(Debug, clap::Args)]
#[command(group = clap::ArgGroup::new("verdict").required(true))]
pub struct Args {
    /// The WP.
    #[arg(value_name = "WP")]
    pub wp: String,
    /// The work may be committed.
    #[arg(long, group = "verdict")]
    pub approve: bool,
    /// What must change: a verdict (`sop schema verdict`), or any text, which becomes one finding; `-`
    /// is standard input.
    #[arg(long, value_name = "FILE", group = "verdict")]
    pub request_changes: Option<PathBuf>,
    /// Print the answer as JSON.
    #[arg(long)]
    pub json: bool,
    /// Which run.
    #[command(flatten)]
    pub run: RunArg,
}

/// Runs the verb.
///
/// # Errors
/// The work does not await a review, or the file cannot be read.
pub fn run(args: &Args) -> Result<u8, Failure> {
    let verdict = match &args.request_changes {
        None => {
            Verdict { verdict: Judgment::Approve, summary: String::new(), findings: Vec::new() }
        }
        Some(path) => changes(path)?,
    };
    let wps = [run_args::wp(&args.wp)?];
    request::about_wps(&args.run, &wps, "review", || Ask::Review(verdict.clone()))?.tell(args.json)
}

fn changes(path: &Path) -> Result<Verdict, Failure> {
    let bytes = if path.as_os_str() == "-" {
        plain_file::read_stream(io::stdin().lock(), plain_file::DOCUMENT)
    } else {
        plain_file::read_linked(path, plain_file::DOCUMENT)
    };
    let text = bytes.and_then(|bytes| String::from_utf8(bytes).map_err(io::Error::other)).map_err(
        |error| Failure::usage(format!("could not read {}: {error}", escape_path(path))),
    )?;
    if let Ok(verdict) = serde_json::from_str::<Verdict>(&text) {
        return match verdict.verdict {
            Judgment::RequestChanges => Ok(verdict),
            Judgment::Approve => Err(Failure::usage(format!("{} approves", escape_path(path)))
                .help("pass `--approve` if that is meant")),
        };
    }
    if text.trim().is_empty() {
        return Err(Failure::usage(format!("{} is empty", escape_path(path)))
            .help("say what must change: it is all that the worker will know"));
    }
    let finding = ReviewFinding {
        file: None,
        line: None,
        severity: ReviewSeverity::Major,
        message: text.trim().to_owned(),
    };
    Ok(Verdict {
        verdict: Judgment::RequestChanges,
        summary: String::new(),
        findings: vec![finding],
    })
}
