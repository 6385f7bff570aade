//! The whitelist room, held against tables and against a matcher that shares no code with it.

mod clash;
mod differential;
mod findings;
mod language;
mod naive;
mod overlap;
mod scaling;

use sop::whitelist::{Overlap, OverlapKind, Whitelist, overlaps};

/// The whitelist of patterns that must be fine but for warnings.
#[track_caller]
fn whitelist(patterns: &[&str]) -> Whitelist {
    match Whitelist::parse(patterns) {
        Ok(parsed) => parsed.whitelist,
        Err(findings) => panic!("{patterns:?} refused: {findings:?}"),
    }
}

/// What `overlaps` says of two whitelists, and that it says the same with their order turned.
#[track_caller]
fn meet(a: &[&str], b: &[&str], base: &[&str]) -> Option<OverlapKind> {
    let (a, b) = (whitelist(a), whitelist(b));
    let only = |pairs: Vec<Overlap>| {
        assert!(pairs.len() <= 1);
        pairs.into_iter().next().map(|o| {
            assert_eq!((o.a, o.b), (0, 1));
            o.kind
        })
    };
    let forth = only(overlaps(&[&a, &b], base).pairs);
    let back = match only(overlaps(&[&b, &a], base).pairs) {
        Some(OverlapKind::Clash { path, file_by_a, within }) => {
            Some(OverlapKind::Clash { path, file_by_a: !file_by_a, within })
        }
        other => other,
    };
    assert_eq!(forth, back);
    forth
}

/// The witness of a pair that shares no path of the base, as text.
#[track_caller]
fn witness(a: &[&str], b: &[&str]) -> Option<String> {
    match meet(a, b, &[])? {
        OverlapKind::Possible { witness } => Some(witness.expect("decided").to_string()),
        OverlapKind::Clash { .. } => None,
        kind @ OverlapKind::Overlap { .. } => panic!("no base, but {kind:?}"),
    }
}
