//! What was checked and what was committed is really in the repository, whatever somebody does to its objects:
//! a clean-up in the middle of a run takes nothing away, and what is gone all the same is told, never green.

use std::fs;
use std::path::PathBuf;

use sop::ledger::Phase;
use sop::model::outcome::Check;

use crate::support::rig::Rig;
use crate::support::written::{plan, with_head, worker, wp};

/// `lose ID`: takes the file of a loose object away, and keeps it in the marks.
const LOSE: &str = "G=$(git rev-parse --path-format=absolute --git-common-dir)\n\
    lose() { for id in $*; do r=${id#??}; d=${id%$r}; mkdir -p $MARKS/lost/$d\n\
    mv $G/objects/$d/$r $MARKS/lost/$d/; done; }\n";

fn rig(plan: &str, script: &str) -> Rig {
    let script = worker(&format!("{LOSE}done_well\n{script}"));
    Rig::new(plan, &[("worker.sh", script.as_str()), ("kept.txt", "kept\n")])
}

/// Puts back what was taken away.
fn put_back(rig: &Rig) {
    let (from, to) = (rig.mark("lost").join("."), rig.repo().join(".git/objects"));
    let copied = std::process::Command::new("cp").arg("-a").args([&from, &to]).status();
    assert!(copied.expect("cp").success());
}

fn checked_refs(rig: &Rig) -> Vec<String> {
    let refs = rig.git(&["for-each-ref", "--format=%(refname)", "refs/sop"]);
    refs.lines().map(str::to_owned).collect()
}

#[test]
fn a_worker_that_removes_the_objects_stops_the_run_and_is_not_green() {
    for mischief in ["rm -rf $G/objects/??", "rm -rf $G/objects/*", "rm -rf $G/objects"] {
        let rig = rig(&plan(&wp("a", "")), mischief);
        rig.apply(5);
        let a = rig.wp("a");
        assert_eq!(a.phase, Phase::Blocked, "{mischief}");
        let by = a.blocked_by.expect("what blocked it");
        assert_eq!(by.check, Check::Scope, "{mischief}: {by:?}");
    }
}

#[test]
fn what_the_base_lost_is_named_at_the_commit() {
    let rig = rig(&plan(&wp("a", "")), "lose $(git rev-parse HEAD)");
    let said = rig.apply(5);
    assert_ne!(rig.wp("a").phase, Phase::Passed, "{}", said.out);
    put_back(&rig);
    rig.sop_ends(0, &["resume"]);
    assert_eq!(rig.on("sop/o-1/a", "a.txt"), "good a\n");
}

#[test]
fn a_file_of_the_base_that_is_lost_is_named_and_the_run_is_not_over() {
    let staged = "[[stage]]\nname = \"one\"\n".to_owned() + &wp("a", "stage = \"one\"");
    for text in [plan(&wp("a", "")), plan(&staged)] {
        let rig = rig(&text, "lose $(git rev-parse HEAD:kept.txt)");
        let said = rig.apply(5);
        let all = format!("{}{}", said.out, said.err);
        let named = ["objects of the repository are gone", "kept.txt"];
        assert!(named.iter().any(|name| all.contains(name)), "{all}");
        assert_eq!(rig.ledger().outcome, None);
        rig.sop_ends(5, &["resume"]);
        put_back(&rig);
        rig.sop_ends(0, &["resume"]);
        assert_eq!(rig.lines("starts"), ["a/1"]);
    }
}

#[test]
fn a_file_of_the_base_that_is_overwritten_in_place_is_named_and_the_run_is_not_over() {
    let over = "o() { p=$(git rev-parse $1); echo $G/objects/${p%${p#??}}/${p#??}; }\n\
                cp -p $(o HEAD:kept.txt) $MARKS/kept; chmod +w $(o HEAD:kept.txt)\n";
    let staged = "[[stage]]\nname = \"one\"\n".to_owned() + &wp("a", "stage = \"one\"");
    for (text, trick) in [
        (plan(&wp("a", "")), "cat $(o HEAD:worker.sh) > $(o HEAD:kept.txt)"),
        (plan(&wp("a", "")), "echo junk > $(o HEAD:kept.txt)"),
        (
            plan(&staged),
            "cat $(o HEAD:worker.sh) > $(o HEAD:kept.txt); touch -d 2001-01-01 $(o HEAD:kept.txt)",
        ),
    ] {
        let rig = rig(&text, &format!("{over}{trick}"));
        let said = rig.apply(5);
        let all = format!("{}{}", said.out, said.err);
        assert!(all.contains("gone or overwritten") && all.contains("kept.txt"), "{trick}: {all}");
        assert_eq!(rig.ledger().outcome, None);
        rig.sop_ends(5, &["resume"]);
        let blob = rig.git(&["rev-parse", "HEAD:kept.txt"]);
        let (folder, name) = blob.trim().split_at(2);
        let file = rig.repo().join(".git/objects").join(folder).join(name);
        fs::remove_file(&file).expect("it can be removed");
        fs::copy(rig.mark("kept"), &file).expect("it is put back");
        rig.sop_ends(0, &["resume"]);
        assert_eq!(rig.lines("starts"), ["a/1"]);
    }
}

#[test]
fn so_is_a_pack() {
    let trick = "for p in $G/objects/pack/*.pack; do chmod +w $p; \
                 printf x | dd of=$p bs=1 seek=40 conv=notrunc 2>/dev/null; done";
    let rig = rig(&plan(&wp("a", "review = \"human\"")), "true");
    rig.apply(4);
    rig.git(&["gc", "--quiet", "--prune=now"]);
    let script = format!("G=.git; {trick}");
    let good = "cp -rp .git/objects ../kept";
    let sh = |line: &str| {
        let mut shell = std::process::Command::new("sh");
        assert!(shell.args(["-c", line]).current_dir(rig.repo()).status().expect("sh").success());
    };
    rig.sop_ends(0, &["review", "a", "--approve"]);
    sh(good);
    sh(&script);
    let said = rig.sop_ends(5, &["resume"]);
    assert_ne!(rig.ledger().outcome, Some(sop::event::Outcome::Done), "{}", said.out);
    sh("rm -rf .git/objects && cp -rp ../kept .git/objects");
    rig.sop_ends(0, &["resume"]);
}

#[test]
fn what_a_sibling_lost_is_named_too() {
    let text = with_head("max_parallel = 1", &[wp("a", ""), wp("b", "")].concat());
    // As long as its worktree is there, looking at it brings the file's object back.
    let script = "if [ $SOP_WP = b ]; then while [ -e ../a ]; do sleep 0.05; done\n\
        lose $(git rev-parse sop/o-1/a:a.txt); fi";
    let rig = rig(&text, script);
    let said = rig.apply(5);
    assert!(said.err.contains("objects of the repository are gone"), "{}{}", said.out, said.err);
    put_back(&rig);
    rig.sop_ends(0, &["resume"]);
}

#[test]
fn what_the_checked_tree_lost_is_named_by_its_path() {
    let rig = rig(&plan(&wp("a", "review = \"human\"")), "true");
    rig.apply(4);
    let tree = rig.wp("a").tree.expect("it was checked");
    let blob = rig.git(&["rev-parse", &format!("{tree}:a.txt")]);
    let (folder, name) = blob.trim().split_at(2);
    let file = rig.repo().join(".git/objects").join(folder).join(name);
    let bytes = fs::read(&file).expect("a loose object");
    fs::remove_file(&file).expect("it can be removed");
    rig.sop_ends(0, &["review", "a", "--approve"]);
    let said = rig.sop_ends(5, &["resume"]);
    assert!(said.out.contains("(a.txt)"), "{}", said.out);
    let a = rig.wp("a");
    assert_eq!(a.phase, Phase::Blocked);
    assert_eq!(a.blocked_by.map(|problem| problem.check), Some(Check::Scope));
    assert_eq!(checked_refs(&rig), ["refs/sop/checked/o-1/a"], "for when it goes on");
    fs::write(&file, bytes).expect("it is put back");
    rig.sop_ends(0, &["resume"]);
    assert_eq!(rig.on("sop/o-1/a", "a.txt"), "good a\n");
}

#[test]
fn a_checked_file_whose_object_holds_something_else_is_named() {
    let rig = rig(&plan(&wp("a", "review = \"human\"")), "true");
    rig.apply(4);
    let tree = rig.wp("a").tree.expect("it was checked");
    let object = |name: &str| {
        let id = rig.git(&["rev-parse", name]);
        let (folder, name) = id.trim().split_at(2);
        rig.repo().join(".git/objects").join(folder).join(name)
    };
    let file = object(&format!("{tree}:a.txt"));
    let bytes = fs::read(&file).expect("a loose object");
    fs::remove_file(&file).expect("it can be removed");
    fs::copy(object("HEAD:kept.txt"), &file).expect("it is overwritten");
    rig.sop_ends(0, &["review", "a", "--approve"]);
    let said = rig.sop_ends(5, &["resume"]);
    assert!(said.out.contains("(a.txt)"), "{}", said.out);
    assert_eq!(rig.wp("a").phase, Phase::Blocked);
    fs::remove_file(&file).expect("it can be removed");
    fs::write(&file, bytes).expect("it is put back");
    rig.sop_ends(0, &["resume"]);
    assert_eq!(rig.on("sop/o-1/a", "a.txt"), "good a\n");
}

#[test]
fn a_clean_up_while_a_review_is_awaited_takes_nothing_away() {
    let script = "mkdir -p in; echo new > in/new.txt";
    let text =
        plan(&wp("a", "review = \"human\"")).replace("[\"a.txt\"]", "[\"a.txt\", \"in/**\"]");
    let rig = rig(&text, script);
    rig.apply(4);
    let tree = rig.wp("a").tree.expect("it was checked");
    rig.git(&["gc", "--quiet", "--prune=now"]);
    rig.git(&["cat-file", "-e", &format!("{tree}:in/new.txt")]);
    assert_eq!(checked_refs(&rig), ["refs/sop/checked/o-1/a"]);
    rig.sop_ends(0, &["review", "a", "--approve"]);
    rig.sop_ends(0, &["resume"]);
    assert_eq!(rig.on("sop/o-1/a", "in/new.txt"), "new\n");
    assert_eq!(checked_refs(&rig), Vec::<String>::new());
}

#[test]
fn so_does_one_that_the_dod_makes() {
    let check = "[ -e a.txt ] && git gc --quiet --prune=now; grep -q good a.txt\n";
    let text = plan(&wp("a", "")).replace("grep -q good a.txt", "sh check.sh");
    let script = worker("done_well");
    let rig = Rig::new(&text, &[("worker.sh", &script), ("check.sh", check)]);
    let packs = [".git/logs", ".git/refs", ".git/packed-refs", ".git/info"];
    rig.touches(&packs, "a check has git clean up the repository");
    rig.apply(0);
    assert_eq!(rig.on("sop/o-1/a", "a.txt"), "good a\n");
    assert_eq!(checked_refs(&rig), Vec::<String>::new());
}

#[test]
fn no_kept_tree_is_left_of_what_did_not_get_through_and_nobody_is_blamed_for_one() {
    let text = with_head("rounds = 1", &[wp("a", ""), wp("b", ""), wp("c", "")].concat());
    let script = worker("if [ $SOP_WP = a ]; then echo bad > a.txt; else done_well; fi");
    let rig = Rig::new(&text, &[("worker.sh", &script)]);
    rig.apply(3);
    assert_eq!(rig.wp("a").phase, Phase::Escalated);
    for id in ["a", "b", "c"] {
        let wp = rig.wp(id);
        assert!(wp.notes.is_empty(), "{id}: {:?}", wp.notes);
    }
    assert_eq!(checked_refs(&rig), Vec::<String>::new());
    let left: Vec<PathBuf> = fs::read_dir(rig.repo().join(".git/refs"))
        .expect("the refs")
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.ends_with("sop"))
        .collect();
    assert_eq!(left, Vec::<PathBuf>::new(), "not even its folder");
}
