//! What an event is in words: the one place where facts become sentences, for the pipe and for the
//! lines that scroll up from the live view.

use super::commands;
use super::palette::{Look, Tone};
use super::whole::Whole;
use super::words;
use crate::event::{Event, NextStep, Outcome, Record, StopReason};
use crate::ledger::{Ledger, WpState};
use crate::model::ids::WpId;
use crate::model::outcome::{Check, End, Problem, Ran};
use crate::model::time::Length;
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
    let (tone, text, milestone) = if let Some(id) = record.event.wp()
        && !matches!(record.event, Event::GateDodRan { .. } | Event::VerifyRan { .. })
    {
        of_wp(&record.event, ledger.wp(id)?, ledger, look)?
    } else {
        of_run(&record.event, ledger, look)?
    };
    Some(Said { wp: record.event.wp().cloned(), tone, text, milestone })
}

type Words = Option<(Tone, String, bool)>;

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
            step(Tone::Active, format!("round {round} of {}: {tier} at work{again}", wp.last_round))
        }
        Event::AttemptEnded { ran, left_behind, .. } => {
            let left = match left_behind {
                0 => String::new(),
                1 => "; a process it left running was ended".to_owned(),
                n => format!("; {n} processes it left running were ended"),
            };
            let tone = if ran.end.success() { Tone::Normal } else { Tone::Warn };
            step(tone, format!("worker: {} after {}{left}", ran.end, words::took(ran.took)))
        }
        Event::ScopeChecked { problems, .. } if !problems.is_empty() => {
            step(Tone::Bad, format!("scope: {}", listed(problems)))
        }
        Event::ScopeChecked { pass, .. } if *pass > 1 && wp.proved.is_empty() => {
            step(Tone::Warn, "the DoD changed files: scope and DoD run again")
        }
        Event::DodRan { ran, .. } if !ran.end.success() => {
            step(Tone::Bad, format!("DoD failed: {}", failed(ran)))
        }
        Event::ReviewRequested { .. } => milestone(
            Tone::Warn,
            format!("waits for your review: {}", commands::approve(&ledger.run, &wp.id)),
        ),
        Event::ReviewerStarted { .. } | Event::ReviewerEnded { .. } => reviewer(event),
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
        Event::WorktreeKept { why, .. } => milestone(Tone::Warn, format!("worktree kept: {why}")),
        Event::WorktreeRemoved { salvage: Some(salvage), .. } => milestone(
            Tone::Warn,
            format!("worktree removed; what was not committed is in {salvage}"),
        ),
        _ => None,
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
        Event::VerifyStarted { .. } => step(Tone::Active, "the whole is looked at once more"),
        Event::VerifyRan { wp, ran, .. } if !ran.end.success() => {
            let whose = match wp {
                Some(wp) => format!("DoD of {wp}"),
                None => "end to end".to_owned(),
            };
            step(Tone::Bad, format!("the whole: {whose} failed: {}", failed(ran)))
        }
        Event::ReviewerStarted { wp: None, .. } | Event::ReviewerEnded { wp: None, .. } => {
            reviewer(event)
        }
        Event::VerifyReviewed { by, verdict } => match verdict.verdict {
            Judgment::Approve => step(Tone::Good, format!("the whole: approved by {by}")),
            Judgment::RequestChanges => {
                let n = words::count(verdict.findings.len() as u64, "finding");
                step(Tone::Bad, format!("the whole: {n} by {by}"))
            }
        },
        Event::VerifyEnded { problems } => {
            let mut facts: Vec<String> = vec![match problems.len() {
                0 => "the whole holds".to_owned(),
                _ => format!("the whole does not hold: {}", listed(problems)),
            }];
            facts.extend(Whole::of(ledger)?.legs().into_iter().map(|(_, leg)| leg));
            let tone = if problems.is_empty() { Tone::Good } else { Tone::Bad };
            milestone(tone, facts.join(look.dot()))
        }
        Event::VerifyHalted { problem } => {
            milestone(Tone::Bad, format!("the whole cannot be looked at now: {}", one(problem)))
        }
        Event::BranchesMoved { moved } if !moved.is_empty() => {
            let moved: Vec<_> =
                moved.iter().map(|moved| format!("{} {moved}", moved.branch)).collect();
            milestone(Tone::Bad, format!("moved after it was checked: {}", moved.join("; ")))
        }
        Event::RunFinished { outcome } => {
            let (word, tone) = words::outcome(*outcome);
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
        _ => None,
    }
}

/// A reviewer that comes, or leaves without having answered.
fn reviewer(event: &Event) -> Words {
    match event {
        Event::ReviewerStarted { lens, tier, number, .. } => {
            let again = if *number > 1 { format!(", start {number}") } else { String::new() };
            step(Tone::Active, format!("{tier} reviews ({lens}{again})"))
        }
        Event::ReviewerEnded { lens, ran, fault, unread, touched, verdict, .. } => {
            let why = match (touched.is_empty(), fault, unread, verdict) {
                (false, ..) => format!("files were changed meanwhile: {}", listed(touched)),
                (true, Some(fault), ..) => format!("{} ({})", fault.message, fault.class),
                (true, None, Some(why), _) => format!("no verdict: {why}"),
                (true, None, None, Some(_)) => return None,
                (true, None, None, None) => ran.end.to_string(),
            };
            step(Tone::Warn, format!("reviewer ({lens}): {why}"))
        }
        _ => None,
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
    match &ran.end {
        End::Exit { code } => format!("{}: exit={code} ({lines}, {})", ran.run, ran.log),
        end => format!("{}: {end} ({lines}, {})", ran.run, ran.log),
    }
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
