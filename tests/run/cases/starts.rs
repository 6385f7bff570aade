//! Cases 5, 6, 7, 11 and 12: what a run finds when it starts.

use super::case::Case;
use crate::support::scratch::{Scratch, run};

fn one(case: Case) -> Case {
    case.wp("a", "src/a/**", "mkdir -p src/a; echo a > src/a/x", "")
}

#[test]
fn case_5_sixteen_start_at_once_on_a_branch_with_an_upstream() {
    let scratch = Scratch::repo(&[("README", "r\n")]);
    scratch.git(&["clone", "--quiet", "--bare", ".", "../origin.git"]);
    scratch.git(&["remote", "add", "origin", "../origin.git"]);
    scratch.git(&["fetch", "--quiet", "origin"]);
    scratch.git(&["branch", "--quiet", "--set-upstream-to=origin/main", "main"]);
    scratch.git(&["config", "branch.autoSetupMerge", "always"]);
    let mut case = Case::of(scratch).head("max_parallel = 16");
    for n in 0..16 {
        let script = format!("echo {n} > w{n}.txt");
        case = case.wp(&format!("w{n}"), &format!("w{n}.txt"), &script, "");
    }
    let before = case.checkout();
    let ran = case.apply().expect(0);
    assert_eq!(ran.of("wp_committed").count(), 16);
    for n in 0..16 {
        assert_eq!(case.changed_on(&format!("sop/case-1/w{n}")), [format!("w{n}.txt")]);
    }
    let branches =
        case.scratch.git(&["for-each-ref", "--format=%(refname) %(upstream)", "refs/heads"]);
    assert_eq!(branches.lines().count(), 17, "{branches}");
    let tracked = branches.lines().filter(|line| line.contains("refs/remotes")).count();
    assert_eq!(tracked, 1, "no branch of a WP follows another: {branches}");
    assert_eq!(case.scratch.git(&["worktree", "list"]).lines().count(), 1);
    assert_eq!(case.checkout(), before);
}

#[test]
fn case_6_what_an_earlier_run_left_is_no_obstacle() {
    let case = one(Case::new(&[("README", "r\n")]));
    case.apply().expect(0);
    // A branch of a killed run whose directory is gone, on a remote too; a run directory without a journal.
    case.scratch.git(&["branch", "sop/case-2/a"]);
    case.scratch.git(&["update-ref", "refs/remotes/origin/sop-stage/case-3/1", "main"]);
    std::fs::create_dir(case.scratch.path().join(".git/sop-run/case-4")).expect("a folder");
    // A branch whose name leaves no room for those of run 5.
    case.scratch.git(&["branch", "sop/case-5"]);
    let ran = case.apply().expect(0);
    assert_eq!(ran.of("run_created").next().expect("a run")["run"], "case-6");
    assert_eq!(case.changed_on("sop/case-6/a"), ["src/a/x"]);
}

#[test]
fn case_6_a_branch_that_leaves_no_room_for_any_run_is_named_before_one_is_made() {
    for (branch, stage) in [("sop", ""), ("sop-stage", "stage = \"s\"")] {
        let mut case = Case::new(&[("README", "r\n")]);
        case = case.wp("a", "src/a/**", "mkdir -p src/a; echo a > src/a/x", stage);
        if !stage.is_empty() {
            case = case.tables("[[stage]]\nname = \"s\"\n");
        }
        case.scratch.git(&["branch", branch]);
        let ran = case.apply().expect(5);
        assert!(ran.said.err.contains(&format!("`{branch}`")), "{}", ran.said.err);
        assert_eq!(ran.of("wp_started").count(), 0);
    }
}

#[test]
fn case_7_an_instruction_that_is_not_in_the_base_is_named_before_the_run() {
    let case = one(Case::new(&[("README", "r\n")])).head("instructions = [\"AGENTS.md\"]");
    case.scratch.write("AGENTS.md", "new\n");
    let ran = case.apply().expect(1);
    assert!(
        ran.said.err.contains("`AGENTS.md` is in the checkout but not in the base"),
        "{}",
        ran.said.err
    );
    assert!(case.run_dir().is_none());
}

#[test]
fn case_11_started_with_a_hooks_environment_the_outer_repository_is_untouched() {
    let outer = Case::new(&[("outer.txt", "o\n")]);
    let inner = one(Case::new(&[("README", "r\n")]));
    let (before, inside) = (outer.checkout(), inner.checkout());
    let outer_git = outer.scratch.path().join(".git");
    let mut sop = inner.command(&[]);
    sop.env("GIT_DIR", &outer_git)
        .env("GIT_INDEX_FILE", outer_git.join("index"))
        .env("GIT_WORK_TREE", outer.scratch.path())
        .env("GIT_PREFIX", "")
        .env("GIT_OBJECT_DIRECTORY", outer_git.join("objects"));
    inner.ran(run(&mut sop, "")).expect(0);
    assert_eq!(inner.changed_on("sop/case-1/a"), ["src/a/x"]);
    assert_eq!(inner.checkout(), inside);
    assert_eq!(outer.checkout(), before);
    assert_eq!(outer.scratch.git(&["for-each-ref"]).lines().count(), 1);
    assert!(outer.run_dir().is_none());
}

#[test]
fn case_11_from_a_real_hook_the_commit_being_made_is_made() {
    let case = one(Case::new(&[("README", "r\n")]));
    let hook = format!(
        "#!/bin/sh\nexec '{}' apply '{}' --yes >../hook.out 2>&1\n",
        env!("CARGO_BIN_EXE_sop"),
        case.written().display()
    );
    case.scratch.write(".git/hooks/pre-commit", hook);
    let chmod = case.scratch.command("chmod").args(["+x", ".git/hooks/pre-commit"]).status();
    assert!(chmod.expect("chmod").success());
    case.scratch.write("mine.txt", "mine\n");
    case.scratch.git(&["add", "mine.txt"]);
    case.scratch.git(&["commit", "--quiet", "-m", "mine"]);
    let out = std::fs::read_to_string(case.outside().join("hook.out")).expect("the hook ran");
    assert_eq!(case.changed_on("sop/case-1/a"), ["src/a/x"], "{out}");
    assert_eq!(case.scratch.git(&["show", "--name-only", "--format=", "HEAD"]), "mine.txt\n");
    assert_eq!(case.scratch.git(&["status", "--porcelain"]), "");
}

#[test]
fn case_12_where_no_worktree_can_be_made_no_worker_runs_anywhere() {
    let case = one(Case::new(&[("README", "r\n")]));
    std::fs::write(case.outside().join("taken"), "a file\n").expect("a file");
    let before = case.checkout();
    let mut sop = case.command(&[]);
    sop.env("SOP_WORKTREES", case.outside().join("taken"));
    let ran = case.ran(run(&mut sop, "")).expect(5);
    assert!(ran.said.err.contains("taken"), "{}", ran.said.err);
    assert_eq!(case.checkout(), before);
    assert_eq!(case.scratch.git(&["for-each-ref", "refs/heads"]).lines().count(), 1);
}

#[test]
fn case_12_a_wp_whose_place_is_taken_is_blocked_and_the_others_go_on() {
    // The first WP puts a file where the worktree of the second will be made.
    let case = Case::new(&[("README", "r\n")])
        .head("max_parallel = 1")
        .wp(
            "a",
            "src/a/**",
            "mkdir -p src/a; echo a > src/a/x; echo in the way > \"$PWD/../b\"",
            "",
        )
        .wp("b", "src/b/**", "touch \"$OUT/b-ran\"; mkdir -p src/b; echo b > src/b/x", "")
        .wp("c", "src/c/**", "mkdir -p src/c; echo c > src/c/x", "");
    let before = case.checkout();
    let ran = case.apply().expect(5);
    let blocked = ran.about("wp_blocked", "b");
    assert_eq!(blocked.len(), 1, "{}", ran.problems());
    assert!(blocked[0]["problem"]["message"].as_str().is_some_and(|m| m.contains("in the way")));
    assert!(!case.outside().join("b-ran").exists());
    assert_eq!(case.changed_on("sop/case-1/c"), ["src/c/x"]);
    assert_eq!(case.checkout(), before);
}
