//! Who still works in a folder. Linux tells; elsewhere nobody is found.

use std::path::{Path, PathBuf};

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
    let Ok(listing) = std::fs::read_dir("/proc") else {
        return Vec::new();
    };
    let own = std::process::id();
    let mut users = Vec::new();
    for item in listing.flatten() {
        let Some(pid) = item.file_name().to_str().and_then(|name| name.parse::<u32>().ok()) else {
            continue;
        };
        let process = item.path();
        let inside =
            |link: PathBuf| std::fs::read_link(link).is_ok_and(|target| target.starts_with(folder));
        let opened = || {
            let files = std::fs::read_dir(process.join("fd")).into_iter().flatten().flatten();
            files.map(|file| file.path()).any(inside)
        };
        if inside(process.join("cwd")) || inside(process.join("exe")) || pid != own && opened() {
            let name = std::fs::read_to_string(process.join("comm")).unwrap_or_default();
            users.push(User { pid, name: name.trim().escape_debug().to_string() });
        }
    }
    users
}
