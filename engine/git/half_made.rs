//! What an attempt to make a worktree left when it died, and what else may be in the way of one.

use std::collections::HashSet;
use std::io::ErrorKind;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::model::ids::CommitId;
use crate::plain_file;

use super::command::Git;
use super::error::GitError;
use super::ignore::IgnoreRules;
use super::index_file::Index;
use super::linked::Head;
use super::registry::Plan;
use super::repo::Repo;
use super::seed::write_whole;
use super::walk::Walk;
use super::worktree::{MARK, Worktree, WorktreeSpec};

impl Repo {
    /// Refuses what is in the way of a fresh worktree.
    pub(super) fn free(&self, plan: &Plan) -> Result<(), GitError> {
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
        match self.can_be_made(branch) {
            Err(GitError::BranchTaken { .. }) if self.revivable(plan)?.is_some() => Ok(()),
            other => other,
        }
    }

    /// That a branch of this name can be made: git takes it, and there is none.
    ///
    /// # Errors
    /// [`GitError::BadName`], [`GitError::BranchTaken`].
    pub fn can_be_made(&self, branch: &str) -> Result<(), GitError> {
        if !git2::Branch::name_is_valid(branch).unwrap_or(false) {
            return Err(GitError::BadName { name: branch.to_owned() });
        }
        match self.branch(branch)? {
            Some(at) => {
                Err(GitError::BranchTaken { branch: branch.to_owned(), at: at.short().to_owned() })
            }
            None => Ok(()),
        }
    }

    /// What a dead attempt registered whole: only the checkout is missing or half done.
    pub(super) fn adoptable(&self, plan: &Plan) -> Result<Option<PathBuf>, GitError> {
        let Some(admin) = self.admin_of(&plan.path) else {
            return Ok(None);
        };
        let head = plain_file::read_own(&admin.join("HEAD")).unwrap_or_default();
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
            if plain_file::read_own(&lock).is_ok_and(|why| why.starts_with(b"initializing")) {
                std::fs::remove_file(&lock).map_err(GitError::io("remove", &lock))?;
            }
        }
        Ok(whole.then_some(admin))
    }

    /// Takes away what an attempt that never finished left: nobody has worked there.
    pub(super) fn roll_back(&self, plan: &Plan) -> Result<(), GitError> {
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
                    self.only_checked_out(plan)?;
                    std::fs::remove_dir_all(&plan.path)
                        .map_err(GitError::io("remove", &plan.path))?;
                }
                std::fs::remove_dir_all(&admin).map_err(GitError::io("remove", &admin))?;
            }
        }
        // A folder that git had made and not linked yet, or linked to what is gone now.
        let link = plan.path.join(".git");
        if let Ok(said) = plain_file::read_own(&link)
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

    /// Refuses what a checkout of the plan's base would not have put there: somebody took it for finished.
    fn only_checked_out(&self, plan: &Plan) -> Result<(), GitError> {
        let index = Index::of_leaves(&self.leaves_of(&plan.base)?);
        let (rules, keep_out) = (IgnoreRules::default(), HashSet::new());
        let walk = Walk {
            root: &plan.path,
            index: &index,
            rules: &rules,
            keep_out: &keep_out,
            fingerprints: false,
        };
        let found = walk.run()?;
        let new = found.suspects.into_iter().filter(|it| it.entry.is_none()).map(|it| it.path);
        let new = new.chain(found.irregular.into_iter().map(|odd| odd.path)).next();
        new.map_or(Ok(()), |path| {
            let what = format!("a worktree that was never finished, and somebody's {path:?} in it");
            Err(GitError::PathTaken { path: plan.path.clone(), what })
        })
    }

    /// A finished worktree of this plan whose folder somebody removed.
    pub(super) fn revivable(&self, plan: &Plan) -> Result<Option<PathBuf>, GitError> {
        for (admin, place) in self.registered()? {
            let marked = || {
                plain_file::read_own(&admin.join(MARK))
                    .ok()
                    .and_then(|said| Plan::from_bytes(&said))
            };
            if place.as_deref() == Some(&plan.path) && marked().as_ref() == Some(plan) {
                return Ok(Some(admin));
            }
        }
        Ok(None)
    }

    /// Takes a worktree that somebody put back by hand, at the place of `spec` and on its branch, for the one that is
    /// wanted. One that is detached gets the branch back, unless that stands elsewhere. Nothing in it is touched; of no file
    /// in it is it known what it was, so each is looked at. `None` when it is no worktree of this repository, or on
    /// something else.
    ///
    /// # Errors
    /// Git cannot be asked, or what is to be known of it cannot be written.
    pub fn adopt_worktree(&self, spec: &WorktreeSpec) -> Result<Option<Worktree>, GitError> {
        let Ok(path) = spec.path.canonicalize() else { return Ok(None) };
        if self.is_claimed(&path) {
            return Ok(None);
        }
        let Some(admin) = self.admin_of(&path).filter(|admin| !admin.join(MARK).exists()) else {
            return Ok(None);
        };
        let Some(found) = self.worktree_at(&path)? else { return Ok(None) };
        match (found.head(), &spec.branch) {
            (Head::Branch(on, Some(_)), Some(branch)) if on == branch => {}
            (Head::Detached(at), Some(branch)) => {
                match self.branch(branch)? {
                    None => self.set_branch(branch, at, None)?,
                    Some(stands) if stands == *at => {}
                    Some(_) => return Ok(None),
                }
                let git = Git::new(&path, &admin).env("GIT_COMMON_DIR", self.common_dir());
                git.args(["symbolic-ref", "HEAD", &format!("refs/heads/{branch}")]).run()?;
            }
            _ => return Ok(None),
        }
        let plan =
            Plan { branch: spec.branch.clone(), base: spec.base.to_string(), path: path.clone() };
        let worktree = self.worktree(&plan, admin, &spec.seed);
        worktree.keep_blank_seed()?;
        write_whole(&worktree.git_dir().join(MARK), &worktree.mark()?)?;
        Ok(Some(worktree))
    }

    /// Gives a finished worktree its folder back; the branch stays where it is.
    pub(super) fn revive(&self, plan: &Plan) -> Result<Option<PathBuf>, GitError> {
        let Some(admin) = self.revivable(plan)? else {
            return Ok(None);
        };
        std::fs::create_dir_all(&plan.path).map_err(GitError::io("create", &plan.path))?;
        let link = plan.path.join(".git");
        let text = [b"gitdir: ", admin.as_os_str().as_bytes(), b"\n"].concat();
        std::fs::write(&link, text).map_err(GitError::io("write", &link))?;
        Ok(Some(admin))
    }
}

/// Git fills a new administrative folder within milliseconds; one that is empty for this long is nobody's.
fn older_than_a_while(path: &Path) -> bool {
    let changed = std::fs::metadata(path).and_then(|stat| stat.modified());
    changed.is_ok_and(|at| at.elapsed().is_ok_and(|age| age > Duration::from_secs(10)))
}
