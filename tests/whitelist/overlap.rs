//! Where two whitelists meet, and that they do not where they do not.

use sop::whitelist::{MAX_PATHS, MAX_STEPS, OverlapKind, Whitelist, overlaps};

use super::{meet, whitelist, witness};

#[track_caller]
fn apart(a: &[&str], b: &[&str]) {
    assert_eq!(witness(a, b), None, "{a:?} and {b:?}");
}

#[track_caller]
fn shared(a: &[&str], b: &[&str], expected: &str) {
    assert_eq!(witness(a, b).as_deref(), Some(expected), "{a:?} and {b:?}");
}

#[test]
fn whitelists_that_share_no_path_are_apart() {
    apart(&["src/a/**"], &["src/b/**"]);
    apart(&["src/a/**"], &["src/ab/**"]);
    apart(&["src/a"], &["src/a/**"]);
    apart(&["*.rs"], &["*.toml"]);
    apart(&["*.rs"], &["src/*.rs"]);
    apart(&["*/b"], &["a/*/b"]);
    apart(&["[a-m]*"], &["[n-z]*"]);
    apart(&["??"], &["???"]);
    apart(&["**/a"], &["**/b"]);
    apart(&["a*b"], &["?"]);
    apart(&["{a,b}/**"], &["{c,d}/**"]);
    apart(&["**/[a-c]/**/x"], &["**/y"]);
    apart(&[], &["**"]);
    apart(&["Src/**"], &["src/**"]);
}

#[test]
fn a_witness_is_short_and_readable() {
    shared(&["src/client/**"], &["src/**"], "src/client/a");
    shared(&["**"], &["*"], "a");
    shared(&["**/*.rs"], &["src/**"], "src/a.rs");
    shared(&["**/test/**"], &["src/**"], "src/test/a");
    shared(&["a*"], &["*b"], "ab");
    shared(&["[!a-z]"], &["?"], "0");
    shared(&["**/a/**"], &["**/b/**"], "a/b/a");
    shared(&["x/**/y"], &["x/*/*/y"], "x/a/a/y");
    shared(&["{a,b}/{c,d}"], &["{b,x}/{d,y}"], "b/d");
    shared(&[".[!g]*"], &["**"], ".a");
    shared(&["src/\u{e9}*"], &["src/?"], "src/\u{e9}");
    shared(&["?*{ab,cd}"], &["{xcd,q}"], "xcd");
}

#[test]
fn odd_characters_are_in_a_witness_only_when_nothing_else_would_do() {
    shared(&["[\u{1}-~]"], &["?"], "a");
    // Longer, but readable.
    shared(&["{\u{7},abc}"], &["*"], "abc");
    shared(&["?"], &["[!!-~]"], " ");
    shared(&["?"], &["[!\u{1}-\u{b0}]"], "\u{b5}");
    // All that is left is a byte that is no character.
    let meet = meet(&["?", "![\u{1}-\u{10ffff}]"], &["*"], &[]);
    let witness = Some(b"\xff".into());
    assert_eq!(meet, Some(OverlapKind::Possible { witness }));
}

#[test]
fn git_is_no_witness() {
    shared(&[".*/a"], &["?g?t/*", "x"], ".gat/a");
    apart(&[".*/a"], &["?[g]it/*"]);
    shared(&[".*/a"], &["?git*/*"], ".gita/a");
}

#[test]
fn subtraction_counts_on_either_side() {
    apart(&["src/**", "!src/client/**"], &["src/client/**"]);
    shared(&["src/**", "!src/a*/**"], &["src/*/x"], "src/b/x");
    // What one gives up and the other gives up too leaves the rest.
    shared(&["*", "![a-m]*"], &["*", "![n-z]*"], "0");
    apart(&["[a-z]", "![a-m]"], &["[a-z]", "![n-z]"]);
    apart(&["**/x/**", "!a/**"], &["a/**"]);
    shared(&["**", "!**/*.rs"], &["src/**"], "src/a");
    shared(&["**", "!*", "!*/*"], &["**/b"], "a/a/b");
    apart(&["**", "!*/**"], &["*/**"]);
    apart(&["**", "!**/?", "!**/?/**"], &["*/b"]);
    shared(&["**", "!**/?", "!**/?/**"], &["*/b*"], "aa/ba");
}

#[test]
fn every_pattern_of_a_list_is_compared() {
    shared(&["a/**", "b/**", "c/d"], &["x", "y", "c/*"], "c/d");
    apart(&["a/**", "b/**", "c/d"], &["x", "y", "c/e"]);
}

#[test]
fn a_path_of_the_base_is_an_overlap() {
    let base = ["README.md", "src/a.rs", "src/b.rs", "src/old/c.rs", "x/y"];
    let overlap = |paths: &[&str]| {
        let paths: Vec<_> = paths.iter().map(|p| (*p).into()).collect();
        let count = paths.len();
        Some(OverlapKind::Overlap { paths, count })
    };
    let both = meet(&["src/**"], &["**/*.rs", "!src/old/**"], &base);
    assert_eq!(both, overlap(&["src/a.rs", "src/b.rs"]));
    // In the base only what is subtracted: still possible elsewhere.
    let none = meet(&["src/**", "!**/*.rs"], &["**"], &base);
    let witness = Some("src/a".into());
    assert_eq!(none, Some(OverlapKind::Possible { witness }));
    assert_eq!(meet(&["src/*.rs"], &["x/*"], &base), None);
}

#[test]
fn of_many_shared_paths_the_first_are_shown_and_all_are_counted() {
    let base: Vec<String> = (0..100).map(|n| format!("src/{n:03}")).collect();
    let base: Vec<&str> = base.iter().map(String::as_str).collect();
    let Some(OverlapKind::Overlap { paths, count }) = meet(&["src/**"], &["src/*"], &base) else {
        panic!("they share all of the base");
    };
    assert_eq!(count, 100);
    assert_eq!(paths, base[..MAX_PATHS]);
}

#[test]
fn base_paths_are_bytes_and_odd_ones_are_passed_over() {
    let (a, b) = (whitelist(&["a/**"]), whitelist(&["**"]));
    let base: [&[u8]; 4] = [b"a/\xff\n", b".git/a", b"/a/b", b"a/../a"];
    let found = overlaps(&[&a, &b], &base);
    let paths = vec![b"a/\xff\n".into()];
    assert_eq!(found.pairs[0].kind, OverlapKind::Overlap { paths, count: 1 });
}

#[test]
fn pairs_are_told_by_index_each_once_and_in_order() {
    let lists = [
        whitelist(&["a/**", "a/b", "z"]),
        whitelist(&["b/**"]),
        whitelist(&["a/b", "a/*", "b/x"]),
        whitelist(&["b/*"]),
        whitelist(&[]),
    ];
    let lists: Vec<&Whitelist> = lists.iter().collect();
    let found = overlaps(&lists, &["b/x"]);
    let pairs: Vec<_> = found
        .pairs
        .iter()
        .map(|o| (o.a, o.b, matches!(o.kind, OverlapKind::Overlap { .. })))
        .collect();
    assert_eq!(pairs, [(0, 2, false), (1, 2, true), (1, 3, true), (2, 3, true)]);
    assert!(!found.truncated);
}

#[test]
fn what_cannot_be_decided_is_possible_without_a_witness() {
    // Sixty letters of two, and no two that are 21 apart may be equal or unequal: nothing is left, but
    // to know it without seeing it takes every word of twenty letters.
    let word = "[ab]".repeat(60);
    let gap = "?".repeat(20);
    let [same, other] =
        [["a", "b"], ["b", "a"]].map(|[x, y]| [format!("!*a{gap}{x}*"), format!("!*b{gap}{y}*")]);
    let a = whitelist(&[&word, "x/**", &same[0], &same[1]]);
    let b = whitelist(&[&word, "y/**", &other[0], &other[1]]);
    let found = overlaps(&[&a, &b], &[""; 0]);
    assert_eq!(found.pairs.len(), 1);
    let undecided = OverlapKind::Possible { witness: None };
    assert_eq!(found.pairs[0].kind, undecided);
    assert!(found.effort.steps > MAX_STEPS);
}

#[test]
fn exclusions_that_multiply_are_tamed() {
    // As an automaton of sets each of these has 2^24 states.
    let long = format!("!**/*a{}", "?".repeat(24));
    let parts = format!("!**/a/{}b", "*/".repeat(24));
    shared(&["**", &long, &parts], &["src/**", "!src/a"], "src/b");
    apart(&["**", &long, &parts, "!src/**"], &["src/*", "src/**"]);
}
