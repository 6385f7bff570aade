//! One WP's transitions: what each fact means in each phase. A pair that is not here cannot happen.

use super::phase::Phase;
use super::review::ReviewState;
use super::wp::{RoundRecord, WpState};
use super::{LedgerError, impossible};
use crate::event::{Event, NextStep, Record};
use crate::model::outcome::{Check, Class, End, Problem, Ran};
use crate::model::plan::Kind;
use crate::model::verdict::{Judgment, ReviewFinding, Verdict};

/// Passes in which a DoD may change files: one that never leaves them alone proves nothing.
const PASSES: u32 = 4;

impl WpState {
    pub(super) fn apply(&mut self, record: &Record) -> Result<(), LedgerError> {
        let before = self.phase;
        self.step(record)?;
        if self.phase != before {
            self.since = Some(record.at);
            self.settled_at = self.phase.settled().then_some(record.at);
        }
        Ok(())
    }

    fn step(&mut self, record: &Record) -> Result<(), LedgerError> {
        use Phase as P;
        match (self.phase, &record.event) {
            (P::Waiting, Event::WpStarted { base, branch, worktree, .. }) => {
                self.begun += 1;
                self.base = Some(base.clone());
                self.began_at = Some(base.clone());
                self.branch = Some(branch.clone());
                self.worktree = Some(worktree.clone());
                self.started_at = Some(record.at);
                self.phase = P::Provisioning;
            }
            (P::Provisioning, Event::WpProvisioned { copied, .. }) => {
                self.copied.clone_from(copied);
                self.phase = P::Classing;
            }
            (P::Classing, Event::DodClassed { classes, .. }) => {
                self.classes.clone_from(classes);
                self.phase = P::Briefing;
            }
            (P::Briefing, Event::RoundStarted { round, tier, .. }) if *round == self.round + 1 => {
                self.round = *round;
                self.tier = tier.clone();
                self.problems.clear();
                self.notes.clear();
                self.spoilt.clear();
                self.asked = 0;
                self.proved.clear();
                self.verdict = None;
                self.reviewed_by = None;
                self.review = ReviewState::default();
                self.pass = 0;
                self.pass_from = 0;
                self.phase = P::Starting;
            }
            (
                P::Starting,
                Event::AttemptStarted { round, attempt, tier, guard, worker, prompt, session, .. },
            ) if *round == self.round && *attempt == self.attempt + 1 => {
                self.attempt = *attempt;
                self.prompt = Some(prompt.clone());
                self.resumed.clone_from(session);
                self.worker = Some(worker.clone());
                self.redirected = 0;
                self.guard = Some(guard.clone());
                self.tier = tier.clone();
                self.phase = P::Working;
            }
            (P::Working, Event::AttemptEnded { attempt, report, .. })
                if *attempt == self.attempt =>
            {
                self.report = report.clone().or_else(|| self.report.take());
                self.attempt_ended(record.at, &record.event);
            }
            (P::Working, Event::Redirected { attempt, .. }) if *attempt == self.attempt => {
                self.redirected += 1;
            }
            (P::AwaitingAnswer, Event::Answered { number, answer, by, .. })
                if self.unanswered().any(|fork| fork.number == *number) =>
            {
                for fork in self.forks.iter_mut().filter(|fork| fork.number == *number) {
                    fork.answer = Some(answer.clone());
                    fork.by = Some(by.clone());
                }
                if self.unanswered().next().is_none() {
                    self.phase = P::Starting;
                }
            }
            (P::Briefing | P::Starting, Event::BudgetSpent { limit, of_run, .. }) => {
                self.budget_spent(limit, *of_run, None);
            }
            (P::Reviewing, Event::BudgetSpent { limit, of_run, reviewer, .. })
                if !self.review.is_at_work() =>
            {
                if self.rechecks() {
                    self.recheck_unpaid(limit, *of_run);
                } else {
                    // The work is as good as it was: another try goes on with the review.
                    self.was = Some(P::Reviewing);
                    self.budget_spent(limit, *of_run, reviewer.as_deref());
                }
            }
            (
                P::Reviewing,
                event @ (Event::ReviewStarted { round, .. }
                | Event::ReviewerStarted { round, .. }
                | Event::ReviewerEnded { round, .. }),
            ) if *round == self.round && self.review.allows(event) => {
                if let Event::ReviewerEnded { ran, .. } = event {
                    self.notes.extend(ran.incomplete());
                }
                self.review.apply(record.at, event, &mut self.costs);
            }
            (P::Scoping | P::Rechecking, Event::ScopeChecked { round, pass, .. })
                if *round == self.round && *pass == self.pass + 1 =>
            {
                self.scope_checked(&record.event);
            }
            (P::Proving, Event::DodRan { round, pass, index, ran, tail, .. })
                if (*round, *pass) == (self.round, self.pass)
                    && usize::try_from(*index) == Ok(self.proved.len()) =>
            {
                self.notes.extend(ran.incomplete());
                self.dod_ran(ran, tail.as_deref());
            }
            (P::Reviewing, Event::ReviewRequested { round, tree, .. })
                if *round == self.round
                    && Some(tree) == self.tree.as_ref()
                    && !self.review.is_at_work() =>
            {
                self.phase = P::AwaitingReview;
            }
            (P::Reviewing | P::AwaitingReview, Event::Reviewed { round, by, verdict, .. })
                if *round == self.round && !self.review.is_at_work() =>
            {
                let blocks = |finding: &&ReviewFinding| {
                    self.review.block_from.is_none_or(|least| finding.severity >= least)
                };
                match verdict.verdict {
                    Judgment::RequestChanges => {
                        self.problems.extend(review_problems(verdict, blocks));
                    }
                    Judgment::Approve => self.notes.extend(review_notes(verdict)),
                }
                self.verdict = Some(verdict.clone());
                self.reviewed_by = Some(by.clone());
                self.phase = P::Deciding;
            }
            (P::Deciding, Event::RoundEnded { round, class, problems, next, .. })
                // What is wrong cannot be committed, whoever says so.
                if *round == self.round
                    && !self.rechecks()
                    && (*next == NextStep::Commit) == self.problems.is_empty() =>
            {
                self.judged_at = Some(record.at);
                self.round_ended(*class, problems, next);
            }
            (P::Committing, Event::WpCommitted { commit, tree, .. })
                if self.kind == Kind::Change && Some(tree) == self.tree.as_ref() =>
            {
                self.commit = Some(commit.clone());
                self.let_go_of();
                self.phase = P::Passed;
            }
            (P::Committing, Event::WpReported { report, .. }) if self.kind == Kind::Scout => {
                self.report = Some(report.clone());
                self.phase = P::Passed;
            }
            (phase, Event::WpBlocked { problem, .. })
                if phase.active() || self.lead_asks().is_some() =>
            {
                self.blocked_by = Some(problem.clone());
                self.was = Some(phase);
                self.phase = P::Blocked;
            }
            (P::Waiting, Event::WpDeferred { because, .. }) => {
                self.because = Some(because.clone());
                self.phase = P::Deferred;
            }
            (phase, Event::WpCancelled { .. }) if !phase.got_through() && phase != P::Cancelled => {
                // One that was blocked goes back to where it was blocked: it may have no more than half
                // a worktree.
                if phase != P::Blocked {
                    self.was = Some(phase);
                }
                self.because = None;
                self.let_go_of();
                self.phase = P::Cancelled;
            }
            (
                P::Escalated | P::Blocked | P::Cancelled | P::Passed | P::Deferred,
                Event::WpRetried { .. },
            ) => self.retried(),
            (
                _,
                Event::WpTaken { .. }
                | Event::WpHandedOver { .. }
                | Event::RecheckStarted { .. }
                | Event::RecheckEnded { .. }
                | Event::WpGivenBack { .. }
                | Event::WpReleased { .. },
            ) => self.of_lead(record)?,
            (_, Event::WorktreeRemoved { .. }) if self.is_to_be_handed_over() => self.stands_no_more(),
            (phase, Event::WorktreeRemoved { .. }) if phase.settled() => self.worktree = None,
            (phase, Event::WorktreeKept { why, .. }) if phase.settled() => {
                self.kept = Some(why.clone());
            }
            (phase, _) => {
                return Err(impossible(record, format!("`{}`", self.id), phase.name()));
            }
        }
        Ok(())
    }

    fn scope_checked(&mut self, event: &Event) {
        let Event::ScopeChecked { pass, tree, against, changed, problems, notes, by_lead, .. } =
            event
        else {
            return;
        };
        let same = self.tree.as_ref() == Some(tree);
        let rechecked = self.phase == Phase::Rechecking;
        self.pass = *pass;
        if rechecked && !same && *pass > self.pass_from + PASSES {
            let text = format!("change files each time they run ({PASSES} times in a row)");
            let problem = Problem::new(Check::Dod, text);
            self.problems.push(problem.about("the DoD commands"));
        }
        self.tree = Some(tree.clone());
        self.against = Some(against.clone());
        self.changed = *changed;
        self.changed_by_lead(by_lead);
        self.problems.extend(problems.iter().cloned());
        // A second look sees the same things again.
        for note in notes {
            if !self.notes.contains(note) {
                self.notes.push(note.clone());
            }
        }
        self.phase = if !self.problems.is_empty() {
            Phase::Deciding
        } else if self.dods == 0 || (rechecked && same) {
            self.proven()
        } else {
            // A tree that the DoD has not seen is not proven, whoever made it.
            self.proved.clear();
            Phase::Proving
        };
    }

    fn dod_ran(&mut self, ran: &Ran, tail: Option<&str>) {
        if !ran.end.success() {
            let message = match &ran.end {
                End::Exit { code } => format!("exits {code}"),
                end => end.to_string(),
            };
            self.problems.push(
                Problem::new(Check::Dod, message)
                    .about(&ran.run)
                    .logged(&ran.log, tail.unwrap_or("")),
            );
        }
        self.proved.push(ran.clone());
        if self.proved.len() >= self.dods as usize {
            self.phase = if self.problems.is_empty() { Phase::Rechecking } else { Phase::Deciding };
        }
    }

    fn proven(&self) -> Phase {
        if self.reviewed { Phase::Reviewing } else { Phase::Deciding }
    }

    fn round_ended(&mut self, class: Option<Class>, problems: &[Problem], next: &NextStep) {
        self.rounds.push(RoundRecord {
            round: self.round,
            tier: self.tier.clone(),
            tree: self.tree.clone(),
            class,
            problems: problems.to_vec(),
            spent: None,
        });
        self.phase = match next {
            NextStep::Commit => Phase::Committing,
            NextStep::Round { tier } => {
                self.tier = tier.clone();
                Phase::Briefing
            }
            NextStep::Escalate => Phase::Escalated,
        };
    }

    fn retried(&mut self) {
        self.because = None;
        self.kept = None;
        self.blocked_by = None;
        self.began_at = self.commit.take().or(self.began_at.take());
        // Whoever stood in for the tier whose provider failed has failed as well: begin again with it.
        if let Some(first) = self.spoilt.first() {
            self.tier = first.tier.clone();
        }
        self.spoilt.clear();
        self.review.try_again();
        self.last_round = self.round + self.budget;
        let was = self.was.take();
        if self.worktree.is_none() && !self.is_to_be_handed_over() {
            // Nothing is left that the lead could have in its hands.
            self.let_go_of();
        }
        self.phase = match (self.phase, was) {
            _ if self.worktree.is_none() => Phase::Waiting,
            (Phase::Escalated, Some(Phase::Reviewing)) => {
                // The round is not over: only its review could not be paid.
                self.rounds.pop();
                Phase::Reviewing
            }
            // The disk may have mended; nothing of the round is lost.
            (Phase::Blocked, Some(was)) => was,
            (_, Some(was @ (Phase::Provisioning | Phase::Classing))) => was,
            // What its worker asked still needs an answer.
            (_, Some(was @ Phase::AwaitingAnswer)) => was,
            _ => Phase::Briefing,
        };
    }
}

/// What of a verdict has to be mended.
fn review_problems(verdict: &Verdict, blocks: impl Fn(&&ReviewFinding) -> bool) -> Vec<Problem> {
    if verdict.findings.is_empty() {
        return vec![Problem::new(Check::Review, verdict.summary.clone())];
    }
    let blocking = verdict.findings.iter().filter(blocks);
    blocking
        .map(|finding| Problem {
            subject: place(finding),
            ..Problem::new(Check::Review, finding.message.clone())
        })
        .collect()
}

/// What of a verdict blocks nothing, and is told.
fn review_notes(verdict: &Verdict) -> impl Iterator<Item = String> {
    verdict.findings.iter().map(|finding| {
        let place = place(finding).map_or_else(String::new, |place| format!("{place}: "));
        format!("review, {}: {place}{}", finding.severity.name(), finding.message)
    })
}

fn place(finding: &ReviewFinding) -> Option<String> {
    let file = finding.file.as_ref()?;
    Some(match finding.line {
        Some(line) => format!("{file}:{line}"),
        None => file.clone(),
    })
}
