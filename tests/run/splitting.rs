//! A run that stops once it is approved, and goes on from another session: here, or in another clone to which its
//! directory was copied.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use sop::event::{Event, Outcome};

use crate::support::rig::Rig;
use crate::support::written::{plan, with_head, worker, wp};

const ALWAYS: &str = "session_split = \"always\"";

fn rig(head: &str, wps: &str) -> Rig {
    Rig::new(&with_head(head, wps), &[("worker.sh", &worker("done_well"))])
}

/// Copies a folder with all that is in it.
fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to.parent().unwrap()).unwrap();
    let copied = Command::new("cp").arg("-R").arg(from).arg(to).status();
    assert!(copied.unwrap().success());
}

/// Another clone of the rig's repository, as it would be on another machine: the commits and nothing else.
fn clone_of(rig: &Rig) -> Rig {
    let there = Rig::new(&plan(&wp("other", "")), &[]);
    fs::remove_dir_all(there.repo()).unwrap();
    let (from, to) = (rig.repo(), there.repo());
    rig.git(&["clone", "--quiet", "--template=", from.to_str().unwrap(), to.to_str().unwrap()]);
    there.git(&["remote", "remove", "origin"]);
    there
}

/// Files below `folder` that hold `text`.
fn holding(folder: &Path, text: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(holding(&path, text));
        } else if String::from_utf8_lossy(&fs::read(&path).unwrap()).contains(text) {
            found.push(path);
        }
    }
    found
}

#[test]
fn a_split_run_is_made_and_left_to_another_session() {
    let rig = rig(ALWAYS, &wp("a", ""));
    let before = rig.users();
    let said = rig.apply(0);
    assert!(said.out.contains("\n  sop resume o-1\n"), "{}", said.out);
    assert!(said.out.contains("is approved and stops here"), "{}", said.out);
    let once = said.out.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(once.contains("it must go on in one of them only"), "{}", said.out);
    assert!(
        said.out.contains("split      it stops there; `sop resume o-1` goes on"),
        "{}",
        said.out
    );
    assert!(rig.lines("starts").is_empty());
    assert_eq!(rig.users(), before);
    let ledger = rig.ledger();
    assert_eq!((ledger.approved, ledger.engines, rig.records().len()), (true, 0, 2));
    let status = rig.sop_ends(0, &["status"]);
    assert!(status.out.contains("approved, not begun"), "{}", status.out);
    assert!(status.out.contains("sop resume o-1"), "{}", status.out);
    let json = rig.sop_ends(0, &["status", "--json"]).out;
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!((&json["approved"], &json["engines"]), (&true.into(), &0.into()), "{json}");
    rig.sop_ends(0, &["resume", "o-1"]);
    assert_eq!(rig.ledger().outcome, Some(Outcome::Done));
    assert_eq!(rig.lines("starts"), ["a/1"]);
    assert_eq!(rig.users(), before);
}

#[test]
fn nothing_splits_unless_it_is_said() {
    let rig = rig("", &(wp("a", "risk = \"high\"") + &wp("b", "") + &wp("c", "")));
    rig.apply(0);
    assert_eq!(rig.ledger().outcome, Some(Outcome::Done));
}

#[test]
fn auto_splits_for_a_high_risk_for_stages_and_for_many() {
    let auto = [("SOP_SESSION_SPLIT", "auto")];
    let why = |wps: &str| {
        let rig = rig("", wps);
        let said = rig.sop_with(&auto, &["plan", "--json", "--no-dry-run"]);
        let json: serde_json::Value = serde_json::from_str(&said.out).expect(&said.err);
        let split = &json["preflight"]["runtime"]["session_split"];
        assert_eq!((&split["value"], &split["from"]), (&"auto".into(), &"environment".into()));
        json["session_split"].as_str().map(str::to_owned)
    };
    let two = wp("a", "") + &wp("b", "");
    assert_eq!(why(&two), None);
    let high = why(&(wp("a", "") + &wp("b", "risk = \"high\"")));
    assert_eq!(high.as_deref(), Some("`session_split = \"auto\"`: the risk of `b` is high"));
    let staged = why(&(wp("a", "") + &wp("b", "needs = [\"a\"]")));
    assert_eq!(staged.as_deref(), Some("`session_split = \"auto\"`: it has stages"));
    let many = why(&(two + &wp("c", "")));
    assert_eq!(many.as_deref(), Some("`session_split = \"auto\"`: it has 3 work packages"));
}

#[test]
fn programs_get_the_records_and_the_command_beside_them() {
    let rig = rig(ALWAYS, &wp("a", ""));
    let said = rig.sop_ends(0, &["apply", "--yes", "--json"]);
    let lines: Vec<serde_json::Value> =
        said.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let kinds: Vec<_> = lines.iter().map(|line| line["event"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["run_created", "run_approved"], "{}", said.out);
    assert!(said.err.contains("sop resume o-1"), "{}", said.err);
}

#[test]
fn another_clone_goes_on_with_a_copy_of_the_directory() {
    let rig = rig(ALWAYS, &(wp("a", "") + &wp("b", "needs = [\"a\"]")));
    rig.write("notes.txt", "mine\n");
    rig.apply(0);
    let made = rig.run_dir();
    // What was taken down of the checkout is all that is of this place.
    assert_eq!(holding(&made, rig.root().to_str().unwrap()), [made.join("baseline.json")]);
    let there = clone_of(&rig);
    copy(&made, &there.repo().join(".git/sop-run/o-1"));
    let gone_on = there.sop_ends(0, &["resume", "o-1"]);
    assert!(gone_on.out.contains("2 of 2 WPs through"), "{}", gone_on.out);
    assert!(!gone_on.out.contains("the run was made in"), "{}", gone_on.out);
    let summary = there.sop_ends(0, &["status", "--summary", "--json"]).out;
    let summary: serde_json::Value = serde_json::from_str(&summary).unwrap();
    let checkout = &summary["closing"]["checkout"];
    assert!(checkout["problem"].is_null() && checkout["after"].is_object(), "{checkout}");
    rig.sop_ends(0, &["resume", "o-1"]);
    assert_eq!(there.trees(), rig.trees());
    let begun = |rig: &Rig| rig.count(|event| matches!(event, Event::EngineStarted { .. }));
    assert_eq!((begun(&rig), begun(&there)), (1, 1));
}

#[test]
fn a_clone_without_the_base_is_told_so() {
    let rig = rig(ALWAYS, &wp("a", ""));
    rig.apply(0);
    let there = Rig::new(&plan(&wp("other", "")), &[("another.txt", "x")]);
    copy(&rig.run_dir(), &there.repo().join(".git/sop-run/o-1"));
    let said = there.sop_ends(5, &["resume", "o-1"]);
    assert!(said.err.contains("which this repository does not have: fetch it"), "{}", said.err);
    assert_eq!(there.ledger().engines, 0);
}

#[test]
fn what_a_person_did_before_it_went_on_is_not_told_of_the_run() {
    let rig = rig(ALWAYS, &wp("a", ""));
    rig.apply(0);
    rig.write("mine.txt", "written while nobody worked\n");
    let said = rig.sop_ends(0, &["resume"]);
    assert!(!said.out.contains("mine.txt"), "{}", said.out);
}
