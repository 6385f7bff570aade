//! Our reading of index files, held against `git ls-files`.

use sop::git::GitError;
use sop::git::index_file::Index;

use crate::support::git_repo::GitRepo;

#[test]
fn every_version_is_read_as_git_reads_it() {
    let names = "mkdir -p d/e; for n in a b 'c d' long$(printf x%.0s $(seq 200)); do echo $n > \"$n\"; echo $n > \"d/e/$n\"; done; printf x > \"$(printf 'd/\\377')\"; ln -s a l; chmod +x b";
    let repo = GitRepo::new(names);
    repo.sh("git update-index --assume-unchanged a; git update-index --skip-worktree b");
    for version in [2, 4, 3] {
        repo.sh(&format!("git update-index --index-version {version}"));
        let index = Index::read(&repo.main().join(".git/index"), 20).expect("an index");
        let ours: Vec<String> = index
            .entries()
            .iter()
            .map(|e| format!("{:o} {} {}\t{}", e.leaf.mode, e.leaf.id, e.stage, index.path(e)))
            .collect();
        let theirs: Vec<String> = repo
            .sh("git ls-files -s -z | tr '\\0' '\\1'")
            .split('\u{1}')
            .filter(|l| !l.is_empty())
            .map(str::to_owned)
            .collect();
        assert_eq!(ours, theirs, "version {version}");
        let flags: Vec<_> = index
            .entries()
            .iter()
            .filter(|e| e.assume_unchanged || e.skip_worktree)
            .map(|e| (index.path(e).to_string(), e.skip_worktree))
            .collect();
        assert_eq!(flags, [("a".to_owned(), false), ("b".to_owned(), true)]);
        let found = index.find("d/e/c d".into()).expect("found");
        assert_eq!(found.stat.size, 4);
    }
}

#[test]
fn damage_and_forms_we_do_not_read_are_refused() {
    let repo = GitRepo::new("mkdir d; echo a > d/a; echo b > b");
    let path = repo.main().join(".git/index");
    let whole = std::fs::read(&path).expect("an index");
    for length in 0..whole.len() {
        std::fs::write(&path, &whole[..length]).expect("written");
        match Index::read(&path, 20) {
            // Cut behind the entries, where only git's caches are.
            Ok(index) => assert_eq!(index.entries().len(), 2, "{length}"),
            Err(error) => assert!(matches!(error, GitError::Index { .. }), "{error}"),
        }
    }
    std::fs::write(&path, &whole).expect("written");
    repo.sh("git update-index --split-index");
    assert!(matches!(Index::read(&path, 20), Err(GitError::Index { .. })));
}
