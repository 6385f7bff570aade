//! The engine dies while a worker is at work.

use rustix::process::Signal;
use sop::event::Event;
use sop::model::outcome::End;

use crate::support::rig::{Rig, until};
use crate::support::written::{plan, worker, wp};

/// A worker that goes on once the mark `go` is there.
const PATIENT: &str = "until [ -e $MARKS/go ]; do sleep 0.02; done\ndone_well\necho \"$SOP_WP/$SOP_ATTEMPT\" >> $MARKS/ends";

/// A run of one WP whose engine was killed while its worker waits for `go`.
fn orphaned() -> Rig {
    let rig = Rig::new(&plan(&wp("a", "")), &[("worker.sh", &worker(PATIENT))]);
    let engine = rig.start(&["apply", "--yes"]);
    rig.until_lines("starts", 1);
    engine.signal(Signal::KILL);
    assert_eq!(engine.wait(), 256);
    rig
}

#[test]
fn the_result_of_a_worker_that_ended_meanwhile_is_taken() {
    let rig = orphaned();
    std::fs::write(rig.mark("go"), "").unwrap();
    rig.until_quiet();
    assert_eq!(rig.lines("ends"), ["a/1"]);
    rig.sop_ends(0, &["resume"]);
    assert_eq!(rig.lines("starts"), ["a/1"]);
    assert_eq!(rig.on("sop/o-1/a", "a.txt"), "good a\n");
}

#[test]
fn a_worker_that_is_still_at_work_is_adopted() {
    let rig = orphaned();
    let engine = rig.start(&["resume"]);
    let engines = |event: &Event| matches!(event, Event::EngineStarted { .. });
    until(|| match rig.count(engines) {
        2 => Ok(()),
        n => Err(format!("{n} engines")),
    });
    assert_eq!(rig.lines("ends"), Vec::<String>::new());
    std::fs::write(rig.mark("go"), "").unwrap();
    assert_eq!(engine.wait(), 0, "{}", rig.engine_said());
    assert_eq!(rig.lines("starts"), ["a/1"]);
    assert_eq!(rig.lines("ends"), ["a/1"]);
    rig.until_quiet();
}

#[test]
fn an_adopted_worker_obeys() {
    let rig = orphaned();
    let engine = rig.start(&["resume"]);
    let engines = |event: &Event| matches!(event, Event::EngineStarted { .. });
    until(|| match rig.count(engines) {
        2 => Ok(()),
        n => Err(format!("{n} engines")),
    });
    rig.sop_ends(0, &["cancel", "a"]);
    assert_eq!(engine.wait(), 3, "{}", rig.engine_said());
    rig.until_quiet();
    assert_eq!(rig.lines("ends"), Vec::<String>::new());
}

#[test]
fn with_no_engine_left_the_holder_ends_a_worker_at_its_wall_clock() {
    let text =
        plan(&wp("a", "")).replace("worker = \"script\"", "worker = \"script\"\ntimeout = \"2s\"");
    let script = worker("[ $SOP_ATTEMPT = 1 ] && (trap '' HUP; sleep 600)\ndone_well");
    let rig = Rig::new(&text, &[("worker.sh", &script)]);
    let engine = rig.start(&["apply", "--yes"]);
    rig.until_lines("starts", 1);
    engine.signal(Signal::KILL);
    assert_eq!(engine.wait(), 256);
    rig.until_quiet();
    rig.sop_ends(0, &["resume"]);
    let ends: Vec<End> = rig
        .records()
        .into_iter()
        .filter_map(|record| match record.event {
            Event::AttemptEnded { ran, .. } => Some(ran.end),
            _ => None,
        })
        .collect();
    assert!(matches!(ends[..], [End::Timeout { .. }, End::Exit { code: 0 }]), "{ends:?}");
    assert_eq!(rig.lines("starts"), ["a/1", "a/2"]);
}
