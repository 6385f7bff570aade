//! A worker runs as the same user as its engine and can reach what the engine keeps. None of it is taken
//! silently: the engine stops, blocks the WP or refuses, and says what was touched.

use sop::ledger::Phase;

use crate::support::rig::Rig;
use crate::support::written::{plan, worker, wp};

/// A run of one WP whose worker does its work and then `mischief`; `$R` is the run directory.
fn after(mischief: &str) -> Rig {
    let script = format!(
        "done_well\nR=$(git rev-parse --path-format=absolute --git-common-dir)/sop-run/$SOP_RUN\n{mischief}"
    );
    Rig::new(&plan(&wp("a", "")), &[("worker.sh", worker(&script).as_str())])
}

#[test]
fn a_journal_that_somebody_else_touched_ends_the_engine_at_once() {
    for mischief in [
        ": > $R/journal.jsonl",
        "rm $R/journal.jsonl",
        "tail -n 1 $R/journal.jsonl >> $R/journal.jsonl",
        "cp $R/journal.jsonl $R/j && mv $R/j $R/journal.jsonl",
    ] {
        let rig = after(mischief);
        let said = rig.apply(5);
        let text = "was changed by somebody else";
        assert!(said.err.contains(text), "{mischief}: {}{}", said.out, said.err);
    }
}

#[test]
fn a_guard_that_was_written_anew_proves_nothing() {
    let rig = after("git config core.sshCommand evil; echo F > $R/guard/a-1.json");
    rig.touches(&[".git/config"], "the worker changes it");
    let said = rig.apply(5);
    assert!(said.out.contains("not as it was written"), "{}", said.out);
    assert_eq!(rig.wp("a").phase, Phase::Blocked);
}

#[test]
fn a_worktree_that_is_gone_is_not_made_again_as_if_nothing_had_been_there() {
    let rig = after("D=$PWD; cd /; rm -rf \"$D\"");
    let said = rig.apply(5);
    assert!(said.out.contains("its worktree is gone"), "{}", said.out);
    assert_eq!(rig.wp("a").phase, Phase::Blocked);
}

#[test]
fn a_worker_judges_nobody_in_a_persons_name() {
    let rig = after("\"$SOP\" cancel a > $MARKS/said 2>&1; echo $? > $MARKS/code");
    rig.sop_with(&[("SOP", env!("CARGO_BIN_EXE_sop"))], &["apply", "--yes"]);
    assert_eq!(rig.lines("code"), ["2"]);
    assert!(rig.lines("said").concat().contains("not a worker's"), "{:?}", rig.lines("said"));
    assert_eq!(rig.wp("a").phase, Phase::Passed);
}

#[test]
fn a_lock_that_a_killed_engine_left_on_a_branch_is_taken_away() {
    let rig = after(
        "G=$(git rev-parse --path-format=absolute --git-common-dir); : > $G/refs/heads/sop/$SOP_RUN/a.lock",
    );
    rig.apply(0);
    assert_eq!(rig.wp("a").phase, Phase::Passed);
}
