//! One turn of an agent outside of any run: for the life check. There is no holder here, so this
//! process stands in for it and ends all that the driver leaves.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use signal_hook::consts::{SIGINT, SIGTERM};

use super::Drive;
use crate::process::reap::{Children, Death, reap};
use crate::process::spawn;
use crate::process::stop::Stop;

/// The longest pause between two looks.
const LOOK: Duration = Duration::from_millis(50);

/// How a trial ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Trial {
    /// How the driver ended; as the agent did.
    pub exit: Death,
    /// It was ended because its time was over.
    pub late: bool,
    /// Somebody interrupted it.
    pub interrupted: bool,
}

/// Runs the driver in `folder` with `order`, which is written there, for at most `limit`. What it shows
/// of the agent goes to `shown`.
///
/// # Errors
/// When the order cannot be written or the driver not started.
pub fn run(
    order: &Drive,
    folder: &Path,
    cwd: &Path,
    env: &BTreeMap<String, String>,
    limit: Duration,
    shown: Stdio,
) -> io::Result<Trial> {
    let interrupted = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM] {
        signal_hook::flag::register(signal, Arc::clone(&interrupted))?;
    }
    #[cfg(target_os = "linux")]
    rustix::process::set_child_subreaper(Some(rustix::process::getpid()))?;
    let file = folder.join("drive.json");
    order.write(&file)?;
    let argv = order.command(&file)?;
    let mut command = Command::new(&argv[0]);
    command.args(&argv[1..]).current_dir(cwd);
    for (name, _) in std::env::vars_os() {
        // The agent's git is that of the folder it works in.
        if name.to_string_lossy().starts_with("GIT_") {
            command.env_remove(name);
        }
    }
    command.envs(env).stdin(Stdio::null()).stdout(shown);
    let child = spawn::in_own_session(&mut command)?.id().cast_signed();
    Ok(watch(child, order.grace.0, limit, &interrupted))
}

fn watch(child: i32, grace: Duration, limit: Duration, interrupted: &AtomicBool) -> Trial {
    let me = std::process::id().cast_signed();
    let began = Instant::now();
    let mut exit = None;
    let mut late = false;
    let mut stop: Option<Stop> = None;
    loop {
        let children = reap(|pid, death| {
            if pid.as_raw_nonzero().get() == child {
                exit = Some(death);
            }
        });
        if children == Children::None {
            let interrupted = interrupted.load(Ordering::SeqCst);
            return Trial { exit: exit.unwrap_or(Death::Code(1)), late, interrupted };
        }
        if stop.is_none() {
            let over = exit.is_none() && began.elapsed() >= limit;
            if over || exit.is_some() || interrupted.load(Ordering::SeqCst) {
                late = over;
                stop = Some(Stop::ask(me, grace));
            }
        }
        let pause = stop.as_mut().map_or(LOOK, |stop| stop.tick().min(LOOK));
        thread::sleep(pause);
    }
}
