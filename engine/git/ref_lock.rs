//! The lock file of a ref. A process that is killed while it holds one leaves it behind, and git then
//! refuses to move that ref for ever. A lock on one of `sop`'s own refs that does not change while it is
//! watched belongs to nobody any more: those refs are moved by the run's one engine alone.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::error::GitError;
use super::repo::Repo;

/// How long a lock is watched. Whoever is alive holds it for the time of one small write.
const PATIENCE: Duration = Duration::from_secs(1);
/// Refs that only engines of `sop` move.
const OWN: [&str; 3] = ["refs/heads/sop/", "refs/heads/sop-stage/", "refs/sop/"];

impl Repo {
    /// Does `work`, which moves the ref `name`; while another process has the ref locked, again.
    ///
    /// # Errors
    /// What `work` said at last, or that a lock which is not ours to take away is in the way.
    pub(super) fn unlocked<T>(
        &self,
        name: &str,
        work: impl Fn() -> Result<T, GitError>,
    ) -> Result<T, GitError> {
        let lock = self.common_dir().join(format!("{name}.lock"));
        let began = Instant::now();
        let mut watched = identity(&lock);
        let mut since = Instant::now();
        loop {
            let error = match work() {
                Err(error) if lock.exists() => error,
                other => return other,
            };
            let now = identity(&lock);
            if now != watched {
                watched = now;
                since = Instant::now();
            }
            if since.elapsed() >= PATIENCE {
                if !OWN.iter().any(|own| name.starts_with(own)) {
                    return Err(GitError::Locked { lock });
                }
                remove(&lock)?;
            } else if began.elapsed() >= 10 * PATIENCE {
                return Err(error);
            }
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

/// Which file it is, and when it was written to.
fn identity(lock: &Path) -> Option<(u64, i64, i64)> {
    std::fs::symlink_metadata(lock).ok().map(|meta| (meta.ino(), meta.mtime(), meta.mtime_nsec()))
}

fn remove(lock: &PathBuf) -> Result<(), GitError> {
    match std::fs::remove_file(lock) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(GitError::io("remove", lock)(error))
        }
        _ => Ok(()),
    }
}
