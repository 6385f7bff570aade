//! Which process is meant. A process id is reused; the id, the moment its process started and the
//! boot it started in are not, together.

use std::fs;

use rustix::process::{Pid, Signal};
use serde::{Deserialize, Serialize};

/// One process, and no later one with the same id.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Identity {
    /// Its process id.
    pub pid: i32,
    /// When it started, in clock ticks since the boot (field 22 of `/proc/PID/stat`).
    pub start: u64,
    /// The kernel's id of that boot.
    pub boot: String,
}

impl Identity {
    /// The identity of the process that has this id now, or nothing if none has (or `/proc` is missing).
    #[must_use]
    pub fn of(pid: i32) -> Option<Self> {
        let stat = Stat::read(pid)?;
        Some(Self { pid, start: stat.start, boot: boot_id()? })
    }

    /// Whether this very process still runs; a zombie does not.
    #[must_use]
    pub fn is_alive(&self) -> bool {
        boot_id().as_deref() == Some(&self.boot)
            && Stat::read(self.pid)
                .is_some_and(|stat| stat.start == self.start && !stat.is_zombie())
    }
}

/// The id of the running boot, from `/proc/sys/kernel/random/boot_id`.
#[must_use]
pub fn boot_id() -> Option<String> {
    let text = fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
    Some(text.trim().to_owned())
}

/// The few facts of `/proc/PID/stat` that matter here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stat {
    /// The process itself.
    pub pid: i32,
    /// Its parent.
    pub ppid: i32,
    /// `R`, `S`, `Z`, …
    pub state: char,
    /// Start, in clock ticks since the boot.
    pub start: u64,
}

impl Stat {
    /// Reads the facts about one process, or nothing if there is no such process.
    #[must_use]
    pub fn read(pid: i32) -> Option<Self> {
        let bytes = fs::read(format!("/proc/{pid}/stat")).ok()?;
        Self::parse(pid, &bytes)
    }

    /// Parses a stat line. The command name is in parentheses and may hold anything, more
    /// parentheses and blanks included, so the fields are counted from the last `)`.
    #[must_use]
    pub fn parse(pid: i32, line: &[u8]) -> Option<Self> {
        let close = line.iter().rposition(|byte| *byte == b')')?;
        let rest = std::str::from_utf8(&line[close + 1..]).ok()?;
        let mut fields = rest.split_ascii_whitespace();
        let state = fields.next()?.chars().next()?;
        let ppid = fields.next()?.parse().ok()?;
        // Fields 3 and 4 are taken; the start time is field 22.
        let start = fields.nth(17)?.parse().ok()?;
        Some(Self { pid, ppid, state, start })
    }

    /// Dead, and only waiting to be collected by its parent.
    #[must_use]
    pub fn is_zombie(&self) -> bool {
        matches!(self.state, 'Z' | 'X')
    }
}

/// Sends a signal to the process that `stat` was read from, and to no other: the process is pinned
/// by a pidfd first, and compared with `stat` after that, so that a reused id is left alone.
///
/// Says whether the signal was delivered.
pub fn signal(stat: &Stat, signal: Signal) -> bool {
    let Some(pid) = Pid::from_raw(stat.pid) else {
        return false;
    };
    #[cfg(target_os = "linux")]
    {
        use rustix::process::{PidfdFlags, pidfd_open, pidfd_send_signal};
        let Ok(pin) = pidfd_open(pid, PidfdFlags::empty()) else {
            return false;
        };
        Stat::read(stat.pid).is_some_and(|now| now.start == stat.start)
            && pidfd_send_signal(&pin, signal).is_ok()
    }
    #[cfg(not(target_os = "linux"))]
    {
        rustix::process::kill_process(pid, signal).is_ok()
    }
}
