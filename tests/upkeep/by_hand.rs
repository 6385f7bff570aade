//! The verbs as they are typed: a run that failed in part, cleared away, put away, and what other verbs know of it.

use std::fs;

use serde_json::Value;

use crate::support::rig::{Rig, until};
use crate::support::scratch::Said;

/// `a` gets through, `b` does not, and leaves work; a file is brought along.
const PLAN: &str = r#"
version = 1
[plan]
name = "p"
goal = "Two things."
base = "main"
[provision]
copy = [".env"]
[tiers.standard]
worker = "script"
[workers.script]
command = ["sh", "-c", "echo $SOP_WP > $SOP_WP.txt"]
[[wp]]
id = "a"
whitelist = ["a.txt"]
dod = ["test -f a.txt"]
brief_text = "Make a."
[[wp]]
id = "b"
whitelist = ["b.txt"]
dod = ["false"]
rounds = 1
brief_text = "Make b."
"#;

fn rig() -> Rig {
    let rig = Rig::new(PLAN, &[(".gitignore", "*.log\n"), (".sop/config.toml", "")]);
    rig.write(".env", "SECRET=1\n");
    rig
}

fn json(said: &Said) -> Value {
    serde_json::from_str(&said.out).unwrap_or_else(|error| panic!("{error}: {}", said.out))
}

#[test]
fn what_a_run_left_is_named_shown_and_cleared_away() {
    let rig = rig();
    let said = rig.apply(3);
    assert!(said.out.contains("not cleared away: b (sop run clean p-1)"), "{}", said.out);
    assert!(said.out.contains("sop run clean p-1  "), "it is among what to type: {}", said.out);
    let before = rig.users();
    // It failed and could be tried again: by itself `gc` leaves it.
    let gc = json(&rig.sop_ends(0, &["worktree", "gc", "--json"]));
    let classes: Vec<_> =
        gc.as_array().expect("a list").iter().map(|it| it["class"].as_str()).collect();
    assert!(!classes.contains(&Some("salvage")), "{gc}");
    let shown = rig.sop_ends(0, &["run", "clean", "p-1"]).out;
    assert!(shown.contains("salvage") && shown.contains("untracked: b.txt"), "{shown}");
    assert!(
        shown.contains("hold") && shown.contains("sop/p-1/a") && shown.contains("it is not merged"),
        "{shown}"
    );
    assert!(shown.contains("sop run clean p-1 --apply"), "{shown}");
    let done = json(&rig.sop_ends(0, &["run", "clean", "p-1", "--apply", "--json"]));
    let b = done
        .as_array()
        .expect("a list")
        .iter()
        .find(|it| it["name"] == "p-1/b")
        .expect("b")
        .clone();
    let salvage = b["done"]["salvage"].as_str().expect("a ref").to_owned();
    assert_eq!(rig.git(&["show", &format!("{salvage}^3:b.txt")]), "b\n");
    let held = rig.git(&["ls-tree", "-r", "--name-only", &format!("{salvage}^3")]);
    assert_eq!(held, "b.txt\n", "what was brought along is in no commit");
    assert_eq!(
        rig.git(&["for-each-ref", "--format=%(refname:short)", "refs/heads/sop"]),
        "sop/p-1/a\n"
    );
    assert_eq!(rig.worktrees(), Vec::<std::path::PathBuf>::new());
    let shown = rig.sop_ends(0, &["run", "show", "p-1"]).out;
    assert!(!shown.contains("not cleared away") && !shown.contains("\nworktree "), "{shown}");
    let mut after = rig.users();
    after.retain(|path, _| !path.to_string_lossy().contains("refs/sop"));
    let mut before = before;
    before.retain(|path, _| !path.to_string_lossy().contains("refs/sop"));
    assert_eq!(before, after, "all that is the user's");
    // Once it is merged, the rest may go.
    rig.git(&["merge", "--quiet", "sop/p-1/a"]);
    let shown = rig.sop_ends(0, &["run", "clean", "p-1", "--apply"]).out;
    assert!(shown.contains("removed") && shown.contains("merged into main"), "{shown}");
    assert!(rig.sop_ends(0, &["run", "clean", "p-1"]).out.contains("Nothing is left"));
}

#[test]
fn an_archived_run_is_listed_counted_and_its_name_not_given_again() {
    let rig = rig();
    rig.apply(3);
    let stats = rig.sop_ends(0, &["stats", "--json"]).out;
    let said = rig.sop_ends(0, &["run", "archive", "p-1"]).out;
    assert!(said.contains("p-1/b is archived in refs/sop/salvage/p-1/b/"), "{said}");
    assert!(rig.repo().join(".git/sop-run/.archive/p-1/journal.jsonl").exists());
    assert_eq!(rig.sop_ends(0, &["stats", "--json"]).out, stats);
    let list = json(&rig.sop_ends(0, &["run", "list", "--json"]));
    assert_eq!(
        (list[0]["run"].as_str(), list[0]["state"].as_str()),
        (Some("p-1"), Some("archived"))
    );
    assert!(rig.sop_ends(0, &["run", "show", "p-1"]).out.contains("Two things."));
    assert!(rig.sop_ends(2, &["resume", "p-1"]).err.contains("no run"));
    rig.sop_ends(0, &["run", "archive", "p-1"]);
    assert!(rig.apply(3).out.contains("p-2"));
    // Its branch that nobody merged stays, the other one holds nothing.
    let left = rig.sop_ends(0, &["run", "clean", "p-1", "--apply"]).out;
    assert!(left.contains("removed") && left.contains("sop/p-1/b"), "{left}");
    assert_eq!(
        rig.git(&["branch", "--list", "sop/p-1/*", "--format=%(refname:short)"]),
        "sop/p-1/a\n"
    );
}

/// Somebody keeps the run directories on another disk.
#[test]
fn a_run_whose_directory_is_a_link_is_archived_as_well() {
    let rig = rig();
    rig.apply(3);
    let runs = rig.repo().join(".git/sop-run");
    let elsewhere = rig.repo().parent().expect("a folder").join("elsewhere");
    fs::rename(runs.join("p-1"), &elsewhere).expect("moved");
    std::os::unix::fs::symlink("../../../elsewhere", runs.join("p-1")).expect("a link");
    rig.sop_ends(0, &["run", "archive", "p-1"]);
    let list = json(&rig.sop_ends(0, &["run", "list", "--json"]));
    assert_eq!(list[0]["state"], "archived", "{list}");
    assert!(elsewhere.join("journal.jsonl").exists() && !runs.join("p-1").exists());
}

#[test]
fn a_run_that_can_be_gone_on_with_is_left_alone() {
    let plan = PLAN
        .replace("id = \"b\"", "id = \"b\"\nreview = \"human\"")
        .replace("\"false\"", "\"true\"");
    let rig = Rig::new(&plan, &[(".gitignore", "*.log\n")]);
    rig.write(".env", "SECRET=1\n");
    rig.apply(4);
    let list = json(&rig.sop_ends(0, &["run", "list", "--json"]));
    assert_eq!(list[0]["state"], "open");
    let shown = rig.sop_ends(0, &["run", "clean", "p-1", "--apply"]).out;
    assert!(!shown.contains("removed") && shown.contains("sop resume p-1"), "{shown}");
    assert!(rig.sop_ends(3, &["run", "archive", "p-1"]).err.contains("is not over"));
    for verb in ["rm", "archive"] {
        let said = rig.sop_ends(3, &["worktree", verb, "p-1/b"]);
        assert!(said.err.contains("can be gone on with"), "{}", said.err);
    }
    assert!(rig.sop_ends(3, &["migrate-to-bare"]).err.contains("the run `p-1` is not over"));
    rig.sop_ends(0, &["run", "archive", "p-1", "--unfinished"]);
    assert_eq!(rig.worktrees(), Vec::<std::path::PathBuf>::new());
}

#[test]
fn a_worktree_of_the_leads_own_from_beginning_to_end() {
    let rig = rig();
    rig.write(
        ".sop/config.toml",
        "[provision]\ncopy = [\".env\"]\nsetup = [\"echo set > up.log\"]\n",
    );
    let before = rig.users();
    let path = rig.sop_ends(0, &["worktree", "new", "mine", "--base", "main"]).out;
    let folder = std::path::PathBuf::from(path.trim_end());
    assert!(!folder.starts_with(rig.repo()));
    assert_eq!(rig.sop_ends(0, &["worktree", "path", "mine"]).out, path);
    assert_eq!(fs::read_to_string(folder.join(".env")).expect("brought"), "SECRET=1\n");
    assert_eq!(fs::read_to_string(folder.join("up.log")).expect("set up"), "set\n");
    let list = json(&rig.sop_ends(0, &["worktree", "list", "--json"]));
    let mine = list
        .as_array()
        .expect("a list")
        .iter()
        .find(|it| it["name"] == "mine")
        .expect("it")
        .clone();
    assert_eq!(
        (mine["whose"]["kind"].as_str(), mine["states"][0]["kind"].as_str()),
        (Some("lead"), Some("clean"))
    );
    assert!(rig.sop_ends(2, &["worktree", "new", "mine"]).err.contains("is taken"));
    for name in ["../out", "", "-x", "a/b"] {
        assert_eq!(rig.sop(&["worktree", "new", "--", name]).code, 2, "{name}");
    }
    fs::write(folder.join("new.txt"), "x").expect("a file");
    let said = rig.sop_ends(3, &["worktree", "rm", "mine"]);
    assert!(
        said.err.contains("new.txt") && said.err.contains("sop worktree archive mine"),
        "{}",
        said.err
    );
    assert!(rig.sop_ends(3, &["worktree", "rm", "main"]).err.contains("the main checkout"));
    assert_eq!(rig.sop(&["worktree", "rm", "nobody"]).code, 2);
    assert_eq!(
        rig.sop_with(&[("SOP_RUN", "p-1")], &["worktree", "rm", "mine", "--discard-untracked"])
            .code,
        2
    );
    assert_eq!(
        before,
        rig.users_but(&["refs/heads/mine", "logs/refs/heads/mine"]),
        "all that is the user's"
    );
    let gone = json(&rig.sop_ends(0, &["worktree", "rm", "mine", "--discard-untracked", "--json"]));
    assert_eq!(gone["branch"], "mine");
    assert!(!folder.exists());
    assert_eq!(before, rig.users_but(&[]), "all that is the user's");
}

#[test]
fn a_lead_who_works_beside_a_run_is_blamed_on_nobody() {
    let plan = PLAN
        .replace(
            "echo $SOP_WP > $SOP_WP.txt",
            "touch $MARKS/up; until test -e $MARKS/go; do sleep 0.02; done; echo x > $SOP_WP.txt",
        )
        .replace("\"false\"", "\"true\"");
    let rig = Rig::new(&plan, &[(".gitignore", "*.log\n")]);
    rig.write(".env", "SECRET=1\n");
    let mine = [".git/refs/heads/mine", ".git/logs/refs/heads/mine"];
    rig.touches(&mine, "the lead has a worktree and a branch made");
    let engine = rig.start(&["apply", "--yes"]);
    until(|| if rig.mark("up").exists() { Ok(()) } else { Err("no worker is up".to_owned()) });
    let path = rig.sop_ends(0, &["worktree", "new", "mine", "--bare"]).out;
    let folder = path.trim_end();
    fs::write(format!("{folder}/mine.txt"), "x").expect("a file");
    rig.git(&["-C", folder, "add", "--all"]);
    rig.git(&["-C", folder, "commit", "--quiet", "-m", "mine"]);
    rig.git(&["merge", "--quiet", "mine"]);
    let list = json(&rig.sop_ends(0, &["run", "list", "--json"]));
    assert_eq!(list[0]["state"], "at_work");
    let gone = json(&rig.sop_ends(0, &["worktree", "rm", "mine", "--json"]));
    assert_eq!(gone["branch"], "mine");
    fs::write(rig.mark("go"), "").expect("a mark");
    assert_eq!(engine.wait(), 0, "{}", rig.engine_said());
}
