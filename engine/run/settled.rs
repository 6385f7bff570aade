//! Branches whose work was checked, and that are nobody's to move any more: neither a worker's nor
//! `sop`'s own. The dispatcher says which they are; units compare.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::event::{Event, MovedBranch};
use crate::git::refs::Target;
use crate::git::standing::Watched;
use crate::git::{GitError, Repo};
use crate::ledger::{GatePhase, GateState, Ledger, WpState};
use crate::model::ids::{CommitId, RunId};
use crate::process;

/// Settled branches by their short names, each with the commit that was checked.
///
/// A branch gets in here after `sop` has set it, and is out of it before `sop` sets it again.
#[derive(Debug, Default)]
pub struct Settled(Mutex<Branches>);

type Branches = BTreeMap<String, Arc<Watched>>;

impl Settled {
    /// Takes over what a ledger knows.
    pub fn take_over(&self, ledger: &Ledger) {
        let mut branches = self.lock();
        branches.clear();
        for wp in &ledger.wps {
            follow_wp(&mut branches, wp);
        }
        for gate in &ledger.gates {
            follow_gate(&mut branches, gate);
        }
        for branch in ledger.delivery.iter().flat_map(|delivery| &delivery.removed) {
            branches.remove(branch);
        }
    }

    /// Takes over what an event, which the ledger has already, made of its WP or gate.
    pub fn follow(&self, event: &Event, ledger: &Ledger) {
        match event {
            Event::WpCommitted { wp, .. }
            | Event::WpRetried { wp, .. }
            | Event::WpTaken { wp, .. } => {
                if let Some(wp) = ledger.wp(wp) {
                    follow_wp(&mut self.lock(), wp);
                }
            }
            Event::BranchRemoved { branch } => drop(self.lock().remove(branch)),
            Event::GatePassed { .. } => {
                if let Some(gate) = ledger.gates.last() {
                    follow_gate(&mut self.lock(), gate);
                }
            }
            _ => {}
        }
    }

    /// The settled branches that are not where they must be.
    ///
    /// # Errors
    /// The branches cannot be listed.
    pub fn moved(&self, repo: &Repo, run: &RunId) -> Result<Vec<MovedBranch>, GitError> {
        let mut in_doubt: Vec<Arc<Watched>> = self.lock().values().cloned().collect();
        repo.drop_standing(&mut in_doubt);
        if in_doubt.is_empty() {
            return Ok(Vec::new());
        }
        let stand = repo.branches_of(run)?;
        let after = self.lock();
        let moved = in_doubt.into_iter().filter_map(|watched| {
            let stands = match stand.get(&watched.branch) {
                Some(Target::Direct(commit)) if *commit == watched.at => return None,
                Some(Target::Direct(commit)) => Some(commit.to_string()),
                Some(Target::Symbolic(other)) => Some(process::escape(other.as_bytes())),
                None => None,
            };
            // One that is being tried again meanwhile may be anywhere.
            let still = after.get(&watched.branch).is_some_and(|now| now.at == watched.at);
            let (branch, checked) = (watched.branch.clone(), watched.at.clone());
            still.then_some(MovedBranch { branch, checked, stands })
        });
        Ok(moved.collect())
    }

    /// All of them, for want of an answer where they are.
    #[must_use]
    pub fn all_in_doubt(&self, why: &str) -> Vec<MovedBranch> {
        let doubt = |watched: &Arc<Watched>| MovedBranch {
            branch: watched.branch.clone(),
            checked: watched.at.clone(),
            stands: Some(format!("an unknown place ({why})")),
        };
        self.lock().values().map(doubt).collect()
    }

    fn lock(&self) -> MutexGuard<'_, Branches> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn follow_wp(branches: &mut Branches, wp: &WpState) {
    let Some(branch) = &wp.branch else { return };
    match &wp.commit {
        Some(commit) if wp.phase.got_through() => watch(branches, branch, commit),
        _ => drop(branches.remove(branch)),
    }
}

fn follow_gate(branches: &mut Branches, gate: &GateState) {
    if let (GatePhase::Passed, Some(branch), Some(commit)) =
        (gate.phase, &gate.branch, &gate.commit)
    {
        watch(branches, branch, commit);
    }
}

fn watch(branches: &mut Branches, branch: &str, commit: &CommitId) {
    let watched = Watched::new(branch.to_owned(), commit.clone());
    branches.insert(branch.to_owned(), Arc::new(watched));
}
