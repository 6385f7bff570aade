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
use crate::ledger::{Ledger, Phase};
use crate::model::gap::{Concern, GapReport};
use crate::model::ids::WpId;
use crate::model::time::Length;
use crate::plain_file;
use crate::process::escape_path;
use crate::report::{commands, gap as draw, json};
use crate::run::directory::RunDir;
use crate::run::let_go::Ending;
use crate::run::{closing, freeze, requests};

/// Where a report goes if nobody says where.
const REPORT: &str = "gap-report.json";

/// Parts that are named with what has them read once more.
const RETRIES: usize = 5;

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
    /// Where the report goes: `gap-report.json` if not given, or with `--resume` where the first one went. A report
    /// that is there is replaced, anything else stays.
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
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

impl Args {
    /// Where the report of a new audit goes.
    fn output(&self) -> &Path {
        self.output.as_deref().unwrap_or(Path::new(REPORT))
    }
}

/// Runs the verb.
///
/// # Errors
/// A run has started this, there is nothing to look at, the report's place is taken, or the engine cannot go on.
pub fn run(args: &Args, color: Color) -> Result<u8, Failure> {
    no_worker()?;
    let repo = run_args::repository()?;
    let (dir, audit) = match &args.resume {
        Some(name) => {
            let dir = run_args::find(&repo, Some(name))?;
            match earlier(&dir)? {
                Some(audit) => (dir, audit),
                None => {
                    let text = format!("`{name}` is the run of a plan, not an audit");
                    return Err(Failure::usage(text)
                        .help(format!("`{}` goes on with it", commands::resume(dir.run()))));
                }
            }
        }
        None => {
            is_free(args.output())?;
            match begin::begin(&repo, args, color)? {
                begin::Begun::Run(dir, audit) => (dir, *audit),
                begin::Begun::Over(code) => return Ok(code),
            }
        }
    };
    let output = match (&args.output, &audit.output) {
        (None, Some(kept)) => PathBuf::from(kept),
        _ => args.output().to_owned(),
    };
    is_free(&output)?;
    Scouting { repo: &repo, dir: &dir, audit: &audit, output: &output }.finish(&args.view, color)
}

/// Goes on with the run in `dir` where it is an audit, and writes its report where the first one went; nothing where it
/// is none, or nobody knows where that was.
///
/// # Errors
/// As [`run`].
pub(super) fn resume(
    repo: &Repo,
    dir: &RunDir,
    view: &View,
    color: Color,
) -> Result<Option<u8>, Failure> {
    let Some(audit) = earlier(dir)? else { return Ok(None) };
    let Some(output) = audit.output.as_deref().map(Path::new) else { return Ok(None) };
    is_free(output).map_err(|failure| {
        let elsewhere = commands::audit_resume(dir.run());
        failure.help(format!("`{elsewhere} -o FILE` writes the report to another file"))
    })?;
    Scouting { repo, dir, audit: &audit, output }.finish(view, color).map(Some)
}

/// Scouts that have a report to be written of.
struct Scouting<'a> {
    repo: &'a Repo,
    dir: &'a RunDir,
    audit: &'a Audit,
    output: &'a Path,
}

impl Scouting<'_> {
    /// Lets the scouts read, as far as they have not, and writes the report.
    fn finish(&self, view: &View, color: Color) -> Result<u8, Failure> {
        let (dir, output) = (self.dir, self.output);
        let (ending, ledger) = self.read(view, color)?;
        if let Ending::Stopped(_) = ending {
            drive::sum_up(&ledger, dir, view, color)?;
            let code = drive::code(ending);
            return Err(Failure::new(code, "no report was written: not all scouts came to an end")
                .help(format!("`{}` goes on with them", commands::audit_resume(dir.run()))));
        }
        let report = assemble::report(self.audit, &ledger, dir, self.repo)
            .map_err(|error| Failure::infrastructure(error.to_string()))?;
        is_free(output)?;
        let mut bytes = Vec::new();
        written(json::pretty(&report, &mut bytes))?;
        let publish = || publish::replace(output, &bytes);
        closing::own(self.repo, dir, publish).map_err(|error| {
            let path = escape_path(output);
            Failure::infrastructure(format!("could not write {path}: {error}"))
                .help(format!("`{}` writes it again", commands::audit_resume(dir.run())))
        })?;
        if !view.json {
            self.tell(&report, &ledger, color)?;
        }
        Ok(drive::code(ending))
    }

    /// Lets the scouts read, as far as they have not.
    fn read(&self, view: &View, color: Color) -> Result<(Ending, Ledger), Failure> {
        let dir = self.dir;
        let ledger = run_args::fold(dir)?;
        let asked = !requests::waiting(&dir.requests()).is_empty();
        if ledger.outcome == Some(Outcome::Done) && !asked && !dir.held() {
            return Ok((Ending::Finished(Outcome::Done), ledger));
        }
        drive::engine(self.repo, dir.clone(), None, view, color)
    }

    /// Says what was found and where it is, and what has those parts read that nobody has told of.
    fn tell(&self, report: &GapReport, ledger: &Ledger, color: Color) -> Result<(), Failure> {
        let mut out = io::BufWriter::new(io::stdout().lock());
        let look = terminal::look(color);
        let shown = self.shown();
        let resume = commands::audit_resume(&report.run);
        let stuck = |wp: &WpId| ledger.wp(wp).is_some_and(|wp| wp.phase != Phase::Blocked);
        let again: Vec<&WpId> =
            report.unread().map(|slice| &slice.wp).filter(|wp| stuck(wp)).collect();
        let drawn = draw::write(report, &mut out, &look).and_then(|()| {
            writeln!(out, "\nwrote {}", escape_path(&shown))?;
            for wp in again.iter().take(RETRIES) {
                let retry = commands::retry(&report.run, wp);
                writeln!(out, "next: `{retry}` has that part read once more, by `{resume}`")?;
            }
            if again.is_empty() && report.unread().next().is_some() {
                writeln!(out, "next: `{resume}` tries again what infrastructure spoilt")?;
            }
            match report.findings.is_empty() {
                true => Ok(()),
                false => writeln!(out, "next: `{}` makes a plan of it", commands::draft(&shown)),
            }
        });
        written(drawn.and_then(|()| out.flush()))
    }

    /// The report as whoever is here types it.
    fn shown(&self) -> PathBuf {
        let below = std::env::current_dir()
            .ok()
            .and_then(|here| self.output.strip_prefix(here).ok().map(Path::to_owned));
        below.unwrap_or_else(|| self.output.to_owned())
    }
}

/// The audit that a run is, which has begun before; nothing where it is the run of a plan.
fn earlier(dir: &RunDir) -> Result<Option<Audit>, Failure> {
    let records = journal::read(&dir.journal());
    let records = records.map_err(|error| Failure::infrastructure(error.to_string()))?.records;
    freeze::unchanged_beside(dir, &records).map_err(drive::refused)?;
    Audit::of(dir).map_err(|why| {
        let run = dir.run();
        Failure::infrastructure(format!("what `{run}` kept of its audit cannot be read: {why}"))
    })
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
