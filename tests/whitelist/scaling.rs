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
        let matches = n as u64;
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

#[test]
fn patterns_that_begin_wild_fall_back_to_all_pairs_but_seldom_to_a_search() {
    let n = 200_u64;
    let found = stage(n as usize, |i| vec![format!("**/mod_{i:05}.rs")]);
    assert_eq!(found.pairs, []);
    assert_eq!(found.effort.candidates, n * (n - 1) / 2);
    assert_eq!(found.effort.searches, 0);
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
