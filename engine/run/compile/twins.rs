//! Paths that differ in nothing but case. Whitelists are matched by bytes and tell them apart; a file system that
//! does not (as on most Macs, and where somebody checks the result out) has room for one of them only.
//!
//! Only what patterns spell out counts, a folder above a `*` included: a `**` could make a twin of anything.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::order::Order;
use super::subject::Subject;
use crate::finding::Finding;
use crate::model::plan::Kind;

/// Warns of WPs of one level that spell one path in two ways.
pub(super) fn check(subject: Subject<'_>, order: &Order, findings: &mut Vec<Finding>) {
    for level in order.graph.levels() {
        let placed = level.wps.iter().copied().filter(|wp| !order.unplaced.contains(wp));
        let wps = placed.filter(|wp| subject.plan.wps[*wp].kind == Kind::Change);
        // Folded: each way it is spelled, and the first who does so, by which pattern.
        let mut spelled: HashMap<String, BTreeMap<&str, (usize, usize)>> = HashMap::new();
        for wp in wps {
            for (n, pattern) in subject.plan.wps[wp].whitelist.iter().enumerate() {
                for path in prefixes(pattern) {
                    let ways = spelled.entry(path.to_lowercase()).or_default();
                    ways.entry(path).or_insert((wp, n));
                }
            }
        }
        let mut twins: Vec<_> = spelled.into_iter().filter(|(_, ways)| ways.len() > 1).collect();
        twins.sort_by(|a, b| a.0.cmp(&b.0));
        let mut told = BTreeSet::new();
        for (_, ways) in twins {
            let mut ways = ways.into_iter();
            let Some((first, (a, at_a))) = ways.next() else { continue };
            for (other, (b, at_b)) in ways {
                // What is below two such folders is told with them.
                if a != b && told.insert((a.min(b), a.max(b))) {
                    findings.push(finding(subject, (first, a, at_a), (other, b, at_b)));
                }
            }
        }
    }
}

fn finding(
    subject: Subject<'_>,
    (first, a, at_a): (&str, usize, usize),
    (other, b, at_b): (&str, usize, usize),
) -> Finding {
    let place = |wp, n| format!("{}/{n}", subject.wp(wp, "whitelist"));
    let message = format!(
        "{} and {} name `{}` and `{}`, which are one path where the file system does not tell case apart",
        subject.who(a),
        subject.who(b),
        first.escape_debug(),
        other.escape_debug()
    );
    subject
        .warning("case-twins", &place(b, at_b), message)
        .help("spell it in one way, or name one of them otherwise")
        .related(format!("and {} here", subject.who(a)), subject.place(&place(a, at_a)))
}

/// Every path that a pattern spells out: its folders from the top, and itself where it has no wildcard.
fn prefixes(pattern: &str) -> Vec<&str> {
    if pattern.starts_with('!') {
        return Vec::new();
    }
    let plain = pattern.find(['*', '?', '[', '{', '\\']).map_or(pattern, |at| &pattern[..at]);
    let mut ends: Vec<usize> = plain.match_indices('/').map(|(at, _)| at).collect();
    if plain.len() == pattern.len() && !plain.ends_with('/') {
        ends.push(plain.len());
    }
    ends.into_iter().filter(|end| *end > 0).map(|end| &pattern[..end]).collect()
}
