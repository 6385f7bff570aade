//! What has left the machine, and what is still to: one item for each independent WP, or one for the
//! whole.

use std::collections::HashSet;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::gate::GatePhase;
use super::wp::WpState;
use super::{Ledger, LedgerError, Phase, impossible};
use crate::event::{Event, Outcome, Record};
use crate::model::delivery::{DeliveryShape, DeliveryStep, Hold, WaitsFor};
use crate::model::ids::{CommitId, WpId};
use crate::model::outcome::Ran;
use crate::model::plan::{Kind, Mode, Risk};
use crate::model::time::Timestamp;

/// The state of a run's delivery.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DeliveryState {
    /// The remote's name.
    pub remote: String,
    /// The branch that requests ask to be merged into.
    pub into: Option<String>,
    /// What is, or was to be, delivered, in the order in which that began.
    pub items: Vec<Item>,
    /// Local branches that are gone, since their work has landed.
    pub removed: Vec<String>,
    /// Commands that the plan has for after the merge.
    pub to_run: u32,
    /// Those that a person had run.
    pub after: Vec<AfterRan>,
}

/// A command that a person had run after the merge.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AfterRan {
    /// When.
    pub at: Timestamp,
    /// Who.
    pub by: String,
    /// The command as the plan has it.
    pub run: String,
    /// How it went; nothing while that is not known.
    pub ran: Option<Ran>,
}

/// A branch on its way.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Item {
    /// The WP; nothing for the whole.
    pub wp: Option<WpId>,
    /// The branch at the remote, once it is known.
    pub branch: Option<String>,
    /// A commit that was about to be pushed there.
    pub pushing: Option<CommitId>,
    /// The commit that was pushed there last.
    pub pushed: Option<CommitId>,
    /// The step that was about to be made, where its end is not known.
    pub step: Option<DeliveryStep>,
    /// The request's number.
    pub number: Option<u64>,
    /// Where a person looks at it.
    pub url: Option<String>,
    /// Whether an earlier run opened it.
    #[serde(default)]
    pub earlier: bool,
    /// Whether it is merged.
    pub merged: bool,
    /// Where the branch stood in which it was found.
    pub landed: Option<CommitId>,
    /// Why it goes no further; of an engine at work, what it came to under this engine.
    pub held: Option<Held>,
}

/// Why a delivery goes no further.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Held {
    /// Why.
    pub why: Hold,
    /// The same in words, with what to do about it.
    pub text: String,
    /// An engine that took the run up since has not looked at it yet.
    #[serde(default)]
    pub before: bool,
}

/// Work that is to be delivered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Deliverable {
    /// The WP; nothing for the whole.
    pub wp: Option<WpId>,
    /// Its branch here, which is also its branch at the remote unless an earlier run has one there.
    pub branch: String,
    /// The checked commit.
    pub commit: CommitId,
    /// How much can go wrong.
    pub risk: Risk,
}

impl DeliveryState {
    pub(super) fn new(shape: DeliveryShape) -> Self {
        let DeliveryShape { remote, into, after: to_run } = shape;
        let (items, removed, after) = (Vec::new(), Vec::new(), Vec::new());
        Self { remote, into, items, removed, to_run, after }
    }

    /// The item of a WP, or of the whole.
    #[must_use]
    pub fn item(&self, wp: Option<&WpId>) -> Option<&Item> {
        self.items.iter().find(|item| item.wp.as_ref() == wp)
    }

    /// An engine takes the run: what was held is looked at again.
    pub(super) fn take_up(&mut self) {
        for held in self.items.iter_mut().filter_map(|item| item.held.as_mut()) {
            held.before = true;
        }
    }
}

impl Item {
    fn new(wp: Option<WpId>) -> Self {
        Self {
            wp,
            branch: None,
            pushing: None,
            pushed: None,
            step: None,
            number: None,
            url: None,
            earlier: false,
            merged: false,
            landed: None,
            held: None,
        }
    }

    /// Why it goes no further under the engine that has the run, or had it last.
    #[must_use]
    pub fn at_rest(&self) -> Option<&Held> {
        self.held.as_ref().filter(|held| !held.before)
    }
}

impl Ledger {
    /// All that this run has to deliver, whatever became of it.
    #[must_use]
    pub fn deliverables(&self) -> Vec<Deliverable> {
        self.deliverables_but(&HashSet::new())
    }

    /// The same without those of these WPs (nothing for the whole).
    fn deliverables_but(&self, over: &HashSet<Option<&WpId>>) -> Vec<Deliverable> {
        if self.delivery.is_none() {
            return Vec::new();
        }
        match self.mode {
            Mode::Independent => {
                let made = |wp: &&WpState| {
                    let changed = wp.kind == Kind::Change && wp.commit != wp.base;
                    changed && wp.phase == Phase::Passed && !over.contains(&Some(&wp.id))
                };
                let of = |wp: &WpState| {
                    Some(Deliverable {
                        wp: Some(wp.id.clone()),
                        branch: wp.branch.clone()?,
                        commit: wp.commit.clone()?,
                        risk: wp.risk,
                    })
                };
                self.wps.iter().filter(made).filter_map(of).collect()
            }
            Mode::Staged if over.contains(&None) => Vec::new(),
            Mode::Staged => self.whole().into_iter().collect(),
        }
    }

    /// The integrated result, once it is whole and holds.
    fn whole(&self) -> Option<Deliverable> {
        let integrated = |wp: &WpState| match wp.kind {
            Kind::Change => wp.phase == Phase::Integrated,
            Kind::Scout => wp.phase.got_through(),
        };
        let whole = self.wps.iter().all(integrated) && self.next_gate().is_none();
        if !whole || self.standing_here() != Outcome::Done || self.trunk == self.base {
            return None;
        }
        let passed = self.gates.iter().rev().find(|gate| gate.phase == GatePhase::Passed)?;
        Some(Deliverable {
            wp: None,
            branch: passed.branch.clone()?,
            commit: self.trunk.clone(),
            risk: self.wps.iter().map(|wp| wp.risk).max().unwrap_or_default(),
        })
    }

    /// What an engine can deliver now.
    #[must_use]
    pub fn to_deliver(&self) -> Vec<Deliverable> {
        if self.halted {
            return Vec::new();
        }
        let items = self.delivery.iter().flat_map(|state| &state.items);
        let over = items.filter(|item| item.landed.is_some() || item.at_rest().is_some());
        self.deliverables_but(&over.map(|item| item.wp.as_ref()).collect())
    }

    /// Whether the work of a WP, or the whole that it is part of, was found where it was to go.
    #[must_use]
    pub fn has_landed(&self, wp: &WpId) -> bool {
        let Some(state) = &self.delivery else { return false };
        let wp = (self.mode == Mode::Independent).then_some(wp);
        state.item(wp).is_some_and(|item| item.landed.is_some())
    }

    /// How delivery stands, of a run that is through with all the rest.
    pub(super) fn delivered(&self) -> Outcome {
        let all = self.deliverables();
        let rests = all.iter().map(|one| {
            let item = self.delivery.as_ref().and_then(|state| state.item(one.wp.as_ref()));
            match item {
                Some(item) if item.landed.is_some() => WaitsFor::Nobody,
                Some(Item { held: Some(held), .. }) => held.why.waits_for(),
                _ => WaitsFor::Somebody,
            }
        });
        let rests: Vec<WaitsFor> = rests.collect();
        if rests.contains(&WaitsFor::Infrastructure) {
            Outcome::Blocked
        } else if rests.contains(&WaitsFor::Somebody) {
            Outcome::Waiting
        } else {
            Outcome::Done
        }
    }

    pub(super) fn apply_delivery(&mut self, record: &Record) -> Result<(), LedgerError> {
        let (wp, event) = (record.event.wp().cloned(), &record.event);
        let known = wp.as_ref().is_none_or(|wp| self.wp(wp).is_some());
        let Some(state) = self.delivery.as_mut().filter(|_| known) else {
            return Err(impossible(record, "delivery", "not part of this run"));
        };
        match event {
            Event::BranchRemoved { branch } => {
                state.removed.push(branch.clone());
                return Ok(());
            }
            Event::AfterMergeStarted { by, run } => {
                let (by, run) = (by.clone(), run.clone());
                state.after.push(AfterRan { at: record.at, by, run, ran: None });
                return Ok(());
            }
            Event::AfterMergeRan { ran, .. } => {
                let Some(begun) = state.after.last_mut().filter(|after| after.ran.is_none()) else {
                    return Err(impossible(record, "a command for after the merge", "not begun"));
                };
                begun.ran = Some(ran.clone());
                return Ok(());
            }
            _ => {}
        }
        let at = state.items.iter().position(|item| item.wp == wp);
        let mut item = at.map_or_else(|| Item::new(wp), |at| state.items[at].clone());
        item.apply(record)?;
        match at {
            Some(at) => state.items[at] = item,
            None => state.items.push(item),
        }
        Ok(())
    }
}

impl Item {
    fn apply(&mut self, record: &Record) -> Result<(), LedgerError> {
        let refused = |state| Err(impossible(record, "this delivery", state));
        if self.landed.is_some() {
            return refused("over");
        }
        match &record.event {
            Event::DeliveryStarted { step, branch, commit, .. } => {
                if *step == DeliveryStep::Merge && self.number.is_none() {
                    return refused("without a request");
                }
                if *step == DeliveryStep::Push {
                    self.pushing = Some(commit.clone());
                }
                self.branch = Some(branch.clone());
                self.step = Some(*step);
                self.held = None;
            }
            Event::BranchPushed { branch, commit, .. } => {
                self.branch = Some(branch.clone());
                self.pushed = Some(commit.clone());
                (self.pushing, self.step) = (None, None);
            }
            Event::RequestOpened { number, url, .. }
            | Event::RequestUpdated { number, url, .. } => {
                if self.pushed.is_none() {
                    return refused("not pushed");
                }
                self.earlier |= matches!(record.event, Event::RequestUpdated { .. });
                (self.number, self.url) = (Some(*number), Some(url.clone()));
                self.step = None;
            }
            Event::RequestMerged { number, .. } => {
                if self.number != Some(*number) {
                    return refused("of another request");
                }
                (self.merged, self.step) = (true, None);
            }
            Event::DeliveryLanded { onto, .. } => {
                if !self.merged {
                    return refused("not merged");
                }
                self.landed = Some(onto.clone());
                self.held = None;
            }
            Event::DeliveryHeld { why, text, .. } => {
                self.step = None;
                self.held = Some(Held { why: *why, text: text.clone(), before: false });
            }
            _ => return refused("nothing of the kind"),
        }
        Ok(())
    }
}
