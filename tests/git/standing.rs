//! Branches that should stay where they are: whatever is done to one, the next look does not take it for standing.

use std::sync::Arc;
use std::time::Duration;

use sop::git::standing::Watched;

use crate::support::git_repo::GitRepo;

const SETUP: &str = "echo x > f; git add -A; git commit -qm base";

/// The branches that a look is in doubt about.
fn in_doubt(repo: &GitRepo, watched: &[Arc<Watched>]) -> Vec<String> {
    let mut left = watched.to_vec();
    repo.repo().drop_standing(&mut left);
    left.iter().map(|watched| watched.branch.clone()).collect()
}

/// Three branches, made one after the other and found standing twice, so that all but the youngest are known by
/// their stamps.
fn three(repo: &GitRepo) -> Vec<Arc<Watched>> {
    let watched = ["sop/r/a", "sop/r/b", "sop/r/c"].map(|branch| {
        repo.sh(&format!("git branch {branch}"));
        std::thread::sleep(Duration::from_millis(20));
        Arc::new(Watched::new(branch.to_owned(), repo.head()))
    });
    assert_eq!(in_doubt(repo, &watched), [""; 0]);
    assert_eq!(in_doubt(repo, &watched), [""; 0]);
    watched.to_vec()
}

#[test]
fn whatever_is_done_to_a_branch_is_seen() {
    let other = "$(git commit-tree -m x HEAD^{tree})";
    for (done, back) in [
        (&*format!("git update-ref refs/heads/sop/r/a {other}"), "git branch -f sop/r/a main"),
        // In place, as no git would.
        (
            &*format!("echo {other} > .git/refs/heads/sop/r/a"),
            "git rev-parse main > .git/refs/heads/sop/r/a",
        ),
        ("git symbolic-ref refs/heads/sop/r/a refs/heads/main", "git branch -f sop/r/a main"),
        ("ln -sf b .git/refs/heads/sop/r/a", "rm .git/refs/heads/sop/r/a; git branch sop/r/a main"),
        (
            "rm .git/refs/heads/sop/r/a; mkfifo .git/refs/heads/sop/r/a",
            "rm .git/refs/heads/sop/r/a; git branch sop/r/a main",
        ),
        ("git update-ref -d refs/heads/sop/r/a", "git branch sop/r/a main"),
        (": > .git/refs/heads/sop/r/a", "git rev-parse main > .git/refs/heads/sop/r/a"),
    ] {
        let repo = GitRepo::new(SETUP);
        let watched = three(&repo);
        repo.sh(done);
        assert_eq!(in_doubt(&repo, &watched), ["sop/r/a"], "{done}");
        assert_eq!(in_doubt(&repo, &watched), ["sop/r/a"], "{done}: still");
        repo.sh(back);
        if !done.starts_with("git symbolic-ref") {
            assert_eq!(in_doubt(&repo, &watched), [""; 0], "{back}");
        }
    }
}

#[test]
fn a_packed_branch_is_left_to_whoever_can_tell() {
    let repo = GitRepo::new(SETUP);
    let watched = three(&repo);
    repo.sh("git pack-refs --all");
    assert_eq!(in_doubt(&repo, &watched), ["sop/r/a", "sop/r/b", "sop/r/c"]);
    repo.sh("git update-ref refs/heads/sop/r/b $(git commit-tree -m x HEAD^{tree})");
    assert_eq!(in_doubt(&repo, &watched), ["sop/r/a", "sop/r/b", "sop/r/c"]);
}

#[test]
fn where_refs_are_kept_in_another_way_no_file_counts() {
    let init = "git init -q -b main --object-format=sha256 .";
    let repo = GitRepo::with_init(SETUP, init);
    repo.sh("git branch sop/r/a");
    let watched = [Arc::new(Watched::new("sop/r/a".to_owned(), repo.head()))];
    assert_eq!(in_doubt(&repo, &watched), ["sop/r/a"]);
}
