//! A repository: found from a folder, and what in it stands in the way of a run.

use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use super::command::Git;
use super::error::GitError;
use super::objects::Identity;
use super::settings::Settings;
use crate::process::escape_path;

/// The oldest git that has `merge-tree --write-tree`.
const OLDEST_GIT: (u32, u32) = (2, 38);

/// A git repository. Cheap to clone; every method may be called from any thread.
#[derive(Clone)]
pub struct Repo {
    inner: Arc<Inner>,
}

struct Inner {
    top: Option<PathBuf>,
    git_dir: PathBuf,
    common_dir: PathBuf,
    /// Idle libgit2 handles (one is not `Sync`); `None` when libgit2 cannot open the repository.
    pool: Option<Mutex<Vec<git2::Repository>>>,
    sha256: bool,
    settings: OnceLock<Settings>,
}

impl std::fmt::Debug for Repo {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Repo").field("common_dir", &self.inner.common_dir).finish_non_exhaustive()
    }
}

impl Repo {
    /// Finds the repository that `from` lies in, by looking upward. `GIT_DIR` and its kin are not heeded.
    ///
    /// # Errors
    /// [`GitError::NotARepository`], or git's own words when it refuses (ownership, a broken repository).
    pub fn discover(from: &Path) -> Result<Self, GitError> {
        match git2::Repository::discover(from) {
            Ok(repo) => {
                let absolute =
                    |path: &Path| path.canonicalize().map_err(GitError::io("find", path));
                let top = repo.workdir().map(absolute).transpose()?;
                let (git_dir, common_dir) = (absolute(repo.path())?, absolute(repo.commondir())?);
                Ok(Self::from_parts(top, git_dir, common_dir, Some(Mutex::new(vec![repo])), false))
            }
            Err(_) => Self::discover_by_git(from),
        }
    }

    fn discover_by_git(from: &Path) -> Result<Self, GitError> {
        if !from.is_dir() {
            return Err(GitError::NotARepository { from: from.to_path_buf() });
        }
        let ask = |what: &str| {
            let out = Git::bare(from).args(["rev-parse", "--path-format=absolute", what]).run();
            out.map(|mut out| {
                out.pop_if(|last| *last == b'\n');
                PathBuf::from(std::ffi::OsStr::from_bytes(&out))
            })
        };
        let git_dir = ask("--absolute-git-dir").map_err(|error| match &error {
            GitError::Failed { stderr, .. } if stderr.contains("not a git repository") => {
                GitError::NotARepository { from: from.to_path_buf() }
            }
            _ => error,
        })?;
        let common_dir = ask("--git-common-dir")?;
        let bare = ask("--is-bare-repository")? == Path::new("true");
        let top = if bare { None } else { Some(ask("--show-toplevel")?) };
        let sha256 = ask("--show-object-format")? == Path::new("sha256");
        Ok(Self::from_parts(top, git_dir, common_dir, None, sha256))
    }

    fn from_parts(
        top: Option<PathBuf>,
        git_dir: PathBuf,
        common_dir: PathBuf,
        pool: Option<Mutex<Vec<git2::Repository>>>,
        sha256: bool,
    ) -> Self {
        Self {
            inner: Arc::new(Inner {
                top,
                git_dir,
                common_dir,
                pool,
                sha256,
                settings: OnceLock::new(),
            }),
        }
    }

    /// The top folder of the checkout that the user is in; `None` in a bare repository.
    #[must_use]
    pub fn top(&self) -> Option<&Path> {
        self.inner.top.as_deref()
    }

    /// The git directory that all worktrees share; absolute.
    #[must_use]
    pub fn common_dir(&self) -> &Path {
        &self.inner.common_dir
    }

    /// The git directory of the user's checkout: the common one, or its own when it is a linked worktree.
    #[must_use]
    pub fn git_dir(&self) -> &Path {
        &self.inner.git_dir
    }

    /// Bytes in an object id.
    pub(super) fn oid_len(&self) -> usize {
        if self.inner.sha256 { 32 } else { 20 }
    }

    /// A `git` command on the repository as a whole.
    pub(super) fn git(&self) -> Git {
        Git::new(self.common_dir(), self.git_dir())
    }

    /// A `git` command that speaks to a remote. As a person's would, it starts at the top of the checkout: a remote that
    /// is named by a relative path is looked for from there.
    pub(super) fn outward(&self) -> Git {
        Git::new(self.top().unwrap_or(self.common_dir()), self.git_dir())
    }

    /// Calls `work` with a libgit2 handle; `None` when libgit2 cannot open this repository.
    pub(super) fn with<T>(&self, work: impl FnOnce(&git2::Repository) -> T) -> Option<T> {
        let pool = self.inner.pool.as_ref()?;
        let idle = pool.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let repo = match idle {
            Some(repo) => repo,
            None => git2::Repository::open(self.git_dir()).ok()?,
        };
        let answer = work(&repo);
        pool.lock().unwrap_or_else(PoisonError::into_inner).push(repo);
        Some(answer)
    }

    /// Whether libgit2 can open this repository; if not, everything goes through the executable.
    #[must_use]
    pub fn in_process(&self) -> bool {
        self.inner.pool.is_some()
    }

    /// Git's configuration, read once.
    pub(super) fn settings(&self) -> &Settings {
        self.inner.settings.get_or_init(|| Settings::read(self))
    }

    /// Who commits: the user's `user.name` and `user.email`, or `sop <sop@localhost>`.
    #[must_use]
    pub fn identity(&self) -> Identity {
        let read = |key: &str, fallback: &str| {
            self.settings().text(key).unwrap_or_else(|| fallback.to_owned())
        };
        Identity { name: read("user.name", "sop"), email: read("user.email", "sop@localhost") }
    }

    /// Where `core.hooksPath` points, if it is set.
    pub(super) fn hooks_path(&self) -> Option<PathBuf> {
        self.settings().path("core.hookspath", self.top().unwrap_or(self.common_dir()))
    }

    /// What stands in the way of a run in this repository, and what a person should know before one; `version` is
    /// that of `git` ([`Repo::git_version`]). Nothing is written.
    #[must_use]
    pub fn obstacles(&self, version: &str) -> Vec<Obstacle> {
        use ObstacleKind as Kind;
        let mut found = Vec::new();
        let mut add = |kind, text: String| found.push(Obstacle { kind, text });
        if version_of(version).is_none_or(|version| version < OLDEST_GIT) {
            let (major, minor) = OLDEST_GIT;
            add(
                Kind::GitTooOld,
                format!("git {version} is too old; {major}.{minor} or newer is needed"),
            );
            return found;
        }
        if self.resolve("HEAD").is_err() {
            add(Kind::UnbornHead, "there is no commit yet; make a first one".to_owned());
        }
        if let Err((path, error)) = self.has_room() {
            add(
                Kind::NotWritable,
                format!("nothing can be made in {}: {error}", escape_path(&path)),
            );
        }
        for (file, what) in [
            ("rebase-merge", "a rebase"),
            ("rebase-apply", "a rebase or `git am`"),
            ("MERGE_HEAD", "a merge"),
            ("CHERRY_PICK_HEAD", "a cherry-pick"),
            ("REVERT_HEAD", "a revert"),
            ("BISECT_LOG", "a bisect"),
        ] {
            if self.git_dir().join(file).exists() {
                add(
                    Kind::InProgress,
                    format!("{what} is in progress in the checkout; it will be left alone"),
                );
            }
        }
        if self.top().is_none() {
            add(Kind::Bare, "the repository is bare: there is no checkout to watch".to_owned());
        }
        if self.common_dir().join("shallow").exists() {
            add(
                Kind::Shallow,
                "the history is shallow: what was merged may not be provable".to_owned(),
            );
        }
        if !self.in_process() {
            add(
                Kind::Executable,
                "libgit2 cannot open this repository; every step starts `git`".to_owned(),
            );
        }
        if self.settings().is_on("core.sparsecheckout") {
            add(Kind::Sparse, "the checkout is sparse; worktrees of a run are whole".to_owned());
        }
        if let Ok(head) = self.resolve("HEAD")
            && self.blob_at(&head, ".gitmodules".into()).is_ok_and(|found| found.is_some())
        {
            add(Kind::Submodules, "there are submodules; a worktree starts without them, `[provision] setup` can fetch them".to_owned());
        }
        if let Some(hooks) = self.hooks_path() {
            add(
                Kind::HooksPath,
                format!("hooks in {} are not run for what `sop` does itself", escape_path(&hooks)),
            );
        }
        found
    }

    /// Whether runs can be made: in their folder, or where that would be.
    fn has_room(&self) -> Result<(), (PathBuf, std::io::Error)> {
        let runs = self.common_dir().join("sop-run");
        let place = if runs.symlink_metadata().is_ok() { runs } else { self.common_dir().into() };
        let failed = |error: std::io::Error| (place.clone(), error);
        if !place.metadata().map_err(failed)?.is_dir() {
            return Err(failed(std::io::ErrorKind::NotADirectory.into()));
        }
        let may = rustix::fs::Access::WRITE_OK | rustix::fs::Access::EXEC_OK;
        rustix::fs::access(&place, may).map_err(|error| failed(error.into()))
    }
}

/// One thing that preflight found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Obstacle {
    /// Its name.
    pub kind: ObstacleKind,
    /// One sentence for a person.
    pub text: String,
}

/// The names of what preflight looks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs, reason = "each is explained by the text that comes with it")]
pub enum ObstacleKind {
    GitTooOld,
    UnbornHead,
    NotWritable,
    InProgress,
    Bare,
    Shallow,
    Executable,
    Sparse,
    Submodules,
    HooksPath,
}

impl ObstacleKind {
    /// Whether no run can start until this is gone; the others are for a person to know.
    #[must_use]
    pub fn blocks(self) -> bool {
        matches!(self, Self::GitTooOld | Self::UnbornHead | Self::NotWritable)
    }
}

/// The first two numbers of a version.
fn version_of(text: &str) -> Option<(u32, u32)> {
    let mut numbers = text.split('.');
    Some((numbers.next()?.parse().ok()?, numbers.next()?.parse().ok()?))
}
