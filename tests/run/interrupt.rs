//! Ctrl-C, as a terminal sends it: to the whole process group.

use rustix::process::Signal;
use sop::event::{Event, Outcome, StopReason};

use crate::support::rig::{Rig, until};
use crate::support::scratch::has_right;
use crate::support::written::{plan, worker, wp};

/// A worker that waits, in the way that `trap` says, until it is told to end; after that it works.
fn waiting(trap: &str) -> String {
    worker(&format!(
        "if [ ! -e $MARKS/stopped ]; then {trap}\necho half > half-done.txt\necho x >> $MARKS/ready\n\
         while :; do sleep 0.02; done\nfi\nrm -f half-done.txt\ndone_well"
    ))
}

fn interrupted(rig: &Rig) -> bool {
    rig.count(|event| matches!(event, Event::EngineStopped { why: StopReason::Interrupted })) == 1
}

/// The run goes on and comes to its end.
fn goes_on(rig: &Rig) {
    std::fs::write(rig.mark("stopped"), "").unwrap();
    rig.sop_ends(0, &["resume"]);
    assert_eq!(rig.ledger().outcome, Some(Outcome::Done));
    for id in ["a", "b"] {
        assert_eq!(rig.on(&format!("sop/o-1/{id}"), &format!("{id}.txt")), format!("good {id}\n"));
    }
    let starts = rig.lines("starts");
    let mut once = starts.clone();
    once.sort();
    once.dedup();
    assert_eq!(once.len(), starts.len(), "{starts:?}");
    assert_eq!(rig.wp("a").rounds.len(), 1, "being stopped costs no round");
    rig.until_quiet();
}

#[test]
fn once_it_starts_nothing_more_and_lets_term_work() {
    let text = plan(&(wp("a", "") + &wp("b", ""))).replace("base = ", "max_parallel = 1\nbase = ");
    // What ends is the worker's own decision: nothing but its holder's TERM reaches it.
    let trap = "trap 'echo int >> $MARKS/heard' INT\ntrap 'echo term >> $MARKS/heard; exit 0' TERM";
    let rig = Rig::new(&text, &[("worker.sh", &waiting(trap))]);
    let users = rig.users();
    let engine = rig.start(&["apply", "--yes"]);
    rig.until_lines("ready", 1);
    engine.signal_group(Signal::INT);
    assert_eq!(engine.wait(), 130, "{}", rig.engine_said());
    rig.until_quiet();
    assert_eq!(rig.lines("heard"), ["term"]);
    assert_eq!(rig.lines("starts"), ["a/1"]);
    assert!(interrupted(&rig));
    assert_eq!(rig.users(), users);
    assert!(rig.engine_said().contains("sop resume o-1"), "{}", rig.engine_said());
    goes_on(&rig);
}

/// `script` gives the program a terminal of its own, whose line discipline makes a signal of the key.
#[test]
fn at_the_prompt_it_leaves_at_once_and_nothing_is_made() {
    let rig = Rig::new(&plan(&wp("a", "")), &[("worker.sh", &worker("done_well"))]);
    let (code, screen) = rig.types("\u{3}", "[y/N] ", &["apply"]);
    assert_eq!(code, 130, "{screen}");
    assert!(screen.contains("interrupted: nothing was started"), "{screen}");
    assert!(!rig.repo().join(".git/sop-run/o-1").exists());
    let (code, screen) = rig.types("y\r", "[y/N] ", &["apply"]);
    assert_eq!(code, 0, "{screen}");
    assert_eq!(rig.ledger().outcome, Some(Outcome::Done));
}

#[test]
fn twice_it_ends_what_does_not_listen() {
    let text = plan(&(wp("a", "") + &wp("b", "needs = [\"a\"]")));
    let rig = Rig::new(
        &text.replace("needs", "locks"),
        &[("worker.sh", &waiting("trap '' INT TERM; echo x >> $MARKS/deaf"))],
    );
    let engine = rig.start(&["apply", "--yes"]);
    rig.until_lines("ready", 2);
    engine.signal_group(Signal::INT);
    // It is heard before the second comes: a worker's grace is ten seconds.
    rig.until_cancelled("a");
    assert!(!rig.processes().is_empty());
    engine.signal_group(Signal::INT);
    assert_eq!(engine.wait(), 130, "{}", rig.engine_said());
    rig.until_quiet();
    assert!(interrupted(&rig));
    goes_on(&rig);
}

#[test]
fn twice_it_ends_what_a_stopped_holder_does_not_and_the_holder_with_it() {
    let text = plan(&(wp("a", "") + &wp("b", "")));
    let rig = Rig::new(&text, &[("worker.sh", &waiting("(setsid sleep 600 &)"))]);
    let engine = rig.start(&["apply", "--yes"]);
    rig.until_lines("ready", 2);
    rig.signal_holder("a", Signal::STOP);
    engine.signal_group(Signal::INT);
    // The other is heard, this one cannot hear.
    rig.until_cancelled("a");
    engine.signal_group(Signal::INT);
    assert_eq!(engine.wait(), 130, "{}", rig.engine_said());
    rig.until_quiet();
    assert!(interrupted(&rig));
    assert_eq!(rig.wp("a").spoilt.len(), 0, "it is the engine's own doing");
    goes_on(&rig);
}

#[test]
fn what_nobody_can_end_is_left_named_and_taken_up_again() {
    // In a process namespace of its own an engine cannot reach the holder that an earlier one started.
    let own = ["--pid", "--fork"];
    let can = std::process::Command::new("unshare").args(own).arg("true").status();
    if !has_right("make a process namespace", can.is_ok_and(|status| status.success())) {
        return;
    }
    let text = plan(&(wp("a", "") + &wp("b", "needs = [\"a\"]")));
    let rig = Rig::new(&text, &[("worker.sh", &waiting(""))]);
    let engine = rig.start(&["apply", "--yes"]);
    rig.until_lines("ready", 1);
    rig.signal_holder("a", Signal::STOP);
    engine.signal(Signal::KILL);
    assert_eq!(engine.wait(), 256);
    let engine = rig.start_under("unshare", &own, &["resume"]);
    until(|| match rig.count(|event| matches!(event, Event::EngineStarted { .. })) {
        2 => Ok(()),
        n => Err(format!("{n} engines")),
    });
    engine.signal_group(Signal::INT);
    rig.until_cancelled("a");
    engine.signal_group(Signal::INT);
    assert_eq!(engine.wait(), 130, "{}", rig.engine_said());
    let said = rig.engine_said();
    assert!(said.contains("does not end") && said.contains("sop resume"), "{said}");
    rig.signal_holder("a", Signal::CONT);
    rig.until_quiet();
    std::fs::write(rig.mark("stopped"), "").unwrap();
    rig.sop_ends(0, &["resume"]);
    assert_eq!(rig.ledger().outcome, Some(Outcome::Done));
}

#[test]
fn term_is_as_good() {
    let text = plan(&(wp("a", "") + &wp("b", "")));
    let rig = Rig::new(&text, &[("worker.sh", &waiting(""))]);
    let engine = rig.start(&["apply", "--yes"]);
    rig.until_lines("ready", 2);
    engine.signal(Signal::TERM);
    assert_eq!(engine.wait(), 130, "{}", rig.engine_said());
    rig.until_quiet();
    goes_on(&rig);
}

#[test]
fn in_the_dry_run_it_leaves_nothing() {
    let check = "echo x >> $MARKS/ready; while :; do sleep 0.02; done\n";
    let text = plan(&wp("a", "")).replace("grep -q good a.txt", "sh check.sh");
    let rig = Rig::new(&text, &[("worker.sh", &worker("done_well")), ("check.sh", check)]);
    let users = rig.users();
    let engine = rig.start(&["apply", "--yes"]);
    rig.until_lines("ready", 1);
    engine.signal_group(Signal::INT);
    assert_eq!(engine.wait(), 130, "{}", rig.engine_said());
    rig.until_quiet();
    assert_eq!(rig.worktrees(), Vec::<std::path::PathBuf>::new());
    assert_eq!(rig.users(), users);
}
