//! The holder: the process that owns one step. `sop __hold <step-dir>`.
//!
//! It is a session leader of its own (no terminal reaches it), has one thread and no runtime, and
//! does this, in this order:
//!
//! 1. take the step's lock, or leave: another holder has it; leave too if the fence is closed;
//! 2. listen ([`controls`]): orders, SIGTERM, and the tether, a pipe whose other end only the engine has;
//! 3. wait for the worktree's slot;
//! 4. close the fence, and only then start the command;
//! 5. watch it ([`watch`]): output to the log ([`output`]), wall clock, silence, orders;
//! 6. end whatever it left behind, until the kernel says that nothing is;
//! 7. leave the result, then the locks.
//!
//! It never calls [`Step::is_held`]: closing a second handle of the lock file would drop its own lock.

mod controls;
mod output;
mod start;
mod watch;

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use jiff::Timestamp;

use crate::plain_file;
use crate::process::Identity;
use crate::process::escape_path;

use super::files::Durable;
use super::step::{Fence, Step};
use super::{EndedBy, Exit, Key, LaunchError, Outcome, Spec};
use controls::{Controls, Order};
use output::Output;

/// Why a holder left without a result.
#[derive(Debug, thiserror::Error)]
enum HoldError {
    #[error(transparent)]
    Launch(#[from] LaunchError),
    #[error("{0} has no spec.json")]
    NoSpec(String),
    #[error("holding a command needs Linux: elsewhere nothing ends what it leaves behind")]
    NotLinux,
    #[error("cannot {0}: {1}")]
    System(&'static str, io::Error),
}

/// Runs the holder of the step in `dir`; for `main`, before anything else is looked at.
///
/// The exit code is 0 when the step is over or is another holder's; the state of the step is in its
/// files. Otherwise `holder.err` in `dir` says why.
#[must_use]
pub fn main(dir: &Path) -> ExitCode {
    let step = Step::at(dir.to_owned());
    let errors = step.file("holder.err");
    let panics = errors.clone();
    std::panic::set_hook(Box::new(move |panic| {
        let _nowhere_else = fs::write(&panics, panic.to_string());
    }));
    match hold(&step) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let _nowhere_else = fs::write(&errors, error.to_string());
            ExitCode::FAILURE
        }
    }
}

fn hold(step: &Step) -> Result<(), HoldError> {
    if cfg!(not(target_os = "linux")) {
        return Err(HoldError::NotLinux);
    }
    // Fails only for a leader of a process group, which has its terminal's signals to itself already.
    let _leader_already = rustix::process::setsid();
    // So that `ps` shows what this is; started through /proc/self/exe it would be called `exe`.
    let _cosmetic = fs::write("/proc/self/comm", "sop-hold");
    let Some(_lock) = step.lock().map_err(|error| HoldError::System("lock the step", error))?
    else {
        return Ok(());
    };
    if step.started()?.is_some() || step.outcome()?.is_some() {
        return Ok(());
    }
    let file = step.spec()?.ok_or_else(|| HoldError::NoSpec(escape_path(step.dir())))?;
    let (key, spec) = (file.key, file.spec);
    let durable = if spec.outlives { Durable::Yes } else { Durable::No };
    let mut controls = Controls::open(step, spec.outlives)
        .map_err(|error| HoldError::System("listen for orders", error))?;
    let slot = match wait_for_slot(&spec, &mut controls)? {
        Wait::Mine(slot) => slot,
        // Nothing was started: another engine may still start it.
        Wait::Cut => return Ok(()),
        Wait::Cancelled => {
            step.write_outcome(&blank(key, Timestamp::now()), durable)?;
            controls.close();
            return Ok(());
        }
    };
    let outcome = run(step, key, &spec, durable, &mut controls)?;
    if let Some(outcome) = outcome {
        step.write_outcome(&outcome, durable)?;
    }
    controls.close();
    drop(slot);
    Ok(())
}

enum Wait {
    /// The slot's lock, if there is one to have.
    Mine(Option<File>),
    /// An order to stop came first.
    Cancelled,
    /// The engine died first.
    Cut,
}

/// Waits until no other step works in the worktree. The wait is a poll of the controls, so an order
/// is heard meanwhile.
fn wait_for_slot(spec: &Spec, controls: &mut Controls) -> Result<Wait, HoldError> {
    let slot = match &spec.slot {
        Some(path) => {
            let opened = File::options()
                .create(true)
                .truncate(false)
                .write(true)
                .custom_flags(plain_file::careful())
                .open(path);
            Some(opened.map_err(LaunchError::file("open the slot", path))?)
        }
        None => None,
    };
    let mut pause = Duration::ZERO;
    loop {
        controls.wait(&mut [], pause).map_err(|error| HoldError::System("poll", error))?;
        match controls.order() {
            Some(Order::Cut) => return Ok(Wait::Cut),
            Some(Order::Stop(_)) => return Ok(Wait::Cancelled),
            None => {}
        }
        let Some(file) = &slot else {
            return Ok(Wait::Mine(None));
        };
        let tried = if spec.slot_shared { file.try_lock_shared() } else { file.try_lock() };
        match tried {
            Ok(()) => return Ok(Wait::Mine(slot)),
            Err(fs::TryLockError::WouldBlock) => {}
            Err(fs::TryLockError::Error(error)) => {
                return Err(HoldError::System("lock the slot", error));
            }
        }
        pause = (pause * 2).clamp(Duration::from_millis(1), Duration::from_millis(20));
    }
}

/// Closes the fence, starts the command and sees it to its end. Nothing if the fence was closed.
fn run(
    step: &Step,
    key: Key,
    spec: &Spec,
    durable: Durable,
    controls: &mut Controls,
) -> Result<Option<Outcome>, HoldError> {
    #[cfg(target_os = "linux")]
    rustix::process::set_child_subreaper(Some(rustix::process::getpid()))
        .map_err(|error| HoldError::System("become a subreaper", error.into()))?;
    let (started_at, clock) = (Timestamp::now(), Instant::now());
    let fence = fence(started_at);
    if !step.close_fence(&fence, durable)? {
        return Ok(None);
    }
    let mut outcome = blank(key, started_at);
    match start::start(spec, &fence.token) {
        Ok((child, mut output)) => {
            if let Some(worker) = Identity::of(child) {
                // For the case that this holder is killed; the command's mark tells as much.
                let _worth_no_failure = step.note_worker(&worker);
            }
            let end = watch::watch(spec, child, controls, &mut output);
            output.finish(&mut outcome);
            outcome.exit = end.exit;
            outcome.ended_by = end.ended_by;
            outcome.left_behind = end.left_behind;
        }
        Err(error) => {
            outcome.exit = Exit::NotSpawned(error);
            outcome.ended_by = EndedBy::Itself;
        }
    }
    outcome.ended_at = Timestamp::now();
    outcome.duration_ms = u64::try_from(clock.elapsed().as_millis()).unwrap_or(u64::MAX);
    Ok(Some(outcome))
}

/// The outcome of a step that was stopped before it was started; what happens fills it in.
fn blank(key: Key, at: Timestamp) -> Outcome {
    Outcome {
        key,
        exit: Exit::NeverStarted,
        ended_by: EndedBy::Cancel,
        started_at: at,
        ended_at: at,
        duration_ms: 0,
        lines: 0,
        bytes: 0,
        dropped_bytes: 0,
        capture_dropped_bytes: 0,
        log_error: None,
        left_behind: 0,
    }
}

/// The fence of this start. The token need only differ from that of every other start on the machine.
fn fence(at: Timestamp) -> Fence {
    let pid = std::process::id();
    let holder = Identity::of(pid.cast_signed());
    let boot = holder.as_ref().map_or("", |holder| holder.boot.as_str());
    let token = format!("{boot}.{pid}.{}", at.as_nanosecond());
    Fence { holder, token, at }
}
