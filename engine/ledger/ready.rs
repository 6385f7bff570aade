//! What may happen next: which WPs may start, which never will, which level is to be merged, and how
//! the whole stands.

use super::Ledger;
use std::collections::HashMap;

use super::gate::{GatePhase, GateState};
use super::phase::Phase;
use super::verify::VerifyState;
use super::wp::WpState;
use crate::event::{After, Outcome};
use crate::model::approval::Cover;
use crate::model::ids::{StageId, WpId};
use crate::model::plan::{Kind, Mode};

impl Ledger {
    /// WPs whose work an engine can take up now, in the plan's order, as if there were room for all:
    /// those in the middle of something first (a crash left them so), then those that may begin.
    #[must_use]
    pub fn startable(&self) -> Vec<&WpState> {
        let active = self.wps.iter().filter(|wp| wp.phase.active() && !wp.is_with_lead());
        if self.halted {
            return active.collect();
        }
        let open = self.open_level();
        let unfinished = self.stages_with(|wp| !through(wp));
        let fresh = self
            .wps
            .iter()
            .filter(|wp| wp.phase == Phase::Waiting && !wp.is_with_lead())
            .filter(|wp| self.has_base(wp, open, &unfinished));
        active.chain(fresh).collect()
    }

    /// WPs that an engine has something to do with because the lead has them, or wants to.
    pub fn for_the_lead(&self) -> impl Iterator<Item = &WpState> {
        self.wps.iter().filter(|wp| wp.has_work_for_lead())
    }

    /// Whether what `wp` builds on is there.
    #[must_use]
    pub fn may_begin(&self, wp: &WpState) -> bool {
        self.has_base(wp, self.open_level(), &self.stages_with(|wp| !through(wp)))
    }

    fn has_base(
        &self,
        wp: &WpState,
        open: Option<usize>,
        unfinished: &HashMap<&StageId, &WpId>,
    ) -> bool {
        let built_on = match &wp.after {
            After::Base => true,
            After::Stage(stage) => !unfinished.contains_key(stage),
            After::Wps(needs) => needs.iter().all(|need| self.wp(need).is_some_and(through)),
        };
        built_on && open.is_none_or(|open| wp.level <= open)
    }

    /// WPs that cannot run, each with the one it waits for in vain.
    #[must_use]
    pub fn to_defer(&self) -> Vec<(WpId, WpId)> {
        let lost = self.stages_with(is_stuck);
        let stuck = |need: &&WpId| self.wp(need).is_some_and(is_stuck);
        self.wps
            .iter()
            .filter(|wp| wp.phase == Phase::Waiting && !wp.is_with_lead())
            .filter_map(|wp| {
                let cause = match &wp.after {
                    After::Base => None,
                    After::Stage(stage) => lost.get(stage).copied(),
                    After::Wps(needs) => needs.iter().find(stuck),
                };
                cause.map(|cause| (wp.id.clone(), cause.clone()))
            })
            .collect()
    }

    /// For each stage in which some WP is so, the first such WP: one pass, however many ask.
    fn stages_with(&self, so: impl Fn(&WpState) -> bool) -> HashMap<&StageId, &WpId> {
        let mut stages = HashMap::new();
        for wp in self.wps.iter().filter(|wp| so(wp)) {
            stages.entry(&wp.stage).or_insert(&wp.id);
        }
        stages
    }

    /// The gate that is open, or the level whose work is ready to be merged.
    #[must_use]
    pub fn next_gate(&self) -> Option<NextGate<'_>> {
        if let Some(gate) = self.gates.last()
            && gate.phase.open()
        {
            return Some(NextGate::Open(gate));
        }
        let covered = self.covers.has(Cover::Integration);
        if self.mode == Mode::Independent || self.gate_failed() || self.halted || !covered {
            return None;
        }
        let level = self.open_level()?;
        let settled = self.of_level(level).all(|wp| wp.phase.got_through() || is_stuck(wp));
        let wps: Vec<WpId> =
            self.of_level(level).filter(|wp| mergeable(wp)).map(|wp| wp.id.clone()).collect();
        (settled && !wps.is_empty()).then_some(NextGate::Ready { level, wps })
    }

    /// How the run stands if nothing more can be done now.
    #[must_use]
    pub fn standing(&self) -> Outcome {
        match self.standing_here() {
            Outcome::Done => self.delivered(),
            other => other,
        }
    }

    /// The same, as far as it is this machine's.
    #[must_use]
    pub fn standing_here(&self) -> Outcome {
        let any = |phase: Phase| self.wps.iter().any(|wp| wp.phase == phase);
        if any(Phase::Blocked) || self.halted {
            Outcome::Blocked
        } else if any(Phase::Escalated)
            || any(Phase::Cancelled)
            || self.gate_failed()
            || self.verify.as_ref().is_some_and(VerifyState::failed)
            || self.tampered()
        {
            Outcome::Failed
        } else if self.wps.iter().all(|wp| wp.phase.got_through())
            && self.next_verify().is_none()
            && !self.uncovered_gate()
        {
            Outcome::Done
        } else {
            Outcome::Waiting
        }
    }

    /// Whether something that is nobody's to touch was touched and is not put back.
    #[must_use]
    pub fn tampered(&self) -> bool {
        !self.moved.is_empty() || !self.tampering.is_empty()
    }

    /// Whether a gate failed and nobody has asked for another try.
    #[must_use]
    pub fn gate_failed(&self) -> bool {
        self.gates.last().is_some_and(|gate| gate.phase == GatePhase::Failed)
    }

    /// Whether work is there that the approval does not let be merged.
    #[must_use]
    pub fn uncovered_gate(&self) -> bool {
        self.mode == Mode::Staged
            && !self.covers.has(Cover::Integration)
            && self.wps.iter().any(mergeable)
    }

    /// The first level that still has something to do or to merge.
    fn open_level(&self) -> Option<usize> {
        if self.mode == Mode::Independent {
            return None;
        }
        let open = |wp: &&WpState| !(wp.phase.got_through() || is_stuck(wp)) || mergeable(wp);
        self.wps.iter().find(open).map(|wp| wp.level)
    }

    fn of_level(&self, level: usize) -> impl Iterator<Item = &WpState> {
        let end = self.wps.partition_point(|wp| wp.level <= level);
        let start = self.wps.partition_point(|wp| wp.level < level);
        self.wps[start..end].iter()
    }
}

/// It has ended without getting through. What the lead has may get through yet, as long as nothing is in the way
/// of it.
fn is_stuck(wp: &WpState) -> bool {
    wp.phase.stuck() && (wp.phase == Phase::Blocked || !wp.is_with_lead())
}

/// What waits for this WP can build on it.
fn through(wp: &WpState) -> bool {
    match wp.kind {
        Kind::Scout => wp.phase.got_through(),
        Kind::Change => wp.phase == Phase::Integrated,
    }
}

/// A scout leaves nothing to merge.
fn mergeable(wp: &WpState) -> bool {
    wp.phase == Phase::Passed && wp.kind == Kind::Change
}

/// What the gate has to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NextGate<'a> {
    /// One was begun and is not over.
    Open(&'a GateState),
    /// A level's work is ready.
    Ready {
        /// The level.
        level: usize,
        /// What got through, in the plan's order.
        wps: Vec<WpId>,
    },
}
