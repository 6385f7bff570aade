//! Who descends from whom. A holder is a subreaper: whatever its worker starts, in whatever session
//! or process group, stays below it, because orphans are handed to the nearest subreaper. So "all
//! that the worker started" is exactly the set of the holder's descendants.

use std::collections::HashSet;
use std::fs;

use super::identity::Stat;

/// Every process that `/proc` shows at about this moment, zombies included.
///
/// The kernel gives no consistent picture: a process that is born during the scan can be missing.
/// Whoever must find all of them asks again until nothing new shows.
#[must_use]
pub fn processes() -> Vec<Stat> {
    let Ok(entries) = fs::read_dir("/proc") else {
        return Vec::new();
    };
    entries
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
        .filter_map(Stat::read)
        .collect()
}

/// The living processes below any of `roots` (the roots themselves not among them), parents before
/// their children.
#[must_use]
pub fn descendants(all: &[Stat], roots: &[i32]) -> Vec<Stat> {
    let mut seen: HashSet<i32> = roots.iter().copied().collect();
    let mut frontier: Vec<i32> = roots.to_vec();
    let mut found = Vec::new();
    while !frontier.is_empty() {
        let next: Vec<&Stat> = all
            .iter()
            .filter(|stat| frontier.contains(&stat.ppid) && seen.insert(stat.pid))
            .collect();
        frontier = next.iter().map(|stat| stat.pid).collect();
        found.extend(next.into_iter().filter(|stat| !stat.is_zombie()));
    }
    found
}

/// The living descendants of one process, now.
#[must_use]
pub fn below(root: i32) -> Vec<Stat> {
    descendants(&processes(), &[root])
}

/// Whether a process was started with exactly `NAME=value` in its environment. False where that
/// cannot be read, which is the safe answer for who would end it.
#[must_use]
pub fn has_env(pid: i32, name: &str, value: &str) -> bool {
    let wanted = format!("{name}={value}");
    fs::read(format!("/proc/{pid}/environ"))
        .is_ok_and(|bytes| bytes.split(|byte| *byte == 0).any(|entry| entry == wanted.as_bytes()))
}
