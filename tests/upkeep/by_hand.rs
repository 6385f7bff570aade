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
    assert!(!shown.contains("not cleared away") && !shown.contains("    worktree "), "{shown}");
    assert!(shown.contains("cleaned    1 worktree (a); gone since the run: b\n"), "{shown}");
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
    // It can be looked at, and nobody is sent to a verb that does not know it.
    for verb in [&["run", "show", "p-1"][..], &["status", "p-1"]] {
        let shown = rig.sop_ends(0, verb).out;
        assert!(shown.contains("Two things.") && shown.contains("it is in the archive"), "{shown}");
        for gone in ["sop resume", "sop retry", "sop take", "sop status"] {
            assert!(!shown.contains(gone), "{shown}");
        }
        assert!(shown.contains("git merge sop/p-1/a"), "{shown}");
    }
    for verb in [&["resume", "p-1"][..], &["audit", "--resume", "p-1"], &["wait", "--run", "p-1"]] {
        let said = rig.sop_ends(2, verb).err;
        assert!(
            said.contains("there is no run `p-1` to go on with: it is in the archive"),
            "{said}"
        );
    }
    let said = rig.sop_ends(2, &["status"]).err;
    assert!(said.contains("every run of this repository is in the archive"), "{said}");
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

#[test]
fn a_run_is_gone_on_with_under_the_verb_for_runs_too() {
    let plan = PLAN.replace("rounds = 1", "review = \"human\"").replace("\"false\"", "\"true\"");
    let rig = Rig::new(&plan, &[(".gitignore", "*.log\n")]);
    rig.write(".env", "SECRET=1\n");
    rig.apply(4);
    assert!(rig.sop_ends(2, &["run", "resume", "p-9"]).err.contains("no run `p-9`"));
    rig.sop_ends(0, &["review", "b", "--approve"]);
    rig.sop_ends(0, &["run", "resume", "p-1"]);
    let list = json(&rig.sop_ends(0, &["run", "list", "--json"]));
    assert_eq!((list[0]["state"].as_str(), list[0]["through"].as_u64()), (Some("done"), Some(2)));
}

#[test]
fn sync_fetches_first_where_that_is_asked_for() {
    let rig = rig();
    rig.touches(&[".git", "theirs.txt"], "the checkout is brought forward");
    let root = rig.root().to_owned();
    rig.git(&["clone", "--quiet", "--bare", ".", "../up.git"]);
    rig.git(&["remote", "add", "origin", "../up.git"]);
    rig.git(&["fetch", "--quiet", "origin"]);
    rig.git(&["branch", "--quiet", "--set-upstream-to", "origin/main"]);
    rig.git(&["clone", "--quiet", "../up.git", "../theirs"]);
    let theirs = root.join("theirs");
    crate::support::git_repo::sh(
        &theirs,
        "echo theirs > theirs.txt; git add -A; git commit -q -m theirs; git push -q origin HEAD:main",
    );
    let before = rig.git(&["rev-parse", "HEAD"]);
    let said = json(&rig.sop_ends(0, &["worktree", "sync", "--json"]));
    assert_eq!(
        (said["from"].as_str(), said["files"].as_u64()),
        (None, Some(0)),
        "as it was last fetched"
    );
    assert_eq!(rig.git(&["rev-parse", "HEAD"]), before);
    let said = json(&rig.sop_ends(0, &["worktree", "sync", "--fetch", "--json"]));
    assert_eq!((said["from"].as_str(), said["files"].as_u64()), (Some(before.trim()), Some(1)));
    assert_eq!(fs::read_to_string(rig.repo().join("theirs.txt")).expect("it is here"), "theirs\n");
    fs::remove_dir_all(root.join("up.git")).expect("it goes");
    let said = rig.sop_ends(5, &["worktree", "sync", "--fetch"]);
    assert!(said.err.contains("up.git"), "{}", said.err);
}

#[test]
fn without_a_name_the_newest_run_is_meant() {
    let rig = rig();
    rig.apply(3);
    rig.apply(3);
    let of = |said: &Said| -> Vec<String> {
        let found = json(said);
        let names = found.as_array().expect("a list").iter();
        names.map(|it| it["name"].as_str().expect("a name").to_owned()).collect()
    };
    let left = of(&rig.sop_ends(0, &["run", "clean", "--json"]));
    assert!(!left.is_empty() && left.iter().all(|name| name.contains("p-2")), "{left:?}");
    assert_eq!(of(&rig.sop_ends(0, &["run", "clean", "--run", "p-2", "--json"])), left);
    assert_eq!(json(&rig.sop_ends(0, &["run", "archive", "--json"]))["run"], "p-2");
    // Archived ones are none of the newest, and are found by their name.
    assert_eq!(json(&rig.sop_ends(0, &["run", "archive", "--json"]))["run"], "p-1");
    let said = rig.sop_ends(2, &["run", "archive"]);
    assert!(said.err.contains("sop run show p-2"), "{}", said.err);
    assert!(!of(&rig.sop_ends(0, &["run", "clean", "p-2", "--json"])).is_empty());
}

#[test]
fn an_archived_worktrees_branch_is_seen_to_once_it_is_merged() {
    let rig = rig();
    let mine = [".git/refs/heads/mine", ".git/logs/refs/heads/mine"];
    rig.touches(&mine, "the lead has a worktree and a branch made");
    let path = rig.sop_ends(0, &["worktree", "new", "mine", "--bare"]).out;
    let folder = std::path::PathBuf::from(path.trim_end());
    let commit = |name: &str| {
        fs::write(folder.join(name), "x").expect("a file");
        rig.git(&["-C", path.trim_end(), "add", "--all"]);
        rig.git(&["-C", path.trim_end(), "commit", "--quiet", "-m", name]);
    };
    commit("mine.txt");
    fs::write(folder.join("loose.txt"), "loose\n").expect("a file");
    let kept = json(&rig.sop_ends(0, &["worktree", "archive", "mine", "--json"]));
    let left = || json(&rig.sop_ends(0, &["worktree", "gc", "--json"]));
    let shown = left();
    assert_eq!(
        (shown[0]["kind"].as_str(), shown[0]["name"].as_str(), shown[0]["class"].as_str()),
        (Some("branch"), Some("mine"), Some("hold")),
        "{shown}"
    );
    let why = shown[0]["why"][0].as_str().expect("a reason");
    assert!(why.contains(kept["salvage"].as_str().expect("a ref")), "{why}");
    rig.git(&["merge", "--quiet", "mine"]);
    assert_eq!(left()[0]["class"], "reclaim");
    // One that went on since is somebody's again.
    let stood = rig.git(&["rev-parse", "mine"]);
    rig.git(&["branch", "--force", "mine", "main~1"]);
    assert_eq!(left(), serde_json::json!([]));
    rig.git(&["branch", "--force", "mine", stood.trim()]);
    let done = json(&rig.sop_ends(0, &["worktree", "gc", "--apply", "--json"]));
    assert_eq!(done[0]["done"]["what"], "removed");
    assert_eq!(rig.git(&["branch", "--list", "mine"]), "");
    // What was printed when it was archived still holds.
    crate::support::git_repo::sh(&rig.repo(), kept["restore"].as_str().expect("a command"));
    assert_eq!(fs::read_to_string(folder.join("loose.txt")).expect("back"), "loose\n");
    assert_eq!(rig.git(&["-C", path.trim_end(), "branch", "--show-current"]), "mine\n");
}

#[test]
fn what_cannot_be_is_said_with_what_can() {
    let rig = rig();
    let said = rig.sop_ends(3, &["worktree", "rm", "main"]).err;
    assert!(said.contains("never removed") && !said.contains("--discard"), "{said}");
    rig.git(&["branch", "--quiet", "ahead"]);
    rig.write("here.txt", "x");
    for args in [
        &["add", "here.txt"][..],
        &["commit", "--quiet", "-m", "here"],
        &["switch", "--quiet", "ahead"],
    ] {
        rig.git(args);
    }
    rig.git(&["commit", "--quiet", "--allow-empty", "-m", "there"]);
    let said = rig.sop_ends(3, &["worktree", "sync", "--from", "main"]).err;
    assert!(said.contains("it has 1 commit of its own, and lacks 1"), "{said}");
    // Nothing was committed yet.
    rig.git(&["init", "--quiet", "../none"]);
    let none = rig.root().join("none");
    let mut sop = crate::support::git_repo::command(env!("CARGO_BIN_EXE_sop"), &none);
    sop.env("HOME", rig.root())
        .env("SOP_WORKTREES", rig.root().join("trees"))
        .env_remove("SOP_RUN");
    let said = crate::support::scratch::run(sop.args(["worktree", "new", "a"]), "");
    assert_eq!(said.code, 5, "{}", said.err);
    assert!(said.err.contains("make a first one"), "{}", said.err);
}

#[test]
fn a_run_in_which_nothing_is_left_to_cancel_can_be_given_up_all_the_same() {
    let (plan, _) = PLAN.split_once("[[wp]]\nid = \"b\"").expect("the other one");
    let plan = plan.replace("[[wp]]", "[[stage]]\nname = \"one\"\n[[wp]]\nstage = \"one\"");
    let rig = Rig::new(&plan, &[(".gitignore", "*.log\n")]);
    rig.write(".env", "SECRET=1\n");
    rig.sop_ends(4, &["apply", "--approve", "commits"]);
    let give_up = "sop run archive p-1 --unfinished";
    assert_eq!(json(&rig.sop_ends(0, &["run", "list", "--json"]))[0]["state"], "open");
    let said = rig.sop_ends(2, &["cancel", "--all"]).err;
    assert!(said.contains("left to cancel") && said.contains(give_up), "{said}");
    assert!(rig.sop_ends(3, &["run", "archive"]).err.contains(give_up));
    assert!(rig.sop_ends(3, &["migrate-to-bare"]).err.contains(give_up));
    rig.sop_ends(0, &["run", "archive", "p-1", "--unfinished"]);
}
