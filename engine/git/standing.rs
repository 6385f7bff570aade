//! Whether branches stand where they should, asked of many, again and again.
//!
//! A loose ref is one small file. One whose change time is that of a look which found it right is right still: a
//! change of a file moves its ctime, which no user can set back. That holds only where the clock of the file system
//! had moved on by then, and another file with a younger change time shows that it had.

use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

use rustix::fs::{AtFlags, Mode, OFlags};

use crate::model::ids::CommitId;

use super::repo::Repo;

/// Longer than any id with its newline.
const LONGER: usize = 80;

/// A branch and the commit that it should stand at.
#[derive(Debug)]
pub struct Watched {
    /// The branch, by its short name.
    pub branch: String,
    /// The commit.
    pub at: CommitId,
    /// Its file when it was last found right, and the clock had moved on since it was written.
    right: Mutex<Option<Stamp>>,
}

/// Which file it is, and when it last changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Stamp {
    inode: u64,
    changed: (i64, i64),
}

impl Watched {
    /// A branch that nobody has looked at yet.
    #[must_use]
    pub fn new(branch: String, at: CommitId) -> Self {
        Self { branch, at, right: Mutex::new(None) }
    }

    fn right(&self) -> MutexGuard<'_, Option<Stamp>> {
        self.right.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether the file of the branch holds exactly its id. A loose ref goes before a packed one.
    fn is_right(&self, heads: &OwnedFd) -> bool {
        // A link is an old way to write an alias, and a pipe would keep us waiting.
        let careful = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let mut bytes = [0; LONGER];
        rustix::fs::openat(heads, Path::new(&self.branch), careful, Mode::empty())
            .and_then(|file| rustix::io::read(file, &mut bytes[..]))
            .is_ok_and(|n| bytes[..n].strip_suffix(b"\n") == Some(self.at.as_str().as_bytes()))
    }
}

impl Repo {
    /// Takes out the branches whose file says that they stand where they should. Those that are left may do so all
    /// the same: packed, or in a repository that keeps no such files. [`Repo::branches_of`] tells.
    pub fn drop_standing<T: AsRef<Watched>>(&self, branches: &mut Vec<T>) {
        // Where refs are kept in another way, such a file is none of git's, whatever it says.
        let Some(heads) = self.in_process().then(|| self.heads()).flatten() else { return };
        let stamps = stamps(&heads, branches.iter().map(|branch| &*branch.as_ref().branch));
        // The clock stood here at least before any of the files is read.
        let clock = stamps.iter().flatten().map(|stamp| stamp.changed).max();
        let mut stamps = stamps.into_iter();
        branches.retain(|branch| {
            let (branch, stamp) = (branch.as_ref(), stamps.next().flatten());
            if stamp.is_some() && *branch.right() == stamp {
                return false;
            }
            let right = branch.is_right(&heads);
            let settled = |stamp: &Stamp| right && Some(stamp.changed) < clock;
            *branch.right() = stamp.filter(settled);
            !right
        });
    }

    fn heads(&self) -> Option<OwnedFd> {
        let folder = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        rustix::fs::open(self.common_dir().join("refs/heads"), folder, Mode::empty()).ok()
    }
}

/// The stamp of each branch. Those of a run lie in one folder, which is found once for all that follow each other.
fn stamps<'a>(heads: &OwnedFd, branches: impl Iterator<Item = &'a str>) -> Vec<Option<Stamp>> {
    let mut known: Option<(&str, OwnedFd)> = None;
    let stamp_of = |branch: &'a str| {
        let (folder, name) = branch.rsplit_once('/')?;
        if known.as_ref().is_none_or(|(known, _)| *known != folder) {
            let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
            let opened = rustix::fs::openat(heads, Path::new(folder), flags, Mode::empty());
            known = opened.ok().map(|opened| (folder, opened));
        }
        stamp(&known.as_ref()?.1, name)
    };
    branches.map(stamp_of).collect()
}

fn stamp(folder: impl AsFd, name: &str) -> Option<Stamp> {
    let stat = rustix::fs::statat(folder, Path::new(name), AtFlags::SYMLINK_NOFOLLOW).ok()?;
    #[allow(clippy::useless_conversion, reason = "not of these types everywhere")]
    let changed = (stat.st_ctime.into(), stat.st_ctime_nsec.try_into().unwrap_or_default());
    Some(Stamp { inode: stat.st_ino, changed })
}
