//! Slices: each line of each file is in exactly one, none is larger than a scout can read, and folders stay
//! together where they fit.

use std::collections::BTreeMap;

use bstr::BString;
use proptest::prelude::*;
use sop::audit::slice::{MOST_BYTES, MOST_FILES, Portions, cut};
use sop::audit::{File, naming};

fn file(path: &str, bytes: u64, lines: u32) -> File {
    File { path: BString::from(path), bytes, lines }
}

/// What each slice holds, as a scout is told it.
fn told(slices: &[Portions]) -> Vec<Vec<String>> {
    slices.iter().map(|it| it.0.iter().map(|portion| portion.shown()).collect()).collect()
}

#[test]
fn what_fits_one_scout_is_one_slice() {
    let files = [file("a.rs", 100, 3), file("b/c.rs", 100, 3), file("d.rs", 100, 3)];
    let slices = cut(&files);
    assert_eq!(told(&slices), [["a.rs", "b/c.rs", "d.rs"]]);
    assert_eq!((slices[0].lines(), slices[0].bytes()), (9, 300));
    assert_eq!(slices[0].place(), "");
    assert!(cut(&[]).is_empty());
}

#[test]
fn folders_that_fit_go_whole_and_small_neighbours_share() {
    let half = MOST_BYTES / 2;
    let files = [
        file("a/one.rs", half, 10),
        file("a/two.rs", half, 10),
        file("b/one.rs", 10, 1),
        file("c/one.rs", 10, 1),
        file("d/one.rs", half, 10),
        file("d/two.rs", half, 10),
        file("top.rs", 10, 1),
    ];
    let slices = told(&cut(&files));
    assert_eq!(
        slices,
        [
            vec!["top.rs"],
            vec!["a/one.rs", "a/two.rs"],
            vec!["b/one.rs", "c/one.rs"],
            vec!["d/one.rs", "d/two.rs"],
        ]
    );
    let place = |n: usize| cut(&files)[n].place().to_string();
    assert_eq!((place(0), place(1), place(2)), ("top.rs".into(), "a".into(), String::new()));
}

#[test]
fn folders_of_like_names_are_no_common_folder() {
    let slices = cut(&[file("a/x.rs", 1, 1), file("ab/x.rs", 1, 1)]);
    assert_eq!(slices[0].place(), "");
    let slices = cut(&[file("a/b/x.rs", 1, 1), file("a/b/y.rs", 1, 1)]);
    assert_eq!(slices[0].place(), "a/b");
}

#[test]
fn a_file_too_large_is_cut_into_ranges_of_lines() {
    let slices = told(&cut(&[file("big.c", 2 * MOST_BYTES + 1, 9000)]));
    assert_eq!(slices, [["big.c:1-3000"], ["big.c:3001-6000"], ["big.c:6001-9000"]]);
    // One line cannot be cut.
    let slices = told(&cut(&[file("min.js", 5 * MOST_BYTES, 1)]));
    assert_eq!(slices, [["min.js"]]);
}

#[test]
fn names_are_made_of_paths() {
    for (path, id) in [
        ("engine/git/repo.rs", "s1-engine-git-repo-rs"),
        ("", "s1"),
        ("…", "s1"),
        ("--x--", "s1-x"),
        ("a/very/long/path/to/some/file/of/a/deep/tree.rs", "s1-to-some-file-of-a-deep-tree-rs"),
    ] {
        assert_eq!(naming::id("s1", path), id);
    }
}

proptest! {
    #[test]
    fn every_line_is_in_exactly_one_slice(
        tree in prop::collection::btree_map("[abc]{1,2}(/[abc]{1,2}){0,3}", (1_u64..400_000, 1_u32..5_000), 0..150)
    ) {
        let files: Vec<File> =
            tree.iter().map(|(path, (bytes, lines))| file(path, *bytes, *lines)).collect();
        let slices = cut(&files);
        let mut seen: BTreeMap<String, Vec<(u32, u32)>> = BTreeMap::new();
        for slice in &slices {
            prop_assert!(!slice.0.is_empty());
            prop_assert!(slice.0.len() <= MOST_FILES);
            prop_assert!(slice.bytes() <= MOST_BYTES || slice.0.len() == 1);
            for portion in &slice.0 {
                let lines = seen.entry(portion.path.to_string()).or_default();
                lines.push((portion.from, portion.to));
            }
        }
        prop_assert_eq!(seen.len(), files.len());
        for file in &files {
            let mut lines = seen.remove(&file.path.to_string()).unwrap_or_default();
            lines.sort_unstable();
            let mut next = 1;
            for (from, to) in lines {
                prop_assert_eq!(from, next);
                prop_assert!(to >= from);
                next = to + 1;
            }
            prop_assert_eq!(next, file.lines + 1);
        }
    }
}
