//! Who still works in a folder. Linux tells; elsewhere nobody is found.
//!
//! Every open file of every process is asked about, and a machine has many: each process is opened once and
//! asked by names relative to it, nothing is allocated for an answer, and one look serves several folders.
//!
//! The system tells where a file is by its path among the mounts that the process sees. A folder that is mounted in a
//! second place, here or in a container, has a second path: all of its paths are looked up for each set of mounts.

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
    users_of_each(&[folder]).pop().unwrap_or_default()
}

/// As [`users_of`], for each of several folders, in one look.
#[must_use]
pub fn users_of_each<T: AsRef<Path>>(folders: &[T]) -> Vec<Vec<User>> {
    let mut users = vec![Vec::new(); folders.len()];
    #[cfg(target_os = "linux")]
    linux::look(folders, |at, user| users[at].push(user));
    users
}

#[cfg(target_os = "linux")]
mod linux {
    use std::collections::HashMap;
    use std::ffi::CStr;
    use std::mem::MaybeUninit;
    use std::os::fd::AsFd;
    use std::os::unix::ffi::OsStrExt;
    use std::path::Path;

    use rustix::fs::{Mode, OFlags, RawDir};

    use super::User;
    use crate::git::mounts::{Inside, Mounts};

    const FOLDER: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);

    /// Looks at every process and hands over whoever uses a folder, with the folder's place in the list.
    pub(super) fn look<T: AsRef<Path>>(folders: &[T], mut found: impl FnMut(usize, User)) {
        let Ok(listing) = std::fs::read_dir("/proc") else {
            return;
        };
        let folders: Vec<&[u8]> =
            folders.iter().map(|folder| folder.as_ref().as_os_str().as_bytes()).collect();
        let own = std::process::id();
        let mounts = Mounts::of(Path::new("/proc/self"));
        let places: Vec<Option<Inside>> =
            folders.iter().map(|folder| mounts.place_of(folder)).collect();
        // Most processes see the same mounts.
        let mut known: HashMap<Vec<u8>, Vec<(usize, Vec<u8>)>> = HashMap::new();
        let mut used = vec![false; folders.len()];
        for item in listing.flatten() {
            let Some(pid) = item.file_name().to_str().and_then(|name| name.parse::<u32>().ok())
            else {
                continue;
            };
            let Ok(process) = rustix::fs::open(item.path(), FOLDER, Mode::empty()) else {
                continue;
            };
            let mut buffer = [const { MaybeUninit::uninit() }; 64];
            let set = match rustix::fs::readlinkat_raw(&process, c"ns/mnt", &mut buffer) {
                Ok((set, _)) => &*set,
                Err(_) => &[],
            };
            if !known.contains_key(set) {
                let mounts = Mounts::of(&item.path());
                known.insert(set.to_vec(), paths(&folders, &places, &mounts));
            }
            let paths = &known[set];
            leads_into(&process, c"cwd", paths, &mut used);
            leads_into(&process, c"root", paths, &mut used);
            leads_into(&process, c"exe", paths, &mut used);
            if pid != own {
                open_files(&process, paths, &mut used);
            }
            if used.contains(&true) {
                let name = std::fs::read_to_string(item.path().join("comm")).unwrap_or_default();
                let name = name.trim().escape_debug().to_string();
                for at in (0..used.len()).filter(|at| std::mem::take(&mut used[*at])) {
                    found(at, User { pid, name: name.clone() });
                }
            }
        }
    }

    /// Every path of each folder among these mounts, with the folder's place in the list.
    fn paths(
        folders: &[&[u8]],
        places: &[Option<Inside>],
        mounts: &Mounts,
    ) -> Vec<(usize, Vec<u8>)> {
        let mut found = Vec::new();
        for (at, (folder, place)) in folders.iter().zip(places).enumerate() {
            found.push((at, folder.to_vec()));
            let others = place.iter().flat_map(|place| mounts.paths_of(place));
            found.extend(others.filter(|path| path != folder).map(|path| (at, path)));
        }
        found
    }

    /// Marks the folders in which a process has a file open.
    fn open_files(process: impl AsFd, folders: &[(usize, Vec<u8>)], used: &mut [bool]) {
        let Ok(files) = rustix::fs::openat(process, "fd", FOLDER, Mode::empty()) else {
            return;
        };
        let mut buffer = [const { MaybeUninit::uninit() }; 4096];
        let mut listing = RawDir::new(&files, &mut buffer);
        while let Some(Ok(file)) = listing.next() {
            // The others are the list itself and its parent.
            if file.file_name().to_bytes().first().is_some_and(u8::is_ascii_digit) {
                leads_into(&files, file.file_name(), folders, used);
            }
        }
    }

    /// Marks the folders that a link of `/proc` leads to, or into. One whose text was cut off leads as deep as it
    /// was read, and a folder's own path is never as long as that.
    fn leads_into(at: impl AsFd, link: &CStr, folders: &[(usize, Vec<u8>)], used: &mut [bool]) {
        let mut buffer = [const { MaybeUninit::uninit() }; 4096];
        let Ok((target, _)) = rustix::fs::readlinkat_raw(at, link, &mut buffer) else {
            return;
        };
        for (at, folder) in folders {
            let rest = target.strip_prefix(&folder[..]);
            used[*at] |= rest.is_some_and(|rest| rest.is_empty() || rest[0] == b'/');
        }
    }
}
