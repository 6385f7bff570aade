//! A WP in the lead's own hands: taken, handed over, checked without a worker and without a round, and given
//! back.
//!
//! What the lead wants is on record at once ([`LeadAsks`]), whatever the WP is in the middle of; the engine
//! sees that to its end, stops a worker, and then does what is asked. A crash between the two leaves what was
//! asked, and the next engine does it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::phase::Phase;
use super::wp::WpState;
use super::{LedgerError, impossible};
use crate::event::{Event, Record};
use crate::model::ids::{CommitId, TreeId};
use crate::model::outcome::{Check, Problem};
use crate::model::plan::Kind;
use crate::model::time::Timestamp;
use crate::model::turn::Spent;

/// What is known of the lead's work in a WP.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Hands {
    /// Who took it last.
    pub by: String,
    /// When.
    pub since: Timestamp,
    /// Whether it is the lead's now.
    pub held: bool,
    /// What an engine is yet to do about it.
    pub asked: Option<LeadAsks>,
    /// Where the WP was when it was handed over.
    pub was: Phase,
    /// What the lead found in the worktree: what a worker left, or the base.
    pub left: Option<TreeId>,
    /// Where the branch stood then.
    pub branch_at: Option<CommitId>,
    /// Workers that had been started then.
    pub attempt: u32,
    /// Files that differ from that, as far as they were looked at.
    pub files: Vec<String>,
    /// Files that the lead changed before the last worker came.
    pub earlier: Vec<String>,
    /// What the lead left is being checked.
    pub rechecking: bool,
    /// Whether it has been checked since it was handed over.
    pub rechecked: bool,
    /// A worker goes on if something is wrong.
    pub to_worker: bool,
    /// What the last check found.
    pub problems: Vec<Problem>,
}

/// What the lead wants, and no engine has done yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LeadAsks {
    /// The worktree, without anybody in it.
    Take,
    /// To have given it back.
    Back,
}

/// What a check of the lead's work found and a worker is to mend.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SentBack {
    /// The round that it is for.
    pub round: u32,
    /// What is wrong.
    pub problems: Vec<Problem>,
}

impl WpState {
    /// Whether the lead has it, or is to have it.
    #[must_use]
    pub fn is_with_lead(&self) -> bool {
        self.hands.as_ref().is_some_and(|hands| hands.held)
    }

    /// Whether the lead has it already and its work is being checked.
    #[must_use]
    pub fn rechecks(&self) -> bool {
        self.hands.as_ref().is_some_and(|hands| hands.held && hands.rechecking)
    }

    /// What the lead wants done, where it can be done now: nothing of the WP is in the middle of something
    /// that has to be seen to its end first.
    #[must_use]
    pub fn lead_asks(&self) -> Option<LeadAsks> {
        let asked = self.hands.as_ref()?.asked?;
        let first = match self.phase {
            Phase::Waiting | Phase::Provisioning | Phase::Classing | Phase::Working => true,
            // What a worker has done to the repository is looked at first.
            Phase::Scoping => true,
            // What is in the way of it is in the way still.
            Phase::Blocked => true,
            Phase::Reviewing => self.review.is_at_work(),
            _ => false,
        };
        (!first).then_some(asked)
    }

    /// Whether it was taken and is not handed over yet.
    #[must_use]
    pub fn is_to_be_handed_over(&self) -> bool {
        self.hands.as_ref().is_some_and(|hands| hands.asked == Some(LeadAsks::Take))
    }

    /// Whether somebody of the run is still at work in it, though the lead is to have it.
    #[must_use]
    pub fn is_to_be_stopped(&self) -> bool {
        self.is_to_be_handed_over() && (self.phase == Phase::Working || self.review.is_at_work())
    }

    /// Whether an engine has something to do with it because the lead has it, or wants to.
    #[must_use]
    pub fn has_work_for_lead(&self) -> bool {
        let taken_up = self.phase == Phase::Waiting && self.is_to_be_handed_over();
        self.is_with_lead() && (self.phase.active() || self.lead_asks().is_some() || taken_up)
    }

    /// Files that the lead changed in it, at any time.
    #[must_use]
    pub fn by_lead(&self) -> Vec<&str> {
        let Some(hands) = &self.hands else { return Vec::new() };
        let fresh = hands.files.iter().filter(|file| !hands.earlier.contains(file));
        hands.earlier.iter().chain(fresh).map(String::as_str).collect()
    }

    /// Takes over which files the lead changed.
    pub(super) fn changed_by_lead(&mut self, files: &[String]) {
        if let Some(hands) = self.hands.as_mut().filter(|hands| hands.held) {
            hands.files = files.to_vec();
        }
    }

    /// It is in nobody's hands any more: committed, or given up.
    pub(super) fn let_go_of(&mut self) {
        if let Some(hands) = &mut self.hands {
            (hands.held, hands.asked, hands.rechecking) = (false, None, false);
        }
    }

    /// The worktree that was to be handed over is gone: another one is made, from the base.
    pub(super) fn stands_no_more(&mut self) {
        self.worktree = None;
        self.phase = Phase::Waiting;
        self.one_more_round();
        if let Some(hands) = &mut self.hands {
            hands.left = None;
        }
    }

    pub(super) fn of_lead(&mut self, record: &Record) -> Result<(), LedgerError> {
        let possible = match &record.event {
            Event::WpTaken { by, .. } => self.taken(record.at, by),
            Event::WpHandedOver { tree, branch_at, .. } => {
                self.handed_over(tree, branch_at.as_ref())
            }
            Event::RecheckStarted { to_worker, .. } => self.recheck_started(*to_worker),
            Event::RecheckEnded { problems, to_worker, .. } => {
                self.recheck_ended(record.at, problems, *to_worker)
            }
            Event::WpGivenBack { .. } => {
                let held = self.hands.as_mut().filter(|hands| hands.held && hands.asked.is_none());
                match held.filter(|_| self.phase == Phase::Taken) {
                    Some(hands) => {
                        hands.asked = Some(LeadAsks::Back);
                        true
                    }
                    None => false,
                }
            }
            Event::WpReleased { by_lead, .. } => self.released(by_lead),
            _ => false,
        };
        match possible {
            true => Ok(()),
            false => Err(impossible(record, format!("`{}`", self.id), self.phase.name())),
        }
    }

    fn taken(&mut self, at: Timestamp, by: &str) -> bool {
        if self.kind == Kind::Scout || self.phase.got_through() {
            return false;
        }
        if let Some(hands) = self.hands.as_mut().filter(|hands| hands.held) {
            if self.phase != Phase::Blocked || hands.by != by {
                return false;
            }
            let was = self.was.take().unwrap_or(Phase::Waiting);
            self.blocked_by = None;
            self.phase = match hands.asked {
                Some(LeadAsks::Take) => was,
                // What infrastructure keeps from being checked, or given back, is the lead's again.
                _ => {
                    (hands.asked, hands.rechecking) = (None, false);
                    Phase::Taken
                }
            };
            return true;
        }
        let before = self.hands.take();
        self.hands = Some(Hands {
            by: by.to_owned(),
            since: at,
            held: true,
            asked: Some(LeadAsks::Take),
            was: self.phase,
            left: before.as_ref().and_then(|before| before.left.clone()),
            branch_at: None,
            attempt: before.as_ref().map_or(0, |before| before.attempt),
            files: before.as_ref().map(|before| before.files.clone()).unwrap_or_default(),
            earlier: before.map(|before| before.earlier).unwrap_or_default(),
            rechecking: false,
            rechecked: false,
            to_worker: false,
            problems: Vec::new(),
        });
        let was = match self.phase {
            // What was in the way may be in nobody's way who works by hand.
            Phase::Blocked => self.was.take(),
            Phase::Cancelled => {
                self.was.filter(|was| matches!(was, Phase::Provisioning | Phase::Classing))
            }
            _ => None,
        };
        if self.phase.stuck() && self.worktree.is_none() {
            // There is nothing to hand over yet.
            self.phase = Phase::Waiting;
            self.one_more_round();
        } else if let Some(was) = was {
            self.phase = was;
        }
        if !self.phase.stuck() {
            (self.because, self.blocked_by, self.kept) = (None, None, None);
        }
        true
    }

    fn handed_over(&mut self, tree: &TreeId, branch_at: Option<&CommitId>) -> bool {
        if self.lead_asks() != Some(LeadAsks::Take) {
            return false;
        }
        let Some(hands) = &mut self.hands else { return false };
        if hands.left.is_none() || hands.attempt != self.attempt {
            // A worker has been there since: what it left is what the lead begins with.
            hands.left = Some(tree.clone());
            hands.attempt = self.attempt;
            let files = std::mem::take(&mut hands.files);
            let fresh = files.into_iter().filter(|file| !hands.earlier.contains(file));
            hands.earlier.extend(fresh.collect::<Vec<_>>());
        }
        hands.branch_at = branch_at.cloned();
        hands.was = self.phase;
        hands.asked = None;
        self.phase = Phase::Taken;
        true
    }

    fn recheck_started(&mut self, to_worker: bool) -> bool {
        let taken = self.phase == Phase::Taken;
        let Some(hands) = self.hands.as_mut().filter(|it| it.held && it.asked.is_none() && taken)
        else {
            return false;
        };
        (hands.rechecking, hands.rechecked, hands.to_worker) = (true, true, to_worker);
        hands.problems.clear();
        self.look_anew();
        self.phase = Phase::Scoping;
        true
    }

    fn recheck_ended(&mut self, at: Timestamp, problems: &[Problem], to_worker: bool) -> bool {
        if self.phase != Phase::Deciding || !self.rechecks() || problems != self.problems {
            return false;
        }
        let Some(hands) = &mut self.hands else { return false };
        hands.rechecking = false;
        hands.problems = problems.to_vec();
        if problems.is_empty() {
            self.judged_at = Some(at);
            self.phase = Phase::Committing;
        } else if to_worker {
            hands.held = false;
            let round = self.round + 1;
            self.sent_back = Some(SentBack { round, problems: problems.to_vec() });
            self.one_more_round();
            self.phase = Phase::Briefing;
        } else {
            self.phase = Phase::Taken;
        }
        true
    }

    /// Nothing is left to pay a reviewer of the lead's work with.
    pub(super) fn recheck_unpaid(&mut self, limit: &Spent, of_run: bool) {
        let whose = if of_run { "the run" } else { "the work package" };
        let text = format!("{whose} has used up {limit}, and nobody can review it");
        if let Some(hands) = &mut self.hands {
            hands.rechecking = false;
            hands.problems = vec![Problem::new(Check::Review, text)];
        }
        self.phase = Phase::Taken;
    }

    fn released(&mut self, by_lead: &[String]) -> bool {
        if self.lead_asks() != Some(LeadAsks::Back) {
            return false;
        }
        let Some(hands) = &mut self.hands else { return false };
        hands.files = by_lead.to_vec();
        let touched = hands.rechecked || !by_lead.is_empty();
        let was = hands.was;
        self.let_go_of();
        self.phase = match was {
            // Nobody did anything: it goes on where it was.
            was if !touched => was,
            was if was.stuck() || was == Phase::AwaitingAnswer => was,
            Phase::Briefing => was,
            _ if self.round == 0 => Phase::Briefing,
            // A worker looks at it before it is checked: the round goes on.
            _ => {
                self.look_anew();
                Phase::Starting
            }
        };
        true
    }

    /// Whoever goes on with it has a round to do so.
    fn one_more_round(&mut self) {
        self.last_round = self.last_round.max(self.round + 1);
    }

    /// What the checks of this round have found so far is no longer about what is there.
    fn look_anew(&mut self) {
        self.problems.clear();
        self.notes.clear();
        self.proved.clear();
        self.verdict = None;
        self.reviewed_by = None;
        self.review.begin_again();
        self.pass_from = self.pass;
        self.looks += 1;
    }
}
