//! What a run is called: its plan's name and the first number under which nothing of an earlier run is
//! left.

use std::fs;
use std::io;

use super::directory::{DirectoryError, RunDir};
use super::error::RunError;
use super::site::worktrees_root;
use crate::git::Repo;
use crate::model::ids::RunId;

/// Takes the next free name.
pub(super) fn claim(repo: &Repo, plan: &RunId) -> Result<RunDir, RunError> {
    let root = RunDir::root_in(repo.common_dir());
    fs::create_dir_all(&root).map_err(|source| DirectoryError::Io {
        what: "make",
        path: root.clone(),
        source,
    })?;
    loop {
        let dir = next(repo, plan)?;
        match fs::create_dir(dir.path()) {
            Ok(()) => return Ok(dir),
            // Another sop was quicker.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(source) => {
                return Err(DirectoryError::Io { what: "make", path: dir.path(), source }.into());
            }
        }
    }
}

/// The directory that the next run of a plan will have: the first number under which nothing of an
/// earlier run is left, be it a directory (archived or not), a branch (here, or on a remote as far as it is known) or a
/// worktree.
///
/// # Errors
/// When git cannot answer, a branch leaves no room for those of runs, or the plan's name none for a
/// number.
pub fn next(repo: &Repo, plan: &RunId) -> Result<RunDir, RunError> {
    let root = RunDir::root_in(repo.common_dir());
    let archive = RunDir::archive_in(repo.common_dir());
    let worktrees = worktrees_root(repo.common_dir()).ok_or(RunError::NoHome)?;
    for room in ["sop", "sop-stage"] {
        if repo.read_ref(&format!("refs/heads/{room}"))?.is_some() {
            return Err(RunError::NoRoom(room));
        }
    }
    for n in 1_u32.. {
        let name = format!("{plan}-{n}");
        let run = RunId::new(name.clone()).map_err(|why| RunError::Name { name, why })?;
        let dir = RunDir::new(root.clone(), run.clone());
        if dir.path().exists()
            || archive.join(run.as_str()).exists()
            || worktrees.join(run.as_str()).exists()
        {
            continue;
        }
        // The first two match what is below them as well, and a branch that leaves no room below it;
        // a pattern with `*` matches whole names only.
        let under = [
            format!("refs/heads/sop/{run}"),
            format!("refs/heads/sop-stage/{run}"),
            format!("refs/remotes/*/sop/{run}/**"),
            format!("refs/remotes/*/sop-stage/{run}/**"),
        ];
        if !repo.any_ref(&under)? {
            return Ok(dir);
        }
    }
    unreachable!("numbers do not run out")
}
