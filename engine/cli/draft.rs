//! `sop draft`: a plan that mends what a gap report names.

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use super::audit::instructions;
use super::exit;
use super::failure::{Failure, written};
use super::layers::{self, Overrides, User};
use super::terminal::{self, Color};
use super::{plan_file, publish, run_args};
use crate::audit::draft::{self, Around, DraftError};
use crate::finding::any_error;
use crate::git::Repo;
use crate::model::gap::GapReport;
use crate::model::gap::draft::Draft;
use crate::model::ids;
use crate::plain_file;
use crate::plan::scalar::SLUG_MAX;
use crate::plan::{Layers, Source};
use crate::process::escape_path;
use crate::report::{commands, gap as draw};
use crate::run::compile::{Purpose, compile};

/// Where a plan goes when nobody says where.
const USUAL: &str = "plan.toml";

/// Make a plan of a gap report: work packages with small whitelists that do not overlap.
///
/// Findings that share a file are one work package; a finding that waits for another makes its package
/// wait. Tier and risk follow from rules; what they do not decide is marked `# DECIDE:` in the plan, and listed. The
/// plan validates as it stands. Nothing is overwritten: without `-o` it goes to `plan.toml`, or, where that is there, to `plan-2.toml`, ….
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The gap report.
    #[arg(value_name = "REPORT", default_value = "gap-report.json")]
    pub report: PathBuf,
    /// Where the plan goes; `-` prints it.
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Name of the plan: runs are called NAME-1, NAME-2, ….
    #[arg(long, value_name = "NAME", default_value = "gaps")]
    pub name: String,
}

/// Runs the verb.
///
/// # Errors
/// The report cannot be read or is none, there is nothing to mend, or the plan cannot be written.
pub fn run(args: &Args, color: Color) -> Result<u8, Failure> {
    let repo = run_args::repository()?;
    let report = read(&args.report)?;
    if let Err(why) = ids::check(&args.name) {
        return Err(Failure::usage(format!("`{}` {why}", args.name)));
    }
    if args.name.len() > SLUG_MAX {
        let message = format!("`{}` is longer than {SLUG_MAX} characters", args.name);
        return Err(Failure::usage(message));
    }
    let path = escape_path(&args.report);
    if repo.resolve(report.commit.as_str()).is_err() {
        let message =
            format!("{path} is about commit {}, which is not here", report.commit.short());
        return Err(Failure::usage(message).help("fetch it, or audit this repository"));
    }
    if report.findings.is_empty() {
        written(writeln!(io::stdout().lock(), "{path} has no findings: nothing to plan"))?;
        return Ok(exit::DONE);
    }
    let layers = layers::gather(Some(&repo), User::Heeded, &Overrides::default())?;
    let tiers = tiers(&layers);
    let stands_at = repo.resolve(&report.base).ok();
    let instructions = instructions(&repo, &report.commit)?;
    let around = Around {
        name: &args.name,
        tiers: &tiers,
        stands_at: stands_at.as_ref(),
        instructions: &instructions,
    };
    let draft = draft::draft(&report, &around).map_err(|error| match error {
        DraftError::Nothing => Failure::new(exit::FINDINGS, error.to_string()),
        error => Failure::usage(error.to_string()),
    })?;
    // What is written is right, or it is not written.
    let source = Source::new("<the draft>", draft.plan.clone());
    let dir = repo.top().unwrap_or(repo.common_dir());
    let outcome = compile(&source, dir, &layers, Some(&repo), Purpose::Check)
        .map_err(|error| Failure::infrastructure(error.to_string()))?;
    if any_error(&outcome.findings) {
        plan_file::say(&source, &outcome, color);
        return Ok(exit::FINDINGS);
    }
    if args.output.as_deref() == Some(Path::new("-")) {
        written(io::stdout().lock().write_all(draft.plan.as_bytes()))?;
        return Ok(exit::DONE);
    }
    let path = write(args.output.as_deref(), draft.plan.as_bytes())?;
    tell(&draft, &path, &repo, color)?;
    Ok(exit::DONE)
}

/// Tiers that a plan here may name without declaring them.
pub(super) fn tiers(layers: &Layers) -> Vec<String> {
    let settings = crate::plan::settings(None, layers);
    let name = |key: &str| Some(key.strip_prefix("tiers.")?.strip_suffix(".worker")?.to_owned());
    let mut tiers: Vec<String> = settings.iter().filter_map(|it| name(&it.key)).collect();
    tiers.sort();
    tiers.dedup();
    tiers
}

fn read(path: &Path) -> Result<GapReport, Failure> {
    let shown = escape_path(path);
    let bytes = plain_file::read_linked(path, plain_file::OWN).map_err(|error| {
        let failure = Failure::usage(format!("could not read {shown}: {error}"));
        match error.kind() {
            io::ErrorKind::NotFound => failure.help("`sop audit` writes one"),
            _ => failure,
        }
    })?;
    serde_json::from_slice(&bytes).map_err(|error| {
        Failure::usage(format!("{shown} is no gap report: {error}"))
            .help("`sop audit` writes one; `sop schema gap-report` says what it is")
    })
}

/// Writes the plan where there is nothing yet.
fn write(asked: Option<&Path>, plan: &[u8]) -> Result<PathBuf, Failure> {
    let failed = |path: &Path, error: &io::Error| {
        let shown = escape_path(path);
        match error.kind() {
            io::ErrorKind::AlreadyExists => {
                Failure::usage(format!("{shown} exists already; it was left as it is"))
                    .help("name another file, or print the plan with `-o -`")
            }
            io::ErrorKind::NotFound => Failure::usage(format!("there is no folder for {shown}"))
                .help("make the folder first"),
            _ => Failure::infrastructure(format!("could not write {shown}: {error}")),
        }
    };
    if let Some(path) = asked {
        publish::new(path, plan).map_err(|error| failed(path, &error))?;
        return Ok(path.to_owned());
    }
    for n in 1_u32.. {
        let path = match n {
            1 => PathBuf::from(USUAL),
            n => PathBuf::from(format!("plan-{n}.toml")),
        };
        match publish::new(&path, plan) {
            Ok(()) => return Ok(path),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(failed(&path, &error)),
        }
    }
    unreachable!("numbers do not run out")
}

fn tell(draft: &Draft, path: &Path, repo: &Repo, color: Color) -> Result<(), Failure> {
    let folder = path.parent().filter(|it| *it != Path::new("")).unwrap_or(Path::new("."));
    let within = Repo::discover(folder).is_ok_and(|it| it.common_dir() == repo.common_dir());
    let mut out = io::BufWriter::new(io::stdout().lock());
    let drawn = draw::write_draft(draft, &mut out, &terminal::look(color)).and_then(|()| {
        writeln!(out, "\nwrote {}", escape_path(path))?;
        match within {
            true => {
                writeln!(
                    out,
                    "next: `{}`, then `{}`",
                    commands::validate(path),
                    commands::apply(path)
                )
            }
            // Out there nothing knows the tiers of the repository: it was checked before it was written.
            false => writeln!(out, "next: `{}`, in this repository", commands::apply(path)),
        }
    });
    written(drawn.and_then(|()| out.flush()))
}
