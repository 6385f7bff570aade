//! `sop worktree new`.

use super::{refused, show};
use crate::cli::exit;
use crate::cli::failure::Failure;
use crate::cli::layers::{self, Overrides, User};
use crate::cli::request::no_worker;
use crate::cli::run_args;
use crate::cli::terminal::Color;
use crate::finding::any_error;
use crate::git::Repo;
use crate::model::plan::Command;
use crate::process;
use crate::upkeep::fresh::{self, New};

/// Make a worktree outside the repository, on a branch of its own, and get it ready.
///
/// It goes where worktrees of runs go (`$SOP_WORKTREES`). What `[provision]` of the config says is copied and run
/// in it, as for a work package. Its folder is printed.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Its name, and that of its branch.
    pub name: String,
    /// What to start from: a branch, tag or commit; the branch of the main checkout if not given.
    #[arg(long, value_name = "REV")]
    pub base: Option<String>,
    /// Another name for its branch.
    #[arg(long, value_name = "BRANCH")]
    pub branch: Option<String>,
    /// Leave `[provision]` out.
    #[arg(long)]
    pub bare: bool,
    /// Print it as JSON.
    #[arg(long)]
    pub json: bool,
}

pub(super) fn run(args: &Args, color: Color) -> Result<u8, Failure> {
    no_worker()?;
    let repo = run_args::repository()?;
    let (copy, setup) = match args.bare {
        true => Default::default(),
        false => provision(&repo)?,
    };
    let new = New {
        name: args.name.clone(),
        branch: args.branch.clone(),
        base: args.base.clone(),
        copy,
        setup,
    };
    let made = fresh::make(&repo, &new).map_err(refused)?;
    let path = process::escape_path(&made.path);
    let value = serde_json::json!({
        "name": args.name, "path": path, "branch": made.branch, "base": made.base,
    });
    show(&value, args.json, color, |out, _| {
        use std::io::Write as _;
        writeln!(out, "{path}")
    })?;
    Ok(exit::DONE)
}

/// What the config says that a fresh worktree needs.
fn provision(repo: &Repo) -> Result<(Vec<String>, Vec<Command>), Failure> {
    let layers = layers::gather(Some(repo), User::Heeded, &Overrides::default())?;
    if any_error(&layers.look()) {
        return Err(Failure::new(
            exit::FINDINGS,
            "the config has errors, and may say what a worktree needs",
        )
        .help("`sop config` shows them"));
    }
    let wanted = layers.provision();
    Ok((wanted.copy, wanted.setup))
}
