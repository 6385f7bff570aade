//! `sop apply`: shows what would happen, asks, and does it.

use std::io::{self, Write as _};
use std::path::PathBuf;

use super::drive::{self, View, drive};
use super::exit;
use super::failure::{Failure, written};
use super::layers::Overrides;
use super::plan::{Dry, Prepared, prepare};
use super::prompt;
use super::request::no_worker;
use super::run_args;
use super::terminal::{self, Color};
use crate::event::ApprovedBy;
use crate::model::checkpoint::Checkpoint;
use crate::model::plan::Approval;
use crate::model::preflight::{Preflight, Word};
use crate::model::setting::Level;
use crate::report::checkpoint as draw;
use crate::run::create::{self, NewRun};

/// Run a plan: show what would happen, ask, and do it.
///
/// Exit code 0: everything got through. 1: findings in the plan. 3: a WP failed or was escalated. 4:
/// waiting for an approval or a review. 5: infrastructure. 130: interrupted, and to be resumed.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The plan file.
    #[arg(value_name = "FILE", default_value = "plan.toml")]
    pub file: PathBuf,
    /// Do not ask.
    #[arg(long, short)]
    pub yes: bool,
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
    let Some(prepared) = prepare(&repo, &args.file, &args.overrides, Dry::IfItCanStart, color)?
    else {
        return Ok(exit::FINDINGS);
    };
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
    let by = approval(args, &prepared)?;
    let Some(by) = by else {
        return Err(Failure::new(exit::WAITING, "nothing was started: the plan was not approved")
            .help("answer `y`, pass `--yes`, or set `approval = \"auto\"` under `[plan]`"));
    };
    let Prepared { text, compiled, base, dry, checkout, .. } = prepared;
    let who = repo.identity().name;
    let classed = dry.classes.values().cloned().collect();
    let new = NewRun {
        plan: &compiled.plan,
        text: &text,
        graph: &compiled.graph,
        base: base.commit,
        by,
        who: &who,
        checkout: checkout.as_ref(),
        classed,
    };
    let dir = create::create(&repo, &new).map_err(drive::refused)?;
    drop(dry);
    drive(&repo, dir, &args.view, color)
}

/// What preflight found that keeps every run from starting.
fn stops(report: &Checkpoint) -> Vec<(&'static str, Word)> {
    report.preflight.as_ref().map(Preflight::stops).unwrap_or_default()
}

/// How the plan was approved, if it was.
fn approval(args: &Args, prepared: &Prepared) -> Result<Option<ApprovedBy>, Failure> {
    if args.yes {
        return Ok(Some(ApprovedBy::Flag));
    }
    if prepared.compiled.plan.approval == Approval::Auto {
        return Ok(Some(match prepared.approval_from {
            Level::User => ApprovedBy::UserConfig,
            Level::Repository => ApprovedBy::RepositoryConfig,
            Level::Environment => ApprovedBy::Environment,
            Level::Flag => ApprovedBy::Flag,
            Level::Plan | Level::BuiltIn => ApprovedBy::Plan,
        }));
    }
    if !prompt::can_ask() {
        return Ok(None);
    }
    let question = format!("\nRun this plan as {}?", prepared.report.run);
    let yes = prompt::confirm(&question, "interrupted: nothing was started")?;
    Ok(yes.then_some(ApprovedBy::Prompt))
}
