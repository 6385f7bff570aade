//! Every worktree of a repository, whoever made it: the main checkout, those of runs, a lead's own, foreign ones.
//!
//! [`Worktree`](super::Worktree) is what `sop` made for a WP, with a seed to hold it against. Here nothing is
//! known but what git registered, so a folder is looked at whole, with index flags undone.
//!
//! | file | idea |
//! | --- | --- |
//! | [`condition`] | what is in it that is nowhere else, and what is going on in it |
//! | [`inside`] | what git passes over in silence: repositories, owners, mounts |
//! | `scratch_index` | an index that hides nothing, in a folder of its own |
//! | `own` | what only its registration names: refs and logs of its own |
//! | [`keep`] | all of it as commits |
//! | [`away`] | taken away, once it is proven or kept |

pub mod away;
pub mod condition;
pub mod inside;
pub mod keep;
pub(in crate::git) mod own;
mod scratch_index;

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use bstr::ByteSlice;

use crate::model::ids::CommitId;
use crate::plain_file;

use super::command::Git;
use super::error::GitError;
use super::registry::Plan;
use super::repo::Repo;
use super::seed::write_whole;
use super::worktree::MARK;

/// In the administrative folder of a worktree: what whoever had it made wants to know of it later.
const NOTE: &str = "sop-note";

/// A worktree as git has it registered.
#[derive(Debug, Clone)]
pub struct Linked {
    repo: Repo,
    path: Option<PathBuf>,
    admin: PathBuf,
    head: Head,
}

/// What a worktree's HEAD is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Head {
    /// On a branch, by short name; with its commit, unless it has none yet.
    Branch(String, Option<CommitId>),
    /// At a commit.
    Detached(CommitId),
    /// It says nothing that can be read.
    Unreadable,
}

impl Head {
    /// The commit it comes to.
    #[must_use]
    pub fn commit(&self) -> Option<&CommitId> {
        match self {
            Self::Branch(_, commit) => commit.as_ref(),
            Self::Detached(commit) => Some(commit),
            Self::Unreadable => None,
        }
    }

    /// The branch, if it is on one.
    #[must_use]
    pub fn branch(&self) -> Option<&str> {
        match self {
            Self::Branch(branch, _) => Some(branch),
            _ => None,
        }
    }
}

impl Linked {
    /// Its folder, whether it is there or not; `None` when git's registration does not say which.
    #[must_use]
    pub fn path(&self) -> Option<&Path> {
        self.path.as_deref()
    }

    /// Its administrative folder; for the main checkout the folder that all worktrees share.
    #[must_use]
    pub fn admin(&self) -> &Path {
        &self.admin
    }

    /// Whether it is the main checkout, which is never taken away.
    #[must_use]
    pub fn is_main(&self) -> bool {
        self.admin == self.repo.common_dir()
    }

    /// Where it stood when it was looked up.
    #[must_use]
    pub fn head(&self) -> &Head {
        &self.head
    }

    /// The same worktree, looked up anew: its HEAD may have moved.
    ///
    /// # Errors
    /// Its branch cannot be read.
    pub fn again(&self) -> Result<Self, GitError> {
        self.repo.linked(self.path.clone(), self.admin.clone())
    }

    /// Why a person locked it (`git worktree lock`), if one did.
    #[must_use]
    pub fn locked(&self) -> Option<String> {
        let said = plain_file::read_own(&self.admin.join("locked")).ok()?;
        Some(said.trim().to_str_lossy().into_owned())
    }

    /// The branch and the base that [`Repo::add_worktree`] made it with; `None` when it did not make it.
    #[must_use]
    pub fn made_as(&self) -> Option<(Option<String>, CommitId, PathBuf)> {
        let said = plain_file::read_own(&self.admin.join(MARK)).ok()?;
        Plan::from_bytes(&said).map(|plan| (plan.branch, CommitId(plan.base), plan.path))
    }

    /// What was noted about it.
    #[must_use]
    pub fn note(&self) -> Option<Vec<u8>> {
        plain_file::read_own(&self.admin.join(NOTE)).ok()
    }

    /// Notes something about it, for as long as it is registered.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn keep_note(&self, note: &[u8]) -> Result<(), GitError> {
        write_whole(&self.admin.join(NOTE), note)
    }

    /// Runs git in it.
    pub(super) fn run_in(&self, args: &[&str], more: &[&str]) -> Result<(), GitError> {
        self.git().args(args).args(more).run().map(drop)
    }

    /// A `git` command in it, which says itself where everything is.
    fn git(&self) -> Git {
        let git = match self.path.as_deref().filter(|path| path.is_dir()) {
            Some(path) => Git::new(path, &self.admin).env("GIT_WORK_TREE", path),
            None => Git::new(&self.admin, &self.admin),
        };
        // A folder called `.GIT` is none of git's, whatever the file system may once have been.
        let git = git.config("core.ignoreCase=false").config("submodule.recurse=false");
        git.env("GIT_COMMON_DIR", self.repo.common_dir())
    }
}

impl Repo {
    /// Every worktree: the main checkout first, unless the repository is bare, then as git lists them.
    ///
    /// # Errors
    /// The list cannot be read.
    pub fn all_worktrees(&self) -> Result<Vec<Linked>, GitError> {
        let mut found = Vec::new();
        if let Some(top) = self.main_checkout()? {
            found.push(self.linked(Some(top), self.common_dir().to_path_buf())?);
        }
        let mut registered = self.registered()?;
        registered.sort();
        for (admin, place) in registered {
            if admin.join("HEAD").exists() || place.is_some() {
                found.push(self.linked(place.map(|place| settled(&place)), admin)?);
            }
        }
        Ok(found)
    }

    /// The worktree at `path`, if one is registered there.
    ///
    /// # Errors
    /// As [`Repo::all_worktrees`].
    pub fn worktree_at(&self, path: &Path) -> Result<Option<Linked>, GitError> {
        let path = settled(path);
        Ok(self.all_worktrees()?.into_iter().find(|tree| tree.path() == Some(&path)))
    }

    /// The top of the main checkout, wherever in the repository the user is; `None` in a bare repository.
    ///
    /// # Errors
    /// Git cannot read the repository.
    pub fn main_checkout(&self) -> Result<Option<PathBuf>, GitError> {
        if self.git_dir() == self.common_dir() {
            return Ok(self.top().map(Path::to_path_buf));
        }
        let asked = |what: &str| {
            let git = Git::bare(self.common_dir()).env("GIT_DIR", self.common_dir());
            git.args(["rev-parse", "--path-format=absolute", what]).run_line()
        };
        if asked("--is-bare-repository")? == "true" {
            return Ok(None);
        }
        // Its folder is the one that `core.worktree` names, else the one that the shared folder lies in.
        let named = self.settings().path("core.worktree", self.common_dir());
        let top = named.or_else(|| self.common_dir().parent().map(Path::to_path_buf));
        Ok(top.and_then(|top| top.canonicalize().ok()))
    }

    fn leads_file(&self) -> PathBuf {
        self.shared_dir().join(".lead").join("branches")
    }

    /// Notes that a lead makes a branch of this name: what becomes of it is held against no worker. Gives whether that
    /// is news. Names of branches that are gone are dropped if `forget` says that nobody asks about them any more.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn note_branch_of_lead(
        &self,
        branch: &str,
        forget: impl FnOnce() -> bool,
    ) -> Result<bool, GitError> {
        let gone = |name: &[u8]| {
            name.to_str().is_ok_and(|name| self.branch(name).is_ok_and(|at| at.is_none()))
        };
        let forget = self.branches_of_leads().iter().any(|name| gone(name)) && forget();
        self.change_branches_of_leads(|names| {
            names.retain(|name| name == branch.as_bytes() || !(forget && gone(name)));
            let news = !names.iter().any(|name| name == branch.as_bytes());
            if news {
                names.push(branch.as_bytes().to_vec());
            }
            news
        })
    }

    /// Takes back that a lead makes a branch of this name: it was not made.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn forget_branch_of_lead(&self, branch: &str) -> Result<(), GitError> {
        self.change_branches_of_leads(|names| names.retain(|name| name != branch.as_bytes()))
    }

    /// One after the other: of two who change them at once, both do.
    fn change_branches_of_leads<T>(
        &self,
        change: impl FnOnce(&mut Vec<Vec<u8>>) -> T,
    ) -> Result<T, GitError> {
        let file = self.leads_file();
        if let Some(folder) = file.parent() {
            std::fs::create_dir_all(folder).map_err(GitError::io("create", folder))?;
        }
        let _turn = self.registry()?;
        let before = self.branches_of_leads();
        let mut names = before.clone();
        let done = change(&mut names);
        if names != before {
            let lines: Vec<u8> =
                names.iter().flat_map(|name| [name, &b"\n"[..]].concat()).collect();
            write_whole(&file, &lines)?;
        }
        Ok(done)
    }

    /// Branches that leads have made, by their short names.
    #[must_use]
    pub fn branches_of_leads(&self) -> Vec<Vec<u8>> {
        let lines = plain_file::read_own(&self.leads_file()).unwrap_or_default();
        lines.lines().filter(|line| !line.is_empty()).map(<[u8]>::to_vec).collect()
    }

    fn linked(&self, path: Option<PathBuf>, admin: PathBuf) -> Result<Linked, GitError> {
        let head = self.head_in(&admin)?;
        Ok(Linked { repo: self.clone(), path, admin, head })
    }

    fn head_in(&self, admin: &Path) -> Result<Head, GitError> {
        let Ok(said) = plain_file::read_own_linked(&admin.join("HEAD")) else {
            return Ok(Head::Unreadable);
        };
        let branch = said.strip_prefix(b"ref: refs/heads/").map(|name| name.trim().to_vec());
        if branch.as_deref() == Some(b".invalid") {
            return Ok(self.head_by_git(admin));
        }
        match branch {
            Some(name) => {
                let name = name.to_str_lossy().into_owned();
                // A branch that is another name of a branch is for git to follow.
                Ok(match self.branch(&name) {
                    Ok(at) => Head::Branch(name, at),
                    Err(_) => self.head_by_git(admin),
                })
            }
            None if matches!(said.trim().len(), 40 | 64) => {
                Ok(Head::Detached(CommitId(said.trim().to_str_lossy().into_owned())))
            }
            None => Ok(Head::Unreadable),
        }
    }

    /// Reftable keeps HEAD elsewhere and leaves a decoy in the file.
    fn head_by_git(&self, admin: &Path) -> Head {
        let git = || Git::new(admin, admin).env("GIT_COMMON_DIR", self.common_dir());
        let commit = git().args(["rev-parse", "--verify", "--quiet", "HEAD"]).run_line().ok();
        let commit = commit.map(CommitId);
        match (git().args(["symbolic-ref", "--quiet", "--short", "HEAD"]).run_line(), commit) {
            (Ok(branch), commit) => Head::Branch(branch, commit),
            (Err(_), Some(commit)) => Head::Detached(commit),
            (Err(_), None) => Head::Unreadable,
        }
    }
}

/// A path with its links resolved as far as it is there: what is gone is named by the folder it was in.
fn settled(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| {
        let parent = path.parent().and_then(|parent| parent.canonicalize().ok());
        match (parent, path.file_name()) {
            (Some(parent), Some(name)) => parent.join(name),
            _ => path.to_path_buf(),
        }
    })
}

/// A path of a worktree as the system takes it.
pub(super) fn on_disk(root: &Path, path: &[u8]) -> PathBuf {
    root.join(OsStr::from_bytes(path))
}
