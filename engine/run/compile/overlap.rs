//! WPs that can be at work at the same time and may both change a path, and WPs that reach into the
//! shared files of their stage.

use bstr::{BStr, BString, ByteSlice};

use crate::finding::Finding;
use crate::model::plan::Kind;
use crate::plan::is_nameless;
use crate::whitelist::{Overlap, OverlapKind, Whitelist, overlaps};

use super::order::Order;
use super::subject::Subject;
use super::whitelists::Whitelists;

/// Pairs of one level that are drawn one by one. Past that, the stage is cut wrongly and its author needs
/// the number more than the list.
const SHOWN: usize = 50;

/// Paths that one finding names.
const NAMED: usize = 3;

/// Checks each level of the sealed graph against the paths of the base: a level starts from the merged
/// work of the one before, so only WPs of one level are at work together. Returns the pairs of WPs that
/// can meet on a path which does not exist yet (`a`, `b`: indices into the plan's WPs).
pub(super) fn check(
    subject: Subject<'_>,
    order: &Order,
    whitelists: &Whitelists,
    base: &[BString],
    findings: &mut Vec<Finding>,
) -> Vec<Overlap> {
    let mut possible = Vec::new();
    for level in order.graph.levels() {
        let (stage, wps) = (&level.stage, &level.wps);
        // Of a WP that is at work with no one knows whom, or that is to change nothing, there is nothing to say.
        let beside =
            |wp: &usize| !order.unplaced.contains(wp) && subject.plan.wps[*wp].kind == Kind::Change;
        let read = |wp: &usize| Some((*wp, whitelists.wps[*wp].as_ref().filter(|_| beside(wp))?));
        let (owners, mut lists): (Vec<usize>, Vec<&Whitelist>) =
            wps.iter().filter_map(read).unzip();
        let declared = subject.plan.stages.iter().position(|s| &s.id == stage);
        let shared = declared.and_then(|s| Some((s, whitelists.shared.get(s)?.as_ref()?)));
        let shared = shared.filter(|(_, list)| !list.is_empty());
        lists.extend(shared.map(|(_, list)| list));
        if lists.len() < 2 {
            continue;
        }

        let found = overlaps(&lists, base);
        // Shared files come last, and so `a` is a WP always.
        let owner = |n: usize| match (owners.get(n), shared) {
            (None, Some((stage, _))) => Owner::Shared(stage),
            _ => Owner::Wp(owners[n]),
        };
        let pair = |o: Overlap| Pair { a: owners[o.a], b: owner(o.b), kind: o.kind };
        let mut pairs: Vec<Pair> = found.pairs.into_iter().map(pair).collect();
        possible.extend(pairs.iter().filter_map(Pair::possible));
        pairs.sort_by_key(|pair| !pair.is_error());
        let untold = pairs.split_off(pairs.len().min(SHOWN));
        findings.extend(pairs.iter().map(|pair| finding(subject, pair)));
        if !untold.is_empty() || found.truncated {
            let at_least = if found.truncated { "at least " } else { "" };
            let whose = match declared {
                Some(_) if !is_nameless(stage.as_str()) => format!("stage `{stage}`"),
                _ => "the plan".to_owned(),
            };
            let message = format!(
                "{whose} has {at_least}{} more pairs of WPs that may change the same path",
                untold.len()
            );
            let rest = match untold.iter().any(Pair::is_error) {
                true => Finding::error("overlap", subject.file, message),
                false => Finding::warning("possible-overlap", subject.file, message),
            };
            let help = "give each WP a folder of its own, or move some to a later stage";
            findings.push(rest.help(help));
        }
    }
    possible
}

#[derive(Clone, Copy)]
enum Owner {
    Wp(usize),
    Shared(usize),
}

/// A WP whose whitelist meets another list.
struct Pair {
    a: usize,
    b: Owner,
    kind: OverlapKind,
}

impl Pair {
    /// Two WPs that meet nowhere yet, but could, or could stand in each other's place.
    fn possible(&self) -> Option<Overlap> {
        match (self.b, &self.kind) {
            (Owner::Wp(b), OverlapKind::Possible { .. } | OverlapKind::Clash { .. }) => {
                Some(Overlap { a: self.a, b, kind: self.kind.clone() })
            }
            _ => None,
        }
    }

    fn is_error(&self) -> bool {
        self.possible().is_none()
    }
}

fn finding(subject: Subject<'_>, pair: &Pair) -> Finding {
    let (path_a, path_b) = match &pair.kind {
        OverlapKind::Overlap { paths, .. } => (paths.first(), paths.first()),
        OverlapKind::Possible { witness } => (witness.as_ref(), witness.as_ref()),
        OverlapKind::Clash { path, file_by_a: true, within } => (Some(path), within.as_ref()),
        OverlapKind::Clash { path, file_by_a: false, within } => (within.as_ref(), Some(path)),
    };
    let at_a = pattern_for(subject, Owner::Wp(pair.a), path_a.map(|path| path.as_ref()));
    let at_b = pattern_for(subject, pair.b, path_b.map(|path| path.as_ref()));
    match pair.b {
        Owner::Wp(b) => between(subject, (pair.a, b), &pair.kind, (&at_a, &at_b)),
        Owner::Shared(stage) => into_shared(subject, (pair.a, stage), &pair.kind, (&at_a, &at_b)),
    }
}

fn between(
    subject: Subject<'_>,
    (a, b): (usize, usize),
    kind: &OverlapKind,
    (at_a, at_b): (&str, &str),
) -> Finding {
    let wait = subject
        .named(a)
        .map_or_else(String::new, |a| format!(", or let one wait: needs = [\"{a}\"]"));
    let (a, b) = (subject.who(a), subject.who(b));
    let finding = match kind {
        OverlapKind::Overlap { paths, count } => {
            let message = format!("OVERLAP: {a} and {b} may both change {}", names(paths, *count));
            subject
                .error("overlap", at_b, message)
                .help(format!("narrow one whitelist (`!` takes paths away){wait}"))
        }
        OverlapKind::Possible { witness: Some(path) } => {
            let message = format!(
                "POSSIBLE overlap: no file of the base matches both, but {a} and {b} could both make {}",
                name(path)
            );
            subject
                .warning("possible-overlap", at_b, message)
                .help("narrow one of the two patterns if both WPs may get there")
        }
        OverlapKind::Possible { witness: None } => {
            let message = format!(
                "POSSIBLE overlap: whether {a} and {b} can change the same path could not be decided"
            );
            subject
                .warning("possible-overlap", at_b, message)
                .help("write the patterns more simply")
        }
        OverlapKind::Clash { path, file_by_a, within } => {
            let (maker, other) = if *file_by_a { (&a, &b) } else { (&b, &a) };
            let message = format!(
                "POSSIBLE overlap: {maker} could make {} a file, where {other} needs a folder for {}",
                name(path),
                needed(within.as_ref())
            );
            subject
                .warning("possible-overlap", at_b, message)
                .help("a tree cannot hold both: name the file or the folder otherwise")
        }
    };
    let finding = finding.label(format!("{b} reaches it here"));
    finding.related(format!("and {a} here"), subject.place(at_a))
}

fn into_shared(
    subject: Subject<'_>,
    (wp, stage): (usize, usize),
    kind: &OverlapKind,
    (at_wp, at_shared): (&str, &str),
) -> Finding {
    let wp = subject.who(wp);
    let stage = match subject.plan.stages[stage].id.as_str() {
        nameless if is_nameless(nameless) => "its stage".to_owned(),
        stage => format!("stage `{stage}`"),
    };
    let (what, first) = match kind {
        OverlapKind::Overlap { paths, count } => (names(paths, *count), paths.first()),
        OverlapKind::Possible { witness: Some(path) } => (name(path), Some(path)),
        OverlapKind::Possible { witness: None } => ("paths".to_owned(), None),
        OverlapKind::Clash { path, file_by_a, within } => {
            let message = match file_by_a {
                true => format!(
                    "{wp} could make {} a file, where {stage} keeps a folder for {}",
                    name(path),
                    needed(within.as_ref())
                ),
                false => format!(
                    "{wp} needs a folder for {}, where {stage} keeps the file {}",
                    needed(within.as_ref()),
                    name(path)
                ),
            };
            let finding = subject.error("shared-file", at_wp, message).label("reaches it");
            let finding = finding.help("a tree cannot hold both: name one of them otherwise");
            return finding.related("shared by the stage", subject.place(at_shared));
        }
    };
    let message = format!("{wp} reaches {what}, which {stage} keeps for consolidation");
    let mut finding = subject.error("shared-file", at_wp, message).label("reaches it");
    finding = match first.and_then(literal) {
        Some(path) => finding.help(format!("take it away: add \"!{path}\" to the whitelist")),
        None => finding.help("take the shared files away with `!` patterns"),
    };
    finding.related("shared by the stage", subject.place(at_shared))
}

/// Pointer to the pattern through which an owner reaches `path`; to the whole list where it is not one alone.
fn pattern_for(subject: Subject<'_>, owner: Owner, path: Option<&BStr>) -> String {
    let (list, patterns) = match owner {
        Owner::Wp(i) => (subject.wp(i, "whitelist"), &subject.plan.wps[i].whitelist),
        Owner::Shared(i) => {
            (format!("{}/shared", subject.origins.stage(i)), &subject.plan.stages[i].shared)
        }
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

/// What a folder is needed for.
fn needed(within: Option<&BString>) -> String {
    within.map_or_else(|| "what is in it".to_owned(), name)
}

/// Bytes that are not UTF-8, and control characters, spelled out.
fn shown(path: &BString) -> String {
    let quoted = format!("{path:?}");
    let inner = quoted.strip_prefix('"').and_then(|text| text.strip_suffix('"'));
    inner.unwrap_or(&quoted).to_owned()
}

/// The path as a pattern that takes it alone; nothing where that would need escapes, which TOML strings
/// have of their own.
fn literal(path: &BString) -> Option<&str> {
    let plain = |c: char| c.is_alphanumeric() || "/._-+@ ".contains(c);
    path.to_str().ok().filter(|text| text.chars().all(plain))
}
