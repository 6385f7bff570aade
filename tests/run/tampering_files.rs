//! What lies where `sop` reads, and is no plain file: a FIFO that nobody writes to, a link to somewhere else, a
//! file without an end. None of it keeps an engine or a person's command waiting, and none is followed.

use sop::ledger::Phase;

use crate::support::rig::Rig;
use crate::support::written::{plan, worker, wp};

/// The run's directory, as a worker in its worktree finds it.
const RUN: &str = "R=$(git rev-parse --path-format=absolute --git-common-dir)/sop-run/$SOP_RUN";

/// What is put in the place of the file `F`.
const ODD: [&str; 3] = ["mkfifo $F", "ln -s /dev/zero $F", "truncate -s 3G $F"];

/// A run of one WP whose worker does its work and then `script`.
fn after(script: &str, more: &str, files: &[(&str, &str)]) -> Rig {
    let worker = worker(&format!("{RUN}\ndone_well\n{script}"));
    let all = [&[("worker.sh", worker.as_str())], files].concat();
    Rig::new(&plan(&wp("a", more)), &all)
}

#[test]
fn a_verdict_that_is_no_plain_file_is_none() {
    for odd in ODD {
        let review = format!("F=$SOP_VERDICT\n{odd}\n");
        let more = "review = { command = [\"sh\", \"review.sh\"] }";
        let rig = after("true", more, &[("review.sh", review.as_str())]);
        let said = rig.apply(5);
        assert!(said.out.contains("no verdict that can be read"), "{odd}: {}", said.out);
        assert_eq!(rig.wp("a").phase, Phase::Blocked, "{odd}");
    }
}

#[test]
fn a_verdict_is_not_read_through_a_link() {
    let approval = "{\"verdict\": \"approve\"}";
    let review = "ln -s $PWD/said.json $SOP_VERDICT\n";
    let more = "review = { command = [\"sh\", \"review.sh\"] }";
    let rig = after("true", more, &[("review.sh", review), ("said.json", approval)]);
    let said = rig.apply(5);
    assert!(said.out.contains("it is no plain file"), "{}", said.out);
}

#[test]
fn the_worktrees_link_is_not_waited_for() {
    let rig = after("rm .git; mkfifo .git", "", &[]);
    rig.sop(&["apply", "--yes"]);
    let problems = &rig.wp("a").rounds[0].problems;
    assert!(problems.iter().any(|p| p.message.contains("ties the worktree")), "{problems:?}");
}

#[test]
fn a_log_that_is_no_plain_file_is_told_and_not_waited_for() {
    for odd in &ODD[..2] {
        let rig = after(&format!("F=$R/logs/a-dod.1.1.1-1.log\n{odd}"), "", &[]);
        let said = rig.apply(5);
        assert!(said.out.contains("cannot write the log"), "{odd}: {}", said.out);
        let said = rig.sop_ends(5, &["logs", "a", "--step", "dod.1.1.1"]);
        assert!(said.err.contains("no plain file"), "{odd}: {}", said.err);
        // Its own log can be replaced while it is written; the tail of what failed is then none.
        let rig =
            after(&format!("F=$R/logs/a-work-1.log; rm $F\n{odd}; rm a.txt; exit 1"), "", &[]);
        rig.sop(&["apply", "--yes"]);
        assert_eq!(rig.wp("a").phase, Phase::Escalated, "{odd}");
    }
}

#[test]
fn an_engine_that_comes_back_waits_for_no_file_of_the_run() {
    for name in ["approval.json", "resolved.json", "classed.json", "journal.jsonl", "engine.lock"] {
        let rig = after("true", "review = \"human\"", &[]);
        rig.apply(4);
        let before = rig.records().len();
        let path = rig.run_dir().join(name);
        let kept = rig.root().join("kept");
        if path.exists() {
            std::fs::rename(&path, &kept).expect("it can be moved");
        }
        let made = std::process::Command::new("mkfifo").arg(&path).status();
        assert!(made.expect("mkfifo").success());
        let said = rig.sop(&["resume", "o-1"]);
        if kept.exists() {
            std::fs::rename(&kept, &path).expect("it can be moved back");
        }
        let code = match name {
            "resolved.json" | "classed.json" | "engine.lock" => 5,
            // Without a journal there is no run.
            "journal.jsonl" => 2,
            // What it can do without.
            _ => 4,
        };
        assert_eq!(said.code, code, "{name}: {}{}", said.out, said.err);
        assert!(rig.records().len() >= before, "{name}");
    }
}

#[test]
fn a_report_that_is_no_plain_file_is_no_report() {
    let scout = "\n[[wp]]\nid = \"a\"\nkind = \"scout\"\nbrief_text = \"Look.\"\n";
    for odd in &ODD[..2] {
        let script = worker(&format!("F=$SOP_REPORT\n{odd}"));
        let rig = Rig::new(&plan(scout), &[("worker.sh", script.as_str())]);
        rig.apply(3);
        assert_eq!(rig.wp("a").report, None, "{odd}");
    }
}
