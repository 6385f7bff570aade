//! Gates: what fails together is tried again together.

use sop::event::{Event, Outcome};
use sop::ledger::{GatePhase, NextGate, Phase};
use sop::model::outcome::{Check, Problem};
use sop::model::plan::Mode;

use crate::support::story::{FAILS, OK, Story, after_stage, level, ran, shape, wp_id};

fn clash() -> Vec<Problem> {
    vec![Problem::new(Check::Merge, "on the merged tree: exit 1").about("cargo test")]
}

fn failed() -> Story {
    let mut run = Story::new(
        Mode::Staged,
        vec![
            level("one", vec![shape("a"), shape("b")]),
            level("two", vec![after_stage("c", "one")]),
        ],
    );
    run.pass("a").pass("b").gate_started(0, &["a", "b"]).gate_merged();
    let gate = run.gate();
    for (wp, end) in [("a", OK), ("b", FAILS)] {
        run.say(Event::GateDodRan { gate, wp: wp_id(wp), ran: ran("cargo test", end) });
    }
    run.gate_failed(&["b"], clash());
    run
}

#[test]
fn a_failed_gate_stops_what_comes_after_it_and_changes_no_wp() {
    let run = failed();
    assert_eq!(run.ledger.gates[0].phase, GatePhase::Failed);
    assert_eq!(run.ledger.gates[0].proved.len(), 2);
    assert_eq!((run.phase("a"), run.phase("b")), (Phase::Passed, Phase::Passed));
    assert!(run.ledger.gate_failed());
    assert!(run.startable().is_empty(), "level two does not start from what does not hold");
    assert!(run.ledger.next_gate().is_none(), "the same merge again would be the same");
    assert_eq!(run.ledger.standing(), Outcome::Failed);
    assert_eq!(run.ledger.trunk, run.ledger.base);
}

#[test]
fn a_retry_after_a_failed_gate_is_told_why_and_leads_to_the_next_gate() {
    let mut run = failed();
    run.retried("b");
    assert_eq!(run.ledger.gates[0].phase, GatePhase::Superseded);
    assert_eq!(run.phase("b"), Phase::Briefing);
    assert_eq!(run.wp("b").carried(), clash());
    assert_eq!(run.startable(), ["b"]);
    assert!(run.ledger.next_gate().is_none(), "not before b is through again");
    run.good_round("b");
    let ready = NextGate::Ready { level: 0, wps: vec![wp_id("a"), wp_id("b")] };
    assert_eq!(run.ledger.next_gate(), Some(ready));
    run.gate_through(0, &["a", "b"]);
    assert_eq!(run.ledger.gates.len(), 2);
    assert_eq!(run.startable(), ["c"]);
}

#[test]
fn every_wp_that_is_retried_after_a_failed_gate_is_told_why() {
    let mut run = failed();
    run.retried("b").retried("a");
    assert_eq!(run.wp("a").carried(), clash());
}

#[test]
fn what_passed_and_is_in_no_failed_gate_is_not_tried_again() {
    let mut run = failed();
    for wp in ["a", "b"] {
        assert!(run.ledger.may_retry(run.wp(wp)), "{wp} was merged in the gate that failed");
    }
    assert!(!run.ledger.may_retry(run.wp("c")), "c waits");
    run.retried("b").good_round("b").gate_through(0, &["a", "b"]).pass("c");
    for wp in ["a", "b", "c"] {
        assert!(!run.ledger.may_retry(run.wp(wp)), "{wp} holds together");
        let refused = run.try_say(Event::WpRetried { wp: wp_id(wp), by: "anna".to_owned() });
        assert!(refused.unwrap_err().to_string().contains("`wp_retried` cannot happen to"));
    }
}

#[test]
fn a_wp_that_is_being_merged_is_not_tried_again() {
    let mut run = Story::new(Mode::Staged, vec![level("one", vec![shape("a")])]);
    run.pass("a").gate_started(0, &["a"]);
    let refused = run.try_say(Event::WpRetried { wp: wp_id("a"), by: "anna".to_owned() });
    let refused = refused.unwrap_err().to_string();
    assert!(
        refused.ends_with("`wp_retried` cannot happen to `a` while it is in the open gate 1"),
        "{refused}"
    );
    assert_eq!(run.phase("a"), Phase::Passed);
}

#[test]
fn infrastructure_in_the_way_of_a_gate_halts_the_run_until_the_next_engine() {
    let mut run = Story::new(Mode::Staged, vec![level("one", vec![shape("a")])]);
    run.pass("a").gate_started(0, &["a"]);
    let problem = Problem::new(Check::Merge, "no space left on the device");
    run.say(Event::GateHalted { gate: 1, problem: problem.clone() });
    assert_eq!(run.ledger.gates[0].halted, Some(problem));
    assert_eq!(run.ledger.standing(), Outcome::Blocked);
    run.stop(sop::event::StopReason::Halted).engine();
    assert_eq!(run.ledger.gates[0].halted, None);
    assert!(matches!(run.ledger.next_gate(), Some(NextGate::Open(_))), "it goes on with the same");
    run.gate_merged().gate_passed().finished();
    assert_eq!(run.ledger.outcome, Some(Outcome::Done));
}

#[test]
fn a_gate_takes_facts_of_its_own_number_and_level_alone() {
    let mut run = failed();
    run.retried("b").good_round("b");
    let refused = run.try_say(Event::GateStarted {
        gate: 2,
        level: 1,
        onto: run.ledger.trunk.clone(),
        wps: vec![wp_id("a")],
    });
    assert!(refused.unwrap_err().to_string().contains("`a` while it is of level 0"));
    run.gate_started(0, &["a", "b"]);
    let refused = run.try_say(Event::GateMerged {
        gate: 1,
        branch: "sop-stage/settings-1/1".to_owned(),
        commit: crate::support::story::commit("gate1"),
        tree: crate::support::story::tree("merged1"),
    });
    assert!(refused.unwrap_err().to_string().contains("gate 1 while it is not the last"));
    run.gate_merged();
    let refused = run
        .try_say(Event::GatePassed { gate: 2, commit: crate::support::story::commit("other") })
        .unwrap_err();
    assert!(refused.to_string().contains("gate 2"), "only the merged commit can pass: {refused}");
}
