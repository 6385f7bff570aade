//! Taking a worktree away without losing anything.
//!
//! A worktree goes only when its files are those of a tree that the caller has proven merged, or has just
//! salvaged; there is no way around that. What the base's rules ignore and what was provisioned goes with it.

use std::fmt;
use std::io::ErrorKind;
use std::path::Path;

use bstr::{BString, ByteSlice};

use crate::model::ids::{CommitId, RunId, TreeId, WpId};
use crate::plain_file;

use super::error::GitError;
use super::in_use::{self, User};
use super::irregular::{Irregular, IrregularKind};
use super::linked::away::{clear_aside, move_aside};
use super::objects::GITLINK;
use super::refs::Target;
use super::scope::Place;
use super::snapshot::SnapshotSpec;
use super::submodule;
use super::worktree::Worktree;

/// How a removal ended.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use]
pub enum Removal {
    /// The folder and its registration are gone.
    Gone,
    /// It was left as it is.
    Refused(Refusal),
}

/// Why a worktree was left alone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refusal {
    /// Files are not those of the tree that is safe elsewhere.
    Dirty(Vec<BString>),
    /// Something there cannot be in a tree, so it is safe nowhere else.
    Irregular(Vec<Irregular>),
    /// Processes work in it.
    InUse(Vec<User>),
    /// Submodules hold commits, or something staged, that no remote of theirs has.
    SubmoduleCommits(Vec<BString>),
    /// HEAD is at a commit that no ref holds.
    DetachedCommits(CommitId),
    /// Refs that only this worktree has hold these commits.
    OwnRefs(Vec<CommitId>),
    /// Refs that only this worktree has, by name, hold something that is no commit.
    OwnObjects(Vec<BString>),
    /// A person locked it (`git worktree lock`), for this reason.
    Locked(String),
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let list = |paths: &[BString]| {
            let shown: Vec<String> =
                paths.iter().take(5).map(|path| Place::Path(path.clone()).to_string()).collect();
            let more = if paths.len() > 5 {
                format!(" and {} more", paths.len() - 5)
            } else {
                String::new()
            };
            format!("{}{more}", shown.join(", "))
        };
        match self {
            Self::Dirty(paths) => {
                write!(f, "it holds changes that are nowhere else: {}", list(paths))
            }
            Self::Irregular(odd) => {
                let paths: Vec<BString> = odd.iter().map(|odd| odd.path.clone()).collect();
                write!(f, "it holds what no commit can: {}", list(&paths))
            }
            Self::InUse(users) => {
                let shown: Vec<String> =
                    users.iter().map(|user| format!("{} ({})", user.pid, user.name)).collect();
                write!(f, "a process works in it: {}", shown.join(", "))
            }
            Self::SubmoduleCommits(paths) => {
                write!(f, "submodules hold commits that are nowhere else: {}", list(paths))
            }
            Self::DetachedCommits(at) => {
                write!(f, "its HEAD is at commit {}, which no branch holds", at.short())
            }
            Self::OwnRefs(commits) => {
                let shown: Vec<&str> = commits.iter().take(5).map(CommitId::short).collect();
                write!(f, "refs of its own hold commits that no other has: {}", shown.join(", "))
            }
            Self::OwnObjects(names) => {
                write!(f, "refs of its own hold what no other has: {}", list(names))
            }
            Self::Locked(why) => write!(f, "it is locked: {}", why.escape_debug()),
        }
    }
}

/// What a salvage kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Salvage {
    /// The ref that holds it.
    pub name: String,
    /// The commit. Its first parent is where the branch stood; further ones are a detached HEAD and an earlier salvage.
    pub commit: CommitId,
    /// Its tree: everything on disk that is neither ignored nor provisioned.
    pub tree: TreeId,
    /// What could not be kept, because no commit can hold it.
    pub left_out: Vec<Irregular>,
}

impl Worktree {
    /// Keeps everything in the worktree, untracked files included, as a commit under
    /// `refs/sop/salvage/<run>/<wp>`. The worktree is not touched. `when`: seconds since 1970.
    ///
    /// # Errors
    /// As [`Worktree::snapshot`], or the commit cannot be stored.
    pub fn salvage(
        &self,
        run: &RunId,
        wp: &WpId,
        spec: &SnapshotSpec,
        when: i64,
    ) -> Result<Salvage, GitError> {
        let repo = self.repo();
        let found = self.snapshot(spec)?;
        let name = format!("refs/sop/salvage/{run}/{wp}");
        let earlier = match repo.read_ref(&name)? {
            Some(Target::Direct(id)) => Some(id),
            _ => None,
        };
        let mut parents = vec![found.branch_at.unwrap_or(found.base)];
        // Commits that no branch holds would be lost with the worktree's HEAD.
        let detached = self.detached_at()?.filter(|at| !parents.contains(at));
        parents.extend(detached.filter(|at| repo.tree_of(at).is_ok()));
        if let Some(earlier) = &earlier {
            // Salvaging the same thing again, as after a crash, keeps it once.
            if repo.tree_of(earlier)? == found.tree
                && repo.parents_of(earlier)?.starts_with(&parents)
            {
                return Ok(Salvage {
                    name,
                    commit: earlier.clone(),
                    tree: found.tree,
                    left_out: found.irregular,
                });
            }
            parents.push(earlier.clone());
        }
        let message = format!("Salvaged from {run}/{wp}");
        let commit = repo.commit_tree(&found.tree, &parents, &message, &repo.identity(), when)?;
        repo.set_ref(&name, &commit, earlier.as_ref())?;
        Ok(Salvage { name, commit, tree: found.tree, left_out: found.irregular })
    }

    /// Removes the worktree if everything in it is in the tree `kept`, nobody works in it and nobody locked it.
    /// Safe to call again after a crash. The branch stays: see [`super::Repo::delete_branch`].
    ///
    /// # Errors
    /// It could not be looked at, or not be removed whole; what is left is removed by the next call.
    pub fn remove(&self, kept: &TreeId, keep_out: &[BString]) -> Result<Removal, GitError> {
        self.remove_unless_used(kept, keep_out, &in_use::users_of)
    }

    /// As [`Worktree::remove`], where `users_of` says who works in a folder at some moment after it is asked.
    ///
    /// # Errors
    /// As [`Worktree::remove`].
    pub fn remove_unless_used(
        &self,
        kept: &TreeId,
        keep_out: &[BString],
        users_of: &dyn Fn(&Path) -> Vec<User>,
    ) -> Result<Removal, GitError> {
        if self.path().symlink_metadata().is_ok() {
            if let Some(refusal) = self.refusal(kept, keep_out, users_of)? {
                return Ok(Removal::Refused(refusal));
            }
            move_aside(self.path(), self.git_dir())?;
        }
        clear_aside(self.git_dir())?;
        self.repo().unregister(self.git_dir())?;
        match std::fs::remove_file(self.seed()) {
            Err(error) if error.kind() != ErrorKind::NotFound => {
                Err(GitError::io("remove", self.seed())(error))
            }
            _ => Ok(Removal::Gone),
        }
    }

    fn refusal(
        &self,
        kept: &TreeId,
        keep_out: &[BString],
        users_of: &dyn Fn(&Path) -> Vec<User>,
    ) -> Result<Option<Refusal>, GitError> {
        let lock = self.git_dir().join("locked");
        if let Ok(why) = plain_file::read_own(&lock) {
            return Ok(Some(Refusal::Locked(why.trim().to_str_lossy().into_owned())));
        }
        let users = users_of(self.path());
        if !users.is_empty() {
            return Ok(Some(Refusal::InUse(users)));
        }
        let spec = SnapshotSpec { keep_out: keep_out.to_vec(), ..SnapshotSpec::at(self.base()) };
        let found = self.snapshot(&spec)?;
        let changes = self.repo().diff_trees(kept, &found.tree)?;
        if !changes.is_empty() {
            return Ok(Some(Refusal::Dirty(
                changes.into_iter().map(|change| change.path).collect(),
            )));
        }
        if let Some(at) = self.detached_at()?.filter(|at| at != self.base())
            && self.repo().tree_of(&at).is_ok()
            && !self.repo().is_held(&at)?
        {
            return Ok(Some(Refusal::DetachedCommits(at)));
        }
        // Its log is not asked: what a worker committed was folded into the files that were checked.
        let own = self.repo().own_by_refs(self.git_dir())?;
        if !own.refs.is_empty() {
            return Ok(Some(Refusal::OwnRefs(own.refs)));
        }
        if !own.objects.is_empty() {
            return Ok(Some(Refusal::OwnObjects(own.objects)));
        }
        // Pipes, sockets and devices hold no data.
        let holds = |odd: &Irregular| {
            !matches!(odd.kind, IrregularKind::Pipe | IrregularKind::Socket | IrregularKind::Device)
        };
        let mut odd: Vec<Irregular> = found.irregular.into_iter().filter(holds).collect();
        if self.path().join(".git").is_dir() {
            // In place of the link: a history of the worker's own.
            odd.push(Irregular { path: ".git".into(), kind: IrregularKind::NestedRepository });
        }
        if !odd.is_empty() {
            return Ok(Some(Refusal::Irregular(odd)));
        }
        let leaves = self.repo().leaves_of(kept.as_str())?.into_iter();
        let links: Vec<BString> =
            leaves.filter(|(_, leaf)| leaf.mode == GITLINK).map(|(path, _)| path).collect();
        let only_here = submodule::own_work(Some(self.path()), self.git_dir(), &links)?;
        Ok((!only_here.is_empty()).then_some(Refusal::SubmoduleCommits(only_here)))
    }
}
