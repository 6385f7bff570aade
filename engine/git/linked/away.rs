//! A worktree taken away: aside first, so that no half-deleted one is ever met, then its content, then git's
//! registration at one stroke. Whoever calls has proven that nothing is lost.
//!
//! Before the folder moves, a mark in the registration says which folder it is (its device and inode) and where it
//! goes; after the move, that it went. A mark proves nothing of what is at the old place: a removal that failed, or was
//! cut short before the move, is as if it had not been begun. It proves that the folder aside is ours, and nothing of
//! the files that came into it later.

use std::ffi::OsString;
use std::io::ErrorKind;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use bstr::BString;

use crate::git::error::GitError;
use crate::git::repo::Repo;
use crate::git::seed::write_whole;
use crate::git::worktree::REMOVING;
use crate::plain_file;

use super::Linked;

impl Linked {
    /// Removes the folder and the registration, or finishes a removal that was cut short. The branch stays.
    ///
    /// # Errors
    /// It could not be removed whole; the next call removes what is left.
    pub fn take_away(&self) -> Result<(), GitError> {
        if let Some(path) = self.path().filter(|path| path.symlink_metadata().is_ok()) {
            move_aside(path, self.admin())?;
        }
        clear_aside(self.admin())?;
        self.repo.unregister(self.admin())
    }
}

/// Whether a removal was cut short after the folder had moved, and nothing is at the old place.
pub(in crate::git) fn is_cut_short(path: Option<&Path>, admin: &Path) -> bool {
    let moved = Aside::noted(admin).is_some_and(|aside| aside.moved || aside.is_it());
    moved && path.is_none_or(|path| path.symlink_metadata().is_err())
}

/// Files that came into a folder after it had been moved aside: nobody has looked at them.
pub(in crate::git) fn came_since(admin: &Path) -> Vec<BString> {
    let mut found = Vec::new();
    if let Some(aside) = Aside::noted(admin).filter(Aside::is_it) {
        aside.newer(&aside.path, &mut found);
    }
    found.sort();
    found
}

/// Marks the registration and moves the folder aside.
pub(in crate::git) fn move_aside(path: &Path, admin: &Path) -> Result<(), GitError> {
    // Of an earlier worktree at this place, whose removal was cut short.
    clear_aside(admin)?;
    let found = path.symlink_metadata().map_err(GitError::io("read", path))?;
    let (device, inode) = (found.dev(), found.ino());
    let mut aside = Aside { path: free_beside(path), device, inode, moved: false, since: (0, 0) };
    let mark = admin.join(REMOVING);
    write_whole(&mark, &aside.to_bytes())?;
    if let Err(error) = std::fs::rename(path, &aside.path) {
        std::fs::remove_file(&mark).map_err(GitError::io("remove", &mark))?;
        return Err(GitError::io("move away", path)(error));
    }
    aside.moved = true;
    write_whole(&mark, &aside.to_bytes())
}

/// Removes the folder that was moved aside, if there is one. The mark goes with the registration.
pub(in crate::git) fn clear_aside(admin: &Path) -> Result<(), GitError> {
    if let Some(aside) = Aside::noted(admin).filter(Aside::is_it) {
        let files = came_since(admin);
        if !files.is_empty() {
            return Err(GitError::CameSince { place: aside.path, files });
        }
        remove_folder(&aside.path)?;
    }
    Ok(())
}

/// A place beside a folder that nobody has.
fn free_beside(path: &Path) -> PathBuf {
    let name = path.file_name().unwrap_or_default().as_bytes();
    // A name has room for 255 bytes.
    let name = &name[..name.len().min(200)];
    let place = |n: u32| {
        let number = if n == 1 { String::new() } else { format!("-{n}") };
        let name = [b".sop-removing-", name, number.as_bytes()].concat();
        path.with_file_name(OsString::from_vec(name))
    };
    let free = |place: &PathBuf| place.symlink_metadata().is_err();
    (1..).map(place).find(free).unwrap_or_else(|| place(1))
}

/// Where a folder was moved before its content is deleted, and which one it is.
struct Aside {
    path: PathBuf,
    device: u64,
    inode: u64,
    /// Whether it went there.
    moved: bool,
    /// When the mark was written.
    since: (i64, i64),
}

impl Aside {
    /// What the mark of a registration says.
    fn noted(admin: &Path) -> Option<Self> {
        let mark = admin.join(REMOVING);
        let said = plain_file::read_own(&mark).ok()?;
        let written = mark.symlink_metadata().ok()?;
        let mut parts = said.split(|b| *b == 0);
        let path = PathBuf::from(OsString::from_vec(parts.next()?.to_vec()));
        let mut number = || std::str::from_utf8(parts.next()?).ok()?.parse().ok();
        let (device, inode) = (number()?, number()?);
        let since = (written.ctime(), written.ctime_nsec());
        Some(Self { path, device, inode, moved: parts.next() == Some(b"moved"), since })
    }

    fn to_bytes(&self) -> Vec<u8> {
        let moved = if self.moved { "moved" } else { "" };
        let which = format!("\0{}\0{}\0{moved}\0", self.device, self.inode);
        [self.path.as_os_str().as_bytes(), which.as_bytes()].concat()
    }

    /// Whether what is there is that folder, and nobody else's of that name.
    fn is_it(&self) -> bool {
        let is_it = |found: std::fs::Metadata| {
            found.is_dir() && (found.dev(), found.ino()) == (self.device, self.inode)
        };
        self.path.symlink_metadata().is_ok_and(is_it)
    }

    /// Files below `folder` that were written or made after the mark. Of one whose other name in the folder was removed
    /// the system says that it changed, and of nothing else in it.
    fn newer(&self, folder: &Path, found: &mut Vec<BString>) {
        for item in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            let Ok(stat) = item.metadata() else { continue };
            if stat.is_dir() {
                self.newer(&item.path(), found);
                continue;
            }
            let changed = (stat.ctime(), stat.ctime_nsec()) > self.since;
            let written = (stat.mtime(), stat.mtime_nsec()) > self.since;
            if changed && (written || self.is_made_since(&stat)) {
                let path = item.path();
                let path = path.strip_prefix(&self.path).unwrap_or(&path);
                found.push(BString::from(path.as_os_str().as_bytes()));
            }
        }
    }

    fn is_made_since(&self, stat: &std::fs::Metadata) -> bool {
        let made = stat.created().ok().and_then(|at| at.duration_since(UNIX_EPOCH).ok());
        made.is_some_and(|at| {
            let seconds = i64::try_from(at.as_secs()).unwrap_or(i64::MAX);
            (seconds, i64::from(at.subsec_nanos())) > self.since
        })
    }
}

impl Repo {
    /// Takes a worktree's administrative folder out of git's list.
    pub(in crate::git) fn unregister(&self, admin: &Path) -> Result<(), GitError> {
        let _lock = self.registry()?;
        // At one stroke: of a registration that is half deleted nobody could say whose it was.
        let out = self.removed_folder().join(admin.file_name().unwrap_or_default());
        remove_folder(&out)?;
        std::fs::create_dir_all(self.removed_folder())
            .map_err(GitError::io("make", &self.removed_folder()))?;
        match std::fs::rename(admin, &out) {
            Err(error) if error.kind() != ErrorKind::NotFound => {
                return Err(GitError::io("move away", admin)(error));
            }
            _ => {}
        }
        self.clear_removed()?;
        // Git removes the list when it is empty; another worktree in it keeps it.
        let _ = admin.parent().map(std::fs::remove_dir);
        Ok(())
    }

    /// Where registrations go on their way out.
    fn removed_folder(&self) -> PathBuf {
        self.shared_dir().join(".removed")
    }

    /// Deletes the registrations that are out already: this one's, and those of an engine that died.
    fn clear_removed(&self) -> Result<(), GitError> {
        remove_folder(&self.removed_folder())
    }
}

/// Removes a folder, links as links. Folders without write permission (module caches) do not stop it.
pub(in crate::git) fn remove_folder(path: &Path) -> Result<(), GitError> {
    let remove = || match std::fs::remove_dir_all(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        other => other,
    };
    match remove() {
        Err(error) if error.kind() == ErrorKind::PermissionDenied => {
            open_up(path);
            remove().map_err(GitError::io("remove", path))
        }
        other => other.map_err(GitError::io("remove", path)),
    }
}

fn open_up(folder: &Path) {
    let _ = std::fs::set_permissions(folder, std::fs::Permissions::from_mode(0o700));
    for item in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        if item.file_type().is_ok_and(|kind| kind.is_dir()) {
            open_up(&item.path());
        }
    }
}
