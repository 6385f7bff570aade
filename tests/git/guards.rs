//! The guard: what it sees beside the tricks, and what it must not take for one.

use sop::git::guard::{Became, Guarded};
use sop::git::scope::Place;
use sop::git::{Fault, GuardDiff, GuardSpec, Worktree};
use sop::model::ids::RunId;

use crate::support::git_repo::{GitRepo, WHEN, sh, snapshot, tester};
use crate::support::tricks::SETUP;

fn guard(worktree: &Worktree) -> Guarded {
    let run = RunId::new("run-1").expect("an id");
    worktree
        .repo()
        .guard(GuardSpec { run: &run, worktree: Some(worktree), checkout: true })
        .expect("a guard")
}

fn diff(worktree: &Worktree, before: &Guarded) -> GuardDiff {
    worktree.repo().compare(before, &guard(worktree)).expect("a comparison")
}

#[test]
fn what_sop_itself_does_meanwhile_is_nothing() {
    let repo = GitRepo::new(SETUP);
    let worktree = repo.worktree("a");
    let before = guard(&worktree);
    let other = repo.worktree("b");
    sh(other.path(), "echo x >> src/a.txt");
    let found = snapshot(&other);
    let git = repo.repo();
    let commit =
        git.commit_tree(&found.tree, &[found.base], "b", &tester(), WHEN).expect("a commit");
    other.settle(&commit, Some(other.base())).expect("settled");
    git.set_branch("sop-stage/run-1/1", &commit, None).expect("a branch");
    let (run, wp) =
        (RunId::new("run-1").expect("an id"), sop::model::ids::WpId::new("b").expect("an id"));
    other.salvage(&run, &wp, &sop::git::SnapshotSpec::at(other.base()), WHEN).expect("salvaged");
    assert_eq!(other.remove(&found.tree, &[]).expect("removed"), sop::git::Removal::Gone);
    git.delete_branch("sop/run-1/b", &commit).expect("deleted");
    assert_eq!(diff(&worktree, &before), GuardDiff::default());
}

#[test]
fn housekeeping_and_a_refreshed_index_are_nothing() {
    let repo = GitRepo::new(SETUP);
    repo.sh("git branch b1; git branch b2; git tag t");
    let worktree = repo.worktree("a");
    let before = guard(&worktree);
    repo.sh("git pack-refs --all; git gc -q; touch top.txt; git status >/dev/null; mkdir empty; echo x > x.log");
    let after = diff(&worktree, &before);
    // A file that was touched is named; nothing else moved.
    let places: Vec<Place> = after.differences.iter().map(|d| d.place.clone()).collect();
    assert_eq!(places, [Place::Checkout("top.txt".into())]);
}

#[test]
fn a_person_at_work_is_named_and_not_blamed() {
    let repo = GitRepo::new(SETUP);
    repo.sh("git worktree add -q -b theirs ../outside/theirs; git clone -q --bare . ../outside/remote.git; git remote add origin ../outside/remote.git");
    let worktree = repo.worktree("a");
    let before = guard(&worktree);
    repo.sh("echo x >> top.txt; git commit -qam mine; git switch -q -c feature; git commit -q --allow-empty -m f; git fetch -q; git branch sop/run-2/x");
    sh(&repo.at("outside/theirs"), "git commit -q --allow-empty -m theirs");
    let after = diff(&worktree, &before);
    assert_eq!(after.findings().collect::<Vec<_>>(), Vec::<&sop::git::Difference>::new());
    let names: Vec<String> = after.by_a_person().map(|d| d.place.to_string()).collect();
    for name in [
        "refs/heads/main",
        "refs/heads/theirs",
        "refs/heads/feature",
        "refs/remotes/origin/main",
        "refs/heads/sop/run-2/x",
        "HEAD",
        "top.txt (in the main checkout)",
    ] {
        assert!(names.iter().any(|found| found == name), "{name} is not in {names:?}");
    }
}

#[test]
fn each_place_of_gits_own_is_watched() {
    let template = GitRepo::new(SETUP);
    template.sh("git branch packed; git pack-refs --all; git init -q --bare .git/modules/lib/one; git init -q --bare .git/modules/lib/one/modules/in; mkdir -p .git/hooks; echo x > .git/hooks/update; echo '[include]\n path = extra' >> .git/config; echo > .git/extra");
    for (script, place, became) in [
        ("chmod +x .git/hooks/update", "hooks/update", Became::Changed),
        ("rm .git/hooks/update", "hooks/update", Became::Removed),
        ("ln -s /bin/true .git/hooks/pre-push", "hooks/pre-push", Became::Added),
        ("echo /tmp > .git/objects/info/alternates", "objects/info/alternates", Became::Added),
        ("git rev-parse HEAD > .git/shallow", "shallow", Became::Added),
        ("echo . > .git/commondir", "commondir", Became::Added),
        (
            "git -C .git/modules/lib/one config core.hooksPath /tmp",
            "modules/lib/one/config",
            Became::Changed,
        ),
        (
            "mkdir -p .git/modules/lib/one/hooks; echo x > .git/modules/lib/one/hooks/post-checkout",
            "modules/lib/one/hooks/post-checkout",
            Became::Added,
        ),
        (
            "git -C .git/modules/lib/one/modules/in config x.y z",
            "modules/lib/one/modules/in/config",
            Became::Changed,
        ),
        ("echo '* -text' > .git/info/attributes", "info/attributes", Became::Added),
        ("echo '[core] x = 1' > .git/extra", "extra", Became::Changed),
        ("git branch -q -D packed", "refs/heads/packed", Became::Removed),
        (
            "git symbolic-ref refs/heads/packed refs/heads/main",
            "refs/heads/packed",
            Became::Changed,
        ),
        ("git branch new/deep", "refs/heads/new/deep", Became::Added),
    ] {
        let repo = template.copy();
        let worktree = repo.worktree("a");
        let before = guard(&worktree);
        repo.sh(script);
        let after = diff(&worktree, &before);
        let found: Vec<_> = after
            .differences
            .iter()
            .map(|d| (d.place.name().to_string(), d.became, d.fault))
            .collect();
        assert_eq!(found, [(place.to_owned(), became, Fault::Finding)], "{script}");
    }
}
