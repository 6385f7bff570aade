//! WPs that can be at work at the same time and may both change a path, and WPs that reach into the
//! shared files of their stage.

use std::collections::{HashMap, HashSet};

use bstr::{BStr, BString};

use crate::finding::Finding;
use crate::graph::Sealed;
use crate::whitelist::{Overlap, OverlapKind, Whitelist, overlaps};

use super::subject::Subject;
use super::whitelists::Whitelists;

/// Pairs of one stage that are drawn one by one. Past that, the stage is cut wrongly and its author needs
/// the number more than the list.
const SHOWN: usize = 50;

/// Paths that one finding names.
const NAMED: usize = 3;

/// Checks each stage of the sealed graph against the paths of the base. Returns the pairs of WPs that
/// can meet on a path which does not exist yet (`a`, `b`: indices into the plan's WPs).
pub(super) fn check(
    subject: Subject<'_>,
    sealed: &Sealed,
    whitelists: &Whitelists,
    base: &[BString],
    findings: &mut Vec<Finding>,
) -> Vec<Overlap> {
    let mut possible = Vec::new();
    let mut order = Order::new(sealed);
    for (stage, wps) in sealed.stages() {
        // A whitelist with findings of its own is told about already.
        let mut owners: Vec<Owner> = Vec::with_capacity(wps.len() + 1);
        let mut lists: Vec<&Whitelist> = Vec::with_capacity(wps.len() + 1);
        for &wp in wps {
            if let Some(list) = &whitelists.wps[wp] {
                owners.push(Owner::Wp(wp));
                lists.push(list);
            }
        }
        let declared = subject.plan.stages.iter().position(|s| &s.id == stage);
        let shared = declared.and_then(|s| Some((s, whitelists.shared.get(s)?.as_ref()?)));
        if let Some((s, list)) = shared.filter(|(_, list)| !list.is_empty()) {
            owners.push(Owner::Shared(s));
            lists.push(list);
        }

        let found = overlaps(&lists, base);
        let mut told = 0;
        let mut untold = 0;
        for overlap in found.pairs {
            let (a, b) = (owners[overlap.a], owners[overlap.b]);
            if let (Owner::Wp(a), Owner::Wp(b)) = (a, b) {
                if order.ordered(a, b) {
                    continue;
                }
                if matches!(overlap.kind, OverlapKind::Possible { .. }) {
                    let kind = overlap.kind.clone();
                    possible.push(Overlap { a, b, kind });
                }
            }
            if told < SHOWN {
                told += 1;
                findings.push(finding(subject, a, b, &overlap.kind));
            } else {
                untold += 1;
            }
        }
        if untold > 0 || found.truncated {
            let at_least = if found.truncated { "at least " } else { "" };
            let message = format!(
                "stage `{stage}` has {at_least}{untold} more pairs of WPs that may change the same path"
            );
            let help = "give each WP a folder of its own, or move some to a later stage";
            findings.push(Finding::error("overlap", subject.file, message).help(help));
        }
    }
    possible
}

#[derive(Clone, Copy)]
enum Owner {
    Wp(usize),
    Shared(usize),
}

/// Which WPs of a stage wait for which.
struct Order<'a> {
    sealed: &'a Sealed,
    after: HashMap<usize, HashSet<usize>>,
}

impl<'a> Order<'a> {
    fn new(sealed: &'a Sealed) -> Self {
        let after = HashMap::new();
        Self { sealed, after }
    }

    /// Whether one of the two waits for the other, so that they are never at work together.
    fn ordered(&mut self, a: usize, b: usize) -> bool {
        let (level_a, level_b) = (self.sealed.level_of(a), self.sealed.level_of(b));
        let (first, second) = match level_a.cmp(&level_b) {
            std::cmp::Ordering::Equal => return false,
            std::cmp::Ordering::Less => (a, b),
            std::cmp::Ordering::Greater => (b, a),
        };
        let after = self.after.entry(first);
        after.or_insert_with(|| self.sealed.dependents(first).collect()).contains(&second)
    }
}

/// Two whitelists that meet. `a` is always a WP: shared files come last in the list.
fn finding(subject: Subject<'_>, a: Owner, b: Owner, kind: &OverlapKind) -> Finding {
    let path = match kind {
        OverlapKind::Overlap { paths, .. } => paths.first(),
        OverlapKind::Possible { witness } => witness.as_ref(),
    };
    let path = path.map(|path| path.as_ref());
    let mine = |owner| pattern_for(subject, owner, path);
    match (a, b) {
        (Owner::Wp(a), Owner::Wp(b)) => {
            between(subject, (a, b), kind, (&mine(Owner::Wp(a)), &mine(Owner::Wp(b))))
        }
        (Owner::Wp(wp), Owner::Shared(s)) | (Owner::Shared(s), Owner::Wp(wp)) => {
            into_shared(subject, (wp, s), kind, (&mine(Owner::Wp(wp)), &mine(Owner::Shared(s))))
        }
        (Owner::Shared(_), Owner::Shared(_)) => {
            unreachable!("a stage has one list of shared files")
        }
    }
}

fn between(
    subject: Subject<'_>,
    (a, b): (usize, usize),
    kind: &OverlapKind,
    (at_a, at_b): (&str, &str),
) -> Finding {
    let (a, b) = (&subject.plan.wps[a].id, &subject.plan.wps[b].id);
    let finding = match kind {
        OverlapKind::Overlap { paths, count } => {
            let message =
                format!("OVERLAP: `{a}` and `{b}` may both change {}", names(paths, *count));
            subject.error("overlap", at_b, message).help(format!(
                "narrow one whitelist (`!` takes paths away), or let one wait: needs = [\"{a}\"]"
            ))
        }
        OverlapKind::Possible { witness: Some(path) } => {
            let message = format!(
                "POSSIBLE overlap: no file of the base matches both, but `{a}` and `{b}` could both make {}",
                name(path)
            );
            subject
                .warning("possible-overlap", at_b, message)
                .help("narrow one of the two patterns if both WPs may get there")
        }
        OverlapKind::Possible { witness: None } => {
            let message = format!(
                "POSSIBLE overlap: whether `{a}` and `{b}` can change the same path could not be decided"
            );
            subject
                .warning("possible-overlap", at_b, message)
                .help("write the patterns more simply")
        }
    };
    let finding = finding.label(format!("`{b}` reaches it here"));
    finding.related(format!("and `{a}` here"), subject.place(at_a))
}

fn into_shared(
    subject: Subject<'_>,
    (wp, stage): (usize, usize),
    kind: &OverlapKind,
    (at_wp, at_shared): (&str, &str),
) -> Finding {
    let wp = &subject.plan.wps[wp].id;
    let stage = &subject.plan.stages[stage].id;
    let (what, first) = match kind {
        OverlapKind::Overlap { paths, count } => (names(paths, *count), paths.first()),
        OverlapKind::Possible { witness: Some(path) } => (name(path), Some(path)),
        OverlapKind::Possible { witness: None } => ("paths".to_owned(), None),
    };
    let message = format!("`{wp}` reaches {what}, which stage `{stage}` keeps for consolidation");
    let mut finding = subject.error("shared-file", at_wp, message).label("reaches it");
    finding = match first {
        Some(path) => {
            finding.help(format!("take it away: add \"!{}\" to the whitelist", shown(path)))
        }
        None => finding.help("take the shared files away with `!` patterns"),
    };
    finding.related("shared by the stage", subject.place(at_shared))
}

/// Pointer to the pattern through which an owner reaches `path`; to the whole list where it is not one alone.
fn pattern_for(subject: Subject<'_>, owner: Owner, path: Option<&BStr>) -> String {
    let (list, patterns) = match owner {
        Owner::Wp(i) => (format!("/wp/{i}/whitelist"), &subject.plan.wps[i].whitelist),
        Owner::Shared(i) => (format!("/stage/{i}/shared"), &subject.plan.stages[i].shared),
    };
    let reaches = |pattern: &String| {
        let alone = Whitelist::parse(std::slice::from_ref(pattern));
        alone.is_ok_and(|parsed| path.is_some_and(|path| parsed.whitelist.matches(path)))
    };
    match patterns.iter().position(reaches) {
        Some(j) => format!("{list}/{j}"),
        None => list,
    }
}

/// `` `a`, `b` and 3 more``
fn names(paths: &[BString], count: usize) -> String {
    let named: Vec<String> = paths.iter().take(NAMED).map(name).collect();
    match count - named.len() {
        0 => named.join(", "),
        more => format!("{} and {more} more", named.join(", ")),
    }
}

fn name(path: &BString) -> String {
    format!("`{}`", shown(path))
}

/// Bytes that are not UTF-8, and control characters, spelled out.
fn shown(path: &BString) -> String {
    format!("{path:?}").trim_matches('"').to_owned()
}
