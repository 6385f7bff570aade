//! Started from a git hook, or from a shell that points git somewhere else.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use sop::git::guard::GuardSpec;
use sop::git::{Removal, Repo, SnapshotSpec, WorktreeSpec};
use sop::model::ids::{RunId, WpId};

use crate::support::git_repo::{GitRepo, WHEN, sh, tester};
use crate::support::tricks::SETUP;

/// Case 11. The whole of what a WP needs is done with every variable pointing at another repository.
#[test]
fn the_outer_repository_is_untouched() {
    let (outer, inner) = (GitRepo::new(SETUP), GitRepo::new(SETUP));
    let all = "find . -printf '%P %y %m %T@ %l\\n' -type f -exec sha256sum {} + | sort";
    let before = (outer.sh(all), inner.checkout_state());
    let mut child = Command::new(std::env::current_exe().expect("this program"));
    child
        .args(["--ignored", "--exact", "git::environment::does_a_whole_wp"])
        .env("SOP_TEST_INNER", inner.main());
    let git = outer.main().join(".git");
    child.env("GIT_DIR", &git).env("GIT_WORK_TREE", outer.main()).env("GIT_COMMON_DIR", &git);
    child.env("GIT_INDEX_FILE", git.join("index")).env("GIT_OBJECT_DIRECTORY", git.join("objects"));
    child
        .env("GIT_ALTERNATE_OBJECT_DIRECTORIES", git.join("objects"))
        .env("GIT_NAMESPACE", "n")
        .env("GIT_PREFIX", "src/");
    child
        .env("GIT_CONFIG_COUNT", "1")
        .env("GIT_CONFIG_KEY_0", "core.bare")
        .env("GIT_CONFIG_VALUE_0", "true");
    child
        .env("GIT_CONFIG_PARAMETERS", "'core.worktree=/nowhere'")
        .env("GIT_CEILING_DIRECTORIES", "/")
        .env("GIT_QUARANTINE_PATH", "/nowhere");
    child
        .env("GIT_LITERAL_PATHSPECS", "1")
        .env("GIT_ATTR_SOURCE", "HEAD")
        .env("GIT_DEFAULT_HASH", "sha256")
        .env("GIT_EXTERNAL_DIFF", "/bin/false");
    let output = child.output().expect("this program again");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    assert!(String::from_utf8_lossy(&output.stdout).contains("1 passed"));
    assert_eq!((outer.sh(all), inner.checkout_state()), before);
    assert_eq!(inner.sh("git log --format=%s -n 1 sop-stage/run-1/1"), "merge");
}

#[test]
#[ignore = "run by the test above, in a process of its own"]
fn does_a_whole_wp() {
    let Some(main) = std::env::var_os("SOP_TEST_INNER") else {
        return;
    };
    let repo = Repo::discover(Path::new(&main)).expect("the repository");
    assert_eq!(repo.top(), Some(Path::new(&main)));
    let version = repo.git_version(Duration::from_secs(60)).expect("git is there");
    assert!(repo.obstacles(&version).iter().all(|obstacle| !obstacle.kind.blocks()));
    let base = repo.resolve("main").expect("a commit");
    let folder = Path::new(&main).parent().expect("a parent");
    let spec = WorktreeSpec {
        path: folder.join("wt/a"),
        branch: Some("sop/run-1/a".into()),
        base: base.clone(),
        seed: folder.join("run/a"),
    };
    let worktree = repo.add_worktree(&spec).expect("a worktree");
    let run = RunId::new("run-1").expect("an id");
    let watch = || {
        repo.guard(GuardSpec { run: &run, worktree: Some(&worktree), checkout: true })
            .expect("a guard")
    };
    let before = watch();
    sh(worktree.path(), "echo x >> src/a.txt; echo n > src/new");
    let found = worktree.snapshot(&SnapshotSpec::at(&base)).expect("a snapshot");
    assert_eq!(found.changes.len(), 2);
    assert!(repo.compare(&before, &watch()).expect("a comparison").differences.is_empty());
    let commit = repo
        .commit_tree(&found.tree, std::slice::from_ref(&base), "work", &tester(), WHEN)
        .expect("a commit");
    worktree.settle(&commit, Some(&base)).expect("settled");
    let merged = repo.merge(&base, &commit, "merge", &tester(), WHEN).expect("a merge");
    let sop::git::MergeOutcome::Merged(merged) = merged else { panic!("a conflict") };
    repo.set_branch("sop-stage/run-1/1", &merged.commit, None).expect("a branch");
    worktree
        .salvage(&run, &WpId::new("a").expect("an id"), &SnapshotSpec::at(&base), WHEN)
        .expect("salvaged");
    assert_eq!(worktree.remove(&found.tree, &[]).expect("removed"), Removal::Gone);
    repo.delete_branch("sop/run-1/a", &commit).expect("deleted");
}
