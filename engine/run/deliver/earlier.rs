//! What earlier runs of this repository are on record as having pushed.

use crate::event::{Event, Record};
use crate::journal;
use crate::model::delivery::DeliveryStep;
use crate::model::ids::CommitId;
use crate::run::directory::RunDir;

/// Whether some run put `branch` at `commit`, or was about to when its engine died. A journal that cannot be
/// read vouches for nothing.
pub(super) fn pushed(dir: &RunDir, branch: &str, commit: &CommitId) -> bool {
    let says = |record: &Record| match &record.event {
        Event::BranchPushed { branch: name, commit: at, .. }
        | Event::DeliveryStarted { step: DeliveryStep::Push, branch: name, commit: at, .. } => {
            name == branch && at == commit
        }
        _ => false,
    };
    let runs = RunDir::list(dir.root()).unwrap_or_default();
    runs.iter().any(|run| {
        journal::read(&run.journal()).is_ok_and(|journal| journal.records.iter().any(says))
    })
}
