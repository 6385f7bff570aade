//! That the work grows with the stage and not with its square: by counting what is done, since time
//! proves nothing on a busy machine.

use sop::whitelist::{Effort, MAX_PAIRS, OverlapKind, Overlaps, Whitelist, overlaps};

/// A stage of `n` whitelists, and a base of as many paths.
fn stage(n: usize, patterns: impl Fn(usize) -> Vec<String>) -> Overlaps {
    let lists: Vec<Whitelist> =
        (0..n).map(|i| Whitelist::parse(&patterns(i)).unwrap().whitelist).collect();
    let base: Vec<String> = (0..n).map(|i| format!("src/mod_{i:05}/lib.rs")).collect();
    overlaps(&lists.iter().collect::<Vec<_>>(), &base)
}

#[test]
fn folders_apart_are_never_compared() {
    for n in [1000, 2000] {
        let found = stage(n, |i| {
            vec![
                format!("src/mod_{i:05}/**"),
                format!("tests/mod_{i:05}_*.rs"),
                format!("docs/{i:05}.md"),
                format!("!src/mod_{i:05}/old/**"),
            ]
        });
        assert_eq!(found.pairs, []);
        // Each pattern on the one path within it, and each folder on the path that it is.
        let matches = 2 * n as u64;
        let expected = Effort { matches, ..Effort::default() };
        assert_eq!(found.effort, expected);
    }
}

#[test]
fn what_is_shared_with_one_costs_in_proportion() {
    let effort = |n| {
        // The first whitelist is a neighbour of all, and apart from each by one letter at the end.
        let found = stage(n, |i| match i {
            0 => vec!["src/**/[!a-z].rs".to_owned()],
            _ => vec![format!("src/mod_{i:05}/**/[a-z].rs")],
        });
        assert_eq!(found.pairs, []);
        found.effort
    };
    let (one, two) = (effort(500), effort(1000));
    assert_eq!(one.candidates, 499);
    assert_eq!(two.candidates, 999);
    assert_eq!(one.searches, 499);
    assert!(two.steps <= one.steps * 21 / 10, "{one:?} {two:?}");
}

/// The pattern of the package with this number.
type Numbered = fn(usize) -> String;

/// Patterns that start with nothing, by what tells them apart.
const WILD: &[(&str, Numbered)] = &[
    ("the name", |i| format!("**/mod_{i:05}.rs")),
    ("the end of the name", |i| format!("**/*_mod_{i:05}.rs")),
    ("the start of the name", |i| format!("**/mod_{i:05}_*.rs")),
    ("the name, of several endings", |i| format!("**/mod_{i:05}.{{ts,tsx}}")),
    ("the folder above the name", |i| format!("**/mod_{i:05}/*.rs")),
    ("a folder further up", |i| format!("**/mod_{i:05}/*/*/[a-z].rs")),
    ("the second folder", |i| format!("*/mod_{i:05}/**")),
    ("the third folder", |i| format!("*/*/x_{i:05}_*/**/a*")),
    ("the start of the first folder", |i| format!("mod_{i:05}*/**")),
    ("the start or the end", |i| match i % 2 {
        0 => format!("src/mod_{i:05}/*.rs"),
        _ => format!("**/mod_{i:05}.toml"),
    }),
];

#[test]
fn patterns_that_begin_wild_are_compared_with_few() {
    const N: u64 = 2000;
    for (what, pattern) in WILD {
        let found = stage(N as usize, |i| vec![pattern(i)]);
        assert_eq!(found.pairs, [], "{what}");
        let Effort { matches, candidates, searches, .. } = found.effort;
        assert_eq!(searches, 0, "{what}");
        // All pairs would be a thousand times this, and so would every pattern on every path.
        assert!(candidates <= N, "{what}: {candidates} pairs looked at");
        assert!(matches <= 10 * N, "{what}: {matches} matches tried");
    }
}

#[test]
fn what_is_compared_with_few_is_found_all_the_same() {
    const N: usize = 600;
    for (what, pattern) in WILD {
        // Two of the stage have the pattern of another one.
        let twin = |i: usize| format!("{{{0},{0}}}", pattern(i));
        let found = stage(N + 2, |i| vec![if i < N { pattern(i) } else { twin(i - N + 7) }]);
        let pairs: Vec<_> = found.pairs.iter().map(|pair| (pair.a, pair.b)).collect();
        assert_eq!(pairs, [(7, N), (8, N + 1)], "{what}");
        assert!(found.effort.searches <= 20, "{what}: {:?}", found.effort);
    }
}

#[test]
fn more_pairs_than_anyone_reads_are_cut_and_said_to_be() {
    let found = stage(200, |i| vec![format!("src/**/x{}", "*".repeat(i % 2))]);
    assert_eq!(found.pairs.len(), MAX_PAIRS);
    assert!(found.truncated);
    let found = stage(200, |_| vec!["src/**".to_owned()]);
    assert_eq!(found.pairs.len(), MAX_PAIRS);
    assert!(found.truncated);
    let overlap = |kind: &OverlapKind| matches!(kind, OverlapKind::Overlap { count: 200, .. });
    assert!(found.pairs.iter().all(|o| overlap(&o.kind)));
}
