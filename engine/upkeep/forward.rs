//! The source worktree brought up to what was merged.

use std::path::Path;
use std::time::Duration;

use super::error::UpkeepError;
use super::survey::{Survey, listed, place};
use crate::git::Repo;
use crate::git::forward::{Forward, Standing};
use crate::git::linked::Linked;
use crate::model::ids::CommitId;
use crate::model::upkeep::Synced;

/// How long a remote has to answer.
const FETCH: Duration = Duration::from_secs(120);

/// The checkout that work is taken from and comes back to: the main one; in a bare repository the worktree on its
/// default branch, else the one that `sop` was started in.
///
/// # Errors
/// There is none.
pub fn source(repo: &Repo) -> Result<Linked, UpkeepError> {
    let all = repo.all_worktrees()?;
    let main = repo.main_branch()?;
    let on_main = |tree: &&Linked| main.is_some() && tree.head().branch() == main.as_deref();
    let here = |tree: &&Linked| tree.path().is_some() && tree.path() == repo.top();
    let found = all.iter().find(|tree| tree.is_main());
    let found = found.or_else(|| all.iter().find(on_main)).or_else(|| all.iter().find(here));
    found.cloned().ok_or_else(|| UpkeepError::NoSuchTree("main".to_owned()))
}

/// Fast-forwards the source worktree to `from`, or to the upstream of its branch. `fetch`: ask that upstream's remote
/// first.
///
/// # Errors
/// [`UpkeepError::Stays`] with what is in the way; then nothing was touched.
pub fn sync(repo: &Repo, from: Option<&str>, fetch: bool) -> Result<Synced, UpkeepError> {
    let source = source(repo)?;
    let stays = |why: String, help: Option<&str>| UpkeepError::Stays {
        what: place(&source),
        why: vec![why],
        help: help.map(str::to_owned),
    };
    let branch = source.head().branch().map(str::to_owned);
    if fetch && let Some(upstream) = branch.as_deref().and_then(|branch| repo.upstream_of(branch)) {
        repo.fetch_upstream(&upstream, FETCH)?;
    }
    let (to, at) = match (from, &branch) {
        (Some(name), _) => (name.to_owned(), repo.resolve(name)?),
        (None, Some(branch)) => repo.upstream(branch)?.ok_or_else(|| {
            stays(
                format!("its branch `{branch}` has no upstream, or one that is gone"),
                Some("name the branch to bring it to: `sop worktree sync --from BRANCH`"),
            )
        })?,
        (None, None) => return Err(stays("its HEAD is on no branch".to_owned(), None)),
    };
    let found = Survey::of(repo)?.look(source.clone())?.condition;
    let path = source.path().unwrap_or(Path::new("."));
    let path = crate::process::escape_path(path);
    let head = |linked: &Linked| {
        linked.head().commit().cloned().unwrap_or_else(|| CommitId(String::new()))
    };
    match repo.bring_forward(&source, &found, &at)? {
        Forward::Already => {
            Ok(Synced { path, branch, to, from: None, at: head(&source), files: 0 })
        }
        Forward::Moved { from, to: at, paths } => {
            Ok(Synced { path, branch, to, from: Some(from), at, files: paths.len() })
        }
        Forward::Refused(why) => Err(match why {
            Standing::Detached => stays("its HEAD is on no branch".to_owned(), None),
            Standing::Unborn => stays("its branch has no commit yet".to_owned(), None),
            Standing::UnderWay(what) => stays(
                format!("a {} is under way in it", what.join(" and a ")),
                Some("end it first"),
            ),
            Standing::Locked => {
                stays("its index is locked: a git is at work in it, or one died".to_owned(), None)
            }
            Standing::Diverged(here, there) => stays(
                format!(
                    "it cannot be fast-forwarded to {to}: it has {} of its own, and lacks {there}",
                    counted(here)
                ),
                Some("merge or rebase by hand; `sync` only fast-forwards"),
            ),
            Standing::InTheWay(paths) => stays(
                format!("these files are in the way: {}", listed(&paths)),
                Some("commit them, stash them or move them away; nothing was touched"),
            ),
        }),
    }
}

fn counted(commits: usize) -> String {
    match commits {
        1 => "1 commit".to_owned(),
        n => format!("{n} commits"),
    }
}
