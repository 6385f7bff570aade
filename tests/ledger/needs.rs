//! Who waits for whom, who is deferred because of whom, and who is freed again.

use sop::event::{Event, Outcome, WpShape};
use sop::ledger::{NextGate, Phase};
use sop::model::plan::{Kind, Mode};

use crate::support::story::{OK, Story, after, after_stage, level, shape, wp_id};

fn pairs(run: &Story) -> Vec<(String, String)> {
    run.ledger.to_defer().iter().map(|(a, b)| (a.to_string(), b.to_string())).collect()
}

fn pair(wp: &str, because: &str) -> (String, String) {
    (wp.to_owned(), because.to_owned())
}

#[test]
fn an_implicit_need_is_the_whole_stage_before() {
    let mut run = Story::new(
        Mode::Staged,
        vec![
            level("one", vec![shape("a"), shape("b")]),
            level("two", vec![after_stage("c", "one"), after_stage("d", "one")]),
        ],
    );
    run.pass("a");
    assert_eq!(run.startable(), ["b"]);
    run.escalate("b");
    assert_eq!(pairs(&run), [pair("c", "b"), pair("d", "b")]);
    run.deferred();
    let ready = NextGate::Ready { level: 0, wps: vec![wp_id("a")] };
    assert_eq!(run.ledger.next_gate(), Some(ready), "what got through is merged all the same");
    run.gate_through(0, &["a"]);
    assert!(run.startable().is_empty());
    assert!(run.ledger.next_gate().is_none());
    assert_eq!(run.ledger.standing(), Outcome::Failed);
}

#[test]
fn an_explicit_need_defers_dependents_alone_and_the_rest_goes_on() {
    let mut run = Story::new(
        Mode::Staged,
        vec![
            level("level-1", vec![shape("a"), shape("b")]),
            level("level-2", vec![after("c", &["a"]), after("d", &["b"]), after("e", &["a", "b"])]),
            level("level-3", vec![after("f", &["d"]), after("g", &["c"])]),
        ],
    );
    run.pass("a").escalate("b").deferred();
    for (wp, because) in [("d", "b"), ("e", "b"), ("f", "d")] {
        assert_eq!(run.phase(wp), Phase::Deferred, "{wp}");
        assert_eq!(run.wp(wp).because, Some(wp_id(because)));
    }
    run.gate_through(0, &["a"]);
    assert_eq!(run.startable(), ["c"]);
    run.pass("c").gate_through(1, &["c"]).pass("g").gate_through(2, &["g"]).finished();
    assert_eq!(run.ledger.outcome, Some(Outcome::Failed));
    assert_eq!(run.phase("g"), Phase::Integrated);
}

#[test]
fn every_way_not_to_get_through_defers() {
    let problem =
        || sop::model::outcome::Problem::new(sop::model::outcome::Check::Provision, "disk full");
    let run = || {
        Story::new(
            Mode::Staged,
            vec![level("one", vec![shape("a")]), level("two", vec![after("b", &["a"])])],
        )
    };
    let mut blocked = run();
    blocked.started("a").blocked("a", problem(), false);
    let mut cancelled = run();
    cancelled.cancelled("a");
    let mut escalated = run();
    escalated.escalate("a");
    for mut story in [blocked, cancelled, escalated] {
        assert_eq!(pairs(&story), [pair("b", "a")]);
        story.deferred();
        assert!(story.ledger.to_defer().is_empty(), "each is deferred once");
    }
}

#[test]
fn a_retry_frees_the_whole_chain_that_was_deferred_because_of_it() {
    let mut run = Story::new(
        Mode::Staged,
        vec![
            level("l1", vec![shape("a"), shape("x")]),
            level("l2", vec![after("b", &["a"]), after("y", &["x"])]),
            level("l3", vec![after("c", &["b"]), after("z", &["b", "x"])]),
        ],
    );
    run.escalate("a").escalate("x").deferred();
    for wp in ["b", "c", "y", "z"] {
        assert_eq!(run.phase(wp), Phase::Deferred, "{wp}");
    }
    run.retried("a");
    assert_eq!(run.phase("b"), Phase::Waiting);
    assert_eq!(run.phase("c"), Phase::Waiting);
    assert_eq!(run.phase("y"), Phase::Deferred, "x was not retried");
    run.deferred();
    assert_eq!(run.phase("z"), Phase::Deferred, "x is still in its way");
    assert_eq!(run.wp("z").because, Some(wp_id("x")));
    run.good_round("a").gate_through(0, &["a"]).pass("b").gate_through(1, &["b"]);
    assert_eq!(run.startable(), ["c"]);
}

#[test]
fn a_scout_is_read_only_and_has_nothing_to_merge() {
    let scout = WpShape { kind: Kind::Scout, dods: 0, ..shape("look") };
    let mut run = Story::new(
        Mode::Staged,
        vec![level("one", vec![scout]), level("two", vec![after_stage("build", "one")])],
    );
    run.started("look").provisioned("look").classed("look", &[]).work("look");
    run.ended("look", OK).scope("look", "base", Vec::new()).judged("look", None);
    assert_eq!(run.phase("look"), Phase::Committing);
    run.try_say(Event::WpCommitted {
        wp: wp_id("look"),
        commit: crate::support::story::commit("x"),
        tree: crate::support::story::tree("base"),
    })
    .unwrap_err();
    assert!(run.startable().iter().all(|wp| *wp == "look"));
    run.say(Event::WpReported { wp: wp_id("look"), report: "reports/look-1.json".to_owned() });
    assert_eq!(run.phase("look"), Phase::Passed);
    assert!(run.ledger.next_gate().is_none(), "there is nothing to merge");
    assert_eq!(run.startable(), ["build"], "and nobody waits for a gate");
    run.pass("build").gate_through(1, &["build"]).finished();
    assert_eq!(run.ledger.outcome, Some(Outcome::Done));
}

#[test]
fn a_level_is_not_merged_while_one_of_its_wps_is_at_work() {
    let mut run = Story::new(Mode::Staged, vec![level("one", vec![shape("a"), shape("b")])]);
    run.pass("a").briefed("b");
    assert!(run.ledger.next_gate().is_none());
    run.good_round("b");
    assert!(matches!(run.ledger.next_gate(), Some(NextGate::Ready { level: 0, .. })));
}

#[test]
fn levels_of_one_stage_are_merged_one_after_the_other() {
    let mut run = Story::new(
        Mode::Staged,
        vec![
            level("one", vec![shape("a")]),
            level("one", vec![after("b", &["a"])]),
            level("two", vec![after_stage("c", "one")]),
        ],
    );
    run.pass("a").gate_through(0, &["a"]);
    assert_eq!(run.startable(), ["b"], "stage one is not over");
    run.pass("b").gate_through(1, &["b"]);
    assert_eq!(run.startable(), ["c"]);
}
