//! `sop apply`: shows what would happen, asks, and does it.

use std::io::{self, Write as _};
use std::path::PathBuf;

use super::covers;
use super::critic;
use super::drive::{self, View, drive};
use super::exit;
use super::failure::{Failure, written};
use super::layers::Overrides;
use super::plan::{Dry, Prepared, prepare};
use super::prompt;
use super::request::no_worker;
use super::run_args;
use super::split;
use super::terminal::{self, Color};
use crate::event::ApprovedBy;
use crate::git::Repo;
use crate::model::approval::{Cover, Covers};
use crate::model::checkpoint::Checkpoint;
use crate::model::critic::Reading;
use crate::model::plan::Approval;
use crate::model::preflight::{Preflight, Word};
use crate::model::setting::Level;
use crate::report::checkpoint as draw;
use crate::report::commands;
use crate::run::create::{self, NewRun};

/// Run a plan: show what would happen, ask, and do it.
///
/// With `session_split` in the plan or the settings it stops once the run is approved, frozen and recorded, and
/// prints the command that goes on with it from any session. With two or more work packages, stages or a high risk a
/// critic reads the plan first, where `[critic]` names one: each of its remarks is answered before the run starts.
///
/// Exit code 0: everything got through, or it stopped
/// there, since nothing waits for a decision. 1: findings in the plan. 3: a WP failed or was escalated. 4:
/// waiting for an approval, an answer to the critic or a review. 5: infrastructure. 130: interrupted, and to be resumed.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The plan file.
    #[arg(value_name = "FILE", default_value = "plan.toml")]
    pub file: PathBuf,
    /// Do not ask: all that the plan asks for is approved.
    #[arg(long, short)]
    pub yes: bool,
    /// Do not ask: these are approved, and no more is done. Of commits, integration, push, pull_request, merge,
    /// cleanup.
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = covers::parse, conflicts_with = "yes")]
    pub approve: Vec<Cover>,
    /// Answer remark N of the critic: `N=taken`, or `N=refused: REASON`. May be given again.
    #[arg(long, value_name = "N=ANSWER", value_parser = critic::said, conflicts_with = "no_critic")]
    pub answer: Vec<critic::Said>,
    /// Do without the critic that would read the plan first.
    #[arg(long)]
    pub no_critic: bool,
    /// What goes before the plan.
    #[command(flatten)]
    pub overrides: Overrides,
    /// How to show the run.
    #[command(flatten)]
    pub view: View,
}

/// Runs the verb.
///
/// # Errors
/// A run has started this, the plan cannot be read, the run cannot be made, or the engine cannot go on.
pub fn run(args: &Args, color: Color) -> Result<u8, Failure> {
    no_worker()?;
    let repo = run_args::repository()?;
    let (approve, dry) = (&args.approve, Dry::IfItCanStart);
    let Some(mut prepared) = prepare(&repo, &args.file, &args.overrides, approve, dry, color)?
    else {
        return Ok(exit::FINDINGS);
    };
    if args.no_critic {
        prepared.report.critic = None;
    }
    if !args.view.json {
        let mut out = io::stdout().lock();
        let look = terminal::look(color);
        written(draw::write(&prepared.report, &mut out, &look).and_then(|()| out.flush()))?;
    }
    if let Some((_, word)) = stops(&prepared.report).into_iter().next() {
        let failure = Failure::infrastructure(word.what);
        return Err(word.help.into_iter().fold(failure, Failure::help));
    }
    if prepared.report.would_stop() {
        return Err(Failure::infrastructure("nothing was started: the report above says why")
            .help("mend the commands it names, or what they need, and apply again"));
    }
    let not_approved = || {
        Failure::new(exit::WAITING, "nothing was started: the plan was not approved")
            .help("answer `y`, pass `--yes`, or set `approval = \"auto\"` under `[plan]`")
    };
    let reading = match can_be_approved(args, &prepared) {
        true => heard(args, &repo, &prepared, color)?,
        false => return Err(not_approved()),
    };
    let Some((by, covers)) = approval(args, &prepared)? else { return Err(not_approved()) };
    deliverable(&prepared, &covers)?;
    let Prepared { text, compiled, base, dry, report, checkout, .. } = prepared;
    let who = repo.identity().name;
    let classed = dry.classes.values().cloned().collect();
    let new = NewRun {
        plan: &compiled.plan,
        text: &text,
        graph: &compiled.graph,
        base: base.commit,
        by,
        covers,
        who: &who,
        checkout: checkout.as_ref(),
        classed,
        audit: None,
        critic: reading.as_ref(),
        lessons: &compiled.lessons,
    };
    let dir = create::create(&repo, &new).map_err(drive::refused)?;
    drop(dry);
    if let Some(reading) = &reading {
        critic::keep(&repo, reading)?;
    }
    if let Some(why) = &report.session_split {
        return split::stop(&dir, why, &args.view, color);
    }
    drive(&repo, dir, &args.view, color)
}

/// What preflight found that keeps every run from starting.
fn stops(report: &Checkpoint) -> Vec<(&'static str, Word)> {
    report.preflight.as_ref().map(Preflight::stops).unwrap_or_default()
}

/// Whether a yes can come from anywhere: nobody is paid to read a plan that nobody can approve.
fn can_be_approved(args: &Args, prepared: &Prepared) -> bool {
    let said = args.yes || !args.approve.is_empty();
    said || prepared.compiled.plan.approval == Approval::Auto || prompt::can_ask()
}

/// What a critic says of the plan, each remark of it answered; nothing where none reads it.
fn heard(
    args: &Args,
    repo: &Repo,
    prepared: &Prepared,
    color: Color,
) -> Result<Option<Reading>, Failure> {
    if args.no_critic {
        return Ok(None);
    }
    let report = &prepared.report;
    let Some(reading) = critic::read(repo, prepared, color)? else {
        return match args.answer.is_empty() {
            true => Ok(None),
            false => {
                Err(Failure::usage("no critic reads this plan, so there is nothing to answer"))
            }
        };
    };
    let shown = report.critic.as_ref().is_some_and(|critic| critic.reading.is_some());
    if !shown || args.view.json {
        critic::show(&reading, args.view.json, color)?;
    }
    let approve = match args.approve.as_slice() {
        [] => args.yes.then(|| "--yes".to_owned()),
        list => Some(format!("--approve {}", Covers::of(list.iter().copied()))),
    };
    let command = |open: &[u32]| commands::answer_remarks(&args.file, approve.as_deref(), open);
    let reading = critic::settle(repo, report, reading, &args.answer, command)?;
    Ok(Some(critic::approved(reading, report)))
}

/// How the plan was approved, if it was, and what that covers.
fn approval(args: &Args, prepared: &Prepared) -> Result<Option<(ApprovedBy, Covers)>, Failure> {
    let plan = &prepared.compiled.plan;
    let all = prepared.report.covers.clone();
    if let Some(approved) = &prepared.report.approved {
        return Ok(Some((ApprovedBy::Flag, approved.clone())));
    }
    if args.yes {
        return Ok(Some((ApprovedBy::Flag, all)));
    }
    if plan.approval == Approval::Auto {
        let by = match prepared.approval_from {
            Level::User => ApprovedBy::UserConfig,
            Level::Repository => ApprovedBy::RepositoryConfig,
            Level::Environment => ApprovedBy::Environment,
            Level::Flag => ApprovedBy::Flag,
            Level::Plan | Level::BuiltIn => ApprovedBy::Plan,
        };
        return Ok(Some((by, all)));
    }
    if !prompt::can_ask() {
        return Ok(None);
    }
    let report = &prepared.report;
    let asks = if report.session_split.is_some() { "Approve" } else { "Run" };
    let question = format!("\n{asks} this plan as {}? A yes covers {all}.", report.run);
    let yes = prompt::confirm(&question, "interrupted: nothing was started")?;
    Ok(yes.then_some((ApprovedBy::Prompt, all)))
}

/// What keeps a run from delivering is known before anybody works for it.
fn deliverable(prepared: &Prepared, covers: &Covers) -> Result<(), Failure> {
    let stops = prepared.report.delivery.iter().flat_map(|delivery| &delivery.stops);
    let stops: Vec<&str> = stops.map(String::as_str).collect();
    if stops.is_empty() || !covers.has(Cover::Push) {
        return Ok(());
    }
    let local = Covers::asked_by(&prepared.compiled.plan).without(&Covers::of([
        Cover::Push,
        Cover::PullRequest,
        Cover::Merge,
    ]));
    Err(Failure::infrastructure(format!("nothing was started: {}", stops.join("; ")))
        .help(format!("mend that, or leave delivery for later: `--approve {local}`")))
}
