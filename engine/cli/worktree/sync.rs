//! `sop worktree sync`.

use super::{refused, show};
use crate::cli::exit;
use crate::cli::failure::Failure;
use crate::cli::request::no_worker;
use crate::cli::run_args;
use crate::cli::terminal::Color;
use crate::report::upkeep::trees;
use crate::upkeep::forward;

/// Fast-forward the main checkout to what was merged, and nothing else.
///
/// Only where its branch has no commit that the other lacks, and no file in the way: one that is changed, or
/// untracked or ignored where a file of the other comes to lie. Such files are named, and nothing is touched
/// (exit code 3). In a bare repository it is the worktree of the default branch.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// What to bring it to; the upstream of its branch if not given.
    #[arg(long, value_name = "BRANCH")]
    pub from: Option<String>,
    /// Fetch from the remote of its upstream first.
    #[arg(long)]
    pub fetch: bool,
    /// Print it as JSON.
    #[arg(long)]
    pub json: bool,
}

pub(super) fn run(args: &Args, color: Color) -> Result<u8, Failure> {
    no_worker()?;
    let repo = run_args::repository()?;
    let synced = forward::sync(&repo, args.from.as_deref(), args.fetch).map_err(refused)?;
    show(&synced, args.json, color, |out, look| trees::synced(&synced, out, look))?;
    Ok(exit::DONE)
}
