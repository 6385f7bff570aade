//! The end of an attempt: whether it is work to look at, a question, or a start that infrastructure spoilt.

use super::cost::{self, Role, Session};
use super::phase::Phase;
use super::wp::{self, Faulted, Fork, PLAN, RoundRecord, Spoilt, WpState, settled};
use crate::event::{Asked, Event};
use crate::model::outcome::{Check, Class, End, Problem};
use crate::model::question::Question;
use crate::model::time::Timestamp;
use crate::model::turn::{Fault, Spent};

/// Times in one round that a worker may stop to ask.
const ASKS: u32 = 5;

impl WpState {
    pub(super) fn attempt_ended(&mut self, at: Timestamp, event: &Event) {
        let Event::AttemptEnded { ran, turn, fault, asks, problems, .. } = event else {
            return;
        };
        self.notes.extend(ran.incomplete());
        self.worked = Some(ran.clone());
        self.fault = self.worker.as_ref().zip(fault.as_ref()).map(|(worker, fault)| Faulted {
            tier: self.tier.clone(),
            worker: worker.clone(),
            attempt: self.attempt,
            fault: fault.clone(),
        });
        self.problems.extend(problems.iter().cloned());
        if let Some(worker) = &self.worker {
            let (tier, turn, spoilt) = (&self.tier, turn.as_ref(), fault.is_some());
            let session = Session { tier, worker, role: Role::Work, ran, turn, spoilt };
            cost::add(&mut self.costs, session);
        }
        if let Some(id) = turn.as_ref().and_then(|turn| turn.session.clone()) {
            self.session = Some(wp::Session { id, tier: self.tier.clone() });
        }
        let of_provider = fault.as_ref().is_some_and(|fault| fault.class.of_provider());
        self.phase = match &ran.end {
            // Somebody stopped it: the attempt counts for nothing.
            End::Cancelled => Phase::Starting,
            _ if !asks.is_empty() => self.asks(at, asks),
            end if end.broken() => self.spoil(at, end.to_string(), true, fault.as_ref()),
            end @ (End::Timeout { .. } | End::Idle { .. }) if !of_provider => {
                let problem = Problem::new(Check::Worker, format!("the worker was {end}"));
                self.problems.push(problem.logged(&ran.log, ""));
                Phase::Scoping
            }
            end => match fault {
                Some(fault) => {
                    let what = format!("{} ({})", fault.message, fault.class);
                    self.spoil(at, what, fault.class.lasts(), Some(fault))
                }
                None if matches!(end, End::Signal { .. } | End::Lost) => {
                    self.spoil(at, end.to_string(), false, None)
                }
                // The DoD and the diff decide, not what the worker's exit code claims.
                None => {
                    if let Some(limit) = turn.as_ref().and_then(|turn| turn.stopped_at) {
                        let text = format!("the worker was ended at {limit}");
                        self.problems.push(Problem::new(Check::Worker, text).logged(&ran.log, ""));
                    }
                    Phase::Scoping
                }
            },
        };
    }

    fn spoil(
        &mut self,
        at: Timestamp,
        what: String,
        hopeless: bool,
        fault: Option<&Fault>,
    ) -> Phase {
        self.spoilt.push(Spoilt {
            tier: self.tier.clone(),
            hopeless,
            at,
            what,
            class: fault.map(|fault| fault.class),
            resets_at: fault.and_then(|fault| fault.resets_at),
        });
        Phase::Starting
    }

    /// The worker asks. Numbers are given by the run, which knows how many there were.
    fn asks(&mut self, asked_at: Timestamp, asks: &[Asked]) -> Phase {
        self.asked += 1;
        // What is answered at once is so by the plan, or by whoever answered the same before.
        let by = |asked: &Asked| {
            asked.answer.as_ref()?;
            let question = Question::new(&asked.question, None)?;
            let before = settled(&question, &[], &self.forks).map(|(_, by)| by.to_owned());
            before.or_else(|| Some(PLAN.to_owned()))
        };
        let fork = |asked: &Asked| Fork {
            number: 0,
            question: asked.question.clone(),
            default: asked.default.clone(),
            asked_at,
            answer: asked.answer.clone(),
            by: by(asked),
        };
        let forks: Vec<Fork> = asks.iter().map(fork).collect();
        self.forks.extend(forks);
        if self.asked > ASKS {
            let text = format!(
                "the worker stopped to ask {} times in this round; the brief leaves too much open",
                self.asked
            );
            self.problems.push(Problem::new(Check::Worker, text));
            // Whatever it asked last is not waited for.
            for fork in self.forks.iter_mut().filter(|fork| fork.answer.is_none()) {
                fork.answer = Some(String::new());
                fork.by = Some("nobody".to_owned());
            }
            return Phase::Scoping;
        }
        match self.unanswered().next() {
            Some(_) => Phase::AwaitingAnswer,
            None => Phase::Starting,
        }
    }

    /// Nothing is left to pay another session with: a person decides.
    pub(super) fn budget_spent(&mut self, limit: &Spent, of_run: bool, reviewer: Option<&str>) {
        let whose = if of_run { "the run" } else { "the work package" };
        let text = match reviewer {
            Some(lens) => format!(
                "the reviewer ({lens}) was ended at {limit} before it had answered, and {whose} has too little \
                 left for another"
            ),
            None => format!("{whose} has used up {limit}"),
        };
        let check = if self.phase == Phase::Reviewing { Check::Review } else { Check::Worker };
        // It is why a person is asked; what was wrong before is no news.
        let mut problems = vec![Problem::new(check, text)];
        problems.extend(self.problems.iter().cloned());
        self.rounds.push(RoundRecord {
            round: self.round,
            tier: self.tier.clone(),
            tree: self.tree.clone(),
            class: Some(Class::Decision),
            problems,
            spent: Some(*limit),
        });
        self.phase = Phase::Escalated;
    }
}
