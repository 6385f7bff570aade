//! What an event is in words: the one place where facts become sentences, for the pipe and for the
//! lines that scroll up from the live view.

use super::commands;
use super::delivery;
use super::palette::{Look, Tone};
use super::words;
use crate::event::{Event, NextStep, Outcome, Record, StopReason};
use crate::ledger::{Fork, Ledger, WpState};
use crate::model::ids::WpId;
use crate::model::outcome::{Check, End, Problem, Ran};
use crate::model::time::Length;
use crate::model::turn::Turn;
use crate::model::verdict::Judgment;

/// Problems that are named in one sentence; the rest are counted.
const NAMED: usize = 3;

/// One thing worth saying. Its text may hold anything that a plan or worker wrote: escape it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Said {
    /// The WP that it is about.
    pub wp: Option<WpId>,
    /// How it looks.
    pub tone: Tone,
    /// The sentence.
    pub text: String,
    /// It stands for itself: also worth a line where the steps between are seen as they happen.
    pub milestone: bool,
}

/// What `record` means in words, `ledger` being the state after it; `None` when nobody needs to hear.
#[must_use]
pub fn narrate(record: &Record, ledger: &Ledger, look: &Look) -> Option<Said> {
    if record.event.of_delivery() {
        let (tone, text, milestone) = delivery::told(&record.event, ledger)?;
        return Some(Said { wp: record.event.wp().cloned(), tone, text, milestone });
    }
    // On the merged tree a command is of a WP, and what it says is of the whole.
    let of_whole = matches!(record.event, Event::GateDodRan { .. } | Event::VerifyRan { .. });
    let id = record.event.wp().filter(|_| !of_whole);
    let (tone, text, milestone) = match id {
        Some(id) => of_wp(&record.event, ledger.wp(id)?, ledger, look)?,
        None => of_run(&record.event, ledger, look)?,
    };
    Some(Said { wp: record.event.wp().cloned(), tone, text, milestone })
}

/// How it looks, the sentence, and whether it stands for itself.
pub(super) type Words = Option<(Tone, String, bool)>;

fn step(tone: Tone, text: impl Into<String>) -> Words {
    Some((tone, text.into(), false))
}

fn milestone(tone: Tone, text: impl Into<String>) -> Words {
    Some((tone, text.into(), true))
}

fn of_wp(event: &Event, wp: &WpState, ledger: &Ledger, look: &Look) -> Words {
    match event {
        Event::DodClassed { classes, .. } => {
            let broken = classes.iter().filter(|c| c.ran.end.broken()).map(|c| failed(&c.ran));
            let broken: Vec<_> = broken.collect();
            if broken.is_empty() {
                return None;
            }
            step(Tone::Bad, format!("DoD cannot run on the base: {}", broken.join("; ")))
        }
        Event::AttemptStarted { round, tier, attempt, .. } => {
            let again =
                if *attempt > *round { format!(", start {attempt}") } else { String::new() };
            let before = wp.rounds_before_retry();
            let of = match round.saturating_sub(before) {
                0 => format!("({} more may follow)", wp.last_round - before),
                _ if before == 0 => format!("of {}", wp.last_round),
                n => format!("({n} of {} since the retry)", wp.last_round - before),
            };
            step(Tone::Active, format!("round {round} {of}: {tier} at work{again}"))
        }
        Event::AttemptEnded { .. } => attempt_ended(event, wp, ledger, look),
        Event::Answered { number, answer, by, .. } => match by.as_str() {
            "default" => milestone(
                Tone::Warn,
                format!("q{number}: nobody answered in time, the default is taken: {answer}"),
            ),
            by => step(Tone::Good, format!("q{number} answered by {by}: {answer}")),
        },
        Event::Redirected { say, by, .. } => {
            milestone(Tone::Active, format!("{by} to the worker: {say}"))
        }
        Event::BudgetSpent { limit, of_run, reviewer, .. } => {
            let text = match (reviewer, of_run) {
                (Some(lens), _) => format!("the reviewer for {lens} was ended at {limit}"),
                (None, true) => format!("the run has used up {limit}"),
                (None, false) => format!("it has used up {limit}"),
            };
            milestone(Tone::Bad, format!("escalated: {text}"))
        }
        Event::ReviewerStarted { .. } => reviewer_started(event),
        Event::ReviewerEnded { .. } => reviewer_ended(event),
        Event::ScopeChecked { problems, .. } if !problems.is_empty() => {
            // Whether the worker did anything at all is looked at there too.
            let of_scope = problems.iter().any(|problem| problem.check == Check::Scope);
            let head = if of_scope { "scope: " } else { "" };
            step(Tone::Bad, format!("{head}{}", listed(problems)))
        }
        Event::ScopeChecked { pass, .. } if *pass > wp.pass_from + 1 && wp.proved.is_empty() => {
            step(Tone::Warn, "the DoD changed files: scope and DoD run again")
        }
        Event::DodRan { ran, .. } if !ran.end.success() => {
            step(Tone::Bad, format!("DoD failed: {}", failed(ran)))
        }
        Event::DodRan { ran, .. } if ran.log_error.is_some() => {
            step(Tone::Warn, format!("DoD: {}{}", ran.run, incomplete(ran)))
        }
        Event::ReviewRequested { .. } => milestone(
            Tone::Warn,
            format!("waits for your review: {}", commands::approve(&ledger.run, &wp.id)),
        ),
        Event::Reviewed { by, verdict, .. } => match verdict.verdict {
            Judgment::Approve => step(Tone::Good, format!("approved by {by}")),
            Judgment::RequestChanges => {
                let n = verdict.findings.len().max(1) as u64;
                step(Tone::Bad, format!("{by} asks for changes: {}", words::count(n, "finding")))
            }
        },
        Event::RoundEnded { round, class: Some(class), problems, next, .. } => match next {
            NextStep::Escalate => milestone(
                Tone::Bad,
                format!("escalated after round {round} ({class}): {}", listed(problems)),
            ),
            NextStep::Round { tier } => {
                let n = words::count(problems.len() as u64, "problem");
                step(Tone::Warn, format!("round {round} failed ({class}, {n}); next on {tier}"))
            }
            NextStep::Commit => None,
        },
        Event::WpCommitted { commit, .. } => {
            milestone(Tone::Good, passed(wp, commit.short(), look))
        }
        Event::WpReported { report, .. } => {
            milestone(Tone::Good, format!("reported in {}: {report}", time_of(wp)))
        }
        Event::WpBlocked { problem, halt, .. } => {
            let halt = if *halt { "; nothing new starts until somebody has looked" } else { "" };
            milestone(Tone::Bad, format!("blocked by infrastructure: {}{halt}", one(problem)))
        }
        Event::WpDeferred { because, .. } => {
            milestone(Tone::Faint, format!("deferred: {because} did not get through"))
        }
        Event::WpCancelled { by, .. } => milestone(Tone::Warn, format!("cancelled by {by}")),
        Event::WpRetried { by, .. } => milestone(Tone::Active, format!("tried again ({by})")),
        Event::WpTaken { by, .. } => milestone(Tone::Warn, format!("taken by {by}")),
        Event::RecheckStarted { by, .. } => step(Tone::Active, format!("{by} has it checked")),
        Event::RecheckEnded { problems, to_worker, .. } if !problems.is_empty() => {
            let whose = if *to_worker { "a worker goes on with it" } else { "the lead keeps it" };
            milestone(Tone::Bad, format!("the check found {}; {whose}", listed(problems)))
        }
        Event::WpReleased { by_lead, .. } => {
            let n = words::count(by_lead.len() as u64, "file");
            milestone(Tone::Active, format!("given back by the lead, who changed {n}"))
        }
        Event::WorktreeKept { why, .. } => milestone(Tone::Warn, format!("worktree kept: {why}")),
        Event::WorktreeRemoved { salvage: Some(salvage), .. } => milestone(
            Tone::Warn,
            format!("worktree removed; what was not committed is in {salvage}"),
        ),
        // Steps on the way: what they lead to is told.
        Event::WpStarted { .. }
        | Event::WpProvisioned { .. }
        | Event::RoundStarted { .. }
        | Event::ScopeChecked { .. }
        | Event::DodRan { .. }
        | Event::RoundEnded { .. }
        | Event::ReviewStarted { .. }
        | Event::WpHandedOver { .. }
        | Event::RecheckEnded { .. }
        | Event::WpGivenBack { .. }
        | Event::WorktreeRemoved { salvage: None, .. } => None,
        // Not about one WP.
        Event::RunCreated { .. }
        | Event::RunApproved { .. }
        | Event::EngineStarted { .. }
        | Event::EngineStopped { .. }
        | Event::NoteAdded { .. }
        | Event::GateStarted { .. }
        | Event::GateMerged { .. }
        | Event::GateDodRan { .. }
        | Event::GatePassed { .. }
        | Event::GateFailed { .. }
        | Event::GateHalted { .. }
        | Event::VerifyStarted { .. }
        | Event::VerifyRan { .. }
        | Event::VerifyReviewed { .. }
        | Event::VerifyEnded { .. }
        | Event::VerifyHalted { .. }
        | Event::BranchesMoved { .. }
        | Event::CheckoutCompared { .. }
        | Event::RunGuarded { .. }
        | Event::RepositoryChanged { .. }
        | Event::RepositoryLeft { .. }
        | Event::RepositoryAccepted { .. }
        | Event::RunFinished { .. }
        // Told by `delivery`.
        | Event::DeliveryStarted { .. }
        | Event::BranchPushed { .. }
        | Event::RequestOpened { .. }
        | Event::RequestUpdated { .. }
        | Event::RequestMerged { .. }
        | Event::DeliveryLanded { .. }
        | Event::DeliveryHeld { .. }
        | Event::BranchRemoved { .. }
        | Event::AfterMergeStarted { .. }
        | Event::AfterMergeRan { .. } => None,
    }
}

/// How an attempt ended: what it asks, why infrastructure spoilt it, what it did besides.
fn attempt_ended(event: &Event, wp: &WpState, ledger: &Ledger, look: &Look) -> Words {
    let Event::AttemptEnded { ran, left_behind, turn, fault, asks, problems, .. } = event else {
        return None;
    };
    let mut text = match fault {
        Some(fault) => {
            let class = fault.class;
            format!("worker: {} ({class}) after {}", fault.message, words::took(ran.took))
        }
        None => format!("worker: {} after {}", ran.end, words::took(ran.took)),
    };
    if let Some(turn) = turn {
        text.push_str(&used(turn));
    }
    match left_behind {
        0 => {}
        1 => text.push_str("; a process it left running was ended"),
        n => text.push_str(&format!("; {n} processes it left running were ended")),
    }
    text.push_str(&incomplete(ran));
    if !problems.is_empty() {
        text.push_str(&format!("; seen beside it: {}", listed(problems)));
    }
    let spoilt = fault.is_some() || !ran.end.success() || ran.log_error.is_some();
    let tone = match (problems.is_empty(), spoilt) {
        (false, _) => Tone::Bad,
        (true, true) => Tone::Warn,
        (true, false) => Tone::Normal,
    };
    if asks.is_empty() {
        return step(tone, text);
    }
    // They were numbered in this order.
    let asked = &wp.forks[wp.forks.len().saturating_sub(asks.len())..];
    let questions: Vec<String> = asked.iter().map(question).collect();
    text.push_str(&format!("; asks {}", questions.join("; ")));
    match asked.iter().find(|fork| fork.answer.is_none()) {
        Some(open) => {
            let command = commands::answer(&ledger.run, open.number);
            let tone = if problems.is_empty() { Tone::Warn } else { tone };
            milestone(tone, format!("{text}{}{command}", look.dot()))
        }
        None => step(tone, text),
    }
}

/// A question in a clause, and what settles it.
#[must_use]
pub fn question(fork: &Fork) -> String {
    let Fork { number, question, .. } = fork;
    let rest = match (&fork.answer, &fork.by, &fork.default) {
        (Some(answer), Some(by), _) if !answer.is_empty() => format!(" ({by}: {answer})"),
        (Some(_), ..) => " (not waited for)".to_owned(),
        (None, _, Some(default)) => format!(" (default: {default})"),
        (None, ..) => String::new(),
    };
    format!("q{number} {question}{rest}")
}

/// What a turn used, where it was told.
fn used(turn: &Turn) -> String {
    let mut text = String::new();
    if turn.usage.total() > 0 {
        text.push_str(&format!(", {} tokens", words::about(turn.usage.total())));
    }
    if let Some(usd) = turn.cost_usd {
        text.push_str(&format!(", {usd}"));
    }
    text
}

fn reviewer_started(event: &Event) -> Words {
    let Event::ReviewerStarted { lens, tier, number, .. } = event else { return None };
    let again = if *number > 1 { format!(", session {number}") } else { String::new() };
    step(Tone::Active, format!("reviewer for {lens} on {tier} at work{again}"))
}

fn reviewer_ended(event: &Event) -> Words {
    let Event::ReviewerEnded { lens, tier, ran, turn, fault, unread, touched, .. } = event else {
        return None;
    };
    let who = format!("reviewer for {lens} on {tier}");
    let used = turn.as_ref().map(used).unwrap_or_default();
    let took = words::took(ran.took);
    match fault {
        Some(fault) => step(
            Tone::Warn,
            format!("{who}: {} ({}) after {took}{used}", fault.message, fault.class),
        ),
        None if !touched.is_empty() => step(
            Tone::Bad,
            format!(
                "{who}: its verdict does not count, it did more than read: {}",
                listed(touched)
            ),
        ),
        None => {
            let tone = if ran.end.success() { Tone::Normal } else { Tone::Warn };
            let text = format!("{who}: {} after {took}{used}", ran.end);
            match unread {
                Some(why) if turn.as_ref().is_some_and(|turn| turn.stopped_at.is_some()) => {
                    step(Tone::Warn, format!("{text}; {why}"))
                }
                Some(why) => {
                    let log = &ran.log;
                    step(Tone::Warn, format!("{text}; no verdict in its answer: {why}; see {log}"))
                }
                None => step(tone, text),
            }
        }
    }
}

fn of_run(event: &Event, ledger: &Ledger, look: &Look) -> Words {
    match event {
        Event::RunCreated { run, goal, base, .. } => {
            let n = words::count(ledger.wps.len() as u64, "WP");
            milestone(Tone::Strong, format!("run {run} of {n} on {}: {goal}", base.short()))
        }
        Event::EngineStarted { .. } if ledger.engines > 1 => milestone(
            Tone::Normal,
            format!("resumed: {} of {} through", through(ledger), ledger.wps.len()),
        ),
        Event::EngineStopped { why } => milestone(
            Tone::Warn,
            match why {
                StopReason::Interrupted => "interrupted; everything is kept and can be resumed",
                StopReason::Waiting => "stopped: only a person can go on",
                StopReason::Halted if through(ledger) == ledger.wps.len() => {
                    "stopped: infrastructure is in the way of what is left"
                }
                StopReason::Halted => "stopped: infrastructure is in the way of every WP",
            },
        ),
        Event::GateStarted { level, wps, .. } => {
            let n = words::count(wps.len() as u64, "WP");
            step(Tone::Active, format!("{}: merging {n}", stage(ledger, *level)))
        }
        Event::GateDodRan { wp, ran, .. } if !ran.end.success() => {
            step(Tone::Bad, format!("merged tree: DoD of {wp} failed: {}", failed(ran)))
        }
        Event::GatePassed { commit, .. } => {
            let gate = ledger.gates.last()?;
            let branch = gate.branch.as_deref().unwrap_or_default();
            let mut facts = vec![format!("{}: holds together", stage(ledger, gate.level))];
            if !gate.proved.is_empty() {
                facts.push(format!("DoD {}/{0}", gate.proved.len()));
            }
            facts.push(format!("{branch} at {}", commit.short()));
            milestone(Tone::Good, facts.join(look.dot()))
        }
        Event::GateFailed { class, problems, .. } => {
            let level = ledger.gates.last()?.level;
            let what = format!("{}: does not hold together ({class})", stage(ledger, level));
            milestone(Tone::Bad, format!("{what}: {}", listed(problems)))
        }
        Event::GateHalted { problem, .. } => {
            let level = ledger.gates.last()?.level;
            let what = format!("{}: cannot be merged now", stage(ledger, level));
            milestone(Tone::Bad, format!("{what}: {}", one(problem)))
        }
        Event::BranchesMoved { moved } if !moved.is_empty() => {
            let moved: Vec<_> =
                moved.iter().map(|moved| format!("{} {moved}", moved.branch)).collect();
            milestone(Tone::Bad, format!("moved after it was checked: {}", moved.join("; ")))
        }
        Event::CheckoutCompared { compared } if !compared.matches() => {
            milestone(Tone::Warn, format!("your checkout: {compared}"))
        }
        Event::RepositoryChanged { standing } if !standing.is_empty() => {
            let standing: Vec<_> = standing.iter().map(ToString::to_string).collect();
            milestone(Tone::Bad, standing.join("; "))
        }
        Event::RepositoryAccepted { changed, by, .. } if !changed.is_empty() => {
            milestone(Tone::Warn, words::accepted(changed, by.as_deref()))
        }
        Event::RunFinished { outcome } => {
            let (word, tone) = words::outcome(*outcome);
            let word = words::with_reason(word, words::failed_in(ledger).as_deref());
            let hint = if *outcome == Outcome::Waiting { " for a person" } else { "" };
            // The summary says so as well, wherever there is one to be seen.
            step(
                tone,
                format!(
                    "run {word}{hint}: {} of {} WPs through",
                    through(ledger),
                    ledger.wps.len()
                ),
            )
        }
        Event::NoteAdded { text, by } => {
            milestone(Tone::Warn, format!("corrected by {by}, in every brief from now on: {text}"))
        }
        Event::VerifyStarted { commit, .. } => {
            milestone(Tone::Active, format!("last look: at {}", commit.short()))
        }
        Event::VerifyRan { wp, ran, .. } if !ran.end.success() => {
            let whose = wp.as_ref().map(|wp| format!("DoD of {wp}")).unwrap_or("end to end".into());
            step(Tone::Bad, format!("last look: {whose} failed: {}", failed(ran)))
        }
        Event::VerifyRan { wp: None, ran, .. } => {
            step(Tone::Good, format!("last look: {} passed", ran.run))
        }
        Event::ReviewerStarted { .. } => reviewer_started(event)
            .map(|(tone, text, milestone)| (tone, format!("last look: {text}"), milestone)),
        Event::ReviewerEnded { .. } => reviewer_ended(event)
            .map(|(tone, text, milestone)| (tone, format!("last look: {text}"), milestone)),
        Event::VerifyReviewed { by, verdict } => match verdict.verdict {
            Judgment::Approve => step(Tone::Good, format!("last look: approved by {by}")),
            Judgment::RequestChanges => {
                let n = words::count(verdict.findings.len().max(1) as u64, "finding");
                step(Tone::Bad, format!("last look: {by} has {n}"))
            }
        },
        Event::VerifyEnded { problems } if problems.is_empty() => {
            milestone(Tone::Good, "last look: the whole holds")
        }
        Event::VerifyEnded { problems } => {
            milestone(Tone::Bad, format!("last look: {}", listed(problems)))
        }
        Event::VerifyHalted { problem } => {
            milestone(Tone::Bad, format!("last look: cannot go on: {}", one(problem)))
        }
        // Steps on the way: what they lead to is told.
        Event::RunApproved { .. }
        | Event::EngineStarted { .. }
        | Event::GateMerged { .. }
        | Event::GateDodRan { .. }
        | Event::VerifyRan { .. }
        | Event::ReviewStarted { .. }
        | Event::CheckoutCompared { .. }
        | Event::RunGuarded { .. }
        | Event::RepositoryChanged { .. }
        | Event::RepositoryLeft { .. }
        | Event::RepositoryAccepted { .. }
        | Event::BranchesMoved { .. } => None,
        // About one WP.
        Event::WpStarted { .. }
        | Event::WpProvisioned { .. }
        | Event::DodClassed { .. }
        | Event::RoundStarted { .. }
        | Event::AttemptStarted { .. }
        | Event::AttemptEnded { .. }
        | Event::Answered { .. }
        | Event::Redirected { .. }
        | Event::BudgetSpent { .. }
        | Event::ScopeChecked { .. }
        | Event::DodRan { .. }
        | Event::ReviewRequested { .. }
        | Event::Reviewed { .. }
        | Event::RoundEnded { .. }
        | Event::WpCommitted { .. }
        | Event::WpReported { .. }
        | Event::WpBlocked { .. }
        | Event::WpDeferred { .. }
        | Event::WpCancelled { .. }
        | Event::WpRetried { .. }
        | Event::WpTaken { .. }
        | Event::WpHandedOver { .. }
        | Event::RecheckStarted { .. }
        | Event::RecheckEnded { .. }
        | Event::WpGivenBack { .. }
        | Event::WpReleased { .. }
        | Event::WorktreeRemoved { .. }
        | Event::WorktreeKept { .. }
        // Told by `delivery`.
        | Event::DeliveryStarted { .. }
        | Event::BranchPushed { .. }
        | Event::RequestOpened { .. }
        | Event::RequestUpdated { .. }
        | Event::RequestMerged { .. }
        | Event::DeliveryLanded { .. }
        | Event::DeliveryHeld { .. }
        | Event::BranchRemoved { .. }
        | Event::AfterMergeStarted { .. }
        | Event::AfterMergeRan { .. } => None,
    }
}

/// WPs that got through.
#[must_use]
pub fn through(ledger: &Ledger) -> usize {
    ledger.wps.iter().filter(|wp| wp.phase.got_through()).count()
}

fn passed(wp: &WpState, commit: &str, look: &Look) -> String {
    let mut facts = vec!["passed".to_owned()];
    if wp.round > 1 {
        facts.push(format!("{} rounds", wp.round));
    }
    facts.push(words::count(wp.changed, "path"));
    if !wp.proved.is_empty() {
        facts.push(format!("DoD {}/{0}", wp.proved.len()));
    }
    if let Some(by) = &wp.reviewed_by {
        facts.push(format!("approved by {by}"));
    }
    match wp.by_lead().len() as u64 {
        0 => {}
        n => facts.push(format!("{} by the lead", words::count(n, "file"))),
    }
    facts.push(time_of(wp));
    facts.push(commit.to_owned());
    facts.join(look.dot())
}

/// How long the WP's own work took.
#[must_use]
pub fn length_of(wp: &WpState) -> Option<Length> {
    Some(wp.settled_at?.since(wp.started_at?))
}

fn time_of(wp: &WpState) -> String {
    words::took(length_of(wp).unwrap_or_default())
}

fn stage(ledger: &Ledger, level: usize) -> String {
    let stage = ledger.wps.iter().find(|wp| wp.level == level).map(|wp| wp.stage.as_str());
    format!("stage {}", stage.unwrap_or("?"))
}

fn failed(ran: &Ran) -> String {
    let lines = words::count(ran.lines, "line");
    let log = incomplete(ran);
    match &ran.end {
        End::Exit { code } => format!("{}: exit={code} ({lines}, {}){log}", ran.run, ran.log),
        end => format!("{}: {end} ({lines}, {}){log}", ran.run, ran.log),
    }
}

fn incomplete(ran: &Ran) -> String {
    ran.incomplete().map(|what| format!("; {what}")).unwrap_or_default()
}

/// A problem in one clause.
#[must_use]
pub fn one(problem: &Problem) -> String {
    sentence(problem.check, problem.subject.as_deref(), &problem.message)
}

/// What a check found, in one clause.
#[must_use]
pub fn sentence(check: Check, subject: Option<&str>, message: &str) -> String {
    match (subject, check) {
        // A command, or a path that was touched, is what its sentence is about.
        (Some(subject), Check::Dod | Check::Scope) => format!("{subject} {message}"),
        (Some(subject), _) => format!("{message}: {subject}"),
        (None, _) => message.to_owned(),
    }
}

fn listed(problems: &[Problem]) -> String {
    let mut text = problems.iter().take(NAMED).map(one).collect::<Vec<_>>().join("; ");
    if problems.len() > NAMED {
        text.push_str(&format!("; and {} more", problems.len() - NAMED));
    }
    text
}
