//! A limit on the size of files (`ulimit -f`, a batch system's quota) fails the write that goes past it. By itself the
//! system ends the process as well, in the middle of whatever it was writing.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use rustix::process::Signal;

/// Has such a write fail and nothing else. Programs that are started afterwards have it as it was: a handler does not
/// survive `exec`.
pub fn outlive_limit() {
    // Where it cannot be had, a process ends as it would have.
    let _ = signal_hook::flag::register(Signal::XFSZ.as_raw(), Arc::new(AtomicBool::new(false)));
}
