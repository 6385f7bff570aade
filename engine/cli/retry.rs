//! `sop retry`: gives a WP more rounds.

use super::failure::Failure;
use super::request;
use super::run_args::{self, RunArg};
use crate::run::requests::Ask;

/// Try a WP again that was escalated, blocked, deferred or cancelled, or whose stage does not hold.
///
/// It gets as many rounds as the plan gave it, and its budget anew, in the worktree it has, and its brief
/// says what was wrong. Where that worktree is gone (`sop run clean`, `sop worktree archive`) it begins anew in a
/// fresh one; what the old one's branch held stays under `refs/sop/salvage/`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The WP.
    #[arg(value_name = "WP")]
    pub wp: String,
    /// Print the answer as JSON.
    #[arg(long)]
    pub json: bool,
    /// Which run.
    #[command(flatten)]
    pub run: RunArg,
}

/// Runs the verb.
///
/// # Errors
/// The WP is in no phase in which it can be tried again.
pub fn run(args: &Args) -> Result<u8, Failure> {
    let wps = [run_args::wp(&args.wp)?];
    request::about_wps(&args.run, &wps, "retry", || Ask::Retry)?.tell(args.json)
}
