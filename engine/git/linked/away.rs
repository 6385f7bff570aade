//! A worktree taken away: aside first, so that no half-deleted one is ever met, then its content, then git's
//! registration at one stroke. Whoever calls has proven that nothing is lost.

use std::io::ErrorKind;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use crate::git::error::GitError;
use crate::git::repo::Repo;
use crate::git::seed::write_whole;
use crate::git::worktree::REMOVING;

use super::Linked;

impl Linked {
    /// Removes the folder and the registration, or finishes a removal that was cut short. The branch stays.
    ///
    /// # Errors
    /// It could not be removed whole; the next call removes what is left.
    pub fn take_away(&self) -> Result<(), GitError> {
        if let Some(path) = self.path() {
            if path.symlink_metadata().is_ok() {
                move_aside(path, self.admin())?;
            }
            remove_folder(&aside(path))?;
        }
        self.repo.unregister(self.admin())
    }
}

/// Where the folder of a worktree is moved before its content is deleted.
pub(in crate::git) fn aside(path: &Path) -> PathBuf {
    let mut name = std::ffi::OsString::from(".sop-removing-");
    name.push(path.file_name().unwrap_or_default());
    path.with_file_name(name)
}

/// Marks the registration and moves the folder aside.
pub(in crate::git) fn move_aside(path: &Path, admin: &Path) -> Result<(), GitError> {
    let aside = aside(path);
    remove_folder(&aside)?;
    write_whole(&admin.join(REMOVING), b"")?;
    std::fs::rename(path, &aside).map_err(GitError::io("move away", path))
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
