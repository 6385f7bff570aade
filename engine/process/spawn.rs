//! A child in a session of its own, that does not outlive its parent.

use std::io;
use std::process::{Child, Command};

/// Starts `command` as the leader of a new session (no controlling terminal to ask a password on,
/// no signals from one) and, on Linux, has the kernel end it with KILL should this process die first.
///
/// # Errors
/// What the system said to fork, to the folder or to exec; the child itself never ran then.
#[allow(unsafe_code)]
pub fn in_own_session(command: &mut Command) -> io::Result<Child> {
    use std::os::unix::process::CommandExt;
    #[cfg(target_os = "linux")]
    let parent = rustix::process::getpid();
    let prepare = move || {
        rustix::process::setsid()?;
        #[cfg(target_os = "linux")]
        {
            use rustix::process::{Signal, getppid, set_parent_process_death_signal};
            set_parent_process_death_signal(Some(Signal::KILL))?;
            // The parent may have died before the request was in place.
            if getppid() != Some(parent) {
                return Err(io::Error::from(rustix::io::Errno::SRCH));
            }
        }
        Ok(())
    };
    // SAFETY: between fork and exec only async-signal-safe calls are allowed. `prepare` makes three
    // plain system calls, allocates nothing, takes no lock and touches no shared memory.
    unsafe { command.pre_exec(prepare) };
    command.spawn()
}
