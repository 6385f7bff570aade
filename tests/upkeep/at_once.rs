//! Two verbs at once, and one that finds what a killed one left.

use std::fs;
use std::path::{Path, PathBuf};

use rustix::process::Signal;
use serde_json::Value;
use sop::run::directory::RunDir;
use sop::run::requests::Turn;
use sop::upkeep::held::Held;

use crate::support::git_repo::sh;
use crate::support::rig::{Rig, until};
use crate::support::written::{plan, worker, wp};

fn rig() -> Rig {
    Rig::new(&plan(&wp("a", "")), &[("worker.sh", &worker("done_well"))])
}

fn listed(rig: &Rig, name: &str) -> Value {
    let said = rig.sop_ends(0, &["worktree", "list", "--json"]);
    let all: Value = serde_json::from_str(&said.out).expect("JSON");
    let found = all.as_array().expect("a list").iter().find(|tree| tree["name"] == name);
    found.unwrap_or_else(|| panic!("no {name}: {all}")).clone()
}

/// Branches of these names are meant to come and go.
fn leads_branches(rig: &Rig, names: &[&str]) {
    let places = names.iter().flat_map(|name| {
        [format!(".git/refs/heads/{name}"), format!(".git/logs/refs/heads/{name}")]
    });
    let places: Vec<String> = places.collect();
    let places: Vec<&str> = places.iter().map(String::as_str).collect();
    rig.touches(&places, "the lead has worktrees and branches made");
}

fn leads(rig: &Rig) -> String {
    fs::read_to_string(rig.repo().join(".git/sop-run/.lead/branches")).unwrap_or_default()
}

#[test]
fn of_those_who_make_one_worktree_at_once_one_does() {
    let rig = rig();
    leads_branches(&rig, &["same"]);
    let makers: Vec<_> = (0..4).map(|_| rig.start(&["worktree", "new", "same"])).collect();
    let mut codes: Vec<i32> = makers.into_iter().map(|maker| maker.wait()).collect();
    codes.sort_unstable();
    assert_eq!(codes, [0, 2, 2, 2], "{}", rig.engine_said());
    assert_eq!(rig.engine_said().matches("is taken").count(), 3, "{}", rig.engine_said());
    assert_eq!(listed(&rig, "same")["states"][0]["kind"], "clean");
    assert_eq!(fs::read_dir(rig.repo().join(".git/sop-run/.lead/.making")).unwrap().count(), 0);
}

#[test]
fn a_branch_that_was_not_made_is_not_noted_as_a_leads() {
    let rig = rig();
    rig.git(&["branch", "feature"]);
    for (name, branch, code) in [
        ("oops", "feature", 5),
        ("b", "HEAD", 5),
        ("c", "-x", 5),
        ("d", "main", 5),
        ("e", "a..b", 5),
    ] {
        let branch = format!("--branch={branch}");
        let said = rig.sop(&["worktree", "new", name, &branch]);
        assert_eq!(said.code, code, "{branch}: {}{}", said.out, said.err);
    }
    assert_eq!(leads(&rig), "");
    leads_branches(&rig, &["one", "three"]);
    // In the way of the folder: the branch is not made either.
    let one = rig.sop_ends(0, &["worktree", "new", "one"]).out;
    assert_eq!(leads(&rig), "one\n");
    fs::write(Path::new(one.trim_end()).with_file_name("two"), "in the way").expect("a file");
    assert_eq!(rig.sop(&["worktree", "new", "two"]).code, 2);
    assert_eq!(leads(&rig), "one\n");
    // What is gone is dropped, where no run could still ask about it.
    rig.sop_ends(0, &["worktree", "rm", "one"]);
    rig.sop_ends(0, &["worktree", "new", "three"]);
    assert_eq!(leads(&rig), "three\n");
}

/// A repository whose checkout waits, for each file `slow.txt`, until `go` is there.
fn slow() -> Rig {
    let rig = Rig::new(
        &plan(&wp("a", "")),
        &[("worker.sh", &worker("done_well")), (".gitattributes", "slow.txt filter=slow\n")],
    );
    rig.write("slow.txt", "slow\n");
    rig.git(&["add", "--all"]);
    rig.git(&["commit", "--quiet", "-m", "slow"]);
    let marks = rig.root().join("marks");
    let script = marks.join("smudge.sh");
    let text = format!(
        "touch '{0}/up'; n=0; until test -e '{0}/go' || test $n = 6000; do sleep 0.02; n=$((n+1)); done; cat\n",
        marks.display()
    );
    fs::write(&script, text).expect("a script");
    let smudge = format!("sh '{}'", script.display());
    rig.git(&["config", "filter.slow.smudge", &smudge]);
    rig
}

fn until_up(rig: &Rig) {
    until(|| if rig.mark("up").exists() { Ok(()) } else { Err("not up".to_owned()) });
}

fn go(rig: &Rig) {
    fs::write(rig.mark("go"), "").expect("a mark");
}

#[test]
fn a_worktree_whose_making_was_killed_is_known_and_gone_on_with() {
    let rig = slow();
    rig.git(&["branch", "other"]);
    leads_branches(&rig, &["mine"]);
    let engine = rig.start(&["worktree", "new", "mine"]);
    until_up(&rig);
    assert!(rig.sop_ends(2, &["worktree", "new", "mine"]).err.contains("another"));
    engine.signal(Signal::KILL);
    engine.wait();
    assert_eq!(listed(&rig, "mine")["whose"]["kind"], "lead");
    let said = rig.sop_ends(2, &["worktree", "new", "mine", "--base", "other"]);
    assert!(
        said.err.contains("was cut short") && said.err.contains("worktree rm mine"),
        "{}",
        said.err
    );
    go(&rig);
    let path = PathBuf::from(rig.sop_ends(0, &["worktree", "new", "mine"]).out.trim_end());
    assert_eq!(fs::read_to_string(path.join("slow.txt")).expect("a file"), "slow\n");
    let tree = listed(&rig, "mine");
    assert_eq!(
        (&tree["whose"]["kind"], &tree["states"][0]["kind"]),
        (&"lead".into(), &"clean".into())
    );
    assert!(rig.sop_ends(2, &["worktree", "new", "mine"]).err.contains("is taken"));
    rig.sop_ends(0, &["worktree", "rm", "mine"]);
    assert!(!path.exists());
}

#[test]
fn what_was_cut_short_and_is_gone_again_is_made_anew() {
    let rig = slow();
    leads_branches(&rig, &["mine"]);
    let engine = rig.start(&["worktree", "new", "mine"]);
    until_up(&rig);
    engine.signal(Signal::KILL);
    engine.wait();
    go(&rig);
    rig.until_quiet();
    until(|| match rig.sop(&["worktree", "rm", "mine", "--discard-modified"]).code {
        0 => Ok(()),
        code => Err(format!("it stays: {code}")),
    });
    rig.git(&["commit", "--quiet", "--allow-empty", "-m", "more"]);
    let path = rig.sop_ends(0, &["worktree", "new", "mine"]).out;
    let at = sh(Path::new(path.trim_end()), "git rev-parse HEAD");
    assert_eq!(at, rig.git(&["rev-parse", "main"]).trim(), "from where the base is now");
    rig.sop_ends(0, &["worktree", "rm", "mine"]);
}

#[test]
fn of_two_who_bring_the_checkout_forward_the_second_finds_it_done() {
    let rig = slow();
    rig.git(&["checkout", "--quiet", "-b", "ahead"]);
    rig.write("slow.txt", "slower\n");
    rig.write("new.txt", "new\n");
    rig.git(&["add", "--all"]);
    rig.git(&["commit", "--quiet", "-m", "ahead"]);
    go(&rig);
    rig.git(&["checkout", "--quiet", "main"]);
    fs::remove_file(rig.mark("go")).expect("a mark");
    let _ = fs::remove_file(rig.mark("up"));
    rig.touches(&["slow.txt", "new.txt", ".git"], "it is brought forward");
    let first = rig.start(&["worktree", "sync", "--from", "ahead"]);
    until_up(&rig);
    let mut second = rig.start(&["worktree", "sync", "--from", "ahead"]);
    // Either it waits, or it has judged what the first is in the middle of.
    let began = std::time::Instant::now();
    until(|| match second.is_over() || began.elapsed().as_millis() > 300 {
        true => Ok(()),
        false => Err("neither".to_owned()),
    });
    go(&rig);
    assert_eq!((first.wait(), second.wait()), (0, 0), "{}", rig.engine_said());
    assert_eq!(rig.git(&["status", "--porcelain"]), "");
}

#[test]
fn a_remote_helper_that_leaves_a_child_holds_nobody_up() {
    let rig = rig();
    rig.git(&["config", "core.sshCommand", "sh -c 'sleep 5000 < /dev/null > /dev/null & exit 1'"]);
    rig.git(&["remote", "add", "origin", "ssh://127.0.0.1/nowhere.git"]);
    rig.git(&["config", "branch.main.remote", "origin"]);
    rig.git(&["config", "branch.main.merge", "refs/heads/main"]);
    let said = rig.sop_ends(5, &["worktree", "sync", "--fetch"]);
    assert!(!said.err.contains("no answer"), "{}", said.err);
}

#[test]
fn a_run_stays_where_a_step_of_it_lives() {
    let script = worker("cd /; touch $MARKS/up; until test -e $MARKS/go; do sleep 0.02; done");
    let rig = Rig::new(&plan(&wp("a", "")), &[("worker.sh", &script)]);
    let engine = rig.start(&["apply", "--yes"]);
    until_up(&rig);
    engine.signal(Signal::KILL);
    engine.wait();
    let run = rig.run_dir().file_name().expect("a name").to_string_lossy().into_owned();
    let before = rig.worktrees();
    let said = rig.sop_ends(3, &["run", "archive", &run, "--unfinished"]);
    assert!(said.err.contains("a (") && said.err.contains("still at work"), "{}", said.err);
    assert!(said.err.contains("sop resume"), "{}", said.err);
    assert_eq!(rig.worktrees(), before);
    assert!(rig.run_dir().join("journal.jsonl").exists());
    go(&rig);
    rig.until_quiet();
    rig.sop_ends(0, &["run", "archive", &run, "--unfinished"]);
    assert_eq!(rig.worktrees(), Vec::<PathBuf>::new());
}

#[test]
fn a_run_is_not_put_away_with_what_was_asked_of_it() {
    let rig = Rig::new(&plan(&wp("a", "rounds = 1")), &[("worker.sh", &worker("exit 1"))]);
    rig.apply(3);
    let run = rig.run_dir().file_name().expect("a name").to_string_lossy().into_owned();
    assert!(rig.sop_ends(0, &["retry", "a"]).out.contains("sop resume"));
    let said = rig.sop_ends(3, &["run", "archive", &run]);
    assert!(
        said.err.contains("asked of it: retry") && said.err.contains("--unfinished"),
        "{}",
        said.err
    );
    rig.sop_ends(0, &["run", "archive", &run, "--unfinished"]);
}

#[test]
fn nothing_is_asked_of_a_run_that_is_put_away_meanwhile() {
    let rig = Rig::new(&plan(&wp("a", "rounds = 1")), &[("worker.sh", &worker("exit 1"))]);
    rig.apply(3);
    let dir = rig.run_dir();
    let run = dir.file_name().expect("a name").to_string_lossy().into_owned();
    let root = dir.parent().expect("a folder").to_path_buf();
    let id = sop::model::ids::RunId::new(run).expect("a name");
    let turn = Turn::take(&RunDir::new(root.clone(), id)).expect("nobody asks");
    let engine = rig.start(&["retry", "a"]);
    // It waits for its turn, or has not come so far: it finds the run gone either way.
    let lock = dir.join("requests/turn.lock");
    until(|| {
        let fds = fs::read_dir(format!("/proc/{}/fd", engine.pid())).into_iter().flatten();
        let mut open = fds.flatten().filter_map(|fd| fs::read_link(fd.path()).ok());
        if open.any(|path| path == lock) { Ok(()) } else { Err("it does not wait".to_owned()) }
    });
    fs::create_dir_all(root.join(".archive")).expect("a folder");
    fs::rename(&dir, root.join(".archive/moved")).expect("it is moved");
    drop(turn);
    assert_eq!(engine.wait(), 2, "{}", rig.engine_said());
    assert!(rig.engine_said().contains("was put away"), "{}", rig.engine_said());
    let left = fs::read_dir(root.join(".archive/moved/requests")).expect("a folder").flatten();
    assert!(left.map(|entry| entry.file_name()).all(|name| name == "turn.lock"));
}

#[test]
fn a_run_that_is_over_keeps_what_a_step_of_it_is_at_work_on() {
    let rig = Rig::new(&plan(&wp("a", "rounds = 1")), &[("worker.sh", &worker("exit 1"))]);
    rig.apply(3);
    let steps = fs::read_dir(rig.run_dir().join("steps/a")).expect("its steps").flatten();
    let step = steps.map(|step| step.path()).next().expect("a step");
    let name = step.file_name().expect("a name").to_string_lossy().into_owned();
    // As its holder has it, wherever that is.
    let held = Held::take(&step.join("lock")).expect("a lock").expect("nobody has it");
    let before = rig.worktrees();
    for verb in [
        &["worktree", "rm", "o-1/a"][..],
        &["worktree", "archive", "o-1/a"],
        &["run", "archive", "o-1"],
    ] {
        let said = rig.sop_ends(3, verb);
        assert!(
            said.err.contains("still at work") && said.err.contains(&name),
            "{verb:?}: {}",
            said.err
        );
    }
    let said = rig.sop_ends(0, &["run", "clean", "o-1", "--apply"]);
    assert!(said.out.contains("is still at work for it"), "{}", said.out);
    assert_eq!(rig.worktrees(), before);
    drop(held);
    rig.sop_ends(0, &["run", "archive", "o-1"]);
    assert_eq!(rig.worktrees(), Vec::<PathBuf>::new());
}
