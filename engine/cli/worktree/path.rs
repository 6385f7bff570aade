//! `sop worktree path`.

use std::io::{self, Write as _};
use std::os::unix::ffi::OsStrExt;

use super::refused;
use crate::cli::exit;
use crate::cli::failure::{Failure, written};
use crate::cli::run_args;
use crate::report::json;
use crate::upkeep::error::UpkeepError;
use crate::upkeep::survey;

/// Print the folder of a worktree, for `cd "$(sop worktree path NAME)"`.
///
/// Its bytes are printed as they are.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Its name as `sop worktree list` shows it, its folder, or its branch.
    pub name: String,
    /// Print it as JSON.
    #[arg(long)]
    pub json: bool,
}

pub(super) fn run(args: &Args) -> Result<u8, Failure> {
    let repo = run_args::repository()?;
    let linked = survey::find(&repo, &args.name).map_err(refused)?;
    let unknown = || refused(UpkeepError::NoSuchTree(args.name.clone()));
    let path = linked.path().ok_or_else(unknown)?;
    let mut out = io::stdout().lock();
    let said = match args.json {
        true => json::line(&serde_json::json!({ "path": survey::place(&linked) }), &mut out),
        false => out.write_all(path.as_os_str().as_bytes()).and_then(|()| out.write_all(b"\n")),
    };
    written(said)?;
    Ok(exit::DONE)
}
