//! Starts that infrastructure spoilt: they cost no round. First a pause, then the tier's fallback,
//! then a person.

use sop::ledger::{NextAttempt, Phase, next_attempt};
use sop::model::outcome::End;
use sop::model::plan::Mode;
use sop::model::time::Length;

use crate::support::story::{OK, Story, level, shape, tier};

const KILLED: End = End::Signal { signal: 9 };

fn one() -> Story {
    let mut run = Story::new(Mode::Independent, vec![level("all", vec![shape("a"), shape("b")])]);
    run.briefed("a").round("a");
    run
}

fn start(run: &Story, fallback: &[&str]) -> (String, Option<Length>) {
    let fallback: Vec<_> = fallback.iter().map(|id| tier(id)).collect();
    match next_attempt(run.wp("a"), &fallback) {
        NextAttempt::Start { tier, not_before } => {
            (tier.to_string(), not_before.map(|at| at.since(run.now)))
        }
        NextAttempt::GiveUp(what) => panic!("gave up: {what}"),
    }
}

#[test]
fn the_first_start_waits_for_nothing() {
    assert_eq!(start(&one(), &["other"]), ("standard".to_owned(), None));
}

#[test]
fn a_killed_or_lost_worker_is_started_again_after_growing_pauses() {
    for end in [KILLED, End::Lost] {
        let mut run = one();
        run.attempt("a").ended("a", end.clone());
        assert_eq!(run.phase("a"), Phase::Starting);
        let (to, first) = start(&run, &[]);
        assert_eq!(to, "standard");
        run.attempt("a").ended("a", end);
        let (_, second) = start(&run, &[]);
        let within = |n: u64, pause: Option<Length>| {
            let pause = pause.unwrap();
            assert!(pause >= Length::secs(n) && pause <= Length::millis(n * 1250), "{pause}");
        };
        within(1, first);
        within(4, second);
        assert_eq!((run.wp("a").round, run.wp("a").attempt), (1, 2), "no round was spent");
    }
}

#[test]
fn pauses_differ_between_wps_and_are_the_same_after_a_crash() {
    let mut run = one();
    run.briefed("b").round("b");
    run.attempt("a").ended("a", KILLED);
    run.attempt("b").ended("b", KILLED);
    let pause = |id: &str| match next_attempt(run.wp(id), &[]) {
        NextAttempt::Start { not_before, .. } => not_before.unwrap().since(run.wp(id).spoilt[0].at),
        NextAttempt::GiveUp(what) => panic!("{what}"),
    };
    assert_ne!(pause("a"), pause("b"));
    let again = sop::ledger::Ledger::fold(&run.records).unwrap();
    let wp = again.wp(&crate::support::story::wp_id("a")).unwrap();
    assert_eq!(next_attempt(wp, &[]), next_attempt(run.wp("a"), &[]));
}

#[test]
fn after_three_spoilt_starts_the_fallback_has_its_turn_at_once() {
    let mut run = one();
    for _ in 0..3 {
        assert_eq!(start(&run, &["other"]).0, "standard");
        run.attempt("a").ended("a", KILLED);
    }
    assert_eq!(start(&run, &["other"]), ("other".to_owned(), None));
    run.attempt_on("a", &tier("other")).ended("a", OK);
    assert_eq!(run.phase("a"), Phase::Scoping);
    assert_eq!(run.wp("a").round, 1);
}

#[test]
fn a_worker_that_cannot_run_at_all_is_not_tried_twice() {
    for end in [
        End::Exit { code: 127 },
        End::Exit { code: 126 },
        End::NotStarted { error: "no such file".to_owned() },
    ] {
        let mut run = one();
        run.attempt("a").ended("a", end);
        assert_eq!(start(&run, &["other", "third"]), ("other".to_owned(), None));
    }
}

#[test]
fn fallbacks_are_taken_in_order_and_never_twice_and_then_a_person_has_to_look() {
    let mut run = one();
    let broken = || End::Exit { code: 127 };
    run.attempt("a").ended("a", broken());
    run.attempt_on("a", &tier("other")).ended("a", broken());
    assert_eq!(start(&run, &["standard", "other", "third"]).0, "third");
    run.attempt_on("a", &tier("third"));
    run.ended("a", End::NotStarted { error: "out of credit".to_owned() });
    let fallback = [tier("standard"), tier("other"), tier("third")];
    assert_eq!(
        next_attempt(run.wp("a"), &fallback),
        NextAttempt::GiveUp("could not start: out of credit".to_owned())
    );
}

#[test]
fn a_retry_after_every_fallback_failed_begins_with_the_tier_of_the_round() {
    let mut run = one();
    run.attempt("a").ended("a", End::Exit { code: 127 });
    run.attempt_on("a", &tier("other")).ended("a", End::Exit { code: 127 });
    let gone = sop::model::outcome::Problem::new(sop::model::outcome::Check::Worker, "no worker");
    run.blocked("a", gone, false).retried("a");
    assert_eq!(run.phase("a"), Phase::Starting);
    assert_eq!(start(&run, &["other"]), ("standard".to_owned(), None));
}

#[test]
fn a_cancelled_attempt_costs_nothing() {
    let mut run = one();
    run.attempt("a").ended("a", End::Cancelled);
    assert_eq!(run.phase("a"), Phase::Starting);
    assert!(run.wp("a").spoilt.is_empty());
    assert_eq!(start(&run, &[]), ("standard".to_owned(), None), "no pause, no other tier");
    run.attempt("a");
    assert_eq!((run.wp("a").round, run.wp("a").attempt), (1, 2), "and no number is used twice");
}

#[test]
fn a_new_round_forgets_what_infrastructure_spoilt_in_the_last() {
    let mut run = one();
    run.attempt("a").ended("a", KILLED).attempt("a").ended("a", OK);
    run.scope("a", "t", Vec::new()).dod("a", OK);
    run.dod("a", crate::support::story::FAILS).judged("a", None).round("a");
    assert!(run.wp("a").spoilt.is_empty());
}
