//! The gate of a level: what got through is merged and proven together before the next level starts.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::phase::Phase;
use super::{Ledger, LedgerError, impossible};
use crate::event::{Event, Record};
use crate::model::ids::{CommitId, TreeId, WpId};
use crate::model::outcome::{Class, Problem, Ran};
use crate::model::time::Timestamp;

/// Where a gate is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum GatePhase {
    /// The commits are being merged.
    Merging,
    /// The DoDs are being run on the merged tree.
    Proving,
    /// It holds.
    Passed,
    /// It does not hold.
    Failed,
    /// It did not hold, and one of its WPs is being tried again.
    Superseded,
}

/// The state of one gate.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct GateState {
    /// From 1.
    pub gate: u32,
    /// Level whose work it is.
    pub level: usize,
    /// Where it is.
    pub phase: GatePhase,
    /// What it is merged onto.
    pub onto: CommitId,
    /// Who is merged, in this order.
    pub wps: Vec<WpId>,
    /// The branch, once merged.
    pub branch: Option<String>,
    /// The merged commit.
    pub commit: Option<CommitId>,
    /// Its tree.
    pub tree: Option<TreeId>,
    /// DoD commands that have run on it.
    pub proved: Vec<Ran>,
    /// Whose answer a failure needs.
    pub class: Option<Class>,
    /// WPs named by a failure.
    pub named: Vec<WpId>,
    /// What is wrong.
    pub problems: Vec<Problem>,
    /// What keeps the engine from going on with it.
    pub halted: Option<Problem>,
    /// When it began: also the date of its commits, so that a merge made again is the same merge.
    pub started_at: Timestamp,
}

impl Ledger {
    pub(super) fn apply_gate(&mut self, record: &Record) -> Result<(), LedgerError> {
        if let Event::GateStarted { gate, level, onto, wps } = &record.event {
            let open = self.gates.last().is_some_and(|g| g.phase.open());
            if *gate as usize != self.gates.len() + 1 || open {
                return Err(impossible(record, format!("gate {gate}"), "not next"));
            }
            for wp in wps {
                let n = self.position(record, wp)?;
                if self.wps[n].phase != Phase::Passed {
                    let phase = self.wps[n].phase.name();
                    return Err(impossible(record, format!("`{wp}`"), phase));
                }
                if self.wps[n].level != *level {
                    let place = format!("of level {}", self.wps[n].level);
                    return Err(impossible(record, format!("`{wp}`"), place));
                }
            }
            self.gates.push(GateState {
                gate: *gate,
                level: *level,
                phase: GatePhase::Merging,
                onto: onto.clone(),
                wps: wps.clone(),
                branch: None,
                commit: None,
                tree: None,
                proved: Vec::new(),
                class: None,
                named: Vec::new(),
                problems: Vec::new(),
                halted: None,
                started_at: record.at,
            });
            return Ok(());
        }
        if let Event::GateDodRan { wp, .. } = &record.event {
            self.position(record, wp)?;
        }
        let Some(state) = self.gates.last_mut() else {
            return Err(impossible(record, "the run", "without a gate"));
        };
        if record.event.gate() != Some(state.gate) {
            let gate = format!("gate {}", record.event.gate().unwrap_or_default());
            return Err(impossible(record, gate, format!("not the last, which is {}", state.gate)));
        }
        match (state.phase, &record.event) {
            (GatePhase::Merging, Event::GateMerged { branch, commit, tree, .. }) => {
                state.branch = Some(branch.clone());
                state.commit = Some(commit.clone());
                state.tree = Some(tree.clone());
                state.phase = GatePhase::Proving;
            }
            (GatePhase::Proving, Event::GateDodRan { ran, .. }) => state.proved.push(ran.clone()),
            (GatePhase::Proving, Event::GatePassed { commit, .. })
                if state.commit.as_ref() == Some(commit) =>
            {
                state.phase = GatePhase::Passed;
                self.trunk = commit.clone();
                for id in &state.wps {
                    if let Some(n) = self.index.get(id) {
                        self.wps[*n].phase = Phase::Integrated;
                        self.wps[*n].since = Some(record.at);
                    }
                }
            }
            (
                GatePhase::Merging | GatePhase::Proving,
                Event::GateFailed { class, wps, problems, .. },
            ) => {
                state.phase = GatePhase::Failed;
                state.class = Some(*class);
                state.named.clone_from(wps);
                state.problems.clone_from(problems);
            }
            (GatePhase::Merging | GatePhase::Proving, Event::GateHalted { problem, .. }) => {
                state.halted = Some(problem.clone());
                self.halted = true;
            }
            (phase, _) => {
                let gate = format!("gate {}", state.gate);
                return Err(impossible(record, gate, format!("{phase:?}").to_lowercase()));
            }
        }
        Ok(())
    }

    /// A WP of a failed gate is tried again: the gate will be, too, and the brief says why.
    pub(super) fn reopen_gate_of(&mut self, n: usize) {
        let id = self.wps[n].id.clone();
        if let Some(gate) = self.gates.last_mut()
            && matches!(gate.phase, GatePhase::Failed | GatePhase::Superseded)
            && gate.wps.contains(&id)
        {
            gate.phase = GatePhase::Superseded;
            if let Some(round) = self.wps[n].rounds.last_mut() {
                round.problems = gate.problems.clone();
            }
        }
    }
}

impl GatePhase {
    /// An engine has something to do with it.
    #[must_use]
    pub fn open(self) -> bool {
        matches!(self, Self::Merging | Self::Proving)
    }
}
