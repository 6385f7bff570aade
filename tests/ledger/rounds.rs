//! DESIGN's outcome table, as far as it is decided without the world: what each end of a round costs.

use sop::event::NextStep;
use sop::ledger::{Phase, judge};
use sop::model::outcome::{Check, Class, End, Problem};
use sop::model::plan::Mode;
use sop::model::time::Length;

use crate::support::story::{FAILS, OK, Story, level, shape, tier};

fn one() -> Story {
    let mut run = Story::new(Mode::Independent, vec![level("all", vec![shape("a")])]);
    run.briefed("a");
    run
}

fn outside(path: &str) -> Vec<Problem> {
    vec![Problem::new(Check::Scope, "is outside the whitelist").about(path)]
}

#[test]
fn a_path_outside_the_whitelist_costs_a_round_before_any_dod_runs() {
    let mut run = one();
    run.work("a").ended("a", OK).scope("a", "t", outside("src/other.rs"));
    assert_eq!(run.phase("a"), Phase::Deciding, "what is out of bounds is not tested");
    assert_eq!(
        judge(run.wp("a"), None),
        (Some(Class::Work), NextStep::Round { tier: tier("standard") })
    );
    run.judged("a", None);
    assert_eq!(run.phase("a"), Phase::Briefing);
    assert_eq!(run.wp("a").carried()[0].subject.as_deref(), Some("src/other.rs"));
}

#[test]
fn a_failing_dod_costs_a_round_and_its_output_is_carried() {
    let mut run = one();
    run.work("a").ended("a", OK).scope("a", "t", Vec::new());
    run.dod("a", FAILS);
    assert_eq!(run.phase("a"), Phase::Proving, "the others are run all the same");
    run.dod("a", FAILS);
    assert_eq!(run.phase("a"), Phase::Deciding);
    run.judged("a", None).round("a");
    let carried = run.wp("a").carried();
    assert_eq!(carried.len(), 2);
    assert_eq!(carried[1].check, Check::Dod);
    assert_eq!(carried[1].message, "exits 1");
    assert_eq!(carried[1].subject.as_deref(), Some("cargo test"));
    assert_eq!(carried[1].tail.as_deref(), Some("thread 'main' panicked\nfailed"));
    assert_eq!(carried[1].log.as_deref(), Some("logs/a-dod-2-1.log"));
    assert!(run.wp("a").problems.is_empty(), "the new round begins with a clean sheet");
    assert!(run.wp("a").proved.is_empty());
}

#[test]
fn a_dod_that_outlives_its_timeout_is_the_works_fault() {
    let mut run = one();
    run.work("a").ended("a", OK).scope("a", "t", Vec::new());
    run.dod("a", OK).dod("a", End::Timeout { limit: Length::secs(60) });
    assert_eq!(run.phase("a"), Phase::Deciding);
    let problem = &run.wp("a").problems[0];
    assert_eq!(problem.message, "ended at its timeout of 1m");
    assert_eq!(judge(run.wp("a"), None).0, Some(Class::Work));
}

#[test]
fn what_a_worker_left_is_looked_at_whatever_its_exit_code_claims() {
    for end in [OK, FAILS, End::Exit { code: 42 }] {
        let mut run = one();
        run.work("a").ended("a", end).scope("a", "t", Vec::new()).proven("a").judged("a", None);
        assert_eq!(run.phase("a"), Phase::Committing);
    }
}

#[test]
fn a_worker_ended_at_a_limit_of_the_plan_has_used_up_its_round() {
    let limit = Length::secs(1800);
    for (end, says) in [
        (End::Timeout { limit }, "the worker was ended at its timeout of 30m"),
        (End::Idle { limit }, "the worker was ended after 30m without output"),
    ] {
        let mut run = one();
        run.work("a").ended("a", end);
        assert_eq!(run.phase("a"), Phase::Scoping, "what it left is still compared");
        run.scope("a", "t", outside("x"));
        assert_eq!(run.phase("a"), Phase::Deciding);
        let messages: Vec<_> = run.wp("a").problems.iter().map(|p| p.message.as_str()).collect();
        assert_eq!(messages, [says, "is outside the whitelist"]);
        assert_eq!(judge(run.wp("a"), None).0, Some(Class::Work));
    }
}

#[test]
fn a_reviewer_who_asks_for_changes_costs_a_round_and_the_findings_are_carried() {
    let shape = sop::event::WpShape { reviewed: true, ..shape("a") };
    let mut run = Story::new(Mode::Independent, vec![level("all", vec![shape])]);
    run.briefed("a").work("a").ended("a", OK).scope("a", "t", Vec::new()).proven("a");
    assert_eq!(run.phase("a"), Phase::Reviewing);
    run.reviewed("a", "anna", &[("src/lib.rs", 7, "no error path"), ("src/a.rs", 1, "typo")]);
    assert_eq!(run.phase("a"), Phase::Deciding);
    run.judged("a", None).round("a");
    let carried = run.wp("a").carried();
    assert_eq!(carried[0].check, Check::Review);
    assert_eq!(carried[0].subject.as_deref(), Some("src/lib.rs:7"));
    assert_eq!(carried[1].message, "typo");
    assert_eq!(run.wp("a").verdict, None, "the old verdict does not count for the new round");
    assert_eq!(run.wp("a").reviewed_by, None);
}

#[test]
fn a_person_may_take_their_time_to_review() {
    let shape = sop::event::WpShape { reviewed: true, ..shape("a") };
    let mut run = Story::new(Mode::Independent, vec![level("all", vec![shape])]);
    run.briefed("a").work("a").ended("a", OK).scope("a", "t", Vec::new()).proven("a");
    let (round, tree) = (1, run.wp("a").tree.clone().unwrap());
    let wp = crate::support::story::wp_id("a");
    run.say(sop::event::Event::ReviewRequested { wp, round, tree });
    assert_eq!(run.phase("a"), Phase::AwaitingReview);
    assert!(run.startable().is_empty(), "an engine has nothing to do with it");
    assert_eq!(run.ledger.standing(), sop::event::Outcome::Waiting);
    run.reviewed("a", "anna", &[]).judged("a", None).committed("a");
    assert_eq!(run.wp("a").reviewed_by.as_deref(), Some("anna"));
}

#[test]
fn a_light_tier_hands_over_after_its_first_round() {
    let shape = sop::event::WpShape { tier: tier("light"), ..shape("a") };
    let mut run = Story::new(Mode::Independent, vec![level("all", vec![shape])]);
    run.briefed("a").failing_round("a", "t", Some("standard"));
    assert_eq!(run.wp("a").tier, tier("standard"));
    run.work("a");
    assert_eq!(run.wp("a").tier, tier("standard"));
    assert_eq!(run.wp("a").rounds[0].tier, tier("light"));
}

#[test]
fn the_third_failed_round_goes_to_a_person() {
    let mut run = one();
    run.failing_round("a", "one", None).failing_round("a", "two", None);
    run.work("a").ended("a", OK).scope("a", "three", Vec::new()).dod("a", OK).dod("a", FAILS);
    assert_eq!(
        judge(run.wp("a"), Some(&tier("lead"))),
        (Some(Class::Decision), NextStep::Escalate)
    );
    run.judged("a", Some("lead"));
    assert_eq!(run.phase("a"), Phase::Escalated);
    assert!(run.startable().is_empty());
    assert_eq!(run.ledger.standing(), sop::event::Outcome::Failed);
}

#[test]
fn the_same_failure_with_the_same_diff_does_not_burn_the_third_round() {
    let mut run = one();
    run.failing_round("a", "same", None);
    run.work("a").ended("a", OK).scope("a", "same", Vec::new()).dod("a", OK).dod("a", FAILS);
    assert_eq!(judge(run.wp("a"), None), (Some(Class::Stuck), NextStep::Escalate));
    run.judged("a", None);
    assert_eq!((run.phase("a"), run.wp("a").round), (Phase::Escalated, 2));
}

#[test]
fn another_diff_or_another_failure_is_not_stuck() {
    let mut run = one();
    run.failing_round("a", "one", None);
    run.work("a").ended("a", OK).scope("a", "two", Vec::new()).dod("a", OK).dod("a", FAILS);
    assert_eq!(judge(run.wp("a"), None).0, Some(Class::Work), "the diff differs");

    let mut run = one();
    run.failing_round("a", "one", None);
    run.work("a").ended("a", OK).scope("a", "one", Vec::new()).dod("a", FAILS).dod("a", OK);
    assert_eq!(judge(run.wp("a"), None).0, Some(Class::Work), "another command fails");
}

#[test]
fn a_dod_that_changes_files_is_run_again_on_what_it_made() {
    let mut run = one();
    run.work("a").ended("a", OK).scope("a", "one", Vec::new()).dod("a", OK).dod("a", OK);
    run.scope("a", "formatted", Vec::new());
    assert_eq!(run.phase("a"), Phase::Proving, "nothing has proven the new tree yet");
    assert_eq!(run.wp("a").pass, 2);
    assert!(run.wp("a").proved.is_empty());
    run.dod("a", OK).dod("a", OK).scope("a", "formatted", Vec::new()).judged("a", None);
    assert_eq!(run.phase("a"), Phase::Committing);
    run.committed("a");
    assert_eq!(run.wp("a").tree, Some(crate::support::story::tree("formatted")));
}

#[test]
fn a_dod_that_writes_outside_the_whitelist_is_caught_after_it() {
    let mut run = one();
    run.work("a").ended("a", OK).scope("a", "one", Vec::new()).dod("a", OK).dod("a", OK);
    run.scope("a", "two", outside("target/x"));
    assert_eq!(run.phase("a"), Phase::Deciding);
    assert_eq!(judge(run.wp("a"), None).0, Some(Class::Work));
}

#[test]
fn a_dod_that_never_leaves_the_files_alone_proves_nothing() {
    let mut run = one();
    run.work("a").ended("a", OK).scope("a", "0", Vec::new());
    let mut passes = 0;
    while run.phase("a") == Phase::Proving {
        passes += 1;
        assert!(passes < 20, "it goes on for ever");
        run.dod("a", OK).dod("a", OK).scope("a", &passes.to_string(), Vec::new());
    }
    assert_eq!((run.phase("a"), passes), (Phase::Deciding, 4));
    let problem = &run.wp("a").problems[0];
    assert_eq!((problem.check, problem.subject.as_deref()), (Check::Dod, Some("the DoD commands")));
    assert_eq!(judge(run.wp("a"), None).0, Some(Class::Work));
}

#[test]
fn a_wp_without_a_dod_is_judged_by_its_scope_alone() {
    let shape = sop::event::WpShape { dods: 0, ..shape("a") };
    let mut run = Story::new(Mode::Independent, vec![level("all", vec![shape])]);
    run.started("a").provisioned("a").classed("a", &[]).work("a").ended("a", OK);
    run.scope("a", "t", Vec::new());
    assert_eq!(run.phase("a"), Phase::Deciding);
}
