//! `sop run clean`.

use crate::cli::failure::Failure;
use crate::cli::request::no_worker;
use crate::cli::run_args::{self, Which};
use crate::cli::terminal::Color;
use crate::cli::worktree::gc::How;

/// Show what a run that is over left, and what of it may go; with `--apply` clear that away.
///
/// Worktrees go when they are clean, or once they are archived; branches when their work is proven merged, or kept in
/// an archived worktree. The rest stays, with the reason. The run directory stays: `sop run archive` puts it away.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Which run.
    #[command(flatten)]
    pub run: Which,
    /// How to clear away.
    #[command(flatten)]
    pub how: How,
}

pub(super) fn run(args: &Args, color: Color) -> Result<u8, Failure> {
    if args.how.apply {
        no_worker()?;
    }
    let repo = run_args::repository()?;
    let dir = run_args::find_any(&repo, args.run.name())?;
    let verb = format!("sop run clean {}", dir.run());
    args.how.clear(&repo, Some(dir.run().clone()), &verb, color)
}
