//! The seed of a worktree: the stat data of its fresh checkout, kept where the worker has no business.

use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::{Duration, Instant};

use crate::plain_file;

use super::error::GitError;
use super::worktree::{MARK, Worktree};

/// How long the clock of a file system may stand still.
const CLOCK_PATIENCE: Duration = Duration::from_secs(5);

impl Worktree {
    /// The mark: the plan, and which file is the seed (its inode and the time of its last change).
    pub(super) fn mark(&self) -> Result<Vec<u8>, GitError> {
        let seed = std::fs::metadata(self.seed()).map_err(GitError::io("read", self.seed()))?;
        let stamp = format!("{} {} {}", seed.ino(), seed.ctime(), seed.ctime_nsec());
        Ok([&self.plan().to_bytes()[..], stamp.as_bytes(), b"\0"].concat())
    }

    /// Whether the seed is the file that was kept when the worktree was made.
    pub(super) fn seed_is_sound(&self) -> bool {
        let said = plain_file::read_own(&self.git_dir().join(MARK));
        matches!((said, self.mark()), (Ok(said), Ok(mark)) if said == mark)
    }

    /// Keeps an index of the base that says of no file how it was: each counts as touched.
    pub(super) fn keep_blank_seed(&self) -> Result<(), GitError> {
        if let Some(folder) = self.seed().parent() {
            std::fs::create_dir_all(folder).map_err(GitError::io("create", folder))?;
        }
        match std::fs::remove_file(self.seed()) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                return Err(GitError::io("remove", self.seed())(error));
            }
            _ => {}
        }
        let git = self.git().env("GIT_INDEX_FILE", self.seed());
        git.args(["read-tree", self.base().as_str()]).run().map(drop)
    }

    /// Keeps the index of the fresh checkout. When this returns, the clock has moved past every time stamp in
    /// it, so that no later change of a file can look as old as the checkout.
    pub(super) fn keep_seed(&self) -> Result<(), GitError> {
        let index = self.git_dir().join("index");
        let bytes = plain_file::read_own(&index).map_err(GitError::io("read", &index))?;
        if let Some(folder) = self.seed().parent() {
            std::fs::create_dir_all(folder).map_err(GitError::io("create", folder))?;
        }
        write_whole(self.seed(), &bytes)?;
        let stat = std::fs::metadata(&index).map_err(GitError::io("read", &index))?;
        let written = (stat.ctime(), stat.ctime_nsec());
        let beside = self.path().parent().unwrap_or(self.path());
        let deadline = Instant::now() + CLOCK_PATIENCE;
        loop {
            // Without a name: whoever is killed here leaves nothing.
            let probe = tempfile::tempfile_in(beside)
                .and_then(|probe| probe.metadata())
                .map_err(GitError::io("write in", beside))?;
            if (probe.ctime(), probe.ctime_nsec()) > written {
                return Ok(());
            }
            if Instant::now() > deadline {
                let what = "the clock of its file system does not move on".to_owned();
                return Err(GitError::NotAWorktree { path: self.path().to_path_buf(), what });
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
