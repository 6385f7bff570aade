//! Providers that fail: what one WP found out, the others need not find out again (a circuit breaker).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::model::ids::{TierId, WorkerId};
use crate::model::time::{Length, Timestamp};
use crate::model::turn::{Fault, FaultClass};

/// Faults in a row after which a provider counts as down, when none of them says that it lasts.
const TRIPS_AT: u32 = 3;

/// How long a provider that is down is left alone before somebody looks again, where it does not say.
const LEFT_ALONE: Length = Length::secs(600);

/// A provider that fails.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Outage {
    /// The worker whose provider it is.
    pub worker: WorkerId,
    /// The one tier that it concerns, where it is about the tier's model.
    pub tier: Option<TierId>,
    /// What kind of fault it was last.
    pub class: FaultClass,
    /// The agent's own words.
    pub what: String,
    /// When it was met last.
    pub at: Timestamp,
    /// When the provider says that it can be tried again.
    pub resets_at: Option<Timestamp>,
    /// Faults in a row, of whichever WP.
    pub faults: u32,
}

/// What an outage means for the next start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Means {
    /// It is only one of several faults there may be: try.
    Try,
    /// Not before this instant, which the provider named.
    NotBefore(Timestamp),
    /// It has failed too often: better not before this instant.
    LeftAlone(Timestamp),
    /// Not before somebody has acted.
    Down,
}

impl Outage {
    /// Whether a start of `worker` on `tier` would meet it.
    #[must_use]
    pub fn concerns(&self, tier: &TierId, worker: &WorkerId) -> bool {
        &self.worker == worker && self.tier.as_ref().is_none_or(|only| only == tier)
    }

    /// What it means for a start that would meet it.
    #[must_use]
    pub fn means(&self) -> Means {
        if self.class.lasts() {
            Means::Down
        } else if let Some(at) = self.resets_at.filter(|at| *at > self.at) {
            Means::NotBefore(at)
        } else if self.faults >= TRIPS_AT {
            Means::LeftAlone(self.at.after(LEFT_ALONE))
        } else {
            Means::Try
        }
    }
}

/// Takes a session's end down: a fault of its provider, or proof that the provider is there.
pub(super) fn follow(
    outages: &mut Vec<Outage>,
    tier: &TierId,
    worker: &WorkerId,
    fault: Option<&Fault>,
    at: Timestamp,
) {
    let Some(fault) = fault else {
        outages.retain(|outage| !outage.concerns(tier, worker));
        return;
    };
    if !fault.class.of_provider() {
        return;
    }
    let only = (fault.class == FaultClass::ModelUnknown).then(|| tier.clone());
    let same = |outage: &&mut Outage| outage.worker == *worker && outage.tier == only;
    match outages.iter_mut().find(same) {
        Some(outage) => {
            outage.class = fault.class;
            outage.what.clone_from(&fault.message);
            outage.resets_at = fault.resets_at;
            outage.at = at;
            outage.faults += 1;
        }
        None => outages.push(Outage {
            worker: worker.clone(),
            tier: only,
            class: fault.class,
            what: fault.message.clone(),
            at,
            resets_at: fault.resets_at,
            faults: 1,
        }),
    }
}
