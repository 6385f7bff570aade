//! Random patterns and paths: the engine and the naive matcher must agree, and what is said about
//! whole languages must hold for every short path there is.

use std::slice;
use std::sync::LazyLock;

use proptest::prelude::*;
use sop::whitelist::{
    Overlap, OverlapKind, PatternFinding, Problem, Severity, Whitelist, overlaps,
};

use super::naive;

/// Components from small alphabets: `wild` ones are drawn often enough for paths to match.
fn component(letters: &'static [&'static str]) -> impl Strategy<Value = String> {
    let literal = prop::sample::select(letters).prop_map(str::to_owned);
    let class = (any::<bool>(), prop::sample::select(letters))
        .prop_map(|(not, c)| format!("[{}{c}]", if not { "!" } else { "" }));
    let token = prop_oneof![
        4 => literal,
        2 => Just("*".to_owned()),
        1 => Just("?".to_owned()),
        1 => class,
        1 => Just("[a-b]".to_owned()),
    ];
    let run = move |n| prop::collection::vec(token.clone(), n).prop_map(|t| t.concat());
    let braces = (run(0..=2), run(1..=2), run(0..=1)).prop_map(|(a, b, c)| {
        // `**` comes of two stars that happen to meet.
        format!("{c}{{{a},{b}}}")
    });
    prop_oneof![6 => run(1..=3), 1 => braces]
}

fn pattern(letters: &'static [&'static str]) -> impl Strategy<Value = String> {
    let part = prop_oneof![4 => component(letters), 1 => Just("**".to_owned())];
    let path = prop::collection::vec(part, 1..=3).prop_map(|parts| parts.join("/"));
    let across = (path.clone(), path.clone()).prop_map(|(a, b)| format!("{{{a},{b}}}"));
    prop_oneof![8 => path, 1 => across]
}

fn list(letters: &'static [&'static str]) -> impl Strategy<Value = Vec<String>> {
    let negative = pattern(letters).prop_map(|p| format!("!{p}"));
    (prop::collection::vec(pattern(letters), 1..=2), prop::collection::vec(negative, 0..=2))
        .prop_map(|(positive, negative)| [positive, negative].concat())
}

/// The findings that say something of a language, not of how it is written.
fn of_language(findings: &[PatternFinding]) -> bool {
    findings.iter().all(|f| {
        f.severity() == Severity::Warning
            || matches!(f.problem, Problem::NeverMatches | Problem::Subtracted { .. })
    })
}

const ODD: &[&str] = &["a", "b", ".", "g", "\u{e9}", "\\*", "git", "A"];
const TINY: &[&str] = &["a", "b"];

/// Paths that hold what the patterns name, and bytes that are no characters.
fn path() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop::sample::select(vec![
        &b"a"[..],
        b"b",
        b"a",
        b"b",
        b".",
        b"g",
        b"\xc3\xa9",
        b"\xc3",
        b"\xa9",
        b"\xff",
        b"*",
        b"/",
        b"/",
        b"git",
        b"A",
        b"\xf0\x9f\x98\x80",
        b"\n",
    ]);
    prop::collection::vec(piece, 0..8).prop_map(|pieces| pieces.concat())
}

/// Every path of up to five of these bytes.
static SHORT: LazyLock<Vec<Vec<u8>>> = LazyLock::new(|| {
    let mut all = vec![Vec::new()];
    let mut from = 0;
    for _ in 0..5 {
        let to = all.len();
        for at in from..to {
            for byte in *b"abc/" {
                let mut path = all[at].clone();
                path.push(byte);
                all.push(path);
            }
        }
        from = to;
    }
    all.retain(|p| !p.is_empty() && p.split(|b| *b == b'/').all(|name| !name.is_empty()));
    all
});

fn only(a: &Whitelist, b: &Whitelist, base: &[&[u8]]) -> Option<OverlapKind> {
    let pairs: Vec<Overlap> = overlaps(&[a, b], base).pairs;
    pairs.into_iter().next().map(|o| o.kind)
}

/// As many cases as fit a quick run, or as many as `PROPTEST_CASES` asks for.
fn config(cases: u32) -> ProptestConfig {
    let asked = std::env::var("PROPTEST_CASES").ok();
    ProptestConfig {
        cases: asked.and_then(|n| n.parse().ok()).unwrap_or(cases),
        max_global_rejects: 1 << 20,
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

proptest! {
    #![proptest_config(config(600))]

    #[test]
    fn a_path_matches_as_it_does_naively(list in list(ODD), paths in prop::collection::vec(path(), 20)) {
        if let Ok(parsed) = Whitelist::parse(&list) {
            for path in paths {
                prop_assert_eq!(
                    parsed.whitelist.matches(&path),
                    naive::allows(&list, &path),
                    "{:?} on {}", list, path.escape_ascii()
                );
            }
        }
    }

    #[test]
    fn reading_never_panics_and_names_whole_characters(list in prop::collection::vec("[ab.*?{},!/\\[\\]\\\\^é\n-]{0,9}", 0..3)) {
        let findings = match Whitelist::parse(&list) {
            Ok(parsed) => parsed.warnings,
            Err(findings) => findings,
        };
        for finding in findings {
            prop_assert!(list[finding.pattern].get(finding.range).is_some());
        }
    }

    #[test]
    fn a_list_that_is_taken_can_match(list in list(TINY)) {
        match Whitelist::parse(&list) {
            // Against itself a whitelist shows a path of its own.
            Ok(parsed) => match only(&parsed.whitelist, &parsed.whitelist, &[]) {
                Some(OverlapKind::Possible { witness: Some(path) }) => {
                    prop_assert!(naive::allows(&list, &path), "{:?} by {:?}", list, path);
                }
                other => prop_assert!(false, "{:?}: {:?}", list, other),
            },
            Err(findings) => prop_assume!(of_language(&findings)),
        }
    }
}

proptest! {
    #![proptest_config(config(150))]

    #[test]
    fn findings_about_languages_hold_for_every_short_path(list in list(TINY)) {
        let findings = match Whitelist::parse(&list) {
            Ok(parsed) => parsed.warnings,
            Err(findings) => findings,
        };
        prop_assume!(of_language(&findings));
        let negatives: Vec<_> = list.iter().filter(|p| p.starts_with('!')).cloned().collect();
        let positives: Vec<_> = list.iter().filter(|p| !p.starts_with('!')).cloned().collect();
        for finding in findings {
            let own = list[finding.pattern].clone();
            for path in SHORT.iter() {
                let wrong = match finding.problem {
                    Problem::NeverMatches => naive::allows(slice::from_ref(&own), path),
                    Problem::Subtracted { .. } => {
                        naive::allows(&[slice::from_ref(&own), &negatives[..]].concat(), path)
                    }
                    Problem::SubtractsNothing => {
                        naive::allows(&positives, path)
                            && naive::allows(&[own[1..].to_owned()], path)
                    }
                    _ => false,
                };
                prop_assert!(!wrong, "{:?} of {:?}, but {}", finding, list, path.escape_ascii());
            }
        }
    }

    #[test]
    fn overlap_is_exact(a in list(TINY), b in list(TINY)) {
        let (Ok(x), Ok(y)) = (Whitelist::parse(&a), Whitelist::parse(&b)) else {
            return Err(TestCaseError::reject("not a pair of whitelists"));
        };
        let (x, y) = (x.whitelist, y.whitelist);
        let common: Vec<Vec<u8>> = SHORT
            .iter()
            .filter(|p| naive::allows(&a, p) && naive::allows(&b, p))
            .cloned()
            .collect();
        match only(&x, &y, &[]) {
            None | Some(OverlapKind::Clash { .. }) => {
                prop_assert!(common.is_empty(), "{:?} and {:?} share {:?}", a, b, common);
            }
            Some(OverlapKind::Possible { witness: Some(path) }) => {
                prop_assert!(naive::allows(&a, &path) && naive::allows(&b, &path), "{:?}", path);
                if let Some(shortest) = common.first() {
                    prop_assert!(path.len() <= shortest.len(), "{:?} is not short", path);
                }
            }
            other => prop_assert!(false, "{:?} and {:?}: {:?}", a, b, other),
        }
        let base: Vec<&[u8]> = common.iter().map(Vec::as_slice).collect();
        if let Some(OverlapKind::Overlap { count, .. }) = only(&x, &y, &base) {
            prop_assert_eq!(count, common.len());
        } else {
            prop_assert!(common.is_empty());
        }
    }

    #[test]
    fn a_file_against_a_folder_is_found_where_there_is_one(a in list(TINY), b in list(TINY)) {
        let (Ok(x), Ok(y)) = (Whitelist::parse(&a), Whitelist::parse(&b)) else {
            return Err(TestCaseError::reject("not a pair of whitelists"));
        };
        let found = only(&x.whitelist, &y.whitelist, &[]);
        if let Some(OverlapKind::Clash { path, file_by_a, within }) = &found {
            let (maker, other) = if *file_by_a { (&a, &b) } else { (&b, &a) };
            let within = within.as_ref().expect("decided");
            prop_assert!(naive::allows(maker, path), "{:?} makes {}", maker, path);
            prop_assert!(naive::allows(other, within), "{:?} makes {}", other, within);
            let inside = [path.as_slice(), b"/"].concat();
            prop_assert!(within.starts_with(&inside), "{} in {}", within, path);
            prop_assert!(spells(other, path, within), "{:?} spells {}", other, path);
        }
        for (maker, other) in [(&a, &b), (&b, &a)] {
            for inner in SHORT.iter().filter(|path| naive::allows(other, path)) {
                for (at, _) in inner.iter().enumerate().filter(|(_, byte)| **byte == b'/') {
                    let path = &inner[..at];
                    if naive::allows(maker, path) && spells(other, path, inner) {
                        prop_assert!(found.is_some(), "{:?} {:?}: {:?}", maker, other, inner);
                    }
                }
            }
        }
    }
}

/// Whether a pattern that matches `inner` spells out the folder `path`.
fn spells(list: &[String], path: &[u8], inner: &[u8]) -> bool {
    list.iter().filter(|pattern| !pattern.starts_with('!')).any(|pattern| {
        naive::allows(slice::from_ref(pattern), inner)
            && naive::folders(pattern).iter().any(|folder| folder.as_bytes() == path)
    })
}
