//! `sop migrate-to-bare`: from a checkout to a bare repository with worktrees beside it.

use std::io::Write as _;
use std::path::Path;

use super::exit;
use super::failure::Failure;
use super::request::no_worker;
use super::run_args;
use super::terminal::Color;
use super::worktree::{refused, show};
use crate::process;
use crate::report::palette::Tone;
use crate::upkeep::bare::journal::Journal;
use crate::upkeep::bare::{self, Migration};

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
    if args.undo {
        return Err(Failure::usage("nothing was cut short here: there is nothing to undo"));
    }
    let repo = run_args::repository()?;
    let migration = bare::plan(&repo, args.folder.as_deref()).map_err(refused)?;
    if args.apply {
        migration.apply().map_err(refused)?;
    }
    say(&migration, args, color)?;
    Ok(exit::DONE)
}

/// What was cut short: finished, undone, or told.
fn take_up(args: &Args, left: &Journal, color: Color) -> Result<u8, Failure> {
    let (done, all) = (left.done(), left.steps.len());
    let (state, exit) = match (args.apply, args.undo) {
        (true, _) => {
            let finished = left.finish().and_then(|()| left.close());
            finished.map_err(refused)?;
            ("finished", exit::DONE)
        }
        (_, true) => {
            left.undo().map_err(refused)?;
            ("undone", exit::DONE)
        }
        _ => ("cut short", exit::WAITING),
    };
    let value = serde_json::json!({ "state": state, "done": done, "steps": all });
    show(&value, args.json, color, |out, look| {
        writeln!(out, "A migration was cut short after {done} of {all} steps.")?;
        match state {
            "cut short" => {
                for flag in ["--apply   # finishes it", "--undo    # undoes it"] {
                    let command = format!("    sop migrate-to-bare {flag}");
                    writeln!(out, "{}", look.paint(Tone::Command, &command))?;
                }
                Ok(())
            }
            "finished" => {
                let folder = process::escape_path(&left.folder.path());
                writeln!(out, "It is finished: the checkout is in {folder}")
            }
            _ => writeln!(out, "It is undone: all is as it was."),
        }
    })?;
    Ok(exit)
}

fn say(migration: &Migration, args: &Args, color: Color) -> Result<(), Failure> {
    let top = migration.journal.top.path();
    let steps: Vec<String> = migration.journal.steps.iter().map(|step| step.told(&top)).collect();
    let folder = process::escape_path(&migration.folder);
    let value = serde_json::json!({
        "top": process::escape_path(&top), "folder": folder, "steps": steps, "applied": args.apply,
    });
    show(&value, args.json, color, |out, look| {
        writeln!(out, "In {}:", process::escape_path(&top))?;
        for (n, step) in steps.iter().enumerate() {
            writeln!(out, "  {:>3}  {step}", n + 1)?;
        }
        if args.apply {
            writeln!(out, "\nDone. The checkout is in {folder}")?;
            return writeln!(out, "{}", look.paint(Tone::Command, &format!("    cd {folder}")));
        }
        let note = "Files that hold the old place in their text (a virtual environment, a build folder), and other \
                    clones that borrow objects from here, are not known and not changed.";
        writeln!(out, "\n{}", look.paint(Tone::Faint, note))?;
        writeln!(out, "Nothing was done yet:")?;
        let named =
            args.folder.as_ref().map(|name| format!(" --folder {name}")).unwrap_or_default();
        writeln!(
            out,
            "{}",
            look.paint(Tone::Command, &format!("    sop migrate-to-bare{named} --apply"))
        )
    })
}
