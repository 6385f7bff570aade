//! A package whose worktree was cleared away, archived, removed or put back by hand, tried again.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;
use sop::ledger::Phase;

use crate::support::git_repo::sh;
use crate::support::rig::Rig;

/// `a` leaves work that does not pass, until the mark `good` is there.
const PLAN: &str = r#"
version = 1
[plan]
name = "p"
goal = "One thing."
base = "main"
[tiers.standard]
worker = "script"
[workers.script]
command = ["sh", "-c", "ls > $MARKS/saw; echo more >> a.txt"]
[[wp]]
id = "a"
whitelist = ["*.txt"]
dod = ["test -e $MARKS/good"]
rounds = 1
brief_text = "Make a."
"#;

/// A run that is over and left `a` escalated, with a file that nobody committed.
fn failed() -> (Rig, PathBuf) {
    let rig = Rig::new(PLAN, &[]);
    rig.apply(3);
    let worktree = PathBuf::from(rig.wp("a").worktree.expect("it stays"));
    fs::write(worktree.join("mine.txt"), "mine\n").expect("a file");
    (rig, worktree)
}

fn cleared(rig: &Rig, verb: &[&str]) -> Value {
    let said = rig.sop_ends(0, verb).out;
    serde_json::from_str(&said).unwrap_or_else(|error| panic!("{error}: {said}"))
}

/// What the last worker found.
fn saw(rig: &Rig) -> String {
    rig.lines("saw").join(" ")
}

fn passes(rig: &Rig) {
    fs::write(rig.mark("good"), "").expect("a mark");
    rig.sop_ends(0, &["retry", "a"]);
    rig.sop_ends(0, &["resume"]);
    assert_eq!(rig.wp("a").phase, Phase::Passed);
}

#[test]
fn what_clean_prints_brings_back_what_it_took_with_its_branch() {
    let (rig, worktree) = failed();
    let done = cleared(&rig, &["run", "clean", "p-1", "--apply", "--json"]);
    let of = |kind: &str| {
        let all = done.as_array().expect("a list");
        all.iter().find(|it| it["kind"] == kind).unwrap_or_else(|| panic!("{done}")).clone()
    };
    assert_eq!(of("branch")["done"]["what"], "removed");
    assert!(!worktree.exists());
    let restore = of("worktree")["done"]["restore"].as_str().expect("a command").to_owned();
    sh(&rig.repo(), &restore);
    assert_eq!(fs::read_to_string(worktree.join("mine.txt")).expect("back"), "mine\n");
    // Put back at its place, it is taken for what it is: the round goes on in it, on its branch.
    passes(&rig);
    let wp = rig.wp("a");
    assert_eq!((wp.begun, saw(&rig).contains("mine.txt")), (1, true), "{}", saw(&rig));
    assert_eq!(rig.git(&["show", "sop/p-1/a:mine.txt"]), "mine\n");
}

#[test]
fn for_people_the_command_is_told_apart() {
    let (rig, _) = failed();
    let said = rig.sop_ends(0, &["run", "clean", "p-1", "--apply"]).out;
    let mut lines = said.lines().skip_while(|line| line.trim() != "to bring it back:").skip(1);
    let command = lines.next().unwrap_or_else(|| panic!("no command in {said}")).trim();
    sh(&rig.repo(), command);
}

#[test]
fn one_whose_worktree_was_cleared_away_begins_anew() {
    for verb in [
        &["run", "clean", "p-1", "--apply", "--json"][..],
        &["worktree", "archive", "p-1/a", "--json"],
    ] {
        let (rig, worktree) = failed();
        cleared(&rig, verb);
        assert!(!worktree.exists(), "{verb:?}");
        passes(&rig);
        assert_eq!((rig.wp("a").begun, saw(&rig).contains("mine.txt")), (2, false), "{verb:?}");
        assert!(!rig.git(&["for-each-ref", "refs/sop/salvage/p-1/a"]).is_empty(), "{verb:?}");
    }
}

#[test]
fn what_only_its_branch_or_its_registration_held_is_kept_when_it_begins_anew() {
    let (rig, worktree) = failed();
    sh(
        &worktree,
        "git add mine.txt; git commit -q -m mine; echo staged > staged.txt; git add staged.txt",
    );
    let mine = rig.git(&["rev-parse", "sop/p-1/a"]);
    fs::remove_dir_all(&worktree).expect("it goes");
    passes(&rig);
    assert_eq!(rig.wp("a").begun, 2);
    let kept = rig.git(&[
        "for-each-ref",
        "--format=%(refname)",
        "refs/sop/salvage/p-1/a",
        "--contains",
        mine.trim(),
    ]);
    let kept = kept.lines().next().expect("its commit is kept");
    assert_eq!(rig.git(&["show", &format!("{kept}^2:staged.txt")]), "staged\n", "and its index");
    // The branch is that of the new one.
    assert!(!rig.git(&["log", "--format=%s", "sop/p-1/a"]).contains("mine"));
}

/// What `resume` says of a package that infrastructure blocked because its worktree is gone.
#[test]
fn whoever_resumes_without_it_is_told_where_it_is_kept_and_what_to_do() {
    let script = "touch $MARKS/up; until test -e $MARKS/go; do sleep 0.02; done";
    let rig =
        Rig::new(&PLAN.replace("ls > $MARKS/saw;", &format!("ls > $MARKS/saw; {script};")), &[]);
    let other = [".git/refs/heads/other", ".git/logs/refs/heads/other"];
    rig.touches(&other, "somebody makes a branch for a worktree of their own");
    let engine = rig.start(&["apply", "--yes"]);
    crate::support::rig::until(|| match rig.mark("up").exists() {
        true => Ok(()),
        false => Err("no worker is up".to_owned()),
    });
    let worktree = PathBuf::from(rig.wp("a").worktree.expect("it has one"));
    fs::write(rig.mark("go"), "").expect("a mark");
    fs::rename(&worktree, worktree.with_file_name("elsewhere")).expect("moved");
    assert_eq!(engine.wait(), 5, "{}", rig.engine_said());
    let said = rig.sop_ends(5, &["resume"]).out;
    assert!(said.contains("its worktree is gone") && said.contains("sop retry a"), "{said}");
    let base = rig.git(&["rev-parse", "main"]);
    rig.git(&["update-ref", "refs/sop/salvage/p-1/a/20990101T000000Z", base.trim()]);
    let said = rig.sop_ends(5, &["resume"]).out.replace('\n', " ");
    let words: Vec<&str> = said.split_whitespace().collect();
    let said = words.join(" ");
    assert!(said.contains("refs/sop/salvage/p-1/a/20990101T000000Z"), "{said}");
    // A stranger in its place is named, and not taken for it.
    sh(
        &rig.repo(),
        &format!("git worktree prune; git worktree add -q -b other '{}'", worktree.display()),
    );
    let said = rig.sop_ends(5, &["resume"]).out;
    assert!(said.contains("it is not its worktree"), "{said}");
    rig.git(&["worktree", "remove", worktree.to_str().expect("text")]);
    passes(&rig);
    assert_eq!(rig.wp("a").begun, 2);
    assert!(Path::new(&worktree.with_file_name("elsewhere")).exists(), "what was moved away stays");
}
