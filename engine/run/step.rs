//! One command in a worktree, under a holder: submitted or adopted, stopped when asked, and told as
//! facts.

use std::path::PathBuf;
use std::time::Duration;

use tokio::sync::watch;
use tokio::time::Instant;

use crate::launch::{
    EndedBy, Exit, Found, Handle, How, Key, LaunchError, Launcher, Local, Outcome, Spec,
};
use crate::model::outcome::{End, Ran};
use crate::model::time::Length;

/// How often a step that is cut off, and by nobody's order, is run again.
const CUT_OFFS: u32 = 3;

/// How long a holder that was told to end its step at once may take, and then the step itself when its
/// holder was ended.
const TURN: Duration = Duration::from_secs(2);

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
/// under the next number; but what is cut off again and again under this engine has a cause that lasts.
///
/// # Errors
/// When no holder can be started, its files cannot be read or are not an engine's, or the step does not
/// get to its end.
pub async fn bound(
    launcher: &Local,
    key: impl Fn(u32) -> Key,
    spec: impl Fn(&Key) -> Spec,
    usable: impl Fn(&Outcome) -> bool,
    orders: &mut Orders,
) -> Result<(Outcome, PathBuf), LaunchError> {
    let mut cut_offs = 0;
    for n in 1.. {
        let key = key(n);
        let outcome = match launcher.find(&key).await? {
            Found::Ended(outcome)
                if usable(&outcome) && !was_cut_off(&outcome, *orders.borrow()) =>
            {
                outcome
            }
            Found::Ended(_) => continue,
            Found::Running(handle) => follow(launcher, &handle, orders).await?,
            Found::NeverStarted => {
                let handle = launcher.submit(&key, &spec(&key))?;
                follow(launcher, &handle, orders).await?
            }
        };
        if !was_cut_off(&outcome, *orders.borrow()) {
            let log = launcher.log(&key)?.unwrap_or_default();
            return Ok((outcome, log));
        }
        cut_offs += 1;
        if cut_offs == CUT_OFFS {
            return Err(LaunchError::CutOff { key, times: cut_offs });
        }
    }
    unreachable!("numbers do not run out")
}

fn was_cut_off(outcome: &Outcome, order: Order) -> bool {
    match outcome.ended_by {
        EndedBy::Interrupted | EndedBy::Lost => true,
        // An order of this engine stands; one of an earlier engine does not.
        EndedBy::Cancel => order == Order::Go,
        _ => false,
    }
}

/// The outcome of a step for which it matters who stopped it: a holder that somebody sent TERM stops as
/// if it had an order. That is something which happened to the step, like any other signal.
#[must_use]
pub fn unless_ordered(launcher: &Local, key: &Key, outcome: Outcome, order: Order) -> Outcome {
    let stopped = outcome.ended_by == EndedBy::Cancel && order == Order::Go;
    if stopped && launcher.unordered(key) {
        let exit = Exit::Signal(rustix::process::Signal::TERM.as_raw());
        return Outcome { exit, ended_by: EndedBy::Itself, ..outcome };
    }
    outcome
}

/// Starts a step that outlives engines, or finds it at work or over. Nothing when it has not begun and somebody
/// said stop: it is not begun only to be ended.
///
/// # Errors
/// When no holder can be started, or its files cannot be read or are not an engine's.
pub async fn begin(
    launcher: &Local,
    key: &Key,
    spec: &Spec,
    orders: &Orders,
) -> Result<Option<Handle>, LaunchError> {
    let stopping = *orders.borrow() != Order::Go;
    if stopping && matches!(launcher.find(key).await?, Found::NeverStarted) {
        return Ok(None);
    }
    launcher.submit(key, spec).map(Some)
}

/// Waits for a step, and passes orders on to its holder. A step that is to end at once, and whose holder does
/// not see to it, is ended without it; one that does not end even then is left.
///
/// # Errors
/// When the holder could not do its work, or the step is left.
pub async fn follow(
    launcher: &Local,
    handle: &Handle,
    orders: &mut Orders,
) -> Result<Outcome, LaunchError> {
    let mut given = Order::Go;
    let mut due: Option<Instant> = None;
    let mut overruled = false;
    loop {
        let order = *orders.borrow_and_update();
        if order > given {
            given = order;
            let how = if order == Order::Kill { How::Kill } else { How::Term };
            launcher.cancel(handle.key(), how)?;
            due = (how == How::Kill).then(|| Instant::now() + TURN);
        }
        tokio::select! {
            // That its holder is gone too is the doing of this engine.
            outcome = handle.wait() => return outcome.map(|outcome| match outcome.ended_by {
                EndedBy::Lost if overruled => Outcome { ended_by: EndedBy::Cancel, ..outcome },
                _ => outcome,
            }),
            () = tokio::time::sleep_until(due.unwrap_or_else(Instant::now)), if due.is_some() => {
                if overruled {
                    return Err(LaunchError::Left(handle.key().clone()));
                }
                launcher.overrule(handle.key())?;
                overruled = true;
                due = Some(Instant::now() + TURN);
            }
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
        log_error: outcome.log_error.clone(),
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
