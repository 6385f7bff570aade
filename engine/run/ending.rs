//! Ending what an engine that died has left at work: TERM and its grace, then KILL, then without its holder. Only
//! what the journal leaves open is taken for an engine's: a folder of any other step could name processes that are
//! none of the run's.

use std::time::Duration;

use tokio::sync::watch;
use tokio::task::JoinSet;

use super::directory::{DirectoryError, RunDir};
use super::error::RunError;
use super::freeze::thaw;
use super::in_flight::in_flight;
use super::step::{self, Order, Orders};
use crate::launch::{Found, How, Key, LaunchError, Launcher as _, Local};
use crate::ledger::Ledger;
use crate::model::plan::Plan;

/// How much longer than its grace a holder may take to end its step, until it is told to do so at once.
const SLACK: Duration = Duration::from_secs(5);

/// Ends those of the steps that are at work, side by side, as `orders` say. One that has not begun never will. How
/// many there were.
///
/// # Errors
/// The first that could not be ended; the others have been.
pub(super) async fn end(
    launcher: &Local,
    keys: Vec<Key>,
    orders: &Orders,
) -> Result<usize, LaunchError> {
    let (mut at_work, mut failed) = (JoinSet::new(), None);
    for key in keys {
        // The word is left first: a holder that is only coming up reads it then.
        let found = match launcher.cancel(&key, How::Term) {
            Ok(_) => launcher.find(&key).await,
            Err(error) => Err(error),
        };
        match found {
            Ok(Found::Running(handle)) => {
                let (launcher, mut orders) = (launcher.clone(), orders.clone());
                at_work.spawn(async move { step::follow(&launcher, &handle, &mut orders).await });
            }
            Ok(Found::Ended(_) | Found::NeverStarted) => {}
            Err(error) => failed = failed.or(Some(error)),
        }
    }
    let ended = at_work.len();
    while let Some(outcome) = at_work.join_next().await {
        if let Ok(Err(error)) = outcome {
            failed = failed.or(Some(error));
        }
    }
    failed.map_or(Ok(ended), Err)
}

/// Ends what is at work for these units of a run that no engine has; none takes it meanwhile. How many steps
/// there were; nothing when an engine has the run, which sees to it itself.
///
/// # Errors
/// The run cannot be read, or something could not be ended.
pub async fn end_without_engine(
    dir: &RunDir,
    ledger: &Ledger,
    whose: impl Fn(&str) -> bool,
) -> Result<Option<usize>, RunError> {
    let _lock = match dir.lock() {
        Err(DirectoryError::Held(_)) => return Ok(None),
        lock => lock?,
    };
    let plan = thaw(dir, &ledger.plan_sha256)?;
    let open = |unit: &str, step: &str, n| in_flight(ledger, &plan, unit, step, n);
    let launcher = Local::new(dir.root()).owning(dir.run(), open)?;
    let mut keys = Vec::new();
    for unit in launcher.units_of(dir.run())?.iter().filter(|unit| whose(unit)) {
        let steps = launcher.steps_of(dir.run(), unit)?;
        keys.extend(steps.into_iter().filter(|key| open(unit, key.step(), key.attempt())));
    }
    let (order, orders) = watch::channel(Order::Term);
    let ended = end(&launcher, keys, &orders);
    tokio::pin!(ended);
    // A holder ends what does not listen by itself, when its grace is over.
    let patience = longest_grace(&plan) + SLACK;
    tokio::select! {
        ended = &mut ended => return Ok(Some(ended?)),
        () = tokio::time::sleep(patience) => drop(order.send_replace(Order::Kill)),
    }
    Ok(Some(ended.await?))
}

fn longest_grace(plan: &Plan) -> Duration {
    plan.tiers.values().map(|tier| tier.grace.0).max().unwrap_or_default()
}
