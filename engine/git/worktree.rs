//! A worktree for a work package, or (detached) for a stage gate.
//!
//! Making one is idempotent: after a kill at any instant, [`Repo::add_worktree`] with the same spec ends with
//! the same worktree. The order is: claim the path, register under the lock, check out outside it, keep the
//! seed, write the mark. Until the mark is there nobody has worked in the folder and it may be rolled back;
//! from then on its content is somebody's work and is only ever looked at.
//!
//! A worktree is always whole, even when the user's checkout is sparse: what a Definition of Done needs, no
//! pattern tells. The user's hooks do not run; filters (LFS) do.

use std::io::ErrorKind;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use crate::model::ids::CommitId;
use crate::plain_file;

use super::command::Git;
use super::error::GitError;
use super::linked::away::clear_aside;
use super::registry::{Claim, Plan};
use super::repo::Repo;
use super::seed::write_whole;

/// In a worktree's administrative folder: it stands, and what it was made as.
pub(super) const MARK: &str = "sop-ready";
/// Beside the mark: it was found safe to remove, and is being removed.
pub(super) const REMOVING: &str = "sop-removing";
/// What worktree is wanted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorktreeSpec {
    /// Where; absolute, outside the repository. Missing parents are made.
    pub path: PathBuf,
    /// The branch to make for it, by short name; `None` for a detached checkout.
    pub branch: Option<String>,
    /// The commit to check out.
    pub base: CommitId,
    /// Where to keep the seed (the checkout's stat data), out of the worker's way: in the run directory.
    pub seed: PathBuf,
}

/// A worktree that stands.
#[derive(Debug, Clone)]
pub struct Worktree {
    repo: Repo,
    path: PathBuf,
    admin: PathBuf,
    branch: Option<String>,
    base: CommitId,
    seed: PathBuf,
}

impl Worktree {
    /// Its folder.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Its branch, by short name; `None` when it was made detached.
    #[must_use]
    pub fn branch(&self) -> Option<&str> {
        self.branch.as_deref()
    }

    /// The commit it was made from.
    #[must_use]
    pub fn base(&self) -> &CommitId {
        &self.base
    }

    /// Its administrative folder inside the common directory.
    #[must_use]
    pub fn git_dir(&self) -> &Path {
        &self.admin
    }

    /// The seed file.
    #[must_use]
    pub fn seed(&self) -> &Path {
        &self.seed
    }

    /// The repository it belongs to.
    #[must_use]
    pub fn repo(&self) -> &Repo {
        &self.repo
    }

    /// A `git` command inside it. Says itself where everything is, because the worker can rewrite what git
    /// would find by itself.
    pub(super) fn git(&self) -> Git {
        Git::new(&self.path, &self.admin)
            .env("GIT_WORK_TREE", &self.path)
            .env("GIT_COMMON_DIR", self.repo.common_dir())
            .config("core.sparseCheckout=false")
    }

    /// As [`Worktree::git`], for hashing: works even when the worker broke the administrative folder.
    pub(super) fn hasher(&self) -> Git {
        Git::new(&self.path, self.repo.common_dir())
            .env("GIT_WORK_TREE", &self.path)
            .env("GIT_INDEX_FILE", self.admin.join("index"))
    }

    /// What its `.git` file must hold.
    pub(super) fn link(&self) -> Vec<u8> {
        [b"gitdir: ", self.admin.as_os_str().as_bytes(), b"\n"].concat()
    }

    pub(super) fn plan(&self) -> Plan {
        Plan { branch: self.branch.clone(), base: self.base.to_string(), path: self.path.clone() }
    }
}

impl Repo {
    /// Makes a worktree, or finishes making it, or finds it standing with whatever work is in it.
    ///
    /// # Errors
    /// [`GitError::PathTaken`] and [`GitError::BranchTaken`] when something foreign is there (it is left alone);
    /// otherwise what the system or git said, and then nothing half-made is left behind.
    pub fn add_worktree(&self, spec: &WorktreeSpec) -> Result<Worktree, GitError> {
        let path = self.place(&spec.path)?;
        let plan =
            Plan { branch: spec.branch.clone(), base: spec.base.to_string(), path: path.clone() };
        // The usual question. The mark is written last, so nobody is at work on what has it.
        if !self.is_claimed(&path)
            && let Some(standing) = self.standing(&path, &plan, &spec.seed)?
        {
            return Ok(standing);
        }
        let mut claim = self.claim(&path)?;
        if let Some(standing) = self.standing(&path, &plan, &spec.seed)? {
            claim.done()?;
            return Ok(standing);
        }
        let registered = self.register(&mut claim, &plan);
        let made = registered.and_then(|admin| self.check_out(&claim, &plan, admin, &spec.seed));
        if made.is_err() && claim.unfinished.as_ref() == Some(&plan) {
            let _lock = self.registry()?;
            self.roll_back(&plan)?;
        }
        claim.done()?;
        made
    }

    /// The worktree of a spec as [`Repo::add_worktree`] finished it, even if its folder is gone by now; `None` when
    /// there is none. Makes nothing.
    ///
    /// # Errors
    /// [`GitError::PathTaken`] when another worktree is there.
    pub fn find_worktree(&self, spec: &WorktreeSpec) -> Result<Option<Worktree>, GitError> {
        let Some((parent, name)) = spec.path.parent().zip(spec.path.file_name()) else {
            return Ok(None);
        };
        let Ok(parent) = parent.canonicalize() else {
            return Ok(None);
        };
        let path = parent.join(name);
        let plan =
            Plan { branch: spec.branch.clone(), base: spec.base.to_string(), path: path.clone() };
        if let Some(standing) = self.standing(&path, &plan, &spec.seed)? {
            return Ok(Some(standing));
        }
        Ok(self.revivable(&plan)?.map(|admin| self.worktree(&plan, admin, &spec.seed)))
    }

    /// The worktree at `path` if it was finished as `plan` says.
    fn standing(
        &self,
        path: &Path,
        plan: &Plan,
        seed: &Path,
    ) -> Result<Option<Worktree>, GitError> {
        let Some(admin) = self.admin_at(path)? else {
            return Ok(None);
        };
        let Ok(said) = plain_file::read_own(&admin.join(MARK)) else {
            return Ok(None);
        };
        match Plan::from_bytes(&said) {
            Some(found) if found == *plan => Ok(Some(self.worktree(plan, admin, seed))),
            found => {
                let branch = found
                    .and_then(|found| found.branch)
                    .unwrap_or_else(|| "a detached commit".to_owned());
                Err(GitError::PathTaken {
                    path: path.to_path_buf(),
                    what: format!("a worktree of another kind ({branch})"),
                })
            }
        }
    }

    pub(super) fn worktree(&self, plan: &Plan, admin: PathBuf, seed: &Path) -> Worktree {
        let (path, branch, base) =
            (plan.path.clone(), plan.branch.clone(), CommitId(plan.base.clone()));
        Worktree { repo: self.clone(), path, admin, branch, base, seed: seed.to_path_buf() }
    }

    /// The place for a worktree, with its parents made and their links resolved.
    fn place(&self, path: &Path) -> Result<PathBuf, GitError> {
        let taken =
            |what: &str| GitError::PathTaken { path: path.to_path_buf(), what: what.to_owned() };
        let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
            return Err(taken("it is no place for a folder"));
        };
        if !path.is_absolute() {
            return Err(taken("the path is not absolute"));
        }
        let inside = |place: &Path| {
            place.starts_with(self.common_dir())
                || self.top().is_some_and(|top| place.starts_with(top))
        };
        // As far as it exists: nothing is made in the repository only to be refused.
        let there = parent.ancestors().find_map(|above| above.canonicalize().ok());
        let place = match there {
            Some(there) if inside(&there) => there,
            _ => {
                std::fs::create_dir_all(parent).map_err(GitError::io("create", parent))?;
                parent.canonicalize().map_err(GitError::io("find", parent))?.join(name)
            }
        };
        match inside(&place) {
            true => Err(taken("it lies inside the repository; worktrees live outside")),
            false => Ok(place),
        }
    }

    /// The administrative folder that the `.git` file in `path` points to, if it is one of this repository
    /// and points back.
    pub(super) fn admin_of(&self, path: &Path) -> Option<PathBuf> {
        let link = path.join(".git");
        let said = plain_file::read_own(&link).ok()?;
        let admin = PathBuf::from(std::ffi::OsStr::from_bytes(
            said.strip_prefix(b"gitdir: ")?.trim_ascii_end(),
        ));
        let back = plain_file::read_own(&admin.join("gitdir")).ok()?;
        let ours = admin.parent() == Some(&self.common_dir().join("worktrees"));
        (ours && back.trim_ascii_end() == link.as_os_str().as_bytes()).then_some(admin)
    }

    /// As [`Repo::admin_of`]; when the link is missing or rewritten, the folder registered for this path.
    fn admin_at(&self, path: &Path) -> Result<Option<PathBuf>, GitError> {
        match self.admin_of(path) {
            None if path.is_dir() => {
                let registered = self.registered()?.into_iter();
                Ok(registered
                    .filter(|(_, place)| place.as_deref() == Some(path))
                    .map(|(admin, _)| admin)
                    .next())
            }
            admin => Ok(admin),
        }
    }

    /// Under the registry lock: registers the worktree without a checkout, or adopts what a dead attempt left.
    fn register(&self, claim: &mut Claim, plan: &Plan) -> Result<PathBuf, GitError> {
        let lock = self.registry()?;
        if let Some(unfinished) = claim.unfinished.clone() {
            if unfinished == *plan
                && let Some(admin) = self.adoptable(plan)?
            {
                return Ok(admin);
            }
            self.roll_back(&unfinished)?;
            claim.unfinished = None;
        }
        self.free(plan)?;
        claim.state(plan)?;
        claim.unfinished = Some(plan.clone());
        let mut git = self
            .git()
            .config("worktree.useRelativePaths=false")
            .config("worktree.guessRemote=false");
        git = git.args(["worktree", "add", "--quiet", "--no-checkout"]);
        git = match &plan.branch {
            Some(branch) => git.arg(&plan.path).arg(branch),
            None => git.arg("--detach").arg(&plan.path).arg(&plan.base),
        };
        // With `-b`, git would start another git for the branch.
        let base = CommitId(plan.base.clone());
        let branched = match &plan.branch {
            Some(branch) => self.set_branch(branch, &base, None),
            None => Ok(()),
        };
        let held = lock.lend()?;
        if let Err(error) = branched.and_then(|()| git.holding(held).run()) {
            return self.revive(plan)?.ok_or(error);
        }
        self.admin_of(&plan.path).ok_or_else(|| GitError::NotAWorktree {
            path: plan.path.clone(),
            what: "git made it, and yet its link is not what it should be".to_owned(),
        })
    }

    /// Fills a registered worktree, keeps its seed, marks it as standing.
    fn check_out(
        &self,
        claim: &Claim,
        plan: &Plan,
        admin: PathBuf,
        seed: &Path,
    ) -> Result<Worktree, GitError> {
        // What a removal that was cut short had moved aside. Where something came into it since, it stays there.
        match clear_aside(&admin) {
            Ok(()) | Err(GitError::CameSince { .. }) => {}
            Err(error) => return Err(error),
        }
        for stale in ["index.lock", "HEAD.lock", "info/sparse-checkout", REMOVING] {
            match std::fs::remove_file(admin.join(stale)) {
                Err(error) if error.kind() != ErrorKind::NotFound => {
                    return Err(GitError::io("remove", &admin.join(stale))(error));
                }
                _ => {}
            }
        }
        let worktree = self.worktree(plan, admin, seed);
        if worktree.admin.join("config.worktree").exists() {
            worktree.git().args(["config", "--worktree", "core.sparseCheckout", "false"]).run()?;
        }
        // As `git reset --hard`, but for the log and the notes that nobody needs in a new worktree.
        let git = worktree.git().args(["read-tree", "--reset", "-u", "--no-recurse-submodules"]);
        git.arg("HEAD").holding(claim.lend()?).run()?;
        worktree.keep_seed()?;
        write_whole(&worktree.admin.join(MARK), &worktree.mark()?)?;
        Ok(worktree)
    }
}
