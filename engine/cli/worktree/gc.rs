//! `sop worktree gc`.

use super::{refused, show};
use crate::cli::exit;
use crate::cli::failure::Failure;
use crate::cli::request::no_worker;
use crate::cli::run_args;
use crate::cli::terminal::Color;
use crate::git::Repo;
use crate::model::ids::RunId;
use crate::report::upkeep::leftovers;
use crate::upkeep::tidy::{Order, tidy};

/// Show what is left of runs and of the lead's own work, and what may go.
///
/// Each worktree and each branch of a run is in one of three classes: *reclaim* (merged and clean), *salvage* (may go
/// once it is archived) and *hold* (stays), with the reason. With `--apply` the first two go, each looked at once
/// more just before. Run directories stay; `sop run archive` puts them away.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// How to clear away.
    #[command(flatten)]
    pub how: How,
}

/// How what is left is cleared away, of one run or of all.
#[derive(Debug, clap::Args)]
pub struct How {
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

impl How {
    /// Shows what is left, clears it away if that was asked for, and names the command that would.
    ///
    /// # Errors
    /// Git cannot answer.
    pub fn clear(
        &self,
        repo: &Repo,
        run: Option<RunId>,
        verb: &str,
        color: Color,
    ) -> Result<u8, Failure> {
        let order = Order { run, ignored: self.ignored, apply: self.apply };
        let left = tidy(repo, &order).map_err(refused)?;
        let ignored = if self.ignored { " --ignored" } else { "" };
        let again = (!self.apply).then(|| format!("{verb}{ignored} --apply"));
        show(&left, self.json, color, |out, look| {
            leftovers::write(&left, again.as_deref(), out, look)
        })?;
        Ok(exit::DONE)
    }
}

pub(super) fn run(args: &Args, color: Color) -> Result<u8, Failure> {
    if args.how.apply {
        no_worker()?;
    }
    args.how.clear(&run_args::repository()?, None, "sop worktree gc", color)
}
