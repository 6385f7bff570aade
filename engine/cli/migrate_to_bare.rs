//! `sop migrate-to-bare`: from a checkout to a bare repository with worktrees beside it.

use std::path::Path;

use super::exit;
use super::failure::Failure;
use super::request::no_worker;
use super::run_args;
use super::terminal::Color;
use super::worktree::{refused, show};
use crate::process;
use crate::report::upkeep::bare::{CutShort, Steps};
use crate::upkeep::bare::journal::Journal;
use crate::upkeep::bare::{self, Migration, Way, workshop};

/// Turn the checkout into a bare repository with worktrees beside it; shows each step, and does it with `--apply`.
///
/// `REPO/.git` becomes `REPO/.bare`, and the files of the checkout move to `REPO/BRANCH/`, a worktree among others:
/// untracked and ignored files, submodules and nested repositories too. Refs, stashes, hooks, upstreams and settings
/// stay as they are, and other worktrees are told. What cannot be moved is named, and then nothing is done. A step
/// that fails undoes all; after a kill, `--apply` finishes and `--undo` undoes.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Do it, or finish what was cut short.
    #[arg(long)]
    pub apply: bool,
    /// Undo what was cut short.
    #[arg(long, conflicts_with = "apply")]
    pub undo: bool,
    /// The folder for the checkout; called after its branch if not given.
    #[arg(long, value_name = "NAME")]
    pub folder: Option<String>,
    /// Print it as JSON.
    #[arg(long)]
    pub json: bool,
}

/// Runs the verb.
///
/// # Errors
/// Something cannot be moved (exit code 3), or a step failed and all was undone.
pub fn run(args: &Args, color: Color) -> Result<u8, Failure> {
    if args.apply || args.undo {
        no_worker()?;
    }
    if let Some(left) = Journal::left_in(Path::new(".")).map_err(refused)? {
        return take_up(args, &left, color);
    }
    let repo = run_args::repository()?;
    if args.undo {
        if let Some(top) = repo.main_checkout().ok().flatten() {
            bare::sweep(&top).map_err(refused)?;
        }
        return Err(Failure::usage("nothing was cut short here: there is nothing to undo"));
    }
    let migration = bare::plan(&repo, args.folder.as_deref()).map_err(refused)?;
    if args.apply {
        migration.apply().map_err(refused)?;
    }
    say(&migration, args, color)?;
    Ok(exit::DONE)
}

/// What was cut short: finished, undone, or told with the steps that are left.
fn take_up(args: &Args, left: &Journal, color: Color) -> Result<u8, Failure> {
    let at = left.top.path();
    let steps: Vec<String> = left.steps.iter().map(|step| step.told(&at)).collect();
    let (done, all) = (left.done(), steps.len());
    let (top, folder) = (process::escape_path(&at), process::escape_path(&left.folder.path()));
    let (state, now, exit) = match (args.apply, args.undo) {
        (true, _) => {
            bare::take_up(left, Way::Finish).map_err(refused)?;
            ("finished", CutShort::Finished(&folder), exit::DONE)
        }
        (_, true) => {
            bare::take_up(left, Way::Undo).map_err(refused)?;
            ("undone", CutShort::Undone, exit::DONE)
        }
        _ if workshop::is_busy(&at) => return Err(refused(workshop::busy(&at))),
        _ => ("cut_short", CutShort::Told(&steps[done..]), exit::WAITING),
    };
    let value = serde_json::json!({
        "state": state, "top": top, "done": done, "steps": all, "left": steps[done..],
    });
    show(&value, args.json, color, |out, look| now.write(&top, (done, all), out, look))?;
    Ok(exit)
}

fn say(migration: &Migration, args: &Args, color: Color) -> Result<(), Failure> {
    let top = migration.journal.top.path();
    let steps: Vec<String> = migration.journal.steps.iter().map(|step| step.told(&top)).collect();
    let (top, folder) = (process::escape_path(&top), process::escape_path(&migration.folder));
    let value = serde_json::json!({
        "top": top, "folder": folder, "steps": steps, "applied": args.apply,
    });
    let named = args.folder.as_ref().map(|name| format!(" --folder {name}")).unwrap_or_default();
    let again = format!("sop migrate-to-bare{named} --apply");
    let again = (!args.apply).then_some(again.as_str());
    let told = Steps { top: &top, folder: &folder, steps: &steps, again };
    show(&value, args.json, color, |out, look| told.write(out, look))
}
