//! Reading commits: paths, blobs, revisions, ancestry.

use bstr::{BStr, BString};
use sop::git::{ChangeKind, GitError};
use sop::model::ids::CommitId;

use crate::support::git_repo::GitRepo;
use crate::support::tricks::SETUP;

/// Cases 7 and 20: what is in the base is asked by bytes.
#[test]
fn a_commit_tells_its_paths_and_blobs() {
    let repo = GitRepo::new(SETUP);
    repo.sh("printf x > \"$(printf 'n\\nl')\"; printf y > \"$(printf '\\377')\"; printf z > ./-rf; git add -A; git commit -qm odd");
    let git = repo.repo();
    let head = git.resolve("HEAD").expect("a commit");
    let paths = git.paths_at(&head).expect("paths");
    for name in [&b"n\nl"[..], b"\xff", b"-rf", b"src/link", b"lib/deep/y.c"] {
        assert!(paths.contains(&BString::from(name)), "{name:?}");
        assert!(git.blob_at(&head, BStr::new(name)).expect("a blob").is_some(), "{name:?}");
    }
    assert_eq!(git.blob_at(&head, "src/link".into()).expect("a link"), Some(b"a.txt".to_vec()));
    for absent in ["src", "src/", "nothing", "src/a.txt/x", "src/*", ":(top)top.txt", ""] {
        assert_eq!(git.blob_at(&head, absent.into()).expect("an answer"), None, "{absent}");
    }
}

#[test]
fn revisions_are_resolved_or_named() {
    let repo = GitRepo::new(SETUP);
    repo.sh("git tag -a -m t v1; git commit -q --allow-empty -m two");
    let git = repo.repo();
    assert_eq!(git.resolve("v1").expect("a tag"), git.resolve("HEAD~1").expect("a parent"));
    assert!(git.is_ancestor(&git.resolve("v1").expect("a tag"), &repo.head()).expect("an answer"));
    assert!(!git.is_ancestor(&repo.head(), &git.resolve("v1").expect("a tag")).expect("an answer"));
    for rev in ["nothing", "--all", "-h", "", "HEAD:src", "a\0b"] {
        assert!(matches!(git.resolve(rev), Err(GitError::UnknownRevision { .. })), "{rev:?}");
    }
    git.tree_of(&CommitId("0".repeat(40))).expect_err("no such commit");
}

#[test]
fn trees_are_compared_without_renames() {
    let repo = GitRepo::new(SETUP);
    let old = repo.repo().tree_of(&repo.head()).expect("a tree");
    repo.sh("git mv src/a.txt lib/a.txt; chmod +x top.txt; rm src/link; echo f > src/link; echo x >> lib/x.c; git add -A; git commit -qm two");
    let changes = repo
        .repo()
        .diff_trees(&old, &repo.repo().tree_of(&repo.head()).expect("a tree"))
        .expect("a diff");
    let found: Vec<_> =
        changes.iter().map(|change| (change.path.to_string(), change.kind)).collect();
    let wanted = [
        ("lib/a.txt", ChangeKind::Added),
        ("lib/x.c", ChangeKind::Modified),
        ("src/a.txt", ChangeKind::Deleted),
        ("src/link", ChangeKind::Type),
        ("top.txt", ChangeKind::Mode),
    ];
    assert_eq!(found, wanted.map(|(path, kind)| (path.to_owned(), kind)));
}
