//! Locks around git's list of worktrees.
//!
//! `git worktree add` races with itself, so one kernel lock in the common directory orders every change of
//! the list, between processes too. A second lock, one for each worktree path, is a *claim*: a file that says
//! what is being made there. Whoever finds a claim that nobody holds knows that its maker died half-way.
//! Both are lent to the `git` child that works under them: a lock outlives `sop` for as long as that child does.

use std::fs::{File, OpenOptions};
use std::io::{Read, Seek, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use sha2::Digest;

use crate::plain_file;

use super::error::GitError;
use super::repo::Repo;

/// A kernel lock, held until dropped (and as long as a child has it).
pub(super) struct Lock {
    file: File,
    path: PathBuf,
}

impl Lock {
    /// Waits for the lock on a file, which is made if need be.
    fn take(path: &Path) -> Result<Self, GitError> {
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder).map_err(GitError::io("create", folder))?;
        }
        loop {
            let open =
                OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path);
            let file = open.map_err(GitError::io("open", path))?;
            file.lock().map_err(GitError::io("lock", path))?;
            // Its last holder may have removed the file while we waited.
            let ours = file.metadata().map_err(GitError::io("read", path))?;
            if std::fs::metadata(path)
                .is_ok_and(|there| there.ino() == ours.ino() && there.dev() == ours.dev())
            {
                return Ok(Self { file, path: path.to_path_buf() });
            }
        }
    }

    /// The same lock, for a child to inherit.
    pub(super) fn lend(&self) -> Result<File, GitError> {
        self.file.try_clone().map_err(GitError::io("lock", &self.path))
    }
}

/// What a claim says: the worktree that is being made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Plan {
    pub(super) branch: Option<String>,
    pub(super) base: String,
    pub(super) path: PathBuf,
}

impl Plan {
    pub(super) fn to_bytes(&self) -> Vec<u8> {
        let branch = self.branch.as_deref().unwrap_or("");
        [
            branch.as_bytes(),
            b"\0",
            self.base.as_bytes(),
            b"\0",
            self.path.as_os_str().as_bytes(),
            b"\0",
        ]
        .concat()
    }

    pub(super) fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let mut parts = bytes.split(|b| *b == 0);
        let branch = std::str::from_utf8(parts.next()?).ok()?.to_owned();
        let base = std::str::from_utf8(parts.next()?).ok()?.to_owned();
        let path = PathBuf::from(std::ffi::OsStr::from_bytes(parts.next()?));
        // The last NUL is there only if the record was written whole.
        parts.next()?;
        Some(Self { branch: Some(branch).filter(|b| !b.is_empty()), base, path })
    }
}

/// A claim on a path, held.
pub(super) struct Claim {
    lock: Lock,
    /// What an earlier holder was making here when it died.
    pub(super) unfinished: Option<Plan>,
}

impl Claim {
    pub(super) fn state(&mut self, plan: &Plan) -> Result<(), GitError> {
        let (file, path) = (&mut self.lock.file, &self.lock.path);
        let write = |file: &mut File| -> std::io::Result<()> {
            file.set_len(0)?;
            file.rewind()?;
            file.write_all(&plan.to_bytes())?;
            file.sync_data()
        };
        write(file).map_err(GitError::io("write", path))
    }

    pub(super) fn lend(&self) -> Result<File, GitError> {
        self.lock.lend()
    }

    /// What was claimed stands, or nothing of it is left.
    pub(super) fn done(self) -> Result<(), GitError> {
        std::fs::remove_file(&self.lock.path).map_err(GitError::io("remove", &self.lock.path))
    }
}

impl Repo {
    /// Where `sop` keeps what belongs to the repository and not to one run.
    pub(super) fn shared_dir(&self) -> PathBuf {
        self.common_dir().join("sop-run")
    }

    /// The lock on git's list of worktrees.
    pub(super) fn registry(&self) -> Result<Lock, GitError> {
        Lock::take(&self.shared_dir().join("registry.lock"))
    }

    fn claim_file(&self, path: &Path) -> PathBuf {
        let digest = sha2::Sha256::digest(path.as_os_str().as_bytes());
        let name: String = digest.iter().take(16).map(|byte| format!("{byte:02x}")).collect();
        self.shared_dir().join(".making").join(name)
    }

    /// Whether somebody claims the place of a worktree, or died while they did.
    pub(super) fn is_claimed(&self, path: &Path) -> bool {
        self.claim_file(path).symlink_metadata().is_ok()
    }

    /// Claims the place of one worktree.
    pub(super) fn claim(&self, path: &Path) -> Result<Claim, GitError> {
        let mut lock = Lock::take(&self.claim_file(path))?;
        let mut said = Vec::new();
        lock.file.read_to_end(&mut said).map_err(GitError::io("read", &lock.path))?;
        Ok(Claim { unfinished: Plan::from_bytes(&said), lock })
    }

    /// Every registered worktree: its administrative folder and the place it says it is at.
    pub(super) fn registered(&self) -> Result<Vec<(PathBuf, Option<PathBuf>)>, GitError> {
        let folder = self.common_dir().join("worktrees");
        let listing = match std::fs::read_dir(&folder) {
            Ok(listing) => listing,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(GitError::io("list", &folder)(error)),
        };
        let mut found = Vec::new();
        for entry in listing {
            let admin = entry.map_err(GitError::io("list", &folder))?.path();
            let place = plain_file::read_own(&admin.join("gitdir")).ok().and_then(|said| {
                let link = admin.join(std::ffi::OsStr::from_bytes(said.trim_ascii_end()));
                link.parent().map(Path::to_path_buf)
            });
            found.push((admin, place));
        }
        Ok(found)
    }
}
