//! `sop worktree rm`.

use super::{refused, show};
use crate::cli::exit;
use crate::cli::failure::Failure;
use crate::cli::request::no_worker;
use crate::cli::run_args;
use crate::cli::terminal::Color;
use crate::report::upkeep::trees;
use crate::upkeep::leave::{self, Discard};

/// Remove a worktree, and the branch that `sop worktree new` made for it.
///
/// Refuses one whose branch is not merged, one with changes unless each kind of them is named, and one that is
/// locked or has a process in it. Exit code 3 says that it was refused.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Its name as `sop worktree list` shows it, its folder, or its branch.
    pub name: String,
    /// Give up changes of tracked files, staged or not.
    #[arg(long)]
    pub discard_modified: bool,
    /// Give up untracked files.
    #[arg(long)]
    pub discard_untracked: bool,
    /// Print it as JSON.
    #[arg(long)]
    pub json: bool,
}

pub(super) fn run(args: &Args, color: Color) -> Result<u8, Failure> {
    no_worker()?;
    let repo = run_args::repository()?;
    let discard = Discard { modified: args.discard_modified, untracked: args.discard_untracked };
    let gone = leave::remove(&repo, &args.name, discard).map_err(refused)?;
    show(&gone, args.json, color, |out, look| trees::gone(&gone, out, look))?;
    Ok(exit::DONE)
}
