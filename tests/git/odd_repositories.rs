//! Repositories that libgit2 cannot open, and what preflight says about others.

use sop::git::guard::GuardSpec;
use sop::git::refs::Target;
use sop::git::{GitError, MergeOutcome, ObstacleKind, Removal, Repo, SnapshotSpec};
use sop::model::ids::RunId;

use crate::support::git_repo::{GitRepo, WHEN, changed, sh, snapshot, tester};
use crate::support::tricks::SETUP;

fn works(repo: &GitRepo, in_process: bool) {
    let git = repo.repo();
    assert_eq!(git.in_process(), in_process);
    assert_eq!(git.current_branch().expect("a look").as_deref(), Some("main"));
    let before =
        repo.sh("git status --porcelain; git rev-parse HEAD; sha256sum .git/index .git/config");
    let worktree = repo.worktree("a");
    let run = RunId::new("run-1").expect("an id");
    let watch = || {
        git.guard(GuardSpec { run: &run, worktree: Some(&worktree), checkout: true })
            .expect("a guard")
    };
    let guarded = watch();
    sh(
        worktree.path(),
        "echo x >> src/a.txt; rm lib/x.c; printf n > 'src/a\nb'; ln -s x src/l; chmod +x docs/guide.md",
    );
    let found = snapshot(&worktree);
    assert_eq!(changed(&found), ["docs/guide.md", "lib/x.c", "src/a\nb", "src/a.txt", "src/l"]);
    assert_eq!((found.tampers.len(), found.branch_at.clone()), (0, Some(repo.head())));
    assert!(git.compare(&guarded, &watch()).expect("a comparison").differences.is_empty());
    let commit = git
        .commit_tree(&found.tree, std::slice::from_ref(&found.base), "work", &tester(), WHEN)
        .expect("a commit");
    worktree.settle(&commit, found.branch_at.as_ref()).expect("settled");
    assert_eq!(
        sh(worktree.path(), "git status --porcelain; git rev-parse HEAD"),
        commit.to_string()
    );
    assert_eq!(git.blob_at(&commit, "src/l".into()).expect("a blob"), Some(b"x".to_vec()));
    assert_eq!(git.blob_at(&commit, "src".into()).expect("no blob"), None);
    assert_eq!(git.parents_of(&commit).expect("parents"), *std::slice::from_ref(&found.base));

    sh(worktree.path(), "git commit -q --allow-empty -m own; git tag t");
    let moved = worktree
        .snapshot(&SnapshotSpec { began_at: commit.clone(), ..SnapshotSpec::at(&found.base) })
        .expect("a snapshot");
    assert_eq!(moved.tampers.len(), 1);
    let diff = git.compare(&guarded, &watch()).expect("a comparison");
    assert_eq!(diff.findings().map(|d| d.place.to_string()).collect::<Vec<_>>(), ["refs/tags/t"]);
    let stale = git.set_branch("sop/run-1/a", &commit, Some(&found.base)).expect_err("it moved");
    assert!(matches!(stale, GitError::RefMoved { .. }), "{stale}");

    let MergeOutcome::Merged(merged) =
        git.merge(&found.base, &commit, "m", &tester(), WHEN).expect("a merge")
    else {
        panic!()
    };
    git.set_branch("sop-stage/run-1/1", &merged.commit, None).expect("a branch");
    git.set_branch("sop-stage/run-1/1", &merged.commit, None).expect_err("it exists");
    assert!(git.is_merged(&commit, &merged.commit).expect("an answer"));
    assert_eq!(worktree.remove(&found.tree, &[]).expect("removed"), Removal::Gone);
    git.delete_branch("sop/run-1/a", moved.branch_at.as_ref().expect("a branch")).expect("deleted");
    assert_eq!(git.branch("sop/run-1/a").expect("a look"), None);
    repo.sh("git branch sop/run-1/packed; git branch sop/run-10/b; git pack-refs --all; \
         git branch sop/run-1/loose; git symbolic-ref refs/heads/sop/run-1/z refs/heads/main");
    let head = Target::Direct(repo.head());
    let branches: Vec<_> = git.branches_of(&run).expect("a list").into_iter().collect();
    let expected = [
        ("sop-stage/run-1/1", Target::Direct(merged.commit.clone())),
        ("sop/run-1/loose", head.clone()),
        ("sop/run-1/packed", head),
        ("sop/run-1/z", Target::Symbolic("refs/heads/main".to_owned())),
    ];
    assert_eq!(branches, expected.map(|(name, target)| (name.to_owned(), target)));
    sh(&repo.main(), "git tag -d t >/dev/null; git fsck --strict 2>&1 | grep -v dangling || true");
    assert_eq!(
        repo.sh("git status --porcelain; git rev-parse HEAD; sha256sum .git/index .git/config"),
        before
    );
}

#[test]
fn a_usual_repository_works() {
    works(&GitRepo::new(SETUP), true);
}

#[test]
fn a_sha256_repository_works() {
    works(&GitRepo::with_init(SETUP, "git init -q -b main --object-format=sha256 ."), false);
}

#[test]
fn a_reftable_repository_works() {
    // Only a git of 2.45 or newer can make one.
    if sh(std::path::Path::new("/"), "git init -h 2>&1 || true").contains("--ref-format") {
        works(&GitRepo::with_init(SETUP, "git init -q -b main --ref-format=reftable ."), false);
    }
}

#[test]
fn a_linked_worktree_of_the_users_is_their_checkout() {
    let repo = GitRepo::new(SETUP);
    repo.sh("git worktree add -q -b theirs ../outside/theirs; git -C ../outside/theirs commit -q --allow-empty -m theirs");
    let git = Repo::discover(&repo.at("outside/theirs/src")).expect("the repository");
    assert_eq!(git.top(), Some(repo.at("outside/theirs").as_path()));
    assert_eq!(git.common_dir(), repo.main().join(".git"));
    assert_eq!(git.current_branch().expect("a look").as_deref(), Some("theirs"));
    assert_ne!(git.resolve("HEAD").expect("a commit"), repo.head());
    git.add_worktree(&repo.spec("a")).expect("a worktree");
}

#[test]
fn preflight_names_what_it_finds() {
    let kinds = |repo: &GitRepo| -> Vec<ObstacleKind> {
        let found = repo.repo().obstacles("2.47.3").into_iter();
        found.map(|obstacle| obstacle.kind).collect()
    };
    let repo = GitRepo::new(SETUP);
    assert_eq!(kinds(&repo), []);
    repo.sh("git checkout -q -b one; echo 1 > top.txt; git commit -qam 1; git checkout -q main; echo 2 > top.txt; git commit -qam 2; git merge -q one >/dev/null 2>&1 || true");
    repo.sh("git config core.hooksPath .husky");
    assert_eq!(kinds(&repo), [ObstacleKind::InProgress, ObstacleKind::HooksPath]);
    let unborn = tempfile::tempdir().expect("a folder");
    sh(unborn.path(), "git init -q .");
    let obstacles = Repo::discover(unborn.path()).expect("a repository").obstacles("2.47.3");
    assert!(
        obstacles
            .iter()
            .any(|obstacle| obstacle.kind == ObstacleKind::UnbornHead && obstacle.kind.blocks())
    );
    let none = tempfile::tempdir().expect("a folder");
    let error = Repo::discover(none.path()).expect_err("no repository");
    assert!(matches!(error, GitError::NotARepository { .. }), "{error}");
}

#[test]
fn what_is_overwritten_is_found_where_libgit2_cannot_look() {
    let repo = GitRepo::with_init(SETUP, "git init -q -b main --object-format=sha256 .");
    let (git, head) = (repo.repo(), repo.head());
    assert!(!git.in_process());
    let look = || git.hold_what_they_say(std::slice::from_ref(&head), 0);
    look().expect("all is as it says");
    let over = "o() { p=$(git rev-parse $1); echo .git/objects/${p%${p#??}}/${p#??}; }\n\
                chmod +w $(o HEAD:src/a.txt); cat $(o HEAD:lib/x.c) > $(o HEAD:src/a.txt)";
    repo.sh(over);
    let error = look().expect_err("it is overwritten").to_string();
    assert!(error.contains("src/a.txt") && error.contains("overwritten"), "{error}");
}
