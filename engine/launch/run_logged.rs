//! `sop run-logged LOG -- CMD…`: full output to a file, one line and the end of it to people. Nothing
//! is piped, so nothing can hide an exit code.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Child, Command};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::process::{Pid, Signal};
use signal_hook::consts::{SIGCHLD, SIGHUP, SIGINT, SIGTERM};

use crate::process::{escape, limited_log, tail};

/// Lines shown of a failure.
const SHOWN: usize = 40;

/// Runs `argv` with standard output and error into `log`, standard input as it is, and SIGINT, SIGTERM
/// and SIGHUP passed on. Prints `exit=… lines=… log=…` to `out`, and the last 40 lines if it failed.
///
/// Gives the code to exit with: the command's own, 128 + the signal that ended it, 127 if there is no
/// such program, 126 if it cannot be executed.
///
/// # Errors
/// If the log cannot be written. That nobody hears what is said on `out` changes nothing about how the
/// command went.
pub fn run_logged(log: &Path, argv: &[OsString], out: &mut dyn Write) -> io::Result<u8> {
    let Some((program, arguments)) = argv.split_first() else {
        return Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            "run-logged needs a command after `--`",
        ));
    };
    let file = File::create(log)?;
    let mut command = Command::new(program);
    command.args(arguments).stdout(file.try_clone()?).stderr(file.try_clone()?);
    let signals = Signals::listen()?;
    let code = match command.spawn() {
        Ok(child) => signals.see_out(child)?,
        Err(error) => {
            writeln!(&file, "sop: {}: {error}", escape(program.as_bytes()))?;
            if error.kind() == io::ErrorKind::NotFound { 127 } else { 126 }
        }
    };
    let (lines, _) = limited_log::count(log)?;
    let last = if code == 0 { Vec::new() } else { tail(log, SHOWN)? };
    let _unheard = say(out, code, lines, log, &last);
    Ok(code)
}

fn say(out: &mut dyn Write, code: u8, lines: u64, log: &Path, last: &[String]) -> io::Result<()> {
    writeln!(out, "exit={code} lines={lines} log={}", escape(log.as_os_str().as_bytes()))?;
    for line in last {
        writeln!(out, "{line}")?;
    }
    out.flush()
}

/// The signals that are passed on, and the one that says the command is over.
struct Signals {
    wake: UnixStream,
    seen: Vec<(Signal, Arc<AtomicBool>)>,
}

impl Signals {
    fn listen() -> io::Result<Self> {
        let (wake, wakes) = UnixStream::pair()?;
        let mut seen = Vec::new();
        for (number, signal) in
            [(SIGINT, Signal::INT), (SIGTERM, Signal::TERM), (SIGHUP, Signal::HUP)]
        {
            let flag = Arc::new(AtomicBool::new(false));
            signal_hook::flag::register(number, Arc::clone(&flag))?;
            signal_hook::low_level::pipe::register(number, wakes.try_clone()?)?;
            seen.push((signal, flag));
        }
        signal_hook::low_level::pipe::register(SIGCHLD, wakes)?;
        Ok(Self { wake, seen })
    }

    fn see_out(mut self, mut child: Child) -> io::Result<u8> {
        use std::os::unix::process::ExitStatusExt;
        loop {
            if let Some(status) = child.try_wait()? {
                let code = status.code().or_else(|| status.signal().map(|signal| 128 + signal));
                return Ok(code.and_then(|code| u8::try_from(code).ok()).unwrap_or(u8::MAX));
            }
            for (signal, flag) in &self.seen {
                // What a terminal sends, it sends to the command as well: once is enough.
                if flag.swap(false, Ordering::SeqCst)
                    && !(*signal == Signal::INT && in_foreground())
                {
                    // The child is not collected yet, so its id is still its own.
                    let pid = Pid::from_child(&child);
                    let _gone_is_fine = rustix::process::kill_process(pid, *signal);
                }
            }
            // Interrupted or not, look again.
            let _woken = self.wake.read(&mut [0; 64]);
        }
    }
}

/// Whether a terminal counts this process among its foreground group.
fn in_foreground() -> bool {
    File::open("/dev/tty").is_ok_and(|tty| {
        rustix::termios::tcgetpgrp(&tty).is_ok_and(|group| group == rustix::process::getpgrp())
    })
}
