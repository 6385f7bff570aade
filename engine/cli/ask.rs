//! `sop review`, `sop cancel`, `sop retry`: what a person asks of a run. An engine that has the run takes
//! it at once; otherwise it waits for the next `sop resume`.

use std::io::{self, Write as _};
use std::path::PathBuf;

use serde::Serialize;

use super::exit;
use super::failure::{Failure, written};
use super::run_args::{self, RunArg};
use crate::launch::{How, Key, Launcher as _, Local};
use crate::ledger::{Ledger, Phase};
use crate::model::ids::WpId;
use crate::model::verdict::{Judgment, ReviewFinding, ReviewSeverity, Verdict};
use crate::run::directory::RunDir;
use crate::run::requests::{self, Ask, Turn};

/// Approve a WP's work, or ask for changes.
#[derive(Debug, clap::Args)]
#[command(group = clap::ArgGroup::new("verdict").required(true))]
pub struct Review {
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

/// End a WP, or every WP that is not done, and do not start it again.
///
/// What it has done so far stays in its worktree.
#[derive(Debug, clap::Args)]
pub struct Cancel {
    /// The WP; all that are not done if not given.
    #[arg(value_name = "WP")]
    pub wp: Option<String>,
    /// Print the answer as JSON.
    #[arg(long)]
    pub json: bool,
    /// Which run.
    #[command(flatten)]
    pub run: RunArg,
}

/// Try a WP again that was escalated, blocked, deferred or cancelled, or whose stage does not hold.
///
/// It gets as many rounds as the plan gave it, in the worktree it has, and its brief says what was
/// wrong.
#[derive(Debug, clap::Args)]
pub struct Retry {
    /// The WP.
    #[arg(value_name = "WP")]
    pub wp: String,
    /// Print the answer as JSON.
    #[arg(long)]
    pub json: bool,
    /// Which run.
    #[command(flatten)]
    pub run: RunArg,
}

/// What was asked, and who will see to it.
#[derive(Debug, Serialize)]
struct Asked<'a> {
    run: &'a str,
    wps: Vec<&'a WpId>,
    asked: &'static str,
    taken_by: &'static str,
}

/// `sop review`.
///
/// # Errors
/// The work does not await a review, or the file cannot be read.
pub fn review(args: &Review) -> Result<u8, Failure> {
    let verdict = match &args.request_changes {
        None => {
            Verdict { verdict: Judgment::Approve, summary: String::new(), findings: Vec::new() }
        }
        Some(path) => changes(path)?,
    };
    let wps = [run_args::wp(&args.wp)?];
    ask(&args.run, &wps, "review", || Ask::Review(verdict.clone()), args.json)
}

/// `sop cancel`.
///
/// # Errors
/// The WP is done or cancelled already.
pub fn cancel(args: &Cancel) -> Result<u8, Failure> {
    let repo = run_args::repository()?;
    let dir = run_args::find(&repo, args.run.run.as_deref())?;
    let ledger = run_args::fold(&dir)?;
    let wps = match &args.wp {
        Some(wp) => vec![run_args::wp(wp)?],
        None => {
            let left = ledger
                .wps
                .iter()
                .filter(|wp| !wp.phase.got_through() && wp.phase != Phase::Cancelled);
            left.map(|wp| wp.id.clone()).collect()
        }
    };
    if wps.is_empty() {
        return Err(Failure::usage(format!("nothing in `{}` is left to cancel", dir.run())));
    }
    let code = ask(&args.run, &wps, "cancel", || Ask::Cancel, args.json)?;
    if !dir.held() {
        stop_workers(&dir, &ledger, &wps)?;
    }
    Ok(code)
}

/// `sop retry`.
///
/// # Errors
/// The WP is in no phase in which it can be tried again.
pub fn retry(args: &Retry) -> Result<u8, Failure> {
    let wps = [run_args::wp(&args.wp)?];
    ask(&args.run, &wps, "retry", || Ask::Retry, args.json)
}

/// A worker outlives its engine; one whose WP is cancelled should not wait for the next.
fn stop_workers(dir: &RunDir, ledger: &Ledger, wps: &[WpId]) -> Result<(), Failure> {
    let launcher = Local::new(dir.root());
    for state in wps.iter().filter_map(|wp| ledger.wp(wp)) {
        if state.phase != Phase::Working {
            continue;
        }
        let key = Key::new(dir.run(), state.id.as_str(), "work", state.attempt);
        let key = key.map_err(|why| Failure::usage(why.to_string()))?;
        launcher
            .cancel(&key, How::Term)
            .map_err(|error| Failure::infrastructure(error.to_string()))?;
    }
    Ok(())
}

/// Reviews, cancellations and retries are the lead's: a worker of a run that comes upon these verbs is
/// told so, and nothing is recorded in a person's name.
fn no_worker() -> Result<(), Failure> {
    match (std::env::var("SOP_RUN"), std::env::var("SOP_WP")) {
        (Ok(run), Ok(wp)) => Err(Failure::usage(format!(
            "this is a worker of `{wp}` in the run `{run}`, and such decisions are not a worker's"
        ))
        .help("say in the report what should be decided")),
        _ => Ok(()),
    }
}

fn ask(
    run: &RunArg,
    wps: &[WpId],
    name: &'static str,
    what: impl Fn() -> Ask,
    json: bool,
) -> Result<u8, Failure> {
    no_worker()?;
    let repo = run_args::repository()?;
    let dir = run_args::find(&repo, run.run.as_deref())?;
    let by = repo.identity().name;
    let turn = Turn::take(&dir).map_err(|error| Failure::infrastructure(error.to_string()))?;
    let waiting: Vec<_> =
        requests::waiting(&dir.requests()).into_iter().map(|(_, request)| request).collect();
    let ledger = run_args::fold(&dir)?;
    // All are made before any is left: either the whole makes sense or nothing happens.
    let made: Result<Vec<_>, _> = wps
        .iter()
        .map(|wp| {
            let request = requests::make(&ledger, wp, &by, what())?;
            requests::not_yet_reviewed(&ledger, &waiting, &request).map(|()| request)
        })
        .collect();
    for request in made.map_err(|refused| Failure::usage(refused.to_string()))? {
        request
            .leave(&dir, jiff::Timestamp::now())
            .map_err(|error| Failure::infrastructure(error.to_string()))?;
    }
    drop(turn);
    let held = dir.held();
    let mut out = io::stdout().lock();
    if json {
        let asked = Asked {
            run: dir.run().as_str(),
            wps: wps.iter().collect(),
            asked: name,
            taken_by: if held { "engine" } else { "next_resume" },
        };
        let text = serde_json::to_string(&asked).unwrap_or_default();
        written(writeln!(out, "{text}"))?;
        return Ok(exit::DONE);
    }
    let wps: Vec<&str> = wps.iter().map(WpId::as_str).collect();
    written(match held {
        true => writeln!(out, "{name} {}: the engine at work takes it now", wps.join(", ")),
        false => writeln!(
            out,
            "{name} {}: noted; `sop resume {}` goes on with it",
            wps.join(", "),
            dir.run()
        ),
    })?;
    Ok(exit::DONE)
}

fn changes(path: &PathBuf) -> Result<Verdict, Failure> {
    let text = if path.as_os_str() == "-" {
        io::read_to_string(io::stdin())
    } else {
        std::fs::read_to_string(path)
    };
    let text = text
        .map_err(|error| Failure::usage(format!("could not read {}: {error}", path.display())))?;
    if let Ok(verdict) = serde_json::from_str::<Verdict>(&text) {
        return match verdict.verdict {
            Judgment::RequestChanges => Ok(verdict),
            Judgment::Approve => Err(Failure::usage(format!("{} approves", path.display()))
                .help("pass `--approve` if that is meant")),
        };
    }
    if text.trim().is_empty() {
        return Err(Failure::usage(format!("{} is empty", path.display()))
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
