//! `sop run archive`.

use std::io::Write as _;

use crate::cli::exit;
use crate::cli::failure::Failure;
use crate::cli::request::no_worker;
use crate::cli::run_args::{self, Which};
use crate::cli::terminal::Color;
use crate::cli::worktree::{refused, show};
use crate::process;
use crate::report::upkeep::trees;
use crate::upkeep::put_away;

/// Put a run away: archive its worktrees, and move its directory to the archive.
///
/// `sop stats`, `sop run list` and `sop run show` know it still; it cannot be gone on with. Its branches stay:
/// `sop run clean` clears away those that are merged, or whose work an archived worktree holds.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Which run.
    #[command(flatten)]
    pub run: Which,
    /// Even one that could be gone on with.
    #[arg(long)]
    pub unfinished: bool,
    /// Print it as JSON.
    #[arg(long)]
    pub json: bool,
}

pub(super) fn run(args: &Args, color: Color) -> Result<u8, Failure> {
    no_worker()?;
    let repo = run_args::repository()?;
    let dir = run_args::find_any(&repo, args.run.name())?;
    let run = dir.run().as_str();
    let done = put_away::archive(&repo, run, args.unfinished).map_err(refused)?;
    let place = process::escape_path(&done.dir.path());
    let trees: Vec<_> = done
        .worktrees
        .iter()
        .map(|(name, kept)| serde_json::json!({ "name": name, "archived": kept }))
        .collect();
    let value = serde_json::json!({ "run": run, "directory": place, "worktrees": trees });
    show(&value, args.json, color, |out, look| {
        for (name, kept) in &done.worktrees {
            trees::archived(name, kept, out, look)?;
        }
        writeln!(out, "{run} is in the archive: {place}")
    })?;
    Ok(exit::DONE)
}
