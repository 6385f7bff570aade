//! A review by workers: who was asked, and what came of it. The same for a WP's round and for the last
//! look at the whole.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::cost::{self, Cost, Role};
use super::judge::Starts;
use super::wp::{Session, Spoilt};
use crate::event::Event;
use crate::model::ids::{TierId, WorkerId};
use crate::model::outcome::End;
use crate::model::time::Timestamp;
use crate::model::turn::Spent;
use crate::model::verdict::{ReviewSeverity, Verdict};

/// Answers in a row that may be no verdict: a reviewer is asked once more, and then it counts as one that
/// cannot do it.
const UNREAD: u32 = 2;

/// What is known of a review.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct ReviewState {
    /// SHA-256 of what was taken down about the rest of the repository, while a reviewer is at work.
    pub guard: Option<String>,
    /// How often what became of the repository was taken as it is before that.
    #[serde(default)]
    pub taken_before: usize,
    /// Least severity of a finding that blocks; nothing where whoever judges says so alone.
    pub block_from: Option<ReviewSeverity>,
    /// Those who were asked, one for each lens, in the order in which they began.
    pub reviewers: Vec<Reviewer>,
}

/// One reviewer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Reviewer {
    /// What it looks for.
    pub lens: String,
    /// Sessions so far.
    pub sessions: u32,
    /// The session at work.
    pub at_work: Option<Sitting>,
    /// Starts that infrastructure spoilt.
    pub spoilt: Vec<Spoilt>,
    /// Answers in a row that were no verdict.
    pub unread: u32,
    /// Why the last one was none.
    pub why: Option<String>,
    /// The budget that its last session was ended at, before it had answered.
    #[serde(default)]
    pub ended_at: Option<Spent>,
    /// Sessions in a row that were ended so.
    #[serde(default)]
    pub ended: u32,
    /// The agent's session that the last one left.
    pub session: Option<Session>,
    /// Its answer.
    pub verdict: Option<Verdict>,
}

/// A session at work.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Sitting {
    /// Its number, from 1.
    pub number: u32,
    /// The tier it is of.
    pub tier: TierId,
    /// The worker of that tier.
    pub worker: WorkerId,
    /// What it was told: a name within the run directory.
    pub prompt: String,
    /// The agent's session that it goes on with.
    pub resumed: Option<String>,
    /// Something was changed while it worked, and it may have been its doing.
    pub suspect: bool,
}

impl ReviewState {
    /// Whether a session is at work, as far as is known.
    #[must_use]
    pub fn is_at_work(&self) -> bool {
        self.reviewers.iter().any(|reviewer| reviewer.at_work.is_some())
    }

    /// The reviewer with this lens, if one was asked.
    #[must_use]
    pub fn reviewer(&self, lens: &str) -> Option<&Reviewer> {
        self.reviewers.iter().find(|reviewer| reviewer.lens == lens)
    }

    /// The answer of the reviewer with this lens.
    #[must_use]
    pub fn verdict(&self, lens: &str) -> Option<&Verdict> {
        self.reviewer(lens)?.verdict.as_ref()
    }

    /// What its starts so far mean for the next one.
    #[must_use]
    pub fn starts<'a>(&'a self, lens: &'a str, since: Option<Timestamp>) -> Starts<'a> {
        let reviewer = self.reviewer(lens);
        Starts {
            spoilt: reviewer.map_or(&[], |reviewer| &reviewer.spoilt),
            since,
            seed: (lens, reviewer.map_or(0, |reviewer| reviewer.sessions)),
        }
    }

    /// Whether the event can follow. Other events than those of reviewers cannot.
    #[must_use]
    pub fn allows(&self, event: &Event) -> bool {
        match event {
            Event::ReviewStarted { .. } => !self.is_at_work(),
            Event::ReviewerStarted { lens, number, .. } => {
                let known = self.reviewer(lens);
                self.guard.is_some()
                    && known.is_none_or(|r| r.at_work.is_none() && r.verdict.is_none())
                    && *number == known.map_or(0, |reviewer| reviewer.sessions) + 1
            }
            Event::ReviewerEnded { lens, tier, worker, .. } => self
                .reviewer(lens)
                .and_then(|reviewer| reviewer.at_work.as_ref())
                .is_some_and(|sitting| (&sitting.tier, &sitting.worker) == (tier, worker)),
            _ => false,
        }
    }

    /// Takes an event over that [can follow](Self::allows), and what it cost.
    pub fn apply(&mut self, at: Timestamp, event: &Event, costs: &mut Vec<Cost>) {
        match event {
            Event::ReviewStarted { guard, block_from, .. } => {
                self.guard = Some(guard.clone());
                self.block_from = Some(*block_from);
            }
            Event::ReviewerStarted { lens, number, tier, worker, prompt, session, .. } => {
                let sitting = Sitting {
                    number: *number,
                    tier: tier.clone(),
                    worker: worker.clone(),
                    prompt: prompt.clone(),
                    resumed: session.clone(),
                    suspect: false,
                };
                let reviewer = self.entry(lens);
                reviewer.sessions = *number;
                reviewer.at_work = Some(sitting);
            }
            Event::ReviewerEnded { lens, touched, .. } => {
                if !touched.is_empty() {
                    // Of those who work side by side, nobody can say which did it.
                    let sittings = self.reviewers.iter_mut().filter_map(|r| r.at_work.as_mut());
                    sittings.for_each(|sitting| sitting.suspect = true);
                }
                self.entry(lens).ended(at, event, costs);
                if !self.is_at_work() {
                    self.guard = None;
                }
            }
            _ => {}
        }
    }

    /// Somebody wants it tried again: what was answered stands, and what failed is forgotten.
    pub(super) fn try_again(&mut self) {
        for reviewer in &mut self.reviewers {
            reviewer.spoilt.clear();
            reviewer.unread = 0;
            reviewer.why = None;
            (reviewer.ended_at, reviewer.ended) = (None, 0);
        }
    }

    /// Everybody is asked anew, under numbers of their own.
    pub(super) fn begin_again(&mut self) {
        (self.guard, self.block_from) = (None, None);
        self.try_again();
        for reviewer in &mut self.reviewers {
            (reviewer.verdict, reviewer.session) = (None, None);
        }
    }

    fn entry(&mut self, lens: &str) -> &mut Reviewer {
        let n = self.reviewers.iter().position(|reviewer| reviewer.lens == lens);
        let n = n.unwrap_or_else(|| {
            self.reviewers.push(Reviewer {
                lens: lens.to_owned(),
                sessions: 0,
                at_work: None,
                spoilt: Vec::new(),
                unread: 0,
                why: None,
                ended_at: None,
                ended: 0,
                session: None,
                verdict: None,
            });
            self.reviewers.len() - 1
        });
        &mut self.reviewers[n]
    }
}

impl Reviewer {
    fn ended(&mut self, at: Timestamp, event: &Event, costs: &mut Vec<Cost>) {
        let Event::ReviewerEnded {
            tier, worker, ran, turn, fault, verdict, unread, touched, ..
        } = event
        else {
            return;
        };
        let turn = turn.as_ref();
        let suspect = self.at_work.take().is_some_and(|sitting| sitting.suspect);
        if let Some(id) = turn.and_then(|turn| turn.session.clone()) {
            self.session = Some(Session { id, tier: tier.clone() });
        }
        let spoil = |what: String, hopeless: bool| Spoilt {
            tier: tier.clone(),
            hopeless,
            at,
            what,
            class: fault.as_ref().map(|fault| fault.class),
            resets_at: fault.as_ref().and_then(|fault| fault.resets_at),
        };
        let mut spoilt = None;
        match (&ran.end, fault, verdict, unread) {
            // Somebody stopped it: it counts for nothing.
            (End::Cancelled, ..) => {}
            (end, ..) if end.broken() => spoilt = Some(spoil(end.to_string(), true)),
            (_, Some(fault), ..) => {
                let what = format!("{} ({})", fault.message, fault.class);
                spoilt = Some(spoil(what, fault.class.lasts()));
            }
            (_, None, Some(verdict), _) => {
                // One that did more than read is not heard.
                self.verdict = (touched.is_empty() && !suspect).then(|| verdict.clone());
                (self.unread, self.why) = (0, None);
                (self.ended_at, self.ended) = (None, 0);
            }
            (_, None, None, Some(why)) => {
                self.why = Some(why.clone());
                let stopped_at = turn.and_then(|turn| turn.stopped_at);
                match stopped_at {
                    // Whether there is more for it, whoever pays knows.
                    Some(limit) if limit.is_budget() => {
                        self.ended_at = Some(limit);
                        self.ended += 1;
                    }
                    limit => {
                        self.unread += 1;
                        if self.unread >= UNREAD {
                            let what = match limit {
                                Some(limit) => {
                                    format!("it was ended at {limit}, before it had answered")
                                }
                                None => {
                                    let expected = Verdict::EXPECTED;
                                    format!(
                                        "it gave no verdict that can be read: {why}; {expected}"
                                    )
                                }
                            };
                            spoilt = Some(spoil(format!("{what}; see {}", ran.log), true));
                            self.unread = 0;
                        }
                    }
                }
            }
            (end, None, None, None) => spoilt = Some(spoil(end.to_string(), false)),
        }
        let session =
            cost::Session { tier, worker, role: Role::Review, ran, turn, spoilt: spoilt.is_some() };
        cost::add(costs, session);
        self.spoilt.extend(spoilt);
    }
}
