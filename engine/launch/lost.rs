//! A step whose holder was killed. The kernel has ended the command itself; what that had started is
//! looked for and ended here, and then there is a result after all: lost.

use std::collections::HashSet;
use std::time::{Duration, Instant};

use jiff::Timestamp;

use crate::process::identity::{Stat, boot_id};
use crate::process::stop::kill_all;
use crate::process::{Identity, limited_log, tree};

use super::files::Durable;
use super::step::{Started, Step, TOKEN};
use super::{EndedBy, Exit, Key, LaunchError, Outcome};

/// How long killed processes may take to disappear.
const PATIENCE: Duration = Duration::from_secs(10);

/// Ends what is left of a lost step, joins its log, and leaves the outcome.
pub(super) async fn clean_up(step: &Step, key: &Key) -> Result<Outcome, LaunchError> {
    let at = match step.started()? {
        Some(started) => {
            end_all(&started, key).await?;
            started.fence.at
        }
        None => Timestamp::now(),
    };
    let spec = step.spec()?.map(|file| file.spec);
    let (mut lines, mut bytes, mut log_error) = (0, 0, None);
    if let Some(spec) = &spec {
        for log in spec.capture.iter().map(|capture| &capture.path).chain([&spec.log]) {
            match limited_log::mend(log).and_then(|()| limited_log::count(log)) {
                Ok(counted) => (lines, bytes) = counted,
                Err(error) => log_error = Some(error.to_string()),
            }
        }
    }
    let now = Timestamp::now();
    let outcome = Outcome {
        key: key.clone(),
        exit: Exit::Unknown,
        ended_by: EndedBy::Lost,
        started_at: at,
        ended_at: now,
        duration_ms: u64::try_from(now.duration_since(at).as_millis()).unwrap_or(0),
        lines,
        bytes,
        dropped_bytes: 0,
        capture_dropped_bytes: 0,
        log_error,
        left_behind: 0,
    };
    step.write_outcome(&outcome, Durable::Yes)?;
    Ok(outcome)
}

/// Kills until nothing of the step is alive.
async fn end_all(started: &Started, key: &Key) -> Result<(), LaunchError> {
    let deadline = Instant::now() + PATIENCE;
    let mut killed = HashSet::new();
    loop {
        let left = remains(started);
        if left.is_empty() {
            return Ok(());
        }
        if Instant::now() > deadline {
            return Err(LaunchError::Undead {
                key: key.clone(),
                pids: left.iter().map(|stat| stat.pid).collect(),
            });
        }
        kill_all(&left, &mut killed);
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// The living processes that are certainly this step's: its command, by id, start and boot; whatever
/// carries the step's mark in its environment; and all below these. A process that only has the same
/// id, or was started before another boot, is not among them.
fn remains(started: &Started) -> Vec<Stat> {
    let boot = boot_id();
    let written_now =
        |who: &Option<Identity>| who.as_ref().is_some_and(|who| Some(&who.boot) == boot.as_ref());
    if !written_now(&started.fence.holder) && !written_now(&started.worker) {
        return Vec::new();
    }
    let token = &started.fence.token;
    let is_root = |stat: &Stat| {
        let is_worker =
            started.worker.as_ref().is_some_and(|w| w.pid == stat.pid && w.start == stat.start);
        is_worker || (!token.is_empty() && tree::has_env(stat.pid, TOKEN, token))
    };
    let all = tree::processes();
    let mut found: Vec<Stat> =
        all.iter().filter(|stat| !stat.is_zombie() && is_root(stat)).copied().collect();
    let roots: Vec<i32> = found.iter().map(|stat| stat.pid).collect();
    found.extend(tree::descendants(&all, &roots));
    found
}
