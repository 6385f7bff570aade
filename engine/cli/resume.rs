//! `sop resume`: goes on with a run, whatever became of its last engine.

use super::audit;
use super::covers;
use super::drive::{View, drive_accepting, refused, sum_up};
use super::exit;
use super::failure::Failure;
use super::request::no_worker;
use super::run_args;
use super::terminal::Color;
use crate::event::{ApprovedBy, Outcome};
use crate::model::approval::Cover;
use crate::run::{anew, approve, freeze, requests};

/// Go on with a run, whatever became of its last engine.
///
/// Workers that are still running are adopted, results that were left behind are taken, and nothing is
/// started twice. What infrastructure blocked is tried again. Exit codes as of `sop apply`; 6: another
/// engine has the run.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Which run.
    #[command(flatten)]
    pub run: run_args::Which,
    /// Approve these as well. Of commits, integration, push, pull_request, merge, cleanup.
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = covers::parse)]
    pub approve: Vec<Cover>,
    /// Accept, in your name, what was changed in git's settings, hooks and refs and is held against the run.
    #[arg(long)]
    pub accept_changes: bool,
    /// How to show the run.
    #[command(flatten)]
    pub view: View,
}

/// Runs the verb.
///
/// # Errors
/// A run has started this, there is no such run, another engine has it, or the engine cannot go on.
pub fn run(args: &Args, color: Color) -> Result<u8, Failure> {
    no_worker()?;
    let repo = run_args::repository()?;
    let dir = run_args::find(&repo, args.run.name())?;
    let ledger = run_args::fold(&dir)?;
    if ledger.unbegun() && !dir.held() {
        anew::here(&repo, &dir, &ledger).map_err(refused)?;
    }
    let by = repo.identity().name;
    let accepts = args.accept_changes.then(|| by.clone());
    if !args.approve.is_empty() {
        let plan = freeze::thaw(&dir, &ledger.plan_sha256).map_err(refused)?;
        let covers = covers::of(&args.approve, &plan)?;
        approve::approve(&repo, &dir, &covers, true, ApprovedBy::Flag, &by).map_err(refused)?;
        return drive_accepting(&repo, dir, accepts, &args.view, color);
    }
    if let Some(code) = audit::resume(&repo, &dir, &args.view, color)? {
        return Ok(code);
    }
    let asked = !requests::waiting(&dir.requests()).is_empty();
    if ledger.outcome == Some(Outcome::Done) && !asked && !dir.held() {
        sum_up(&ledger, &dir, &args.view, color)?;
        return Ok(exit::DONE);
    }
    drive_accepting(&repo, dir, accepts, &args.view, color)
}
