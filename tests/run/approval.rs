//! A run is what was approved, and begins when that is on record.

use sop::event::{ApprovedBy, Event, Outcome};

use crate::support::rig::Rig;
use crate::support::written::{plan, with_head, worker, wp};

fn rig() -> Rig {
    Rig::new(&plan(&wp("a", "")), &[("worker.sh", &worker("done_well"))])
}

fn killed(rig: &Rig, record: u64) {
    let fault = format!("kill:{record}");
    assert_eq!(rig.sop_with(&[("SOP_FAULT", &fault)], &["apply", "--yes"]).code, 256);
}

#[test]
fn an_approval_that_was_given_counts_even_if_its_record_was_cut_off() {
    let rig = rig();
    killed(&rig, 1);
    assert!(!rig.ledger().approved);
    rig.sop_ends(0, &["resume"]);
    let approved = |event: &Event| matches!(event, Event::RunApproved { by: ApprovedBy::Flag, .. });
    assert_eq!(rig.count(approved), 1);
    assert_eq!(rig.ledger().outcome, Some(Outcome::Done));
}

#[test]
fn without_one_nothing_starts() {
    let rig = rig();
    killed(&rig, 1);
    let approval = rig.run_dir().join("approval.json");
    let text = std::fs::read_to_string(&approval).unwrap();
    let sha = rig.ledger().plan_sha256;
    std::fs::write(&approval, text.replace(&sha, &sha.replace(&sha[..4], "0000"))).unwrap();
    for _ in 0..2 {
        let said = rig.sop_ends(5, &["resume"]);
        assert!(said.err.contains("never approved"), "{}", said.err);
        let _ = std::fs::remove_file(&approval);
    }
    assert_eq!(rig.records().len(), 1);
}

#[test]
fn a_plan_that_was_changed_since_is_refused() {
    let rig = rig();
    killed(&rig, 5);
    let frozen = rig.run_dir().join("resolved.json");
    let text = std::fs::read_to_string(&frozen).unwrap();
    std::fs::write(&frozen, text.replace("a.txt", "b.txt")).unwrap();
    let said = rig.sop_ends(5, &["resume"]);
    assert!(said.err.contains("is not the plan that was approved"), "{}", said.err);
}

#[test]
fn a_run_that_was_killed_before_its_first_record_is_none() {
    let rig = rig();
    killed(&rig, 1);
    let journal = rig.run_dir().join("journal.jsonl");
    let line = std::fs::read(&journal).unwrap();
    for torn in [&line[..0], &line[..line.len() / 2]] {
        std::fs::write(&journal, torn).unwrap();
        let said = rig.sop_ends(2, &["resume"]);
        assert!(said.err.contains("no run yet"), "{}", said.err);
    }
    let said = rig.apply(0);
    assert!(said.out.contains("sop/o-2/a"), "{}", said.out);
    rig.sop_ends(0, &["status"]);
}

#[test]
fn who_may_not_be_asked_waits() {
    let rig = rig();
    let said = rig.sop_ends(4, &["apply"]);
    assert!(said.err.contains("not approved"), "{}", said.err);
    let waits_for = "running each check once on the base: 1 of 1: grep -q good a.txt";
    assert!(said.err.contains(waits_for), "{}", said.err);
    assert!(!rig.repo().join(".git/sop-run/o-1").exists());
    let rig = Rig::new(
        &with_head("approval = \"auto\"", &wp("a", "")),
        &[("worker.sh", &worker("done_well"))],
    );
    rig.sop_ends(0, &["apply"]);
    let approved = |event: &Event| matches!(event, Event::RunApproved { by: ApprovedBy::Plan, .. });
    assert_eq!(rig.count(approved), 1);
}

#[test]
fn who_said_that_nobody_is_asked_is_on_record() {
    let auto = "[defaults]\napproval = \"auto\"\n";
    for by in [ApprovedBy::UserConfig, ApprovedBy::RepositoryConfig, ApprovedBy::Environment] {
        let rig = rig();
        let mut env = Vec::new();
        match by {
            ApprovedBy::UserConfig => rig.write("../home/.config/sop/config.toml", auto),
            ApprovedBy::RepositoryConfig => rig.write(".sop/config.toml", auto),
            _ => env.push(("SOP_APPROVAL", "auto")),
        }
        let said = rig.sop_with(&env, &["apply"]);
        assert_eq!(said.code, 0, "{by:?}: {}{}", said.out, said.err);
        let so = |event: &Event| matches!(event, Event::RunApproved { by: was, .. } if *was == by);
        assert_eq!(rig.count(so), 1, "{by:?}");
    }
}
