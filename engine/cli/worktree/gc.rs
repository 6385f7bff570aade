//! `sop worktree gc`.

use super::{refused, show};
use crate::cli::exit;
use crate::cli::failure::Failure;
use crate::cli::request::no_worker;
use crate::cli::run_args;
use crate::cli::terminal::Color;
use crate::report::upkeep::leftovers;
use crate::upkeep::tidy::{Order, tidy};

/// Show what is left of runs and of the lead's own work, and what may go.
///
/// Each worktree and each branch of a run is in one of three classes: *reclaim* (merged and clean), *salvage* (may go
/// once it is archived) and *hold* (stays), with the reason. With `--apply` the first two go, each looked at once
/// more just before. Run directories stay; `sop run archive` puts them away.
#[derive(Debug, clap::Args)]
pub struct Args {
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
    let order = Order { run: None, ignored: args.ignored, apply: args.apply };
    let left = tidy(&repo, &order).map_err(refused)?;
    let again = match args.ignored {
        true => "sop worktree gc --ignored --apply",
        false => "sop worktree gc --apply",
    };
    let again = (!args.apply).then_some(again);
    show(&left, args.json, color, |out, look| leftovers::write(&left, again, out, look))?;
    Ok(exit::DONE)
}
