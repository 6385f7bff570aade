//! `sop worktree list`.

use super::{refused, show};
use crate::cli::exit;
use crate::cli::failure::Failure;
use crate::cli::run_args;
use crate::cli::terminal::Color;
use crate::model::upkeep::Tree;
use crate::report::upkeep::trees;
use crate::upkeep::survey::Survey;

/// List all worktrees of the repository: whose each is, its branch, what is in it, whether its work is merged.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Print it as JSON, an array.
    #[arg(long)]
    pub json: bool,
}

pub(super) fn run(args: &Args, color: Color) -> Result<u8, Failure> {
    let repo = run_args::repository()?;
    let survey = Survey::of(&repo).map_err(refused)?;
    let found: Vec<Tree> = survey.all().map_err(refused)?.iter().map(|tree| tree.shown()).collect();
    show(&found, args.json, color, |out, look| trees::list(&found, out, look))?;
    Ok(exit::DONE)
}
