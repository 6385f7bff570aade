//! One command in a worktree, under a holder: submitted or adopted, stopped when asked, and told as
//! facts.

use std::path::PathBuf;

use tokio::sync::watch;

use crate::launch::{
    EndedBy, Exit, Found, Handle, How, Key, LaunchError, Launcher, Local, Outcome, Spec,
};
use crate::model::outcome::{End, Ran};
use crate::model::time::Length;

/// What a unit is told from outside.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum Order {
    /// Go on.
    #[default]
    Go,
    /// Start nothing; end what runs, with TERM and grace.
    Term,
    /// End what runs at once.
    Kill,
}

/// The receiving end of a unit's orders.
pub type Orders = watch::Receiver<Order>;

/// Runs a step that is bound to the engine's life (all but workers). A result that an engine left
/// before it crashed is used if it is `usable`: one that only says what was in the way then, and may be
/// mended now, is not. Nor is one of a step that its engine's death cut off. Such a step is run again,
/// under the next number.
///
/// # Errors
/// When no holder can be started or its files cannot be read.
pub async fn bound(
    launcher: &Local,
    key: impl Fn(u32) -> Key,
    spec: impl Fn(&Key) -> Spec,
    usable: impl Fn(&Outcome) -> bool,
    orders: &mut Orders,
) -> Result<(Outcome, PathBuf), LaunchError> {
    for n in 1.. {
        let key = key(n);
        let outcome = match launcher.find(&key).await? {
            Found::Ended(outcome) if usable(&outcome) => outcome,
            Found::Ended(_) => continue,
            Found::Running(handle) => follow(launcher, &handle, orders).await?,
            Found::NeverStarted => {
                let handle = launcher.submit(&key, &spec(&key))?;
                follow(launcher, &handle, orders).await?
            }
        };
        let cut_off = match outcome.ended_by {
            EndedBy::Interrupted | EndedBy::Lost => true,
            // An order of this engine stands; one of an earlier engine does not.
            EndedBy::Cancel => *orders.borrow() == Order::Go,
            _ => false,
        };
        if !cut_off {
            let log = launcher.log(&key)?.unwrap_or_default();
            return Ok((outcome, log));
        }
    }
    unreachable!("numbers do not run out")
}

/// Waits for a step, and passes orders on to its holder.
///
/// # Errors
/// When the holder could not do its work.
pub async fn follow(
    launcher: &Local,
    handle: &Handle,
    orders: &mut Orders,
) -> Result<Outcome, LaunchError> {
    let mut given = Order::Go;
    loop {
        let order = *orders.borrow_and_update();
        if order > given {
            given = order;
            let how = if order == Order::Kill { How::Kill } else { How::Term };
            launcher.cancel(handle.key(), how)?;
        }
        tokio::select! {
            outcome = handle.wait() => return outcome,
            changed = orders.changed() => if changed.is_err() {
                // Nobody is left to give orders.
                return handle.wait().await;
            },
        }
    }
}

/// The facts of a step, as events tell them.
#[must_use]
pub fn ran(run: &str, log: &str, outcome: &Outcome, spec: &Spec) -> Ran {
    Ran {
        run: run.to_owned(),
        end: end(outcome, spec),
        lines: outcome.lines,
        log: log.to_owned(),
        took: Length::millis(outcome.duration_ms),
    }
}

/// How a step ended, as events tell it.
#[must_use]
pub fn end(outcome: &Outcome, spec: &Spec) -> End {
    let limit = |limit: Option<std::time::Duration>| Length(limit.unwrap_or_default());
    match outcome.ended_by {
        EndedBy::Timeout => End::Timeout { limit: limit(spec.timeout) },
        EndedBy::Idle => End::Idle { limit: limit(spec.idle_timeout) },
        EndedBy::Cancel | EndedBy::Interrupted => End::Cancelled,
        EndedBy::Lost => End::Lost,
        EndedBy::Itself => match &outcome.exit {
            Exit::Code(code) => End::Exit { code: *code },
            Exit::Signal(signal) => End::Signal { signal: *signal },
            Exit::NotSpawned(error) => End::NotStarted { error: error.to_string() },
            Exit::NeverStarted => End::Cancelled,
            Exit::Unknown => End::Lost,
        },
    }
}
