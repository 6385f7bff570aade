//! What has left the machine, as a fold: what is due, what is at rest, how the run stands by it.

use sop::event::{Event, Outcome};
use sop::ledger::{Ledger, LedgerError};
use sop::model::approval::{Cover, Covers};
use sop::model::delivery::{DeliveryShape, DeliveryStep, Hold};
use sop::model::plan::Mode;

use crate::support::story::{Story, commit, level, shape, wp_id};

/// A run of independent WPs that delivers, all of them through.
fn through(ids: &[&str]) -> Story {
    delivering(Mode::Independent, ids, |run| {
        for id in ids {
            run.pass(id);
        }
    })
}

fn delivering(mode: Mode, ids: &[&str], tell: impl FnOnce(&mut Story)) -> Story {
    let shapes = ids.iter().map(|id| shape(id)).collect();
    let mut run = Story::new(mode, vec![level("one", shapes)]);
    let Event::RunCreated { delivery, .. } = &mut run.records[0].event else { unreachable!() };
    *delivery = Some(DeliveryShape {
        remote: "origin".to_owned(),
        into: Some("main".to_owned()),
        after: 0,
    });
    run.ledger = Ledger::fold(&run.records).unwrap();
    tell(&mut run);
    run
}

fn due(run: &Story) -> Vec<String> {
    let of =
        |what: sop::ledger::Deliverable| what.wp.map_or("whole".to_owned(), |wp| wp.to_string());
    run.ledger.to_deliver().into_iter().map(of).collect()
}

fn held(id: &str, why: Hold) -> Event {
    Event::DeliveryHeld { wp: Some(wp_id(id)), why, text: "why".to_owned() }
}

fn step(id: &str, step: DeliveryStep) -> Event {
    let branch = format!("sop/settings-1/{id}");
    Event::DeliveryStarted { wp: Some(wp_id(id)), step, branch, commit: commit(id) }
}

fn landed(run: &mut Story, id: &str) {
    let wp = || Some(wp_id(id));
    let branch = format!("sop/settings-1/{id}");
    run.say(step(id, DeliveryStep::Push));
    run.say(Event::BranchPushed { wp: wp(), branch, commit: commit(id) });
    run.say(step(id, DeliveryStep::Request));
    run.say(Event::RequestOpened { wp: wp(), number: 7, url: "https://f/7".to_owned() });
    run.say(step(id, DeliveryStep::Merge));
    run.say(Event::RequestMerged { wp: wp(), number: 7 });
    run.say(Event::DeliveryLanded { wp: wp(), onto: commit("main") });
}

#[test]
fn what_got_through_is_due_until_it_has_landed_or_is_at_rest() {
    let mut run = through(&["a", "b"]);
    assert_eq!(due(&run), ["a", "b"]);
    assert_eq!(run.ledger.standing(), Outcome::Waiting);
    landed(&mut run, "a");
    assert!(run.ledger.has_landed(&wp_id("a")));
    assert_eq!(due(&run), ["b"]);
    run.say(held("b", Hold::Risk));
    assert_eq!(due(&run), [""; 0]);
    assert_eq!(run.ledger.standing(), Outcome::Done);
    // Whoever takes the run up looks again at what is at rest, and at nothing that is over.
    run.say(Event::EngineStarted { pid: 1, sop: "0".to_owned() });
    assert_eq!(due(&run), ["b"]);
}

#[test]
fn how_the_run_stands_is_what_the_worst_of_them_waits_for() {
    for (holds, outcome) in [
        ([Hold::Risk, Hold::NotCovered], Outcome::Done),
        ([Hold::Risk, Hold::ChecksFailed], Outcome::Waiting),
        ([Hold::ChecksFailed, Hold::NoToken], Outcome::Blocked),
        ([Hold::Unreachable, Hold::AsPlanned], Outcome::Blocked),
    ] {
        let mut run = through(&["a", "b"]);
        run.say(held("a", holds[0])).say(held("b", holds[1]));
        assert_eq!(run.ledger.standing(), outcome, "{holds:?}");
    }
    // What was not delivered makes nothing of a run in which somebody failed.
    let mut run = delivering(Mode::Independent, &["a", "b"], |run| {
        run.pass("a").escalate("b");
    });
    run.say(held("a", Hold::NoToken));
    assert_eq!(run.ledger.standing(), Outcome::Failed);
}

#[test]
fn steps_out_of_their_order_are_refused_and_change_nothing() {
    let wp = || Some(wp_id("a"));
    let opened = || Event::RequestOpened { wp: wp(), number: 7, url: String::new() };
    let merged = |number| Event::RequestMerged { wp: wp(), number };
    let lands = || Event::DeliveryLanded { wp: wp(), onto: commit("main") };
    let refused = |run: &mut Story, event: Event| {
        let before = run.ledger.clone();
        let error = run.try_say(event.clone()).expect_err(&event.name());
        assert!(matches!(error, LedgerError::Impossible { .. }), "{error}");
        assert_eq!(run.ledger, before, "{}", event.name());
    };
    let mut run = through(&["a"]);
    for event in [opened(), merged(7), lands(), step("a", DeliveryStep::Merge)] {
        refused(&mut run, event);
    }
    landed(&mut run, "a");
    for event in
        [opened(), merged(7), lands(), held("a", Hold::Risk), step("a", DeliveryStep::Push)]
    {
        refused(&mut run, event);
    }
    let mut run = through(&["a"]);
    let ran = crate::support::story::ran("deploy", crate::support::story::OK);
    refused(&mut run, Event::AfterMergeRan { by: "Ann".to_owned(), ran });
    let mut local = Story::new(Mode::Independent, vec![level("one", vec![shape("a")])]);
    refused(&mut local, held("a", Hold::Risk));
}

#[test]
fn the_whole_is_due_when_the_last_stage_holds_and_never_before() {
    let mut run = delivering(Mode::Staged, &["a", "b"], |run| {
        run.pass("a");
    });
    assert_eq!(due(&run), [""; 0]);
    run.pass("b");
    assert_eq!(due(&run), [""; 0], "a gate is due first");
    run.gate_through(0, &["a", "b"]);
    assert_eq!(due(&run), ["whole"]);
}

#[test]
fn a_later_yes_adds_to_what_is_covered_and_takes_nothing_back() {
    let mut run = through(&["a"]);
    assert_eq!(run.ledger.covers, Covers::default());
    let plan_sha256 = run.ledger.plan_sha256.clone();
    let by = sop::event::ApprovedBy::Flag;
    run.say(Event::RunApproved { by, plan_sha256, covers: Covers::of([Cover::Push]), to: None });
    assert_eq!(run.ledger.covers.to_string(), "commits,integration,push,cleanup");
}
