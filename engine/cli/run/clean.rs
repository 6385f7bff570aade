//! `sop run clean`.

use crate::cli::exit;
use crate::cli::failure::Failure;
use crate::cli::request::no_worker;
use crate::cli::run_args;
use crate::cli::terminal::Color;
use crate::cli::worktree::{refused, show};
use crate::report::upkeep::leftovers;
use crate::upkeep::tidy::{Order, tidy};

/// Show what a run that is over left, and what of it may go; with `--apply` clear that away.
///
/// Worktrees go when they are clean, or once they are archived; branches when their work is proven merged, or kept in
/// an archived worktree. The rest stays, with the reason. The run directory stays: `sop run archive` puts it away.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The run.
    pub run: String,
    /// Do it.
    #[arg(long)]
    pub apply: bool,
    /// Keep ignored files too, and so archive what has any.
    #[arg(long)]
    pub ignored: bool,
    /// Print it as JSON, an array.
    #[arg(long)]
    pub json: bool,
}

pub(super) fn run(args: &Args, color: Color) -> Result<u8, Failure> {
    if args.apply {
        no_worker()?;
    }
    let repo = run_args::repository()?;
    let dir = run_args::find_any(&repo, Some(&args.run))?;
    let run = Some(dir.run().clone());
    let order = Order { run, ignored: args.ignored, apply: args.apply };
    let left = tidy(&repo, &order).map_err(refused)?;
    let ignored = if args.ignored { " --ignored" } else { "" };
    let again = (!args.apply).then(|| format!("sop run clean {}{ignored} --apply", dir.run()));
    show(&left, args.json, color, |out, look| {
        leftovers::write(&left, again.as_deref(), out, look)
    })?;
    Ok(exit::DONE)
}
