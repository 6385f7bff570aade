//! What a snapshot is held against: the pinned base, a newer one that was merged, provisioned files.

use sop::git::{GuardDiff, SnapshotSpec, Tamper, scope};

use crate::support::git_repo::{GitRepo, changed, sh, snapshot};
use crate::support::tricks::SETUP;

/// Case 9.
#[test]
fn what_came_from_upstream_is_not_held_against_the_worker_and_its_own_is() {
    let repo = GitRepo::new(SETUP);
    let worktree = repo.worktree("a");
    sh(worktree.path(), "echo mine >> src/a.txt");
    repo.sh("echo up >> docs/guide.md; echo new > up.txt; echo '*.up' >> .gitignore; git add -A; git commit -qm upstream");
    sh(
        worktree.path(),
        "git commit -qam mine; git merge -q -m merge main; echo over >> lib/x.c; echo i > ignored.up",
    );
    let upstream = repo.head();

    let blind = snapshot(&worktree);
    assert_eq!(
        changed(&blind),
        [".gitignore", "docs/guide.md", "ignored.up", "lib/x.c", "src/a.txt", "up.txt"]
    );

    let spec =
        SnapshotSpec { upstream: Some(upstream.clone()), ..SnapshotSpec::at(worktree.base()) };
    let found = worktree.snapshot(&spec).expect("a snapshot");
    assert_eq!(changed(&found), ["lib/x.c", "src/a.txt"]);
    assert_eq!(found.base, upstream, "the commit is made on top of what was merged");
    assert!(
        matches!(&found.tampers[..], [Tamper::BranchMoved { only_upstream: false, .. }]),
        "{:?}",
        found.tampers
    );
    assert_eq!(repo.sh(&format!("git show {}:up.txt", found.tree)), "new");
}

/// A fast-forward to upstream, or a merge of it with nothing of one's own, is no commit of the worker's.
#[test]
fn merging_upstream_alone_is_no_finding() {
    let repo = GitRepo::new(SETUP);
    let worktree = repo.worktree("a");
    repo.sh("echo up >> docs/guide.md; git commit -qam upstream");
    sh(worktree.path(), "git merge -q main; echo mine >> src/a.txt");
    let spec = SnapshotSpec { upstream: Some(repo.head()), ..SnapshotSpec::at(worktree.base()) };
    let found = worktree.snapshot(&spec).expect("a snapshot");
    assert_eq!(scope::check(&found, &GuardDiff::default(), |path| path.starts_with(b"src/")), []);
    let blind =
        scope::check(&snapshot(&worktree), &GuardDiff::default(), |path| path.starts_with(b"src/"));
    assert_eq!(blind.len(), 2, "a commit that upstream does not have: {blind:?}");
}

/// A merge that smuggles changes of its own in is still held against the worker by its paths.
#[test]
fn an_evil_merge_of_upstream_names_its_paths() {
    let repo = GitRepo::new(SETUP);
    let worktree = repo.worktree("a");
    repo.sh("echo up >> docs/guide.md; git commit -qam upstream");
    sh(
        worktree.path(),
        "git merge -q --no-ff --no-commit main; echo evil >> top.txt; git add -A; git commit -qm merge",
    );
    let spec = SnapshotSpec { upstream: Some(repo.head()), ..SnapshotSpec::at(worktree.base()) };
    let found = worktree.snapshot(&spec).expect("a snapshot");
    assert_eq!(changed(&found), ["top.txt"]);
}

/// Case 10.
#[test]
fn provisioned_files_are_never_committed_and_never_a_finding() {
    let repo = GitRepo::new(SETUP);
    repo.sh("echo shipped > tracked.env; git add -A; git commit -qm env");
    let worktree = repo.worktree("a");
    let keep_out = vec![".env.test".into(), "fixtures/".into(), "tracked.env".into()];
    let spec = SnapshotSpec { keep_out, ..SnapshotSpec::at(worktree.base()) };
    sh(
        worktree.path(),
        "echo s > .env.test; mkdir -p fixtures/deep; echo f > fixtures/deep/f; echo local > tracked.env; echo w >> src/a.txt",
    );
    let found = worktree.snapshot(&spec).expect("a snapshot");
    assert_eq!(
        (changed(&found), found.irregular.len(), found.tampers.len()),
        (vec!["src/a.txt".into()], 0, 0)
    );
    assert_eq!(
        repo.sh(&format!("git show {}:tracked.env", found.tree)),
        "shipped",
        "the base's version is what is committed"
    );
    sh(
        worktree.path(),
        "echo edited >> .env.test; rm tracked.env; rm -r fixtures; mkdir fixtures.d; echo x > fixtures.d/x",
    );
    let again = worktree.snapshot(&spec).expect("a snapshot");
    assert_eq!(
        changed(&again),
        ["fixtures.d/x", "src/a.txt"],
        "edited or removed, they stay out; a neighbour by name does not"
    );
}

/// Case 15.
#[test]
fn commits_that_were_there_before_are_not_the_workers() {
    let repo = GitRepo::new(SETUP);
    let worktree = repo.worktree("a");
    sh(worktree.path(), "echo before >> top.txt; git commit -qam before");
    let began = repo.repo().resolve("sop/run-1/a").expect("a commit");
    sh(worktree.path(), "echo mine >> src/a.txt");
    let spec = SnapshotSpec { began_at: began.clone(), ..SnapshotSpec::at(&began) };
    let found = worktree.snapshot(&spec).expect("a snapshot");
    assert_eq!((changed(&found), found.tampers.len()), (vec!["src/a.txt".into()], 0));
}

/// A seed that was touched is not believed.
#[test]
fn a_forged_seed_is_not_believed() {
    let repo = GitRepo::new(SETUP);
    let worktree = repo.worktree("a");
    sh(worktree.path(), "echo x >> top.txt; git add -A");
    std::fs::copy(worktree.git_dir().join("index"), worktree.seed()).expect("forged");
    let found = snapshot(&worktree);
    assert_eq!(changed(&found), ["top.txt"]);
    assert!(found.tampers.contains(&Tamper::SeedTouched));
    std::fs::remove_file(worktree.seed()).expect("removed");
    assert_eq!(changed(&snapshot(&worktree)), ["top.txt"]);
}
