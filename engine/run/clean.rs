//! Worktrees go when nothing in them is lost with them: clean against the checked tree, and that tree
//! safe on a branch. Anything else stays and is named.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bstr::BString;

use crate::event::Event;
use crate::git::in_use::{self, User};
use crate::git::{GitError, Refusal, Removal, Repo, SnapshotSpec, Worktree, WorktreeSpec};
use crate::ledger::WpState;
use crate::model::approval::Cover;
use crate::model::ids::{CommitId, TreeId};
use crate::model::outcome::Check;
use crate::process;

use super::site::{Halt, Site};

/// How long a process that is found in a worktree has to be gone: a git of an engine that was killed, or what
/// a worker's commit started behind itself, is on its way out.
const LEAVING: Duration = Duration::from_secs(1);

impl Site {
    /// Paths that provisioning brought and that go with a worktree.
    #[must_use]
    pub fn kept_out(&self) -> Vec<BString> {
        kept_out(&self.plan.provision.copy)
    }

    /// Removes a gate's worktree, or the dry run's, if there still is one: see [`discard`].
    ///
    /// # Errors
    /// What git said; nothing is lost by it.
    pub fn discard(&self, unit: &str, commit: &CommitId) -> Result<Removal, GitError> {
        discard(&self.repo, &self.worktree_spec(unit, None, commit), &self.kept_out())
    }
}

/// The paths that `copied` entries of a plan name.
#[must_use]
pub fn kept_out(copied: &[String]) -> Vec<BString> {
    copied.iter().map(|entry| BString::from(entry.trim_end_matches('/'))).collect()
}

/// Removes a detached worktree in which nobody ever worked. What is in it beside its commit was made by
/// the plan's own commands, and goes with it.
///
/// # Errors
/// What git said; nothing is lost by it.
pub fn discard(
    repo: &Repo,
    spec: &WorktreeSpec,
    keep_out: &[BString],
) -> Result<Removal, GitError> {
    let Some(worktree) = repo.find_worktree(spec)? else { return Ok(Removal::Gone) };
    let tree = match worktree.path().exists() {
        true => {
            let spec = SnapshotSpec { keep_out: keep_out.to_vec(), ..SnapshotSpec::at(&spec.base) };
            worktree.snapshot(&spec)?.tree
        }
        // Its removal was cut short.
        false => repo.tree_of(&spec.base)?,
    };
    worktree.remove(&tree, keep_out)
}

/// Removes the worktree of a WP that got through, or says why it stays: what git could not do is such a
/// reason too. Nothing when it has none, or somebody said stop.
pub async fn clean(site: &Arc<Site>, state: &WpState) -> Option<Event> {
    clean_unless(site, state, |_, folder| in_use::users_of(folder)).await
}

/// As [`clean`], in no hurry while others are at work.
pub async fn clean_with_others(site: &Arc<Site>, state: &WpState) -> Option<Event> {
    clean_unless(site, state, |site, folder| site.leaving.users_of(folder)).await
}

async fn clean_unless(
    site: &Arc<Site>,
    state: &WpState,
    users_of: fn(&Site, &Path) -> Vec<User>,
) -> Option<Event> {
    if !site.covers.has(Cover::Cleanup) {
        return None;
    }
    match try_clean(site, state, users_of).await {
        Ok(event) => event,
        Err(Halt::Stopped) => None,
        Err(Halt::Blocked { problem, .. }) => {
            let why = format!("it could not be removed: {}", problem.message);
            Some(Event::WorktreeKept { wp: state.id.clone(), why })
        }
    }
}

async fn try_clean(
    site: &Arc<Site>,
    state: &WpState,
    users_of: fn(&Site, &Path) -> Vec<User>,
) -> Result<Option<Event>, Halt> {
    let (Some(base), Some(_)) = (state.base.clone(), state.worktree.as_ref()) else {
        return Ok(None);
    };
    let (wp, branch, tree) = (state.id.clone(), state.branch.clone(), state.tree.clone());
    let committed = state.commit.clone();
    site.blocking(Check::Merge, move |site| {
        // An engine that died between the removal and its record has left nothing to remove.
        let Some(worktree) = site.find_worktree(wp.as_str(), branch.as_deref(), &base)? else {
            return Ok(Some(Event::WorktreeRemoved { wp, salvage: None }));
        };
        let tree = match tree {
            Some(tree) => tree,
            None => site.repo.tree_of(&base)?,
        };
        if let Some(why) = moved(site, branch.as_deref(), committed.as_ref())? {
            return Ok(Some(Event::WorktreeKept { wp, why }));
        }
        let users_of = |folder: &Path| users_of(site, folder);
        let began = Instant::now();
        loop {
            match worktree.remove_unless_used(&tree, &site.kept_out(), &users_of)? {
                Removal::Gone => return Ok(Some(Event::WorktreeRemoved { wp, salvage: None })),
                Removal::Refused(Refusal::InUse(_)) if began.elapsed() < LEAVING => {
                    std::thread::sleep(LEAVING / 20);
                }
                Removal::Refused(why) => {
                    return Ok(Some(Event::WorktreeKept { wp, why: why.to_string() }));
                }
            }
        }
    })
    .await
}

/// Why a branch that should hold a commit does not.
fn moved(
    site: &Site,
    branch: Option<&str>,
    commit: Option<&CommitId>,
) -> Result<Option<String>, GitError> {
    let (Some(branch), Some(commit)) = (branch, commit) else { return Ok(None) };
    let stands = site.repo.branch(branch)?;
    Ok((stands.as_ref() != Some(commit)).then(|| {
        let at = stands.map_or_else(|| "gone".to_owned(), |at| format!("at {}", at.short()));
        format!(
            "its branch {branch} is {at}, not at the commit that was checked ({})",
            commit.short()
        )
    }))
}

/// What somebody did to a WP after its work was checked: nobody's to do, and the paths to name.
///
/// # Errors
/// What git said.
pub async fn touched_since(site: &Arc<Site>, state: &WpState) -> Result<Vec<String>, Halt> {
    let (Some(base), Some(tree), Some(_)) =
        (state.base.clone(), state.tree.clone(), state.worktree.as_ref())
    else {
        return Ok(Vec::new());
    };
    let (wp, branch, commit) = (state.id.clone(), state.branch.clone(), state.commit.clone());
    site.blocking(Check::Merge, move |site| {
        let worktree = site.worktree(wp.as_str(), branch.as_deref(), &base)?;
        let mut touched = paths(&worktree, &tree, site)?;
        touched.extend(moved(site, branch.as_deref(), commit.as_ref())?);
        Ok(touched)
    })
    .await
}

fn paths(worktree: &Worktree, tree: &TreeId, site: &Site) -> Result<Vec<String>, GitError> {
    let changed = worktree.verify_settled(tree, &site.kept_out())?;
    Ok(changed.iter().map(|path| process::escape(path)).collect())
}
