//! A run put away: its worktrees archived, its directory moved to the archive. Its branches stay.

use std::io;
use std::path::Path;

use super::archive::{How, put_away};
use super::error::UpkeepError;
use super::grounds;
use super::runs::KnownRun;
use super::survey::Survey;
use crate::git::Repo;
use crate::model::ids::RunId;
use crate::model::upkeep::{Archived, RunState, Whose};
use crate::run::directory::RunDir;

/// What putting a run away did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PutAway {
    /// Worktrees that were archived, by name.
    pub worktrees: Vec<(String, Archived)>,
    /// Where its directory is now.
    pub dir: RunDir,
}

/// Archives a run. `unfinished`: even one that could be gone on with.
///
/// # Errors
/// An engine has it, it is not over, or one of its worktrees has to stay; what was archived before stays archived,
/// and the next call goes on.
pub fn archive(repo: &Repo, run: &str, unfinished: bool) -> Result<PutAway, UpkeepError> {
    let survey = Survey::of(repo)?;
    let found = |known: &&KnownRun| known.dir.run().as_str() == run;
    let known = survey.runs().iter().rfind(found).ok_or(UpkeepError::NoSuchRun(run.to_owned()))?;
    let id: &RunId = known.dir.run();
    match known.state {
        RunState::Archived => {
            return Ok(PutAway { worktrees: Vec::new(), dir: known.dir.clone() });
        }
        RunState::Open if !unfinished => return Err(UpkeepError::RunOpen(id.clone())),
        RunState::AtWork
        | RunState::Open
        | RunState::Failed
        | RunState::Done
        | RunState::Unreadable => {}
    }
    let _lock = known.dir.lock()?;
    let its = |whose: &Whose| matches!(whose, Whose::Run { run, .. } if run == id);
    let trees: Vec<_> = survey.all()?.into_iter().filter(|tree| its(&tree.whose)).collect();
    let mut why = Vec::new();
    for tree in &trees {
        let grounds = grounds::stays(tree).into_iter().chain(grounds::unkeepable(tree));
        why.extend(grounds.map(|why| format!("{}: {why}", tree.name)));
    }
    if !why.is_empty() {
        return Err(UpkeepError::Stays { what: id.to_string(), why, help: None });
    }
    let mut worktrees = Vec::new();
    for tree in &trees {
        worktrees.push((tree.name.clone(), put_away(&survey, tree, How::default())?));
    }
    let root = RunDir::archive_in(repo.common_dir());
    std::fs::create_dir_all(&root).map_err(UpkeepError::io("make", &root))?;
    let dir = RunDir::new(root, id.clone());
    let (from, to) = (known.dir.path(), dir.path());
    move_over(&from, &to).map_err(UpkeepError::io("move", &from))?;
    Ok(PutAway { worktrees, dir })
}

/// Moves a run directory. Where somebody put a link in its place, what that leads to stays, and is led to from there.
fn move_over(from: &Path, to: &Path) -> io::Result<()> {
    if !from.symlink_metadata()?.is_symlink() {
        return std::fs::rename(from, to);
    }
    std::os::unix::fs::symlink(from.canonicalize()?, to)?;
    std::fs::remove_file(from)
}
