//! Local branches go once what is on them is proven to have landed. Those at the remote are the forge's.

use crate::event::Event;
use crate::ledger::{GatePhase, Ledger, WpState};
use crate::model::approval::Cover;
use crate::model::ids::CommitId;
use crate::model::outcome::Check;
use crate::run::dispatcher::{Engine, EngineError};
use crate::run::site::Site;

impl Engine<'_> {
    /// Removes the branches whose work has landed. One that somebody moved meanwhile stays.
    pub(in crate::run) async fn remove_landed(&mut self) -> Result<(), EngineError> {
        if !self.site.covers.has(Cover::Cleanup) {
            return Ok(());
        }
        for (branch, commit) in landed(&self.ledger) {
            let name = branch.clone();
            let remove = move |site: &Site| site.repo.delete_branch(&name, &commit);
            if self.site.blocking(Check::Merge, remove).await.is_ok() {
                self.record(vec![Event::BranchRemoved { branch }])?;
            }
        }
        Ok(())
    }
}

/// Branches of landed work that are still there, each with the commit that was checked. One whose worktree is
/// still there is in use.
fn landed(ledger: &Ledger) -> Vec<(String, CommitId)> {
    let Some(state) = &ledger.delivery else { return Vec::new() };
    let of_wp = |wp: &WpState| Some((wp.branch.clone()?, wp.commit.clone()?));
    let gone = |wp: &&WpState| wp.worktree.is_none() && ledger.has_landed(&wp.id);
    let wps = ledger.wps.iter().filter(gone).filter_map(of_wp);
    let whole = state.item(None).is_some_and(|item| item.landed.is_some());
    let stages = ledger.gates.iter().filter(|gate| whole && gate.phase == GatePhase::Passed);
    let stages = stages.filter_map(|gate| Some((gate.branch.clone()?, gate.commit.clone()?)));
    wps.chain(stages).filter(|(branch, _)| !state.removed.contains(branch)).collect()
}
