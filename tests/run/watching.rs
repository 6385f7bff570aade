//! Looking at a run from outside: `wait`, `logs`, `status`, `--json`, `run-logged`.

use serde_json::Value;
use sop::ledger::Phase;

use crate::support::rig::Rig;
use crate::support::scratch::has;
use crate::support::written::{plan, with_head, worker, wp};

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

const PATIENT: &str = "echo from $SOP_WP\n[ $SOP_WP = a ] && until [ -e $MARKS/go ]; do sleep 0.02; done\ndone_well\necho over";

#[test]
fn each_line_of_json_is_an_event_of_the_journal() {
    let rig =
        Rig::new(&plan(&(wp("a", "") + &wp("b", ""))), &[("worker.sh", &worker("done_well"))]);
    let said = rig.sop_ends(0, &["apply", "--yes", "--json"]);
    let printed: Vec<Value> = said.out.lines().map(json).collect();
    let journal: Vec<Value> = rig.of_run("journal.jsonl").lines().map(json).collect();
    // The run is made, and approved, before an engine watches it.
    assert!(journal.len() > 20);
    assert!(journal.ends_with(&printed), "{}", said.out);
    assert!(journal.len() - printed.len() <= 2, "{}", said.out);
    // Nothing is left to be done, and nothing to be told.
    let said = rig.sop_ends(0, &["resume", "--json"]);
    said.out.lines().for_each(|line| drop(json(line)));
}

#[test]
fn a_run_is_waited_for_watched_and_followed() {
    let rig = Rig::new(&plan(&(wp("a", "") + &wp("b", ""))), &[("worker.sh", &worker(PATIENT))]);
    let engine = rig.start(&["apply", "--yes"]);
    rig.until_wp("a", "at work", |wp| wp.phase == Phase::Working);
    rig.sop_ends(0, &["wait", "a", "--until", "working", "--timeout", "60s"]);
    rig.sop_ends(0, &["wait", "b", "--until", "passed", "--timeout", "60s"]);
    let said = rig.sop_ends(4, &["wait", "a", "--timeout", "100ms", "--json"]);
    assert_eq!(json(&said.out)["reached"], false);
    rig.sop_ends(4, &["wait", "--timeout", "100ms"]);
    rig.until_log("a", "from a\n");

    let status = json(&rig.sop_ends(0, &["status", "--json"]).out);
    assert_eq!(status["run"], "o-1");
    let phases: Vec<&Value> =
        status["wps"].as_array().unwrap().iter().map(|wp| &wp["phase"]).collect();
    assert_eq!(phases, ["working", "passed"]);
    let said = rig.sop_ends(0, &["status"]);
    assert!(said.out.contains("o-1") && said.out.contains('a'), "{}", said.out);

    let follower = rig.start(&["logs", "a", "--follow"]);
    let waiter = rig.start(&["wait", "--until", "passed", "--timeout", "60s"]);
    std::fs::write(rig.mark("go"), "").unwrap();
    assert_eq!(engine.wait(), 0);
    assert_eq!(follower.wait(), 0);
    assert_eq!(waiter.wait(), 0);
    let said = rig.engine_said();
    assert!(said.contains("from a\n") && said.contains("\nover\n"), "{said}");
    assert_eq!(rig.sop_ends(0, &["logs", "b"]).out, "from b\nover\n");
    rig.sop_ends(3, &["wait", "a", "--until", "awaiting-review"]);
}

/// A run that only `sop resume` goes on with is not waited for.
#[test]
fn a_run_that_no_engine_has_is_not_waited_for() {
    let waits =
        worker("echo up >> $MARKS/up; until [ -e $MARKS/go ]; do sleep 0.02; done; done_well");
    let text = with_head("session_split = \"always\"", &wp("a", ""));
    let rig = Rig::new(&text, &[("worker.sh", &waits)]);
    rig.apply(0);
    let goes_on = "no engine has o-1; `sop resume o-1` goes on with it\n";
    let said = rig.sop_ends(4, &["wait"]);
    assert_eq!(said.out, format!("o-1 is approved, not begun\n{goes_on}"));
    // What is asked for waits for an engine as well.
    rig.sop_ends(0, &["cancel", "--all"]);
    let status = rig.sop_ends(0, &["status"]).out;
    assert!(!status.contains("sop retry"), "it is not cancelled yet: {status}");
    assert!(status.contains("sop resume o-1  # take up what was asked for"), "{status}");
    let said = rig.sop_ends(4, &["wait", "a", "--until", "passed", "--json"]);
    let told: serde_json::Value = serde_json::from_str(&said.out).expect("JSON");
    let expected = serde_json::json!({
        "run": "o-1", "wp": "a", "state": "waiting", "reached": false, "resume": "sop resume o-1",
    });
    assert_eq!(told, expected);

    // One whose engine was killed, while its worker is still at work.
    let rig = Rig::new(&plan(&wp("a", "")), &[("worker.sh", &waits)]);
    let engine = rig.start(&["apply", "--yes"]);
    rig.until_lines("up", 1);
    engine.signal(rustix::process::Signal::KILL);
    engine.wait();
    let at_work = format!("what its engine had started is still at work: a (work-1)\n{goes_on}");
    assert_eq!(rig.sop_ends(4, &["wait", "a"]).out, format!("a is working\n{at_work}"));
    let status = rig.sop_ends(0, &["status"]).out;
    assert!(status.starts_with("? o-1, not running, "), "{status}");
    assert!(status.contains("working") && !status.contains("interrupted"), "{status}");
    std::fs::write(rig.mark("go"), "").unwrap();
    rig.until_quiet();
    let status = rig.sop_ends(0, &["status"]).out;
    assert!(status.contains("interrupted") && !status.contains("working"), "{status}");
    rig.sop_ends(0, &["resume"]);
    rig.sop_ends(0, &["wait"]);
}

/// Whoever waits for a run that another process is just about to take up waits for that one.
#[test]
fn an_engine_that_comes_in_time_is_waited_for() {
    let text = with_head("session_split = \"always\"", &wp("a", ""));
    let rig = Rig::new(&text, &[("worker.sh", &worker("done_well"))]);
    rig.apply(0);
    let engine = rig.start(&["resume"]);
    assert_eq!(rig.sop_ends(0, &["wait"]).out, "o-1 is done\n");
    assert_eq!(engine.wait(), 0, "{}", rig.engine_said());
}

#[test]
fn a_wp_that_ended_elsewhere_is_not_waited_for() {
    let text = plan(&wp("a", "rounds = 1"));
    let rig = Rig::new(&text, &[("worker.sh", &worker("echo bad > a.txt"))]);
    rig.apply(3);
    rig.sop_ends(3, &["wait", "a", "--until", "passed"]);
    rig.sop_ends(3, &["wait", "a"]);
    rig.sop_ends(3, &["wait"]);
}

#[test]
fn a_command_is_run_with_its_output_in_a_file() {
    let rig = Rig::new(&plan(&wp("a", "")), &[]);
    rig.touches(&["out.log", "unheard.log"], "the logs that were asked for");
    let said = rig.sop_ends(0, &["run-logged", "out.log", "--", "sh", "-c", "echo one; echo two"]);
    assert!(said.out.contains("exit=0 lines=2 log=out.log"), "{}", said.out);
    assert!(!said.out.contains("one"), "{}", said.out);
    let said = rig.sop_ends(7, &["run-logged", "out.log", "--", "sh", "-c", "seq 60; exit 7"]);
    assert!(said.out.contains("exit=7 lines=60 log=out.log"), "{}", said.out);
    if has("/dev/full", std::path::Path::new("/dev/full").exists()) {
        let line = format!(
            "'{}' run-logged unheard.log -- sh -c 'exit 7' > /dev/full",
            env!("CARGO_BIN_EXE_sop")
        );
        let status = std::process::Command::new("sh")
            .args(["-c", &line])
            .current_dir(rig.repo())
            .status()
            .unwrap();
        assert_eq!(status.code(), Some(7), "nobody heard it, and it is still so");
    }
    assert!(said.out.contains("\n60") && said.out.contains("21\n"), "{}", said.out);
    assert!(!said.out.contains("\n20\n"), "{}", said.out);
    assert_eq!(std::fs::read_to_string(rig.repo().join("out.log")).unwrap().lines().count(), 60);
}
