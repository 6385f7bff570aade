//! Starts that infrastructure spoilt: they cost no round. First a pause, then the tier's fallback,
//! then a person.

use sop::ledger::{NextAttempt, Phase, next_attempt};
use sop::model::outcome::End;
use sop::model::plan::Mode;
use sop::model::time::{Length, Timestamp};
use sop::model::turn::{Fault, FaultClass};

use crate::support::story::{OK, Story, candidates, level, shape, tier, with_workers};

const KILLED: End = End::Signal { signal: 9 };

fn one() -> Story {
    let mut run = Story::new(Mode::Independent, vec![level("all", vec![shape("a"), shape("b")])]);
    run.briefed("a").round("a");
    run
}

/// What follows for `id`, whose round began on `standard`.
fn next(run: &Story, id: &str, fallback: &[&str]) -> NextAttempt {
    let tiers: Vec<_> = ["standard"].iter().chain(fallback).map(|id| tier(id)).collect();
    next_attempt(run.wp(id), &candidates(&with_workers(&tiers)), &run.ledger.outages)
}

fn start(run: &Story, fallback: &[&str]) -> (String, Option<Length>) {
    match next(run, "a", fallback) {
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
    let pause = |id: &str| match next(&run, id, &[]) {
        NextAttempt::Start { not_before, .. } => not_before.unwrap().since(run.wp(id).spoilt[0].at),
        NextAttempt::GiveUp(what) => panic!("{what}"),
    };
    assert_ne!(pause("a"), pause("b"));
    let mut again = run.clone();
    again.ledger = sop::ledger::Ledger::fold(&run.records).unwrap();
    assert_eq!(next(&again, "a", &[]), next(&run, "a", &[]));
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
    assert_eq!(
        next(&run, "a", &["standard", "other", "third"]),
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
fn an_instant_that_was_over_when_it_was_named_buys_no_more_tries() {
    for (over, tries) in [(true, 3), (false, 12)] {
        let mut run = one();
        let tiers = [tier("standard"), tier("other")];
        let next = |run: &Story| match next_attempt(
            run.wp("a"),
            &candidates(&with_workers(&tiers)),
            &[],
        ) {
            NextAttempt::Start { tier, .. } => tier.to_string(),
            NextAttempt::GiveUp(what) => panic!("gave up: {what}"),
        };
        for done in 0..tries {
            assert_eq!(next(&run), "standard", "after {done}");
            run.attempt("a");
            let at = match over {
                true => Timestamp(jiff::Timestamp::UNIX_EPOCH),
                false => run.now.after(Length::secs(60)),
            };
            run.faulted("a", fault(FaultClass::RateLimit, Some(at)));
        }
        assert_eq!(next(&run), "other");
    }
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

fn fault(class: FaultClass, resets_at: Option<Timestamp>) -> Fault {
    Fault { class, message: "429 Too Many Requests".to_owned(), resets_at }
}

#[test]
fn a_fault_of_the_provider_costs_no_round_and_says_what_the_agent_said() {
    let mut run = one();
    run.attempt("a").faulted("a", fault(FaultClass::RateLimit, None));
    assert_eq!((run.phase("a"), run.wp("a").round), (Phase::Starting, 1));
    assert_eq!(run.wp("a").spoilt[0].what, "429 Too Many Requests (rate_limit)");
    assert_eq!(run.wp("a").costs[0].spoilt, 1);
    assert!(start(&run, &[]).1.is_some_and(|pause| pause >= Length::millis(900)));
}

#[test]
fn a_reset_that_is_near_is_waited_for_and_one_that_is_far_leaves_the_tier_for_its_fallback() {
    let mut run = one();
    let near = run.now.after(Length::secs(120));
    run.attempt("a").faulted("a", fault(FaultClass::RateLimit, Some(near)));
    let (to, pause) = start(&run, &["other"]);
    assert_eq!(to, "standard");
    assert_eq!(run.now.after(pause.unwrap()), near);

    let mut run = one();
    let far = run.now.after(Length::secs(3 * 3600));
    run.attempt("a").faulted("a", fault(FaultClass::RateLimit, Some(far)));
    assert_eq!(start(&run, &["other"]), ("other".to_owned(), None));
    // With nowhere else to go it is waited for, through a night but not for ever.
    assert_eq!(run.now.after(start(&run, &[]).1.unwrap()), far);
    let mut run = one();
    let never = run.now.after(Length::secs(40 * 3600));
    run.attempt("a").faulted("a", fault(FaultClass::RateLimit, Some(never)));
    assert!(matches!(next(&run, "a", &[]), NextAttempt::GiveUp(what) if what.contains("429")));
}

#[test]
fn credit_login_and_an_unknown_model_are_not_tried_again_before_somebody_acts() {
    for class in [FaultClass::Credit, FaultClass::Auth, FaultClass::ModelUnknown] {
        let mut run = one();
        run.attempt("a").faulted("a", fault(class, None));
        assert_eq!(start(&run, &["other"]), ("other".to_owned(), None));
        assert!(matches!(next(&run, "a", &[]), NextAttempt::GiveUp(_)));
    }
}

#[test]
fn what_one_wp_found_out_about_a_provider_the_others_need_not_find_out_again() {
    let mut run = one();
    run.briefed("b").round("b");
    run.attempt("a").faulted("a", fault(FaultClass::Credit, None));
    let NextAttempt::Start { tier, not_before: None } = next(&run, "b", &["other"]) else {
        panic!("it waits");
    };
    assert_eq!(tier.as_str(), "other");
    let NextAttempt::GiveUp(why) = next(&run, "b", &[]) else { panic!("it is paid") };
    assert_eq!(why, "429 Too Many Requests (credit)");
    // A turn that ends well on it, or somebody who has acted, closes the circuit again.
    let mut served = run.clone();
    served.attempt("b").ended("b", OK);
    assert!(served.ledger.outages.is_empty());
    run.engine();
    assert_eq!(run.ledger.outages, []);
}

#[test]
fn a_provider_that_fails_three_times_in_a_row_is_left_alone_for_a_while_by_all() {
    let mut run = one();
    run.briefed("b").round("b");
    for _ in 0..2 {
        run.attempt("a").faulted("a", fault(FaultClass::Provider, None));
    }
    assert!(matches!(next(&run, "b", &[]), NextAttempt::Start { not_before: None, .. }));
    run.attempt("a").faulted("a", fault(FaultClass::Provider, None));
    let NextAttempt::Start { not_before: Some(at), .. } = next(&run, "b", &[]) else {
        panic!("`b` goes straight into it");
    };
    assert_eq!(at.since(run.now), Length::secs(600));
    let elsewhere = next(&run, "b", &["other"]);
    assert!(matches!(elsewhere, NextAttempt::Start { tier, .. } if tier.as_str() == "other"));
}

#[test]
fn an_empty_turn_or_a_crash_says_nothing_of_the_provider() {
    for class in [FaultClass::EmptyTurn, FaultClass::Crash, FaultClass::Interrupted] {
        let mut run = one();
        for _ in 0..3 {
            run.attempt("a").faulted("a", fault(class, None));
        }
        assert!(run.ledger.outages.is_empty());
        assert_eq!(start(&run, &["other"]), ("other".to_owned(), None));
    }
}
