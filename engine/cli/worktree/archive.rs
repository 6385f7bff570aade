//! `sop worktree archive`.

use super::{refused, show};
use crate::cli::exit;
use crate::cli::failure::Failure;
use crate::cli::request::no_worker;
use crate::cli::run_args;
use crate::cli::terminal::Color;
use crate::report::upkeep::trees;
use crate::upkeep::archive::{self, How};

/// Keep all that is in a worktree as a commit, then remove it.
///
/// The commit (`refs/sop/salvage/NAME/TIME`) has the shape of a stash: tracked files, the index and untracked files.
/// What brings it back is printed, and what was not kept is named. The branch stays.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Its name as `sop worktree list` shows it, its folder, or its branch.
    pub name: String,
    /// Keep ignored files too.
    #[arg(long)]
    pub ignored: bool,
    /// Print it as JSON.
    #[arg(long)]
    pub json: bool,
}

pub(super) fn run(args: &Args, color: Color) -> Result<u8, Failure> {
    no_worker()?;
    let repo = run_args::repository()?;
    let kept =
        archive::archive(&repo, &args.name, How { ignored: args.ignored }).map_err(refused)?;
    show(&kept, args.json, color, |out, look| trees::archived(&args.name, &kept, out, look))?;
    Ok(exit::DONE)
}
