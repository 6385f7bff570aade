//! Who still works in a folder. Linux tells; elsewhere nobody is found.
//!
//! Every open file of every process is asked about, and a machine has many: each process is opened once and
//! asked by names relative to it, and nothing is allocated for an answer.

use std::path::Path;

/// A process that has a folder in use.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct User {
    /// Its process id.
    pub pid: u32,
    /// Its name, as the system has it.
    pub name: String,
}

/// Processes that stand in `folder`, run a program from it or have a file in it open. Those of other users that
/// may not be looked at are not found.
#[must_use]
pub fn users_of(folder: &Path) -> Vec<User> {
    #[cfg(target_os = "linux")]
    return linux::users_of(folder);
    #[cfg(not(target_os = "linux"))]
    {
        let _ = folder;
        Vec::new()
    }
}

#[cfg(target_os = "linux")]
mod linux {
    use std::ffi::CStr;
    use std::mem::MaybeUninit;
    use std::os::fd::AsFd;
    use std::os::unix::ffi::OsStrExt;
    use std::path::Path;

    use rustix::fs::{Mode, OFlags, RawDir};

    use super::User;

    const FOLDER: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);

    pub(super) fn users_of(folder: &Path) -> Vec<User> {
        let Ok(listing) = std::fs::read_dir("/proc") else {
            return Vec::new();
        };
        let own = std::process::id();
        let mut users = Vec::new();
        for item in listing.flatten() {
            let Some(pid) = item.file_name().to_str().and_then(|name| name.parse::<u32>().ok())
            else {
                continue;
            };
            let Ok(process) = rustix::fs::open(item.path(), FOLDER, Mode::empty()) else {
                continue;
            };
            if leads_into(&process, c"cwd", folder)
                || leads_into(&process, c"exe", folder)
                || pid != own && has_open(&process, folder)
            {
                let name = std::fs::read_to_string(item.path().join("comm")).unwrap_or_default();
                users.push(User { pid, name: name.trim().escape_debug().to_string() });
            }
        }
        users
    }

    /// Whether a process has a file in `folder` open.
    fn has_open(process: impl AsFd, folder: &Path) -> bool {
        let Ok(files) = rustix::fs::openat(process, "fd", FOLDER, Mode::empty()) else {
            return false;
        };
        let mut buffer = [const { MaybeUninit::uninit() }; 4096];
        let mut listing = RawDir::new(&files, &mut buffer);
        while let Some(Ok(file)) = listing.next() {
            if leads_into(&files, file.file_name(), folder) {
                return true;
            }
        }
        false
    }

    /// Whether a link of `/proc` leads to `folder` or to something in it. One whose text was cut off leads as deep
    /// as it was read, and a folder's own path is never as long as that.
    fn leads_into(at: impl AsFd, link: &CStr, folder: &Path) -> bool {
        let mut buffer = [const { MaybeUninit::uninit() }; 4096];
        let Ok((target, _)) = rustix::fs::readlinkat_raw(at, link, &mut buffer) else {
            return false;
        };
        let rest = target.strip_prefix(folder.as_os_str().as_bytes());
        rest.is_some_and(|rest| rest.is_empty() || rest[0] == b'/')
    }
}
