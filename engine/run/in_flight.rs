//! Which steps of a run an engine may have begun and not told of: what the journal's phases leave open.
//!
//! A result in the folder of any other step cannot be an engine's that died before it could record it. The
//! next engine must not come to believe it only because it lies there: a worker can have left it for the
//! phase that follows its own.

use std::collections::HashSet;

use crate::ledger::{GatePhase, Ledger, Phase, ReviewState, WpState};
use crate::model::ids;
use crate::model::plan::{Plan, Review};

use super::verify::units;

/// Whether step `step`, for the `attempt`th time, of `unit` may be in flight where the journal ends.
#[must_use]
pub fn in_flight(ledger: &Ledger, plan: &Plan, unit: &str, step: &str, attempt: u32) -> bool {
    if let Some(wp) = ledger.wps.iter().find(|wp| wp.id.as_str() == unit) {
        return of_wp(wp, plan, step, attempt);
    }
    let gate = ledger.gates.last().filter(|gate| gate.phase == GatePhase::Proving);
    if let Some(gate) = gate.filter(|gate| format!("gate-{}", gate.gate) == unit) {
        // Every command of an open gate is read again; those that have not run have no result.
        return is_numbered(step, "setup.")
            || number(step, "dod.").is_some_and(|n| n <= gate.proved.len() + 1);
    }
    let Some(verify) = ledger.verify.as_ref().filter(|verify| !verify.ended) else { return false };
    let [commands, review] = units(verify.look);
    if unit == commands {
        let all = plan.wps.iter().flat_map(|wp| &wp.dod);
        let dods = all.map(|dod| &dod.text).collect::<HashSet<_>>().len();
        let next = match verify.ran.len() {
            ran if ran < dods => format!("dod.{}", ran + 1),
            ran => format!("live.{}", ran - dods + 1),
        };
        return is_numbered(step, "setup.") || step == next;
    }
    unit == review && sits(&verify.review, "review", step, attempt)
}

/// The same of a step of a WP.
#[must_use]
pub(super) fn of_wp(wp: &WpState, plan: &Plan, step: &str, attempt: u32) -> bool {
    let phase = if wp.phase.stuck() { wp.was.unwrap_or(wp.phase) } else { wp.phase };
    match phase {
        Phase::Provisioning => is_numbered(step, &since_begun("setup", wp.begun)),
        Phase::Classing => is_numbered(step, &since_begun("base", wp.begun)),
        Phase::Working => step == "work" && attempt == wp.attempt,
        Phase::Proving => step == format!("dod.{}.{}.{}", wp.round, wp.pass, wp.proved.len() + 1),
        Phase::Reviewing => {
            let round = format!("review.{}", wp.round);
            let planned = plan.wps.iter().find(|known| known.id == wp.id);
            match planned.map(|planned| &planned.review) {
                Some(Review::Command { .. }) => is_numbered(step, &format!("{round}.")),
                _ => sits(&wp.review, &round, step, attempt),
            }
        }
        _ => false,
    }
}

/// What the names of a WP's first steps begin with, whose worktree was made for the `begun`th time: what they came to
/// in one that is gone says nothing of this one.
#[must_use]
pub(super) fn since_begun(step: &str, begun: u32) -> String {
    match begun {
        0 | 1 => format!("{step}."),
        n => format!("{step}.{n}."),
    }
}

/// Whether it is the session of a reviewer who is at work. A lens whose name is too long for a step goes by
/// its place.
fn sits(review: &ReviewState, round: &str, step: &str, attempt: u32) -> bool {
    review.reviewers.iter().any(|reviewer| {
        let named = format!("{round}.{}", reviewer.lens);
        let its = match ids::check(&named) {
            Ok(()) => step == named,
            Err(_) => is_numbered(step, &format!("{round}.")),
        };
        its && reviewer.at_work.as_ref().is_some_and(|sitting| sitting.number == attempt)
    })
}

fn is_numbered(step: &str, prefix: &str) -> bool {
    number(step, prefix).is_some()
}

fn number(step: &str, prefix: &str) -> Option<usize> {
    step.strip_prefix(prefix)?.parse().ok()
}
