//! Worktrees: made, found again, refused.

use std::os::unix::fs::PermissionsExt;

use bstr::BString;
use sop::git::{GitError, Worktree, WorktreeSpec};

use crate::support::git_repo::{GitRepo, changed, sh, snapshot};
use crate::support::tricks::SETUP;

#[test]
fn a_fresh_worktree_is_clean_and_whole_and_the_checkout_untouched() {
    let repo = GitRepo::new(SETUP);
    let before = repo.checkout_state();
    let worktree = repo.worktree("a");
    assert_eq!(changed(&snapshot(&worktree)), Vec::<BString>::new());
    assert_eq!(
        sh(worktree.path(), "git status --porcelain; git branch --show-current"),
        "sop/run-1/a"
    );
    assert_eq!(sh(worktree.path(), "git ls-files | wc -l"), repo.sh("git ls-files | wc -l"));
    assert_eq!(repo.checkout_state(), before);
}

#[test]
fn everything_may_be_used_from_any_thread() {
    fn anywhere<T: Send + Sync + Clone + 'static>() {}
    anywhere::<sop::git::Repo>();
    anywhere::<Worktree>();
    anywhere::<sop::git::Guarded>();
    anywhere::<sop::git::Snapshot>();
}

/// A worktree that is not there is an error, not a worktree in which everything was deleted.
#[test]
fn a_worktree_that_is_gone_is_no_snapshot() {
    let repo = GitRepo::new(SETUP);
    let worktree = repo.worktree("a");
    std::fs::remove_dir_all(worktree.path()).expect("removed");
    let found = worktree.snapshot(&sop::git::SnapshotSpec::at(worktree.base()));
    assert!(matches!(found, Err(GitError::Io { .. })), "{found:?}");
}

#[test]
fn asking_again_gives_the_same_worktree_with_the_work_in_it() {
    let repo = GitRepo::new(SETUP);
    let first = repo.worktree("a");
    sh(first.path(), "echo work >> src/a.txt; echo new > src/n; echo '-' > .git");
    let again = repo.worktree("a");
    assert_eq!((again.path(), again.git_dir()), (first.path(), first.git_dir()));
    assert_eq!(changed(&snapshot(&again)), ["src/a.txt", "src/n"]);
    assert!(repo.repo().find_worktree(&repo.spec("b")).expect("a look").is_none());
    assert!(repo.repo().find_worktree(&repo.spec("a")).expect("a look").is_some());
}

/// Case 5. The branch has an upstream, as where plain `git worktree add -b` loses half of them.
#[test]
fn many_at_once_all_stand() {
    let repo = GitRepo::new(SETUP);
    repo.sh("git clone -q --bare . ../outside/remote.git; git remote add origin ../outside/remote.git; git fetch -q; git branch -q -u origin/main");
    repo.sh("git config branch.autoSetupMerge always; git config branch.autoSetupRebase always");
    let config = repo.sh("cat .git/config");
    let made: Vec<Worktree> = std::thread::scope(|scope| {
        let repo = &repo;
        let threads: Vec<_> =
            (0..24).map(|n| scope.spawn(move || repo.worktree(&format!("wp-{n}")))).collect();
        threads.into_iter().map(|thread| thread.join().expect("a worktree")).collect()
    });
    for worktree in &made {
        assert_eq!(std::fs::read(worktree.path().join("top.txt")).expect("a file"), b"top\n");
        assert_eq!(
            repo.repo().branch(worktree.branch().expect("a branch")).expect("a look"),
            Some(repo.head())
        );
    }
    assert_eq!(repo.sh("git worktree list | wc -l"), "25");
    assert_eq!(repo.sh("git branch --list 'sop/*' | wc -l"), "24");
    assert_eq!(repo.sh("cat .git/config"), config, "no tracking was set up");
}

/// Cases 6 and 12: what is in the way is named, and left as it is.
#[test]
fn what_is_in_the_way_is_named_and_kept() {
    let repo = GitRepo::new(SETUP);
    let refused = |spec: &WorktreeSpec| repo.repo().add_worktree(spec).expect_err("refused");
    let spec = repo.spec("a");

    std::fs::write(&spec.path, "mine").expect("a file");
    let error = refused(&spec);
    assert!(
        matches!(&error, GitError::PathTaken { path, what } if *path == spec.path && what == "a file"),
        "{error}"
    );
    assert_eq!(std::fs::read(&spec.path).expect("still there"), b"mine");
    std::fs::remove_file(&spec.path).expect("removed");

    std::fs::create_dir(&spec.path).expect("a folder");
    std::fs::write(spec.path.join("notes"), "mine").expect("a file");
    let error = refused(&spec);
    assert!(error.to_string().contains("a folder with something in it"), "{error}");
    assert_eq!(std::fs::read(spec.path.join("notes")).expect("still there"), b"mine");
    std::fs::remove_dir_all(&spec.path).expect("removed");

    repo.sh("git branch sop/run-1/a HEAD");
    let error = refused(&spec);
    assert!(
        matches!(&error, GitError::BranchTaken { branch, .. } if branch == "sop/run-1/a"),
        "{error}"
    );
    assert!(repo.repo().branch("sop/run-1/a").expect("a look").is_some());
    assert!(!spec.path.exists(), "nothing half-made is left");
    repo.sh("git branch -D -q sop/run-1/a");

    for path in ["wt", "wt/deep/er", "src/wt", ".git/wt"] {
        let inside = WorktreeSpec { path: repo.main().join(path), ..spec.clone() };
        assert!(matches!(refused(&inside), GitError::PathTaken { .. }), "{path}");
    }
    assert_eq!(repo.sh("git status --porcelain; find . -name 'wt*'"), "", "nothing was made there");

    let other = repo.repo().add_worktree(&spec).expect("nothing is in the way now");
    let twin = WorktreeSpec { branch: Some("sop/run-2/a".to_owned()), ..spec };
    let error = refused(&twin);
    assert!(error.to_string().contains("sop/run-1/a"), "{error}");
    assert!(other.path().join("top.txt").exists());
    assert_eq!(repo.sh("git branch --list 'sop/run-2/*'"), "");
}

/// Case 12: a checkout that fails leaves no branch and no folder, and is the system's fault in words.
#[test]
fn a_checkout_that_fails_is_rolled_back() {
    let repo = GitRepo::new(SETUP);
    repo.sh("echo 'top.txt filter=broken' > .gitattributes; git add -A; git commit -qm filter");
    repo.sh("git config filter.broken.smudge false; git config filter.broken.required true");
    let spec = repo.spec("a");
    let error = repo.repo().add_worktree(&spec).expect_err("refused");
    assert!(
        matches!(&error, GitError::Failed { stderr, .. } if stderr.contains("top.txt")),
        "{error}"
    );
    assert!(!spec.path.exists());
    assert_eq!(repo.sh("git branch --list 'sop/*'; git worktree list | wc -l"), "1");
    repo.sh("git config filter.broken.smudge cat");
    repo.repo().add_worktree(&spec).expect("works when the filter does");
}

#[test]
fn hooks_do_not_run_and_filters_do() {
    let repo = GitRepo::new(SETUP);
    repo.sh("git config filter.rot.clean 'tr a-y b-z'; git config filter.rot.smudge 'tr b-z a-y'");
    repo.sh("echo '*.rot filter=rot' > .gitattributes; echo abc > f.rot; git add -A; git commit -qm filter");
    for hook in ["post-checkout", "reference-transaction", "post-index-change"] {
        let path = repo.main().join(".git/hooks").join(hook);
        std::fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
        std::fs::write(
            &path,
            format!("#!/bin/sh\ntouch {}\n", repo.at("outside").join(hook).display()),
        )
        .expect("a hook");
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).expect("a mode");
    }
    let worktree = repo.worktree("a");
    assert_eq!(sh(worktree.path(), "cat f.rot"), "abc");
    sh(worktree.path(), "echo xab > f.rot; echo xbc > g.rot");
    let found = snapshot(&worktree);
    assert_eq!(changed(&found), ["f.rot", "g.rot"]);
    assert_eq!(
        repo.sh(&format!("git show {}:f.rot", found.tree)),
        "ybc",
        "stored through the clean filter"
    );
    assert_eq!(std::fs::read_dir(repo.at("outside")).expect("a folder").count(), 0, "a hook ran");
}

#[test]
fn a_detached_worktree_for_a_gate() {
    let repo = GitRepo::new(SETUP);
    let spec = WorktreeSpec { branch: None, ..repo.spec("gate") };
    let worktree = repo.repo().add_worktree(&spec).expect("a worktree");
    assert_eq!(
        sh(worktree.path(), "git branch --show-current; git rev-parse HEAD"),
        repo.head().to_string()
    );
    let found = snapshot(&worktree);
    assert_eq!(
        (found.changes.len(), found.tampers.len(), found.branch_at),
        (0, 0, Some(repo.head()))
    );
}

/// Sparse settings of the user's checkout would leave files out; a worktree is whole.
#[test]
fn a_sparse_checkout_is_no_reason_for_a_sparse_worktree() {
    let repo = GitRepo::new(SETUP);
    repo.sh("git sparse-checkout set src");
    assert!(!repo.main().join("lib").exists());
    let before = repo.checkout_state();
    let worktree = repo.worktree("a");
    assert!(worktree.path().join("lib/deep/y.c").exists());
    sh(
        worktree.path(),
        "git status >/dev/null; echo x >> src/a.txt; git add -A; git checkout -q -- .",
    );
    assert_eq!(changed(&snapshot(&worktree)), ["src/a.txt"]);
    assert_eq!(repo.checkout_state(), before);
}
