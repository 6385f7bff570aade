//! Collecting the dead without waiting for the living.

use rustix::io::Errno;
use rustix::process::{Pid, WaitOptions, WaitStatus, wait};

/// How a process ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Death {
    /// It exited with this code.
    Code(i32),
    /// This signal ended it.
    Signal(i32),
}

impl Death {
    fn of(status: WaitStatus) -> Option<Self> {
        status
            .exit_status()
            .map(Self::Code)
            .or_else(|| status.terminating_signal().map(Self::Signal))
    }
}

/// What is left of this process's children.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Children {
    /// At least one lives.
    Some,
    /// None, dead or alive. For a subreaper: no descendant at all.
    None,
}

/// Collects every child that is dead by now (for a subreaper: every orphan below it too) and hands
/// each to `dead`.
pub fn reap(mut dead: impl FnMut(Pid, Death)) -> Children {
    loop {
        match wait(WaitOptions::NOHANG) {
            Ok(Some((pid, status))) => {
                if let Some(death) = Death::of(status) {
                    dead(pid, death);
                }
            }
            Ok(None) => return Children::Some,
            Err(Errno::INTR) => {}
            // CHILD is the only other answer that wait gives.
            Err(_) => return Children::None,
        }
    }
}
