//! What the lead does in a taken worktree, and what becomes of the worktree itself.

use std::process::Command;

use sop::ledger::Phase;

use super::{BAD, ENDLESS, put, take};
use crate::support::rig::Rig;
use crate::support::written::{plan, with_head, worker, wp};

fn git(rig: &Rig, folder: &std::path::Path, args: &[&str]) {
    let mut command = Command::new("git");
    command.current_dir(folder).args(args).env("HOME", rig.root()).env("GIT_CONFIG_NOSYSTEM", "1");
    command.env("GIT_CONFIG_GLOBAL", crate::support::git_repo::QUIET_GIT);
    for who in ["AUTHOR", "COMMITTER"] {
        command.env(format!("GIT_{who}_NAME"), "L").env(format!("GIT_{who}_EMAIL"), "l@localhost");
    }
    let said = command.output().expect("git");
    assert!(said.status.success(), "{args:?}: {}", String::from_utf8_lossy(&said.stderr));
}

/// What the lead makes in a worktree of `sop`'s is in the repository.
fn lead_works(rig: &Rig) {
    let made = ["heads/mine", "stash", "tags/mark"];
    let refs = made.map(|name| format!(".git/refs/{name}"));
    let logs = made.map(|name| format!(".git/logs/refs/{name}"));
    let all: Vec<&str> = refs.iter().chain(&logs).map(String::as_str).collect();
    rig.touches(&all, "the lead makes a branch, a stash and a tag");
}

/// The lead commits, stashes, makes a branch and a tag, as people do.
#[test]
fn no_worker_is_blamed_for_what_the_lead_does_there() {
    let rig = Rig::new(&plan(&(wp("a", "") + &wp("b", ""))), &[("worker.sh", &worker(ENDLESS))]);
    lead_works(&rig);
    let engine = rig.start(&["apply", "--yes"]);
    rig.until_lines("starts", 2);
    rig.until_wp("b", "passed", |wp| wp.phase == Phase::Passed);
    rig.sop_ends(0, &["cancel", "a"]);
    assert_eq!(engine.wait(), 3);
    rig.sop_ends(0, &["retry", "a"]);
    let engine = rig.start(&["resume"]);
    rig.until_lines("starts", 3);
    // `b` is through; the one at work is `a`, and the lead has another WP's tree: its own.
    let worktree = take(&rig, "a");
    assert_eq!(engine.wait(), 4, "{}", rig.engine_said());
    put(&worktree, "a.txt", "kept\n");
    git(&rig, &worktree, &["add", "a.txt"]);
    git(&rig, &worktree, &["stash"]);
    put(&worktree, "a.txt", "good by hand\n");
    git(&rig, &worktree, &["tag", "mark"]);
    git(&rig, &worktree, &["switch", "--quiet", "-c", "mine"]);
    git(&rig, &worktree, &["add", "a.txt"]);
    git(&rig, &worktree, &["commit", "--quiet", "-m", "by hand"]);
    rig.sop_ends(0, &["recheck", "a"]);
    let a = rig.wp("a");
    assert!(a.notes.iter().any(|note| note.contains("folded back")), "{:?}", a.notes);
    let parents = rig.git(&["rev-list", "--count", "main..sop/o-1/a"]);
    assert_eq!(parents.trim(), "1", "exactly the checked tree, on the base");
}

#[test]
fn the_next_worker_is_not_blamed_for_what_the_lead_committed() {
    let text = with_head("rounds = 1", &wp("a", "review = \"human\""));
    let rig = Rig::new(&text, &[("worker.sh", &worker("done_well"))]);
    rig.apply(4);
    let worktree = take(&rig, "a");
    put(&worktree, "a.txt", "good by hand\n");
    git(&rig, &worktree, &["commit", "--quiet", "-am", "by hand", "--allow-empty"]);
    git(&rig, &worktree, &["add", "--all"]);
    git(&rig, &worktree, &["commit", "--quiet", "-m", "by hand, too", "--allow-empty"]);
    rig.sop_ends(0, &["take", "a", "--back"]);
    rig.sop_ends(4, &["resume"]);
    let a = rig.wp("a");
    assert_eq!((a.phase, a.attempt), (Phase::AwaitingReview, 2), "{:?}", a.problems);
}

#[test]
fn a_stash_of_the_leads_is_no_finding_of_a_worker_beside_it() {
    let script = "[ $SOP_WP = b ] && until [ -e $MARKS/go ]; do sleep 0.02; done\n\
                  if [ $SOP_WP = b ]; then done_well; else echo bad > a.txt; fi";
    let text = with_head("rounds = 1", &(wp("a", "") + &wp("b", "")));
    let rig = Rig::new(&text, &[("worker.sh", &worker(script))]);
    lead_works(&rig);
    let engine = rig.start(&["apply", "--yes"]);
    rig.until_wp("a", "escalated", |wp| wp.phase == Phase::Escalated);
    let worktree = take(&rig, "a");
    git(&rig, &worktree, &["add", "--all"]);
    git(&rig, &worktree, &["stash"]);
    git(&rig, &worktree, &["switch", "--quiet", "-c", "mine"]);
    git(&rig, &worktree, &["tag", "mark"]);
    std::fs::write(rig.mark("go"), "").unwrap();
    assert_eq!(engine.wait(), 4, "{}", rig.engine_said());
    let b = rig.wp("b");
    assert_eq!(b.phase, Phase::Passed, "{:?}", b.rounds);
    assert!(b.notes.iter().any(|note| note.contains("refs/stash")), "it is named: {:?}", b.notes);
}

#[test]
fn a_worktree_that_is_gone_is_made_again_from_the_base() {
    let text = with_head("rounds = 1", &wp("a", ""))
        + "\n[provision]\nsetup = [\"touch ignored && echo ran >> $MARKS/setup\"]\nexpect = [\"ignored\"]\n";
    let rig = Rig::new(&text, &[("worker.sh", &worker(BAD)), (".gitignore", "ignored\n")]);
    rig.apply(3);
    let worktree = take(&rig, "a");
    rig.sop_ends(0, &["take", "a", "--back"]);
    std::fs::remove_dir_all(&worktree).expect("it goes");
    assert_eq!(take(&rig, "a"), worktree);
    assert!(!worktree.join("a.txt").exists(), "from the base");
    assert!(worktree.join("ignored").exists(), "as a worker would find it");
    put(&worktree, "a.txt", "good\n");
    rig.sop_ends(0, &["recheck", "a"]);
    rig.sop_ends(0, &["resume"]);
    assert_eq!(rig.on("sop/o-1/a", "a.txt"), "good\n");
}

#[test]
fn what_infrastructure_blocks_can_be_taken() {
    let rig = Rig::new(&plan(&wp("a", "")), &[("worker.sh", &worker("exit 127"))]);
    rig.apply(5);
    assert_eq!(rig.wp("a").phase, Phase::Blocked);
    let worktree = take(&rig, "a");
    put(&worktree, "a.txt", "good\n");
    rig.sop_ends(0, &["recheck", "a"]);
    rig.sop_ends(0, &["resume"]);
    // One that has no worktree yet gets one, if what was in the way is gone.
    let text = plan(&wp("a", ""))
        + "\n[provision]\nsetup = [\"test -e $MARKS/fine || mkdir $MARKS/once\"]\n";
    let rig = Rig::new(&text, &[("worker.sh", &worker("done_well"))]);
    rig.apply(5);
    let said = rig.sop_ends(5, &["take", "a"]);
    assert!(said.err.contains("setup failed") && said.err.contains("sop take a"), "{}", said.err);
    std::fs::write(rig.mark("fine"), "").unwrap();
    take(&rig, "a");
    assert_eq!(rig.lines("starts"), [""; 0]);
}
