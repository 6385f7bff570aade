//! Who asks: the shell that a person types in is in a folder, and no hindrance to them.

use std::collections::HashSet;

/// This process, those that it descends from, and its pipeline.
#[derive(Debug, Clone)]
pub struct Asking {
    line: HashSet<u32>,
    group: Option<u32>,
}

impl Asking {
    /// Looks up who asks.
    #[must_use]
    pub fn now() -> Self {
        let mut line = HashSet::new();
        let mut pid = std::process::id();
        let group = stat(pid).map(|(_, group)| group);
        while pid > 1 && line.insert(pid) {
            pid = stat(pid).map_or(1, |(parent, _)| parent);
        }
        Self { line, group }
    }

    /// Whether a process is one of them.
    #[must_use]
    pub fn is(&self, pid: u32) -> bool {
        let in_group = || stat(pid).map(|(_, group)| group) == self.group && self.group.is_some();
        self.line.contains(&pid) || in_group()
    }
}

/// The parent and the process group of a process.
fn stat(pid: u32) -> Option<(u32, u32)> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name before them is in brackets, and may hold anything.
    let mut fields = stat.rsplit_once(") ")?.1.split(' ').skip(1);
    Some((fields.next()?.parse().ok()?, fields.next()?.parse().ok()?))
}
