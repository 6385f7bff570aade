//! After a snapshot passed: commit it, and leave the worktree clean at the commit.

use sop::git::{GitError, SnapshotSpec, Tamper};

use crate::support::git_repo::{GitRepo, WHEN, changed, sh, snapshot, tester};
use crate::support::tricks::SETUP;

#[test]
fn the_tree_that_was_checked_is_committed_and_the_worktree_is_clean() {
    let repo = GitRepo::new(SETUP);
    let before = repo.checkout_state();
    let worktree = repo.worktree("a");
    sh(
        worktree.path(),
        "echo w >> src/a.txt; rm lib/x.c; printf n > 'src/a\nb'; echo i > x.log; git update-index --skip-worktree top.txt",
    );
    let found = snapshot(&worktree);
    let git = repo.repo();
    let commit = git
        .commit_tree(&found.tree, std::slice::from_ref(&found.base), "work", &tester(), WHEN)
        .expect("a commit");
    worktree.settle(&commit, found.branch_at.as_ref()).expect("settled");
    assert_eq!(
        sh(
            worktree.path(),
            "git status --porcelain; git ls-files -t | grep -v ^H || true; git rev-parse HEAD"
        ),
        commit.to_string()
    );
    assert_eq!(git.tree_of(&commit).expect("a tree"), found.tree);
    assert_eq!(git.branch("sop/run-1/a").expect("a look"), Some(commit.clone()));
    assert_eq!(
        worktree.verify_settled(&found.tree, &[]).expect("a look"),
        Vec::<bstr::BString>::new()
    );
    assert_eq!(sh(worktree.path(), "git fsck --strict 2>&1 | grep -v dangling || true"), "");
    // The next round goes on from there, against the same base.
    sh(worktree.path(), "echo w2 >> src/b.txt");
    let spec = SnapshotSpec { began_at: commit, ..SnapshotSpec::at(worktree.base()) };
    let next = worktree.snapshot(&spec).expect("a snapshot");
    assert_eq!((changed(&next).len(), next.tampers.len()), (4, 0));
    assert_eq!(repo.checkout_state(), before);
}

/// The link's place taken by a folder: it may hold a history, so it stays, and stays a finding.
#[test]
fn a_repository_of_the_workers_own_is_left_where_it_is() {
    let repo = GitRepo::new(SETUP);
    let worktree = repo.worktree("a");
    sh(worktree.path(), "rm .git; git init -q .; git add -A; git commit -qm own");
    let own = sh(worktree.path(), "git rev-parse HEAD");
    let found = snapshot(&worktree);
    assert_eq!(found.tampers, [Tamper::LinkReplaced]);
    worktree.settle(worktree.base(), found.branch_at.as_ref()).expect("settled, as far as can be");
    assert_eq!(sh(worktree.path(), "git rev-parse HEAD"), own);
    assert_eq!(snapshot(&worktree).tampers, [Tamper::LinkReplaced]);
}

#[test]
fn what_a_worker_committed_is_folded_back_into_plain_changes() {
    let repo = GitRepo::new(SETUP);
    let worktree = repo.worktree("a");
    sh(
        worktree.path(),
        "echo w >> src/a.txt; git commit -qam own; git switch -q -c elsewhere; echo x >> src/b.txt; git commit -qam more; git merge -q --no-commit --no-ff sop/run-1/a || true",
    );
    let found = snapshot(&worktree);
    assert!(found.tampers.iter().any(|tamper| matches!(tamper, Tamper::HeadSwitched { .. })));
    worktree.settle(worktree.base(), found.branch_at.as_ref()).expect("settled");
    let folded = snapshot(&worktree);
    assert_eq!((folded.tree, folded.changes, folded.tampers.len()), (found.tree, found.changes, 0));
    assert_eq!(
        sh(worktree.path(), "git branch --show-current; git status --porcelain"),
        "sop/run-1/a\n M src/a.txt\n M src/b.txt"
    );
}

#[test]
fn a_branch_that_moved_meanwhile_is_left_alone() {
    let repo = GitRepo::new(SETUP);
    let worktree = repo.worktree("a");
    let found = snapshot(&worktree);
    sh(worktree.path(), "git commit -q --allow-empty -m sneaky");
    let at = repo.repo().branch("sop/run-1/a").expect("a look");
    let error = worktree.settle(worktree.base(), found.branch_at.as_ref()).expect_err("it moved");
    assert!(matches!(error, GitError::RefMoved { .. }), "{error}");
    assert_eq!(repo.repo().branch("sop/run-1/a").expect("a look"), at);
}

#[test]
fn the_same_input_makes_the_same_commit_and_git_agrees() {
    let repo = GitRepo::new(SETUP);
    let git = repo.repo();
    let tree = git.tree_of(&repo.head()).expect("a tree");
    let make = || {
        git.commit_tree(&tree, &[repo.head()], "a title\n\nä body", &tester(), WHEN)
            .expect("a commit")
    };
    let theirs =
        repo.sh(&format!("printf 'a title\\n\\nä body\\n' | git commit-tree {tree} -p HEAD -F -"));
    assert_eq!((make(), make().to_string()), (make(), theirs));
}
