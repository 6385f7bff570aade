//! `sop run show`.

use crate::cli::drive::summary;
use crate::cli::exit;
use crate::cli::failure::Failure;
use crate::cli::run_args;
use crate::cli::terminal::Color;
use crate::cli::worktree::show;

/// Show what a run came to: its summary. Archived runs too.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The run; the newest one of this repository if not given.
    pub run: Option<String>,
    /// Print it as JSON.
    #[arg(long)]
    pub json: bool,
}

pub(super) fn run(args: &Args, color: Color) -> Result<u8, Failure> {
    let repo = run_args::repository()?;
    let dir = run_args::find_any(&repo, args.run.as_deref())?;
    let ledger = run_args::fold(&dir)?;
    let summary = summary(&ledger, &dir);
    show(&summary, args.json, color, |out, look| summary.write(out, look))?;
    Ok(exit::DONE)
}
