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
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::model::ids::CommitId;

use super::command::Git;
use super::error::GitError;
use super::registry::{Claim, Plan};
use super::repo::Repo;

/// In a worktree's administrative folder: it stands, and what it was made as.
pub(super) const MARK: &str = "sop-ready";
/// Beside the mark: it was found safe to remove, and is being removed.
pub(super) const REMOVING: &str = "sop-removing";
/// How long the clock of a file system may stand still.
const CLOCK_PATIENCE: Duration = Duration::from_secs(5);

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

    /// What its `.git` file must hold.
    pub(super) fn link(&self) -> Vec<u8> {
        [b"gitdir: ", self.admin.as_os_str().as_bytes(), b"\n"].concat()
    }

    fn plan(&self) -> Plan {
        Plan { branch: self.branch.clone(), base: self.base.to_string(), path: self.path.clone() }
    }

    /// The mark: the plan, and which file is the seed (its inode and the time of its last change).
    fn mark(&self) -> Result<Vec<u8>, GitError> {
        let seed = std::fs::metadata(&self.seed).map_err(GitError::io("read", &self.seed))?;
        let stamp = format!("{} {} {}", seed.ino(), seed.ctime(), seed.ctime_nsec());
        Ok([&self.plan().to_bytes()[..], stamp.as_bytes(), b"\0"].concat())
    }

    /// Whether the seed is the file that was kept when the worktree was made.
    pub(super) fn seed_is_sound(&self) -> bool {
        let said = std::fs::read(self.admin.join(MARK));
        matches!((said, self.mark()), (Ok(said), Ok(mark)) if said == mark)
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
        let Ok(said) = std::fs::read(admin.join(MARK)) else {
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

    fn worktree(&self, plan: &Plan, admin: PathBuf, seed: &Path) -> Worktree {
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
        std::fs::create_dir_all(parent).map_err(GitError::io("create", parent))?;
        let place = parent.canonicalize().map_err(GitError::io("find", parent))?.join(name);
        if place.starts_with(self.common_dir())
            || self.top().is_some_and(|top| place.starts_with(top))
        {
            return Err(taken("it lies inside the repository; worktrees live outside"));
        }
        Ok(place)
    }

    /// The administrative folder that the `.git` file in `path` points to, if it is one of this repository
    /// and points back.
    fn admin_of(&self, path: &Path) -> Option<PathBuf> {
        let link = path.join(".git");
        let said = std::fs::read(&link).ok()?;
        let admin = PathBuf::from(std::ffi::OsStr::from_bytes(
            said.strip_prefix(b"gitdir: ")?.trim_ascii_end(),
        ));
        let back = std::fs::read(admin.join("gitdir")).ok()?;
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
            Some(branch) => git.args(["--no-track", "-b", branch]),
            None => git.arg("--detach"),
        };
        let added = git.arg(&plan.path).arg(&plan.base).holding(lock.lend()?).run();
        if let Err(error) = added {
            return self.revive(plan)?.ok_or(error);
        }
        self.admin_of(&plan.path).ok_or_else(|| GitError::NotAWorktree {
            path: plan.path.clone(),
            what: "git made it, and yet its link is not what it should be".to_owned(),
        })
    }

    /// Refuses what is in the way of a fresh worktree.
    fn free(&self, plan: &Plan) -> Result<(), GitError> {
        let taken = |what: &str| {
            Err(GitError::PathTaken { path: plan.path.clone(), what: what.to_owned() })
        };
        match std::fs::symlink_metadata(&plan.path) {
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(error) => return Err(GitError::io("look at", &plan.path)(error)),
            Ok(there) if there.is_dir() => {
                let mut inside =
                    std::fs::read_dir(&plan.path).map_err(GitError::io("list", &plan.path))?;
                if inside.next().is_some() {
                    return taken("a folder with something in it");
                }
            }
            Ok(there) if there.is_symlink() => return taken("a symbolic link"),
            Ok(_) => return taken("a file"),
        }
        let Some(branch) = &plan.branch else {
            return Ok(());
        };
        if !git2::Branch::name_is_valid(branch).unwrap_or(false) {
            return Err(GitError::BadName { name: branch.clone() });
        }
        match self.branch(branch)? {
            Some(at) if self.revivable(plan)?.is_none() => {
                Err(GitError::BranchTaken { branch: branch.clone(), at: at.short().to_owned() })
            }
            _ => Ok(()),
        }
    }

    /// What a dead attempt registered whole: only the checkout is missing or half done.
    fn adoptable(&self, plan: &Plan) -> Result<Option<PathBuf>, GitError> {
        let Some(admin) = self.admin_of(&plan.path) else {
            return Ok(None);
        };
        let head = std::fs::read(admin.join("HEAD")).unwrap_or_default();
        let wanted = match &plan.branch {
            Some(branch) => format!("ref: refs/heads/{branch}"),
            None => plan.base.clone(),
        };
        let at_base = match &plan.branch {
            Some(branch) => self.branch(branch)?.is_some_and(|at| at.as_str() == plan.base),
            None => true,
        };
        let whole = admin.join("commondir").is_file()
            && head.trim_ascii_end() == wanted.as_bytes()
            && at_base;
        if whole {
            let lock = admin.join("locked");
            if std::fs::read(&lock).is_ok_and(|why| why.starts_with(b"initializing")) {
                std::fs::remove_file(&lock).map_err(GitError::io("remove", &lock))?;
            }
        }
        Ok(whole.then_some(admin))
    }

    /// Takes away what an attempt that never finished left: nobody has worked there.
    fn roll_back(&self, plan: &Plan) -> Result<(), GitError> {
        if self.revivable(plan)?.is_some() {
            return Ok(());
        }
        let name = plan.path.file_name().unwrap_or_default().as_bytes();
        for (admin, place) in self.registered()? {
            // Git fills `gitdir` in only after it made the folder; by then it is named after the worktree.
            let nameless = place.is_none() && {
                let rest = admin
                    .file_name()
                    .map(OsStrExt::as_bytes)
                    .and_then(|admin| admin.strip_prefix(name));
                rest.is_some_and(|rest| rest.iter().all(u8::is_ascii_digit))
                    && older_than_a_while(&admin)
            };
            if (nameless || place.as_deref() == Some(&plan.path)) && !admin.join(MARK).exists() {
                let ours = self.admin_of(&plan.path).is_some_and(|at| at == admin);
                if ours {
                    std::fs::remove_dir_all(&plan.path)
                        .map_err(GitError::io("remove", &plan.path))?;
                }
                std::fs::remove_dir_all(&admin).map_err(GitError::io("remove", &admin))?;
            }
        }
        // A folder that git had made and not linked yet, or linked to what is gone now.
        let link = plan.path.join(".git");
        if let Ok(said) = std::fs::read(&link)
            && let Some(admin) = said.strip_prefix(b"gitdir: ")
            && !Path::new(std::ffi::OsStr::from_bytes(admin.trim_ascii_end())).exists()
            && std::fs::read_dir(&plan.path).is_ok_and(|inside| inside.count() == 1)
        {
            std::fs::remove_file(&link).map_err(GitError::io("remove", &link))?;
        }
        // Only an empty folder goes; what else is there is named by the next look.
        let _ = std::fs::remove_dir(&plan.path);
        if let Some(branch) = &plan.branch
            && self.branch(branch)?.is_some_and(|at| at.as_str() == plan.base)
        {
            self.delete_branch(branch, &CommitId(plan.base.clone()))?;
        }
        Ok(())
    }

    /// A finished worktree of this plan whose folder somebody removed.
    fn revivable(&self, plan: &Plan) -> Result<Option<PathBuf>, GitError> {
        for (admin, place) in self.registered()? {
            let marked =
                || std::fs::read(admin.join(MARK)).ok().and_then(|said| Plan::from_bytes(&said));
            if place.as_deref() == Some(&plan.path) && marked().as_ref() == Some(plan) {
                return Ok(Some(admin));
            }
        }
        Ok(None)
    }

    /// Gives a finished worktree its folder back; the branch stays where it is.
    fn revive(&self, plan: &Plan) -> Result<Option<PathBuf>, GitError> {
        let Some(admin) = self.revivable(plan)? else {
            return Ok(None);
        };
        std::fs::create_dir_all(&plan.path).map_err(GitError::io("create", &plan.path))?;
        let link = plan.path.join(".git");
        let text = [b"gitdir: ", admin.as_os_str().as_bytes(), b"\n"].concat();
        std::fs::write(&link, text).map_err(GitError::io("write", &link))?;
        Ok(Some(admin))
    }

    /// Fills a registered worktree, keeps its seed, marks it as standing.
    fn check_out(
        &self,
        claim: &Claim,
        plan: &Plan,
        admin: PathBuf,
        seed: &Path,
    ) -> Result<Worktree, GitError> {
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
        let git = worktree.git().args(["reset", "--hard", "--quiet", "--no-recurse-submodules"]);
        git.arg("HEAD").holding(claim.lend()?).run()?;
        worktree.keep_seed()?;
        write_whole(&worktree.admin.join(MARK), &worktree.mark()?)?;
        Ok(worktree)
    }
}

impl Worktree {
    /// Keeps the index of the fresh checkout. When this returns, the clock has moved past every time stamp in
    /// it, so that no later change of a file can look as old as the checkout.
    fn keep_seed(&self) -> Result<(), GitError> {
        let index = self.admin.join("index");
        let bytes = std::fs::read(&index).map_err(GitError::io("read", &index))?;
        if let Some(folder) = self.seed.parent() {
            std::fs::create_dir_all(folder).map_err(GitError::io("create", folder))?;
        }
        write_whole(&self.seed, &bytes)?;
        let stat = std::fs::metadata(&index).map_err(GitError::io("read", &index))?;
        let written = (stat.ctime(), stat.ctime_nsec());
        let beside = self.path.parent().unwrap_or(&self.path);
        let deadline = Instant::now() + CLOCK_PATIENCE;
        loop {
            let probe = tempfile::Builder::new().prefix(".sop-clock-").tempfile_in(beside);
            let probe = probe
                .and_then(|probe| probe.as_file().metadata())
                .map_err(GitError::io("write in", beside))?;
            if (probe.ctime(), probe.ctime_nsec()) > written {
                return Ok(());
            }
            if Instant::now() > deadline {
                let what = "the clock of its file system does not move on".to_owned();
                return Err(GitError::NotAWorktree { path: self.path.clone(), what });
            }
            std::thread::sleep(Duration::from_millis(1));
        }
    }
}

/// Writes a file so that it is there whole or not at all.
pub(super) fn write_whole(path: &Path, bytes: &[u8]) -> Result<(), GitError> {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(".new");
    let fresh = path.with_file_name(name);
    std::fs::write(&fresh, bytes).map_err(GitError::io("write", &fresh))?;
    std::fs::rename(&fresh, path).map_err(GitError::io("write", path))
}

/// Git fills a new administrative folder within milliseconds; one that is empty for this long is nobody's.
fn older_than_a_while(path: &Path) -> bool {
    let changed = std::fs::metadata(path).and_then(|stat| stat.modified());
    changed.is_ok_and(|at| at.elapsed().is_ok_and(|age| age > Duration::from_secs(10)))
}
