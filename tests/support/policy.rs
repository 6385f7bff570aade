//! What the engine does about an attempt that ended so: asked of the functions that it asks itself (the fault
//! that it reads, the ledger's fold, where the next start goes), and of no table.

use std::path::Path;
use std::time::Duration;

use sop::event::Event;
use sop::launch::{EndedBy, Exit, Key, Outcome, Spec};
use sop::ledger::{NextAttempt, Phase, judge, next_attempt};
use sop::model::ids::RunId;
use sop::model::plan::Mode;
use sop::model::time::Timestamp;
use sop::model::turn::Turn;
use sop::run::step;
use sop::run::unit::told::fault_of_attempt;

use super::story::{Story, candidates, level, shape, tier, with_workers, wp_id};

/// Where a package goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Next {
    /// Its work is looked at: scope, and then the Definition of Done.
    Checks,
    /// The same tier again, after a pause, and not before the provider has said.
    Again,
    /// The tier that stands in, at once.
    StandIn,
    /// A person is asked.
    Person,
}

/// What the engine does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Action {
    /// Where another tier stands in.
    pub next: Next,
    /// Where none does.
    pub alone: Next,
    /// Whether the round fails by this alone.
    pub spends: bool,
}

/// The work is looked at, and decides.
pub const LOOKS: Action = Action { next: Next::Checks, alone: Next::Checks, spends: false };
/// The work is looked at; the round has failed.
pub const SPENDS: Action = Action { next: Next::Checks, alone: Next::Checks, spends: true };
/// Backs off; no round is spent.
pub const BACKS_OFF: Action = Action { next: Next::Again, alone: Next::Again, spends: false };
/// Goes on to another tier, or to a person; no round is spent.
pub const GIVES_WAY: Action = Action { next: Next::StandIn, alone: Next::Person, spends: false };

/// The end of a driver that exited with `code`, or that was ended so.
pub fn outcome(code: i32, ended_by: EndedBy) -> Outcome {
    let now = jiff::Timestamp::now();
    Outcome {
        key: Key::new(&RunId::new("settings-1").unwrap(), "a", "work", 1).unwrap(),
        exit: Exit::Code(code),
        ended_by,
        started_at: now,
        ended_at: now,
        duration_ms: 1000,
        lines: 1,
        bytes: 1,
        dropped_bytes: 0,
        capture_dropped_bytes: 0,
        log_error: None,
        left_behind: 0,
    }
}

/// What the engine does about an agent's attempt that ended so and left this turn.
pub fn action(outcome: &Outcome, turn: Option<&Turn>) -> Action {
    let mut run = Story::new(Mode::Independent, vec![level("all", vec![shape("a")])]);
    // Providers say when by the clock.
    run.wait(Timestamp(jiff::Timestamp::now()).since(run.now));
    run.briefed("a").work("a");
    let mut spec = Spec::new(["agent"], "/", "/log");
    spec.timeout = Some(Duration::from_secs(60));
    spec.idle_timeout = Some(Duration::from_secs(30));
    let ran = step::ran("agent", "logs/a-work-1.log", outcome, &spec);
    let fault = fault_of_attempt(true, outcome, &ran.end, turn, Path::new("/nowhere"));
    run.say(Event::AttemptEnded {
        wp: wp_id("a"),
        attempt: 1,
        ran,
        left_behind: 0,
        report: None,
        turn: turn.cloned(),
        fault: fault.clone(),
        asks: Vec::new(),
        problems: Vec::new(),
    });
    let wp = run.wp("a");
    assert_eq!(
        (wp.round, wp.rounds.len()),
        (1, 0),
        "it is the same round until somebody judges it"
    );
    let spends = !wp.problems.is_empty() && judge(wp, None).0.is_some();
    let (standard, other) = (tier("standard"), tier("other"));
    let next = |tiers: &[_]| {
        if wp.phase == Phase::Scoping {
            return Next::Checks;
        }
        assert_eq!(wp.phase, Phase::Starting);
        let tiers = with_workers(tiers);
        match next_attempt(wp, &candidates(&tiers), &run.ledger.outages) {
            NextAttempt::Start { tier, not_before } if tier == standard => {
                let at = not_before.expect("a pause");
                assert!(at > run.now, "{at:?}");
                let resets_at = fault.as_ref().and_then(|fault| fault.resets_at);
                assert!(resets_at.is_none_or(|resets| at >= resets), "{at:?} {resets_at:?}");
                Next::Again
            }
            NextAttempt::Start { .. } => Next::StandIn,
            NextAttempt::GiveUp(_) => Next::Person,
        }
    };
    let both = next(&[standard.clone(), other]);
    Action { next: both, alone: next(std::slice::from_ref(&standard)), spends }
}
