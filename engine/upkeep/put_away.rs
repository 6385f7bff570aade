//! A run put away: its worktrees archived, its directory moved to the archive. Its branches stay.

use std::io;
use std::path::Path;

use super::archive::{How, put_away};
use super::error::UpkeepError;
use super::grounds;
use super::runs::KnownRun;
use super::survey::Survey;
use crate::git::Repo;
use crate::journal;
use crate::launch;
use crate::ledger::Ledger;
use crate::model::ids::RunId;
use crate::model::upkeep::{Archived, RunState, Whose};
use crate::run::directory::RunDir;
use crate::run::requests::{self, Turn};

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
/// An engine has it, a step of it is at work without one, something that was asked of it waits, it is not over, or one of
/// its worktrees has to stay; what was archived before stays archived,
/// and the next call goes on.
pub fn archive(repo: &Repo, run: &str, unfinished: bool) -> Result<PutAway, UpkeepError> {
    let standing = RunDir::list(&RunDir::root_in(repo.common_dir()))?;
    let standing = standing.into_iter().find(|dir| dir.run().as_str() == run);
    // Before anything is looked at: nobody asks anything of it meanwhile.
    let _turn = standing.as_ref().map(Turn::take).transpose()?;
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
    // By now no engine adds to it; one may have, since it was looked at.
    let seen = known.ledger.as_ref().map(|ledger| ledger.seq);
    let now = journal::read(&known.dir.journal()).ok();
    let now = now.and_then(|it| Ledger::fold(&it.records).ok()).map(|ledger| ledger.seq);
    if now != seen {
        return Err(UpkeepError::Changed { what: id.to_string() });
    }
    let stays = |why: Vec<String>, help: Option<String>| UpkeepError::Stays {
        what: id.to_string(),
        why,
        help,
    };
    // An engine that is gone may have left a worker, wherever that stands.
    let alive = launch::at_work(&known.dir.path());
    if !alive.is_empty() {
        let why = alive.iter().map(|(unit, step)| format!("{unit} ({step}) is still at work"));
        let help =
            format!("wait for its end, or have an engine end it: `sop resume {id}`, then Ctrl-C");
        return Err(stays(why.collect(), Some(help)));
    }
    let asked = requests::noted(&known.dir);
    if !asked.is_empty() && !unfinished {
        let asked: Vec<_> = asked.iter().map(|request| request.ask.name()).collect();
        let why = format!("no engine has seen to what was asked of it: {}", asked.join(", "));
        let help =
            format!("`sop resume {id}` does; `sop run archive {id} --unfinished` gives it up");
        return Err(stays(vec![why], Some(help)));
    }
    let its = |whose: &Whose| matches!(whose, Whose::Run { run, .. } if run == id);
    let trees: Vec<_> = survey.all()?.into_iter().filter(|tree| its(&tree.whose)).collect();
    let mut why = Vec::new();
    for tree in &trees {
        let grounds = grounds::stays(tree).into_iter().chain(grounds::unkeepable(tree));
        why.extend(grounds.map(|why| format!("{}: {why}", tree.name)));
    }
    if !why.is_empty() {
        return Err(stays(why, None));
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
