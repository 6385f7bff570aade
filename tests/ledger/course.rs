//! The straight way through, and the ways back from it.

use sop::event::{Event, Outcome, StopReason};
use sop::ledger::{NextGate, Phase};
use sop::model::outcome::{Check, DodClass, Problem};
use sop::model::plan::Mode;
use sop::model::time::Length;

use crate::support::story::{OK, Story, after_stage, commit, level, shape, tree, wp_id};

fn two_stages() -> Story {
    let first = level("foundation", vec![shape("client")]);
    let second = level(
        "features",
        vec![after_stage("form", "foundation"), after_stage("list", "foundation")],
    );
    Story::new(Mode::Staged, vec![first, second])
}

#[test]
fn a_staged_run_goes_from_level_to_level_over_gates() {
    let mut run = two_stages();
    assert_eq!(run.startable(), ["client"]);
    run.briefed("client");
    assert_eq!(run.phase("client"), Phase::Briefing);
    assert_eq!(run.wp("client").classes[1].class, DodClass::Red);
    run.work("client");
    assert_eq!(run.phase("client"), Phase::Working);
    run.ended("client", OK).scope("client", "t", Vec::new());
    assert_eq!(run.phase("client"), Phase::Proving);
    run.dod("client", OK);
    assert_eq!(run.phase("client"), Phase::Proving, "one of two commands has run");
    run.dod("client", OK);
    assert_eq!(run.phase("client"), Phase::Rechecking, "did the DoD change anything?");
    run.scope("client", "t", Vec::new());
    assert_eq!(run.phase("client"), Phase::Deciding);
    run.judged("client", None);
    assert_eq!(run.phase("client"), Phase::Committing);
    assert!(run.ledger.next_gate().is_none(), "nothing is merged before it is committed");
    run.committed("client");
    assert_eq!(run.wp("client").tree, Some(tree("t")));
    assert!(run.startable().is_empty(), "the next level waits for the gate");
    let ready = NextGate::Ready { level: 0, wps: vec![wp_id("client")] };
    assert_eq!(run.ledger.next_gate(), Some(ready));

    run.gate_started(0, &["client"]);
    assert!(matches!(run.ledger.next_gate(), Some(NextGate::Open(gate)) if gate.gate == 1));
    run.gate_merged().gate_passed();
    assert_eq!(run.phase("client"), Phase::Integrated);
    assert_eq!(run.ledger.trunk, commit("gate1"));
    assert_eq!(run.startable(), ["form", "list"]);

    run.pass("form").pass("list");
    assert_eq!(run.wp("form").base, Some(commit("gate1")), "it starts from the integrated result");
    run.gate_through(1, &["form", "list"]).finished();
    assert_eq!(run.ledger.outcome, Some(Outcome::Done));
    assert!(run.ledger.next_gate().is_none());
}

#[test]
fn independent_wps_start_at_once_and_are_never_merged() {
    let mut run = Story::new(Mode::Independent, vec![level("all", vec![shape("a"), shape("b")])]);
    assert_eq!(run.startable(), ["a", "b"]);
    run.pass("a");
    assert!(run.ledger.next_gate().is_none());
    assert_eq!(run.ledger.standing(), Outcome::Waiting, "b has not begun");
    run.pass("b");
    assert!(run.ledger.next_gate().is_none());
    assert_eq!(run.ledger.standing(), Outcome::Done);
}

#[test]
fn what_a_crash_left_in_the_middle_is_taken_up_first() {
    let mut run = two_stages();
    run.pass("client").gate_through(0, &["client"]).started("list");
    run.engine();
    assert_eq!(run.startable(), ["list", "form"]);
    assert_eq!(run.ledger.engines, 2);
}

#[test]
fn a_halt_lets_nothing_new_start_until_an_engine_looks_again() {
    let mut run =
        Story::new(Mode::Independent, vec![level("all", vec![shape("a"), shape("b"), shape("c")])]);
    run.started("a").started("b");
    run.blocked("b", Problem::new(Check::Provision, "no space left on the device"), true);
    assert!(run.ledger.halted);
    assert_eq!(run.startable(), ["a"], "what is under way goes on");
    assert_eq!(run.ledger.standing(), Outcome::Blocked);
    run.stop(StopReason::Halted).engine();
    assert!(!run.ledger.halted);
    assert_eq!(run.startable(), ["a", "c"]);
}

#[test]
fn a_blocked_wp_goes_on_where_it_was() {
    let problem = || Problem::new(Check::Dod, "exits 127");
    let mut run = Story::new(Mode::Independent, vec![level("all", vec![shape("a")])]);
    run.started("a").blocked("a", problem(), false).retried("a");
    assert_eq!(run.phase("a"), Phase::Provisioning);
    run.provisioned("a").blocked("a", problem(), false).retried("a");
    assert_eq!(run.phase("a"), Phase::Classing);
    assert_eq!(run.wp("a").blocked_by, None);
    run.classed("a", &[("true", DodClass::Green), ("false", DodClass::Red)]).work("a");
    run.ended("a", OK).scope("a", "t", Vec::new()).dod("a", OK);
    run.blocked("a", problem(), false).retried("a");
    assert_eq!(run.phase("a"), Phase::Proving);
    assert_eq!((run.wp("a").round, run.wp("a").proved.len()), (1, 1), "nothing of it is lost");
}

#[test]
fn a_wp_blocked_in_provisioning_and_cancelled_is_provisioned_when_retried() {
    let mut run = Story::new(Mode::Independent, vec![level("all", vec![shape("a")])]);
    run.started("a").blocked("a", Problem::new(Check::Provision, "setup fails"), false);
    run.cancelled("a").retried("a");
    assert_eq!(run.phase("a"), Phase::Provisioning);
}

#[test]
fn a_cancelled_wp_begins_a_new_round_when_retried() {
    let mut run = Story::new(Mode::Independent, vec![level("all", vec![shape("a")])]);
    run.briefed("a").work("a").ended("a", sop::model::outcome::End::Cancelled).cancelled("a");
    assert_eq!(run.ledger.standing(), Outcome::Failed);
    run.retried("a");
    assert_eq!(run.phase("a"), Phase::Briefing);
    assert_eq!(run.wp("a").last_round, 4, "three more rounds from the one it was in");
    run.good_round("a");
    assert_eq!(run.phase("a"), Phase::Passed);
}

#[test]
fn a_wp_without_a_worktree_starts_over_when_retried() {
    let mut run = Story::new(Mode::Independent, vec![level("all", vec![shape("a")])]);
    run.cancelled("a").retried("a");
    assert_eq!(run.phase("a"), Phase::Waiting);
    run.escalate("a");
    run.say(Event::WorktreeRemoved { wp: wp_id("a"), salvage: Some("refs/sop/x".to_owned()) });
    run.retried("a");
    assert_eq!(run.phase("a"), Phase::Waiting);
    assert_eq!(run.wp("a").carried().len(), 1, "the next brief still says what was wrong");
}

#[test]
fn a_finished_run_takes_what_a_person_asks_for_and_nothing_else() {
    let mut run = Story::new(Mode::Independent, vec![level("all", vec![shape("a")])]);
    run.escalate("a").finished();
    assert_eq!(run.ledger.outcome, Some(Outcome::Failed));
    let refused = run.try_say(Event::RunFinished { outcome: Outcome::Done }).unwrap_err();
    assert_eq!(
        refused.to_string(),
        format!(
            "record {}: `run_finished` cannot happen to the run while it is finished",
            run.ledger.seq + 1
        )
    );
    run.retried("a");
    assert_eq!(run.ledger.outcome, None);
    run.engine().good_round("a").finished();
    assert_eq!(run.ledger.outcome, Some(Outcome::Done));
}

#[test]
fn a_wps_time_ends_with_its_own_work() {
    let mut run = two_stages();
    run.pass("client");
    let settled = run.wp("client").settled_at;
    assert_eq!(settled, run.wp("client").since);
    run.wait(Length::secs(600)).gate_through(0, &["client"]);
    assert_eq!(run.wp("client").settled_at, settled, "the merge is not its work");
    assert_ne!(run.wp("client").since, settled);
}

#[test]
fn a_step_back_of_the_clock_makes_no_time_negative() {
    let mut run = two_stages();
    run.started("client");
    run.now.0 = "2020-01-01T00:00:00Z".parse().unwrap();
    run.provisioned("client");
    let wp = run.wp("client");
    assert_eq!(wp.since.unwrap().since(wp.started_at.unwrap()), Length::default());
}
