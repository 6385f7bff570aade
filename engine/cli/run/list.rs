//! `sop run list`.

use crate::cli::exit;
use crate::cli::failure::Failure;
use crate::cli::run_args;
use crate::cli::terminal::Color;
use crate::cli::worktree::{refused, show};
use crate::model::time::Timestamp;
use crate::report::upkeep::runs as draw;
use crate::upkeep::runs;
use crate::upkeep::survey::Survey;

/// List the runs of the repository, the newest first: how each stands, in the words of `sop status`, or that it is
/// archived; and what it left.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Print it as JSON, an array.
    #[arg(long)]
    pub json: bool,
}

pub(super) fn run(args: &Args, color: Color) -> Result<u8, Failure> {
    let repo = run_args::repository()?;
    let survey = Survey::of(&repo).map_err(refused)?;
    let lines = survey.owners().and_then(|owners| runs::lines(&repo, survey.runs(), &owners));
    let lines = lines.map_err(refused)?;
    let now = Timestamp(jiff::Timestamp::now());
    show(&lines, args.json, color, |out, look| draw::list(&lines, now, out, look))?;
    Ok(exit::DONE)
}
