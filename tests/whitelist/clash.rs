//! A file of one whitelist in the place of a folder of another one.

use sop::whitelist::OverlapKind;

use super::meet;

/// A clash: the file, whether the first one makes it, and a path within the folder.
fn clash(path: &str, file_by_a: bool, within: &str) -> Option<OverlapKind> {
    Some(OverlapKind::Clash { path: path.into(), file_by_a, within: Some(within.into()) })
}

#[test]
fn a_file_in_the_place_of_a_folder_is_told_with_both_paths() {
    assert_eq!(meet(&["src/a"], &["src/a/**"], &[]), clash("src/a", true, "src/a/a"));
    assert_eq!(meet(&["src/a/*.rs"], &["src/a"], &[]), clash("src/a", false, "src/a/a.rs"));
    assert_eq!(meet(&["*"], &["docs/api/x.md"], &[]), clash("docs", true, "docs/api/x.md"));
    assert_eq!(
        meet(&["docs/?pi"], &["docs/api/x.md"], &[]),
        clash("docs/api", true, "docs/api/x.md")
    );
    assert_eq!(meet(&["**/api"], &["{a,api}/b"], &[]), clash("api", true, "api/b"));
    assert_eq!(meet(&["b"], &["{b,*}/a"], &[]), clash("b", true, "b/a"));
}

#[test]
fn what_is_taken_away_makes_neither_file_nor_folder() {
    assert_eq!(meet(&["src/*", "!src/a"], &["src/a/**"], &[]), None);
    assert_eq!(
        meet(&["src/a"], &["src/a/**", "src/b", "!src/a/*/**"], &[]),
        clash("src/a", true, "src/a/a")
    );
    assert_eq!(meet(&["src/a"], &["{src/a/x,src/b}", "!src/a/**"], &[]), None);
}

#[test]
fn only_folders_that_are_spelled_out_count() {
    assert_eq!(meet(&["**/a.rs"], &["**/b.rs"], &[]), None);
    assert_eq!(meet(&["src/a.rs"], &["src/*/b.rs"], &[]), None);
    assert_eq!(meet(&["src/a"], &["src/ab/**"], &[]), None);
    assert_eq!(meet(&["src/A"], &["src/a/**"], &[]), None);
}

#[test]
fn what_the_base_holds_is_no_longer_open() {
    // A file stays one for whoever may not remove it, and so does a folder with foreign files.
    assert_eq!(meet(&["src/a"], &["src/a/**"], &["src/a"]), None);
    assert_eq!(meet(&["src/*"], &["src/a/**"], &["src/a/x.rs", "src/ab"]), None);
    assert_eq!(meet(&["*"], &["src/a/**"], &["lib/x", "src-gen", "src/b"]), None);
    // But who may empty the folder may put a file in its place.
    let base = ["src/a-b", "src/a/x.rs", "src/a0"];
    let both = meet(&["src/a", "src/a/x.rs"], &["src/a/y.rs"], &base);
    assert_eq!(both, clash("src/a", true, "src/a/y.rs"));
}

#[test]
fn a_shared_path_is_told_before_a_clash() {
    let found = meet(&["src/a", "src/b"], &["src/a/**", "src/b"], &[]);
    assert_eq!(found, Some(OverlapKind::Possible { witness: Some("src/b".into()) }));
}
