//! What the lead may not do, and what is refused with what to do instead.

use sop::ledger::Phase;

use super::{BAD, Users, put, take};
use crate::support::rig::Rig;
use crate::support::written::{plan, with_head, worker, wp};

/// Somebody else than the one who committed.
fn as_bert(rig: &Rig, args: &[&str]) -> crate::support::scratch::Said {
    let config = rig.root().join("bert");
    std::fs::write(&config, "[user]\n\tname = Bert\n\temail = b@localhost\n").expect("a file");
    rig.sop_with(&[("GIT_CONFIG_GLOBAL", config.to_str().expect("a path"))], args)
}

#[test]
fn more_files_than_the_plan_allows_are_named_and_not_committed() {
    let wide = "\n[[wp]]\nid = \"a\"\nwhitelist = [\"*.txt\"]\ndod = [\"grep -q good a.txt\"]\n\
                brief_text = \"Make it good.\"\n";
    let text = with_head("rounds = 1", wide);
    let script = worker("if [ $SOP_ROUND = 1 ]; then echo bad > a.txt; else done_well; fi");
    let rig = Rig::new(&text, &[("worker.sh", &script)]);
    let users = Users::of(&rig);
    rig.apply(3);
    let worktree = take(&rig, "a");
    put(&worktree, "a.txt", "good\n");
    put(&worktree, "b\u{1b}.txt", "two\n");
    let said = rig.sop_ends(3, &["recheck", "a", "--to-worker"]);
    assert!(
        said.out.contains("are 2 files that the lead changed") && said.out.contains("allows one"),
        "{}",
        said.out
    );
    assert!(said.out.contains("a.txt, b\\x1b.txt"), "{}", said.out);
    assert!(said.out.contains("sop take a --back --run o-1"), "{}", said.out);
    assert_eq!(rig.wp("a").phase, Phase::Taken, "too much is no worker's to mend");
    assert_eq!(rig.count(|it| matches!(it, sop::event::Event::DodRan { .. })), 1);
    // Fewer, and it passes.
    std::fs::remove_file(worktree.join("b\u{1b}.txt")).unwrap();
    rig.sop_ends(0, &["recheck", "a"]);
    users.are_as_they_were(&rig);
}

#[test]
fn what_is_handed_to_a_worker_is_bounded_anew() {
    let wide = "\n[[wp]]\nid = \"a\"\nwhitelist = [\"*.txt\"]\ndod = [\"grep -q good a.txt\"]\n\
                brief_text = \"Make it good.\"\nreview = \"human\"\n";
    let rig = Rig::new(&plan(wide), &[("worker.sh", &worker("done_well"))]);
    rig.apply(4);
    let worktree = take(&rig, "a");
    put(&worktree, "b.txt", "b\n");
    put(&worktree, "c.txt", "c\n");
    rig.sop_ends(0, &["take", "a", "--back"]);
    // No worker has come since: what was changed then counts.
    take(&rig, "a");
    rig.sop_ends(3, &["recheck", "a"]);
    rig.sop_ends(0, &["take", "a", "--back"]);
    rig.sop_ends(4, &["resume"]);
    take(&rig, "a");
    put(&worktree, "d.txt", "d\n");
    let said = rig.sop_ends(4, &["recheck", "a"]);
    assert!(said.out.contains("b.txt, c.txt, d.txt"), "all are named: {}", said.out);
}

#[test]
fn a_plan_can_allow_none_or_more() {
    for (most, code) in [(0, 3), (2, 0)] {
        let text = with_head(&format!("rounds = 1\nlead_may_fix = {most}"), &wp("a", ""));
        let rig = Rig::new(&text, &[("worker.sh", &worker(BAD))]);
        rig.apply(3);
        let worktree = take(&rig, "a");
        put(&worktree, "a.txt", "good\n");
        rig.sop_ends(code, &["recheck", "a"]);
    }
    let rig = Rig::new(&with_head("lead_may_fix = -1", &wp("a", "")), &[]);
    let said = rig.sop_ends(1, &["validate"]);
    assert!(said.out.contains("lead_may_fix") || said.err.contains("lead_may_fix"), "{}", said.err);
}

#[test]
fn the_whitelist_counts_for_the_lead_too() {
    let text = with_head("rounds = 1", &wp("a", ""));
    let rig = Rig::new(&text, &[("worker.sh", &worker(BAD))]);
    rig.apply(3);
    let worktree = take(&rig, "a");
    put(&worktree, "worker.sh", "x\n");
    let said = rig.sop_ends(3, &["recheck", "a"]);
    assert!(
        said.out.contains("worker.sh was changed and is outside the whitelist"),
        "{}",
        said.out
    );
}

#[test]
fn what_cannot_be_taken_is_refused_with_what_to_do() {
    let text = with_head(
        "rounds = 1",
        &(wp("a", "")
            + &wp("b", "")
            + &wp("c", "needs = [\"b\"]")
            + "\n[[wp]]\nid = \"s\"\nkind = \"scout\"\nbrief_text = \"Look.\"\n"),
    );
    let script =
        worker("case $SOP_WP in a) done_well ;; s) echo seen ;; *) echo bad > $SOP_WP.txt ;; esac");
    let rig = Rig::new(&text, &[("worker.sh", &script)]);
    rig.apply(3);
    for (args, why) in [
        (&["take", "s"][..], "a scout only reads"),
        (&["take", "a"], "change it in a plan of its own"),
        (&["take", "c"], "what it builds on is not there yet"),
        (&["take", "z"], "has no WP `z`"),
        (&["recheck", "b"], "what you have taken (`sop take`)"),
        (&["take", "b", "--back"], "what you have taken (`sop take`)"),
    ] {
        let said = rig.sop_ends(2, args);
        assert!(said.err.contains(why), "{args:?}: {}", said.err);
    }
    let before = rig.records();
    for args in [&["take", "b"][..], &["take", "b", "--back"], &["recheck", "b"]] {
        let said = rig.sop_with(&[("SOP_RUN", "o-1"), ("SOP_WP", "b")], args);
        assert_eq!(said.code, 2);
        assert!(said.err.contains("are not a worker's"), "{args:?}: {}", said.err);
    }
    assert_eq!(rig.records(), before, "nothing was recorded");
}

#[test]
fn what_somebody_has_nobody_else_takes() {
    let text = with_head("rounds = 1", &wp("a", ""));
    let rig = Rig::new(&text, &[("worker.sh", &worker(BAD))]);
    rig.apply(3);
    let worktree = take(&rig, "a");
    for args in [&["take", "a"][..], &["recheck", "a"], &["take", "a", "--back"]] {
        let said = as_bert(&rig, args);
        assert_eq!(said.code, 2, "{}", said.out);
        assert!(said.err.contains("`a` was taken by sop"), "{args:?}: {}", said.err);
    }
    // Whoever has it is told again where it is.
    let records = rig.records().len();
    assert_eq!(take(&rig, "a"), worktree);
    assert_eq!(rig.records().len(), records);
    let said = rig.sop_ends(2, &["retry", "a"]);
    assert!(said.err.contains("`a` is taken"), "{}", said.err);
    rig.sop_ends(0, &["take", "a", "--back"]);
    assert_eq!(as_bert(&rig, &["take", "a"]).code, 0);
    assert_eq!(rig.wp("a").hands.expect("it is taken").by, "Bert");
    // Given up, it is nobody's.
    rig.sop_ends(0, &["cancel", "a"]);
    rig.sop_ends(3, &["resume"]);
    assert!(!rig.wp("a").is_with_lead());
}
