//! Killed half-way through making a worktree: asking again ends with the same good one.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use sop::git::{Repo, WorktreeSpec};
use sop::model::ids::{CommitId, RunId, WpId};

use crate::support::git_repo::{GitRepo, changed, sh, snapshot};
use crate::support::tricks::SETUP;

/// What the claim of a dead engine says; its file is named after a digest of the path.
fn claim(repo: &GitRepo, spec: &WorktreeSpec) {
    let branch = spec.branch.as_deref().unwrap_or("");
    let script = format!(
        "mkdir -p .git/sop-run/.making; n=$(printf %s '{path}' | sha256sum | cut -c1-32); printf '%s\\000%s\\000%s\\000' '{branch}' '{base}' '{path}' > .git/sop-run/.making/$n",
        path = spec.path.display(),
        base = spec.base,
    );
    repo.sh(&script);
}

fn stands(repo: &GitRepo, spec: &WorktreeSpec, after: &str) {
    let worktree =
        repo.repo().add_worktree(spec).unwrap_or_else(|error| panic!("{after}: {error}"));
    assert!(changed(&snapshot(&worktree)).is_empty(), "{after}");
    assert_eq!(
        sh(worktree.path(), "git status --porcelain; git rev-parse HEAD"),
        spec.base.to_string(),
        "{after}"
    );
    assert_eq!(repo.sh("git worktree list | wc -l; ls .git/worktrees | wc -l"), "2\n1", "{after}");
    assert_eq!(repo.sh("ls .git/sop-run/.making | wc -l"), "0", "{after}: the claim is done with");
}

#[test]
fn each_state_that_a_kill_can_leave_is_finished() {
    let template = GitRepo::new(SETUP);
    let states = [
        ("nothing but the claim", ":"),
        ("an empty claim", "for f in .git/sop-run/.making/*; do : > \"$f\"; done"),
        ("the branch", "git branch sop/run-1/a $BASE"),
        ("an empty folder", "git branch sop/run-1/a $BASE; mkdir ../wt/a"),
        (
            "a folder of git's, nameless and old",
            "git branch sop/run-1/a $BASE; mkdir -p .git/worktrees/a; echo initializing > .git/worktrees/a/locked; touch -d '1 hour ago' .git/worktrees/a",
        ),
        (
            "registered, no HEAD",
            "git worktree add -q --no-checkout -b sop/run-1/a ../wt/a $BASE; rm .git/worktrees/a/HEAD",
        ),
        (
            "registered, locked as git does",
            "git worktree add -q --no-checkout -b sop/run-1/a ../wt/a $BASE; echo initializing > .git/worktrees/a/locked",
        ),
        (
            "registered, link missing",
            "git worktree add -q --no-checkout -b sop/run-1/a ../wt/a $BASE; rm ../wt/a/.git",
        ),
        (
            "link left, registration gone",
            "git worktree add -q --no-checkout -b sop/run-1/a ../wt/a $BASE; rm -r .git/worktrees/a",
        ),
        (
            "half checked out",
            "git worktree add -q -b sop/run-1/a ../wt/a $BASE; cd ../wt/a; rm -r lib src; printf to > top.txt; : > \"$(git rev-parse --git-dir)/index.lock\"",
        ),
        ("checked out, no mark", "git worktree add -q -b sop/run-1/a ../wt/a $BASE"),
    ];
    for (name, script) in states {
        let repo = template.copy();
        let spec = repo.spec("a");
        claim(&repo, &spec);
        repo.sh(&format!("BASE={}; {script}", spec.base));
        stands(&repo, &spec, name);
    }
}

/// Without a claim the same things are somebody else's.
#[test]
fn without_a_claim_nothing_is_taken_for_ours() {
    let repo = GitRepo::new(SETUP);
    repo.sh("git worktree add -q -b sop/run-1/a ../wt/a HEAD; echo mine > ../wt/a/mine");
    repo.repo().add_worktree(&repo.spec("a")).expect_err("it is a person's");
    assert_eq!(sh(&repo.at("wt/a"), "cat mine; git branch --show-current"), "mine\nsop/run-1/a");
}

/// Half-made for another base, and then somebody worked there.
#[test]
fn what_came_into_a_half_made_one_is_not_rolled_back_with_it() {
    let repo = GitRepo::new(SETUP);
    let spec = repo.spec("a");
    claim(&repo, &spec);
    repo.sh("git worktree add -q -b sop/run-1/a ../wt/a HEAD; echo x > ../wt/a/precious; git commit -q --allow-empty -m on");
    let later = repo.spec("a");
    let error = repo.repo().add_worktree(&later).expect_err("something is in it").to_string();
    assert!(error.contains("precious"), "{error}");
    assert_eq!(sh(&repo.at("wt/a"), "cat precious"), "x");
}

/// Somebody removed the folder of a finished worktree: its branch, with what is on it, comes back.
#[test]
fn a_folder_that_vanished_comes_back_at_its_branch() {
    let repo = GitRepo::new(SETUP);
    let worktree = repo.worktree("a");
    sh(worktree.path(), "echo work >> src/a.txt; git commit -qam work");
    std::fs::remove_dir_all(worktree.path()).expect("removed");
    let again = repo.worktree("a");
    assert_eq!(sh(again.path(), "git status --porcelain; tail -n 1 src/a.txt"), "work");
}

#[test]
fn killed_at_any_instant_asking_again_is_enough() {
    let template = GitRepo::new(SETUP);
    for step in 0..14_u32 {
        let repo = template.copy();
        let spec = repo.spec("a");
        let mut child = Command::new(std::env::current_exe().expect("this program"));
        child.args(["--ignored", "--exact", "git::interrupted::makes_a_worktree_and_is_killed"]);
        child
            .env("SOP_TEST_MAIN", repo.main())
            .env("SOP_TEST_PATH", &spec.path)
            .env("SOP_TEST_SEED", &spec.seed);
        child.env("SOP_TEST_BASE", spec.base.as_str()).stdout(std::process::Stdio::null());
        let mut child = child.spawn().expect("this program again");
        std::thread::sleep(Duration::from_millis(u64::from(step) * 3));
        let _ = child.kill();
        let _ = child.wait();
        // Its git may still be running: the lock it was lent holds us off until it is done.
        stands(&repo, &spec, &format!("killed after {} ms", step * 3));
    }
}

#[test]
#[ignore = "run by the test above, in a process of its own"]
fn makes_a_worktree_and_is_killed() {
    let Some(main) = std::env::var_os("SOP_TEST_MAIN") else {
        return;
    };
    let text = |name: &str| std::env::var(name).expect("set");
    let spec = WorktreeSpec {
        path: text("SOP_TEST_PATH").into(),
        branch: Some("sop/run-1/a".to_owned()),
        base: CommitId(text("SOP_TEST_BASE")),
        seed: text("SOP_TEST_SEED").into(),
    };
    let _ = Repo::discover(Path::new(&main)).and_then(|repo| repo.add_worktree(&spec));
}

/// An engine that is killed while it moves a ref leaves the lock; nobody would ever take it away.
#[test]
fn the_lock_of_a_kept_tree_goes_with_the_run_and_what_is_kept_stays() {
    let repo = GitRepo::new(SETUP);
    let run = RunId::new("run-1").expect("a name");
    let folder = repo.repo().common_dir().join("refs/sop/checked/run-1");
    let tree = snapshot(&repo.worktree("a")).tree;
    let wp = |name: &str| WpId::new(name).expect("a name");
    repo.repo().keep_checked(&run, &wp("kept"), &tree).expect("kept");
    std::fs::write(folder.join("e.lock"), "").expect("a lock");
    repo.repo().tidy_checked(&run);
    assert!(!folder.join("e.lock").exists() && folder.join("kept").exists());
    repo.repo().let_checked_go(&run, &wp("kept")).expect("gone");
    repo.repo().tidy_checked(&run);
    assert!(!repo.repo().common_dir().join("refs/sop").exists());
}
