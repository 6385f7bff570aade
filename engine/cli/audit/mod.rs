//! `sop audit`: scouts look at a commit, and what they say is looked up.

mod begin;
mod places;

pub(super) use begin::instructions;

use std::ffi::OsString;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use super::drive::{self, View};
use super::failure::{Failure, written};
use super::layers::Overrides;
use super::publish;
use super::request::no_worker;
use super::run_args;
use super::terminal::{self, Color};
use crate::audit::{Audit, assemble};
use crate::event::Outcome;
use crate::git::Repo;
use crate::journal;
use crate::ledger::Ledger;
use crate::model::gap::{Concern, GapReport};
use crate::model::time::Length;
use crate::plain_file;
use crate::process::escape_path;
use crate::report::{commands, gap as draw, json};
use crate::run::directory::RunDir;
use crate::run::let_go::Ending;
use crate::run::{freeze, requests};

/// Look for gaps: read-only scouts read the tree in parallel, and each finding is looked up before it is told.
///
/// Every file of the commit in scope is given to a scout, portion by portion. The project's own lint, type and test
/// commands are run once, in a worktree that is gone afterwards. A finding whose file and line do not say
/// what it quotes is rejected, and listed as such. Your checkout stays as it is but for the report.
///
/// Exit code 0: the report is written, whatever it holds. 3, 5: it is written, and says which parts no scout
/// has told of. 4: a scout asks something. 130: interrupted; `--resume` goes on.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Files and folders to look at, named from here; everything if not given.
    #[arg(long, value_name = "PATHS", num_args = 1.., value_delimiter = None)]
    pub scope: Vec<OsString>,
    /// What to look for; everything if not given.
    #[arg(long = "for", value_name = "CONCERNS", value_delimiter = ',', num_args = 1..)]
    #[arg(value_parser = concern, help = "What to look for: security, performance, debt, spec-gaps; all of them if not given")]
    pub concerns: Vec<Concern>,
    /// Where the report goes. A report that is there is replaced, anything else stays.
    #[arg(long, short, value_name = "FILE", default_value = "gap-report.json")]
    pub output: PathBuf,
    /// Who scouts: a tier of your config or the repository's.
    #[arg(long, value_name = "TIER", default_value = "scout")]
    pub tier: String,
    /// Branch, tag or commit to look at; what is checked out if not given.
    #[arg(long, value_name = "REV")]
    pub base: Option<String>,
    /// Run this for ground truth instead of what is found by rule. May be given again.
    #[arg(long, value_name = "CMD", conflicts_with = "no_run")]
    pub run: Vec<String>,
    /// Run no command of the project.
    #[arg(long)]
    pub no_run: bool,
    /// How long each of these commands may take.
    #[arg(long, value_name = "TIME", default_value = "30m")]
    pub run_timeout: Length,
    /// Dollars that all scouts may cost together.
    #[arg(long, value_name = "USD", value_parser = dollars)]
    pub budget_usd: Option<f64>,
    /// Show what would be read and run, and start nothing.
    #[arg(long)]
    pub dry_run: bool,
    /// Go on with the scouts of this run, and write its report.
    #[arg(long, value_name = "RUN", conflicts_with_all = ["scope", "concerns", "tier", "base", "run", "no_run", "dry_run"])]
    pub resume: Option<String>,
    /// What goes before the config.
    #[command(flatten)]
    pub overrides: Overrides,
    /// How to show the run.
    #[command(flatten)]
    pub view: View,
}

fn concern(text: &str) -> Result<Concern, String> {
    let named = |concern: &Concern| concern.name() == text;
    Concern::ALL.into_iter().find(named).ok_or_else(|| {
        let all: Vec<&str> = Concern::ALL.iter().map(|concern| concern.name()).collect();
        format!("there are {}", all.join(", "))
    })
}

fn dollars(text: &str) -> Result<f64, String> {
    let amount = text.parse::<f64>().ok().filter(|usd| usd.is_finite() && *usd > 0.0);
    amount.ok_or_else(|| "it is no amount of dollars".to_owned())
}

/// Runs the verb.
///
/// # Errors
/// A run has started this, there is nothing to look at, the report's place is taken, or the engine cannot go on.
pub fn run(args: &Args, color: Color) -> Result<u8, Failure> {
    no_worker()?;
    let repo = run_args::repository()?;
    is_free(&args.output)?;
    let (dir, audit) = match &args.resume {
        Some(name) => earlier(&repo, name)?,
        None => match begin::begin(&repo, args, color)? {
            begin::Begun::Run(dir, audit) => (dir, *audit),
            begin::Begun::Over(code) => return Ok(code),
        },
    };
    let (ending, ledger) = read(&repo, &dir, args, color)?;
    if let Ending::Stopped(_) = ending {
        drive::sum_up(&ledger, &dir, &args.view, color)?;
        let code = drive::code(ending);
        return Err(Failure::new(code, "no report was written: not all scouts came to an end")
            .help(format!("`{}` goes on with them", commands::audit_resume(dir.run()))));
    }
    let report = assemble::report(&audit, &ledger, &dir, &repo)
        .map_err(|error| Failure::infrastructure(error.to_string()))?;
    is_free(&args.output)?;
    let mut bytes = Vec::new();
    written(json::pretty(&report, &mut bytes))?;
    publish::replace(&args.output, &bytes).map_err(|error| {
        let path = escape_path(&args.output);
        Failure::infrastructure(format!("could not write {path}: {error}"))
            .help(format!("`{}` writes it again", commands::audit_resume(dir.run())))
    })?;
    tell(args, &report, color)?;
    Ok(drive::code(ending))
}

/// Says what was found and where it is.
fn tell(args: &Args, report: &GapReport, color: Color) -> Result<(), Failure> {
    if args.view.json {
        return Ok(());
    }
    let mut out = io::BufWriter::new(io::stdout().lock());
    let look = terminal::look(color);
    let draft = commands::draft(&args.output);
    let drawn = draw::write(report, &mut out, &look).and_then(|()| {
        writeln!(out, "\nwrote {}", escape_path(&args.output))?;
        if report.unread().next().is_some() {
            let resume = commands::audit_resume(&report.run);
            writeln!(out, "next: `{resume}` tries again what infrastructure spoilt")?;
        }
        match report.findings.is_empty() {
            true => Ok(()),
            false => writeln!(out, "next: `{draft}` makes a plan of it"),
        }
    });
    written(drawn.and_then(|()| out.flush()))
}

/// Lets the scouts read, as far as they have not.
fn read(repo: &Repo, dir: &RunDir, args: &Args, color: Color) -> Result<(Ending, Ledger), Failure> {
    let ledger = run_args::fold(dir)?;
    let asked = !requests::waiting(&dir.requests()).is_empty();
    if ledger.outcome == Some(Outcome::Done) && !asked && !dir.held() {
        return Ok((Ending::Finished(Outcome::Done), ledger));
    }
    drive::engine(repo, dir.clone(), None, &args.view, color)
}

/// An audit that has begun before.
fn earlier(repo: &Repo, name: &str) -> Result<(RunDir, Audit), Failure> {
    let dir = run_args::find(repo, Some(name))?;
    let records = journal::read(&dir.journal());
    let records = records.map_err(|error| Failure::infrastructure(error.to_string()))?.records;
    freeze::unchanged_beside(&dir, &records).map_err(drive::refused)?;
    match Audit::of(&dir) {
        Ok(Some(audit)) => Ok((dir, audit)),
        Ok(None) => {
            Err(Failure::usage(format!("`{}` is the run of a plan, not an audit", dir.run()))
                .help(format!("`sop resume {}` goes on with it", dir.run())))
        }
        Err(why) => Err(Failure::infrastructure(format!(
            "what `{}` kept of its audit cannot be read: {why}",
            dir.run()
        ))),
    }
}

/// That the report can go there: nothing is there, or a report.
fn is_free(path: &Path) -> Result<(), Failure> {
    let shown = escape_path(path);
    let folder = path.parent().filter(|it| *it != Path::new("")).unwrap_or(Path::new("."));
    if !folder.is_dir() {
        return Err(Failure::usage(format!("there is no folder for {shown}"))
            .help("make the folder first, or name another file with `-o FILE`"));
    }
    if path.symlink_metadata().is_err() {
        return Ok(());
    }
    let read = plain_file::read_own(path).ok();
    let report = read.and_then(|bytes| serde_json::from_slice::<GapReport>(&bytes).ok());
    match report {
        Some(_) => Ok(()),
        None => Err(Failure::usage(format!(
            "{shown} is there, and is no gap report; it stays as it is"
        ))
        .help("name another file with `-o FILE`")),
    }
}
