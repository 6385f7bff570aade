//! `sop plan`: what would happen. Compiles a plan, runs each DoD command once on the base, and shows the
//! checkpoint report. Nothing of it lasts.

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use tokio::sync::watch;

use super::covers;
use super::critic;
use super::drive;
use super::exit;
use super::failure::{Failure, written};
use super::layers::{self, Overrides, User};
use super::plan_file::{self, Text};
use super::request::no_worker;
use super::run_args;
use super::terminal::{self, Color};
use crate::finding::Finding;
use crate::git::Repo;
use crate::model::approval::Cover;
use crate::model::baseline::Kept;
use crate::model::checkpoint::Checkpoint;
use crate::model::delivery::PlannedDelivery;
use crate::model::plan::Plan;
use crate::model::preflight::Preflight;
use crate::model::setting::Level;
use crate::plan::{self, Source, undecided};
use crate::preflight::{self, Ask, Depth, Looked};
use crate::process::escape_path;
use crate::report::checkpoint as draw;
use crate::report::escape::visible;
use crate::run::checkpoint::{self, Checking, DryRun, DryRunError, Traces};
use crate::run::compile::{Base, Compiled, Outcome, Purpose, compile};
use crate::run::naming;
use crate::run::past;
use crate::run::site::Halt;
use crate::run::step::Order;
use crate::run::stop::Stop;

/// Show what a run of a plan would do, and do none of it.
///
/// Each Definition-of-Done command is run once on the base, in a worktree that is gone afterwards. Exit
/// code 0: it could run. 1: findings in the plan. 5: it would stop before any worker starts.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The plan file.
    #[arg(value_name = "FILE", default_value = "plan.toml")]
    pub file: PathBuf,
    /// Print the report as JSON (`sop schema checkpoint`).
    #[arg(long)]
    pub json: bool,
    /// Do not run the Definition-of-Done commands.
    #[arg(long)]
    pub no_dry_run: bool,
    /// Have the plan's critic read it now, as `sop apply` would: this is what costs something. Its remarks are kept.
    #[arg(long, conflicts_with = "no_dry_run")]
    pub critic: bool,
    /// What goes before the plan.
    #[command(flatten)]
    pub overrides: Overrides,
}

/// A plan that may run, and what a run of it would do.
pub struct Prepared {
    /// The plan file's text.
    pub text: String,
    /// The plan, compiled.
    pub compiled: Compiled,
    /// What it starts from.
    pub base: Base,
    /// What the DoD commands said on the base.
    pub dry: DryRun,
    /// The report.
    pub report: Checkpoint,
    /// Who says whether somebody is asked.
    pub approval_from: Level,
    /// The user's checkout as it was before anything was done.
    pub checkout: Option<Kept>,
}

/// When each DoD command is run once on the base.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dry {
    /// Always.
    Always,
    /// Never.
    Never,
    /// Unless it is known already that no run can start.
    IfItCanStart,
}

/// Runs the verb.
///
/// # Errors
/// The file or the repository cannot be read, or the base cannot be provisioned.
pub fn run(args: &Args, color: Color) -> Result<u8, Failure> {
    let repo = run_args::repository()?;
    let dry = if args.no_dry_run { Dry::Never } else { Dry::Always };
    let Some(mut prepared) = prepare(&repo, &args.file, &args.overrides, &[], dry, color)? else {
        return Ok(exit::FINDINGS);
    };
    if args.critic {
        read(&repo, &mut prepared, color)?;
    }
    let mut out = io::BufWriter::new(io::stdout().lock());
    let drawn = match args.json {
        true => draw::json(&prepared.report, &mut out),
        false => draw::write(&prepared.report, &mut out, &terminal::look(color)),
    };
    written(drawn.and_then(|()| out.flush()))?;
    let undelivered = |delivery: &PlannedDelivery| !delivery.stops.is_empty();
    let stops =
        prepared.report.would_stop() || prepared.report.delivery.as_ref().is_some_and(undelivered);
    Ok(if stops { exit::INFRASTRUCTURE } else { exit::DONE })
}

/// Has the critic read the plan, for the report.
fn read(repo: &Repo, prepared: &mut Prepared, color: Color) -> Result<(), Failure> {
    no_worker()?;
    if prepared.compiled.plan.critic_tier().is_none() {
        return Err(Failure::usage("no critic reads this plan").help(
            "name its tier: `[critic]` with `tier = \"NAME\"`, in the plan or the settings",
        ));
    }
    if prepared.report.would_stop() {
        return Ok(());
    }
    critic::read(repo, prepared, color)?;
    let (plan, report) = (&prepared.compiled.plan, &prepared.report);
    prepared.report.critic = critic::planned(repo, plan, report)?;
    Ok(())
}

/// Compiles the plan in `file` and finds out what a run of it would do. Nothing when the plan has
/// errors, which are on standard error by then.
/// `approve`: what is approved by name, if that was said.
///
/// # Errors
/// As [`run`].
pub fn prepare(
    repo: &Repo,
    file: &Path,
    overrides: &Overrides,
    approve: &[Cover],
    dry: Dry,
    color: Color,
) -> Result<Option<Prepared>, Failure> {
    let (source, dir) = match plan_file::read(file)? {
        Text::Plan(source, dir) => (source, dir),
        Text::NotUtf8(source, finding) => {
            let outcome = Outcome { compiled: None, findings: vec![finding], texts: Vec::new() };
            plan_file::say(&source, &outcome, color);
            return Ok(None);
        }
    };
    let git = |error: crate::git::GitError| Failure::infrastructure(error.to_string());
    same_repository(repo, &dir)?;
    let version = obstacles(repo)?;
    let layers = layers::gather(Some(repo), User::Heeded, overrides)?;
    let outcome = compile(&source, &dir, &layers, Some(repo), Purpose::Run).map_err(git)?;
    if outcome.compiled.is_none() {
        plan_file::say(&source, &outcome, color);
    }
    let Some(mut compiled) = outcome.compiled else { return Ok(None) };
    // Before anything is run for what cannot be approved.
    let approved = match approve.is_empty() {
        true => None,
        false => Some(covers::of_new(approve, &compiled.plan)?),
    };
    let base = compiled.base.take().ok_or_else(|| Failure::infrastructure("the base is gone"))?;
    let warnings = warnings(&outcome.findings, &source);
    let settings = plan::settings(Some(&source), &layers);
    let mut looking = preflight::start(Ask {
        repo: repo.clone(),
        plan: compiled.plan.clone(),
        settings: settings.clone(),
        wrong: Vec::new(),
        planned: true,
        version: Some(version),
        depth: Depth::Run,
    });
    let dry = match dry {
        Dry::Never => DryRun::default(),
        Dry::IfItCanStart if looking.stops() => DryRun::default(),
        Dry::Always | Dry::IfItCanStart => dry_run(repo, &compiled.plan, &base, Traces::Refused)?,
    };
    let next = naming::next(repo, &compiled.plan.name).map_err(drive::refused)?;
    let mut report =
        checkpoint::report(repo, &compiled, &base, &source.file, next.run(), &dry, warnings);
    let used = past::used(repo).map_err(|error| Failure::infrastructure(error.to_string()))?;
    report = report.estimated(&used);
    report.approved = approved;
    let Looked { preflight, kept } = looking.finish();
    report.preflight = Some(Preflight { plan: Some(source.file.clone()), ..preflight });
    report.critic = critic::planned(repo, &compiled.plan, &report)?;
    let said = settings.iter().find(|setting| setting.key == "defaults.approval");
    let approval_from = said.map_or(Level::BuiltIn, |setting| setting.from);
    let text = source.text;
    Ok(Some(Prepared { text, compiled, base, dry, report, approval_from, checkout: kept }))
}

/// What is no error and should be known all the same, a line each.
fn warnings(findings: &[Finding], source: &Source) -> Vec<String> {
    // A pair of WPs stands among the overlaps already; what has no place says how many more there are.
    let told = |finding: &&Finding| finding.code == "possible-overlap" && finding.span.is_some();
    let line =
        |finding: &Finding| match finding.span.as_ref().map(|span| source.position(span.start)) {
            Some((line, _)) if finding.file == source.file => {
                format!("{}:{line}: {}", finding.file, finding.message)
            }
            _ => format!("{}: {}", finding.file, finding.message),
        };
    let (open, others): (Vec<&Finding>, Vec<&Finding>) = findings
        .iter()
        .filter(|finding| !told(finding))
        .partition(|finding| finding.code == undecided::CODE);
    let mut lines: Vec<String> = others.into_iter().map(line).collect();
    if !open.is_empty() {
        let places = match open.len() {
            1 => "1 place of the plan still says".to_owned(),
            n => format!("{n} places of the plan still say"),
        };
        lines.push(format!("{places} `# {}`, and a yes says yes to it as it is", undecided::MARK));
        lines.extend(open.into_iter().map(line));
    }
    lines
}

/// A plan may lie outside every repository, but not in another one: its paths would mean other files.
fn same_repository(repo: &Repo, dir: &Path) -> Result<(), Failure> {
    match Repo::discover(dir) {
        Ok(other) if other.common_dir() != repo.common_dir() => {
            let (its, here) = (other.top().unwrap_or(other.common_dir()), repo.top());
            let here = here.unwrap_or(repo.common_dir());
            Err(Failure::usage(format!(
                "the plan lies in the repository {}, but you are in {}",
                escape_path(its),
                escape_path(here)
            ))
            .help(format!("start sop in {}", escape_path(its))))
        }
        _ => Ok(()),
    }
}

/// What about the repository itself stands in the way of any run, and so of reading the plan against it. The
/// version of git, where nothing does.
///
/// # Errors
/// Something does, or git cannot answer.
pub(super) fn obstacles(repo: &Repo) -> Result<String, Failure> {
    let version = repo.git_version(preflight::LIMIT);
    let version = version.map_err(|error| Failure::infrastructure(error.to_string()))?;
    let found = repo.obstacles(&version);
    let blocking: Vec<String> =
        found.iter().filter(|o| o.kind.blocks()).map(|o| o.text.clone()).collect();
    match blocking.is_empty() {
        true => Ok(version),
        false => Err(Failure::infrastructure(blocking.join("; "))),
    }
}

/// Says on standard error what is being waited for: a check may take minutes.
fn checking(check: Checking<'_>) {
    let Checking { number, of, text } = check;
    let mut err = io::stderr().lock();
    // Where standard error is gone, there is nobody left to tell.
    let first = text.lines().next().unwrap_or_default();
    let _ =
        writeln!(err, "running each check once on the base: {number} of {of}: {}", visible(first));
}

/// Runs the DoD commands of `plan` once on the base; Ctrl-C ends them.
///
/// # Errors
/// The base cannot be provisioned, or it was interrupted.
pub(super) fn dry_run(
    repo: &Repo,
    plan: &Plan,
    base: &Base,
    traces: Traces,
) -> Result<DryRun, Failure> {
    let (tell, orders) = watch::channel(Order::Go);
    let result = drive::runtime()?.block_on(async {
        let mut stop =
            Stop::listen().map_err(|error| Failure::infrastructure(error.to_string()))?;
        let run = checkpoint::dry_run(repo, plan, base, traces, orders, checking);
        tokio::pin!(run);
        loop {
            tokio::select! {
                result = &mut run => return Ok::<_, Failure>(result),
                order = stop.next() => drop(tell.send(order)),
            }
        }
    })?;
    result.map_err(|error| match error {
        DryRunError::Run(error) => drive::refused(error),
        DryRunError::Halt(Halt::Stopped) => Failure::new(exit::INTERRUPTED, "interrupted"),
        DryRunError::Halt(Halt::Blocked { problem, .. }) => {
            let about = problem.subject.map(|subject| format!("`{subject}`: ")).unwrap_or_default();
            let failure = Failure::infrastructure(format!("{about}{}", problem.message));
            match problem.tail.filter(|tail| !tail.is_empty()) {
                Some(tail) => failure.help(format!("the last lines of its output:\n{tail}")),
                None => failure,
            }
        }
    })
}
