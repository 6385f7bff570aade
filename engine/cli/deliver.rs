//! `sop deliver`: what is left of a run's delivery.

use std::io::{self, Write as _};

use super::covers;
use super::drive::{self, View, drive};
use super::exit;
use super::failure::{Failure, written};
use super::prompt;
use super::request::no_worker;
use super::run_args;
use super::terminal::Color;
use crate::event::{ApprovedBy, Outcome};
use crate::git::Repo;
use crate::ledger::Ledger;
use crate::model::approval::{Cover, Covers};
use crate::model::plan::Plan;
use crate::report::delivery::{Delivered, Stands};
use crate::report::escape::visible;
use crate::run::deliver::run_after_merge;
use crate::run::directory::RunDir;
use crate::run::{approve, freeze};

/// Deliver what is left of a run: push, open or update pull requests, look at those that are open.
///
/// To type it is a yes to pushing and to pull requests, as far as the run's plan has a `[delivery]` table. What
/// somebody merged meanwhile is proven to have landed, and its local branch removed. Exit codes as of `sop apply`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Which run.
    #[command(flatten)]
    pub run: run_args::Which,
    /// Merge as well: what is at most of the plan's `auto_merge_risk`, with green checks, as far as the branch's
    /// protection allows.
    #[arg(long)]
    pub merge: bool,
    /// Ask about each of the plan's `after_merge` commands, once everything has landed, and run it.
    #[arg(long)]
    pub after_merge: bool,
    /// How to show the run.
    #[command(flatten)]
    pub view: View,
}

/// Runs the verb.
///
/// # Errors
/// A run has started this, there is no such run or it has nothing to deliver, another engine has it, or the
/// engine cannot go on.
pub fn run(args: &Args, color: Color) -> Result<u8, Failure> {
    no_worker()?;
    let repo = run_args::repository()?;
    let dir = run_args::find(&repo, args.run.name())?;
    let ledger = run_args::fold(&dir)?;
    let plan = freeze::thaw(&dir, &ledger.plan_sha256).map_err(drive::refused)?;
    let asked = Covers::asked_by(&plan);
    if ledger.delivery.is_none() || !asked.has(Cover::Push) {
        return Err(Failure::usage(format!(
            "the plan of {} has nothing leave the machine",
            dir.run()
        ))
        .help("give the plan a `[delivery]` table and apply it anew"));
    }
    let mut named: Vec<Cover> =
        [Cover::Push, Cover::PullRequest].into_iter().filter(|it| asked.has(*it)).collect();
    named.extend(args.merge.then_some(Cover::Merge));
    let covers = covers::of(&named, &plan)?;
    let by = repo.identity().name;
    approve::approve(&repo, &dir, &covers, false, ApprovedBy::Flag, &by).map_err(drive::refused)?;
    let code = drive(&repo, dir.clone(), &args.view, color)?;
    if !args.after_merge {
        return Ok(code);
    }
    after_merge(&repo, &dir, &plan, &by)
}

/// Asks about each command for after the merge, and runs those that get a yes.
fn after_merge(repo: &Repo, dir: &RunDir, plan: &Plan, by: &str) -> Result<u8, Failure> {
    let commands = plan.delivery.iter().flat_map(|delivery| &delivery.after_merge);
    let commands: Vec<_> = commands.collect();
    if commands.is_empty() {
        return Err(Failure::usage("the plan has no `after_merge` commands"));
    }
    if !all_landed(&run_args::fold(dir)?) {
        return Err(Failure::new(exit::WAITING, "not everything has landed; nothing was run")
            .help("merge what is open, then try again"));
    }
    if !prompt::can_ask() {
        return Err(Failure::new(
            exit::WAITING,
            "nothing was run: each command needs a yes of its own",
        )
        .help("type it at a terminal"));
    }
    for after in commands {
        let text = visible(&after.text);
        let question = format!("\nRun `{text}` now?");
        if !prompt::confirm(&question, "interrupted: no more was run")? {
            written(writeln!(io::stdout().lock(), "not run"))?;
            continue;
        }
        let ran = run_after_merge(repo, dir, after, by).map_err(drive::refused)?;
        written(writeln!(io::stdout().lock(), "{text}: {}", ran.end))?;
        if !ran.end.success() {
            // What follows may build on it.
            return Ok(exit::FAILED);
        }
    }
    Ok(exit::DONE)
}

fn all_landed(ledger: &Ledger) -> bool {
    let landed = |delivered: Delivered| {
        let all = delivered.items.iter().all(|item| item.state == Stands::Landed);
        all && !delivered.items.is_empty()
    };
    ledger.outcome == Some(Outcome::Done) && Delivered::of(ledger).is_some_and(landed)
}
