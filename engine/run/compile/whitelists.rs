//! The whitelists of WPs and the shared files of stages, read: each problem at its bytes of the pattern.

use std::borrow::Cow;

use crate::finding::Finding;
use crate::model::plan::Wp;
use crate::plan::is_nameless;
use crate::whitelist::{PatternFinding, Severity, Whitelist};

use super::subject::Subject;

/// The whitelists of a plan, by the index of what they belong to. With an error in it, one is what is left without
/// the patterns that have any.
pub(super) struct Whitelists {
    /// Of each WP; `None` where too little is left to say what it may touch.
    pub wps: Vec<Option<Whitelist>>,
    /// The shared files of each stage, likewise.
    pub shared: Vec<Option<Whitelist>>,
}

/// How many WPs are worth the start of a thread.
const WORTH_A_THREAD: usize = 200;
/// More threads than this gain nothing that anybody would notice.
const MOST_THREADS: usize = 8;

/// Reads them all. No list says anything of another, so the cores share those of many WPs.
pub(super) fn read(subject: Subject<'_>, findings: &mut Vec<Finding>) -> Whitelists {
    let plan = subject.plan;
    let cores = std::thread::available_parallelism().map_or(1, usize::from).min(MOST_THREADS);
    let each = plan.wps.len().div_ceil(cores).max(WORTH_A_THREAD);
    let mut parts = plan.wps.chunks(each).enumerate().map(|(n, wps)| (n * each, wps));
    let mine = parts.next().unwrap_or_default();
    let mut wps = Vec::with_capacity(plan.wps.len());
    std::thread::scope(|scope| {
        let others: Vec<_> =
            parts.map(|(from, wps)| scope.spawn(move || some(subject, from, wps))).collect();
        let mine = some(subject, mine.0, mine.1);
        let others = others
            .into_iter()
            .map(|other| other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        for (read, said) in std::iter::once(mine).chain(others) {
            wps.extend(read);
            findings.extend(said);
        }
    });
    let stages = plan.stages.iter().enumerate();
    let shared = stages.map(|(i, stage)| {
        one(subject, &stage.shared, &format!("{}/shared", subject.origins.stage(i)), findings)
    });
    Whitelists { wps, shared: shared.collect() }
}

/// Reads those of some WPs, the first of which is the plan's WP `from`.
fn some(subject: Subject<'_>, from: usize, wps: &[Wp]) -> (Vec<Option<Whitelist>>, Vec<Finding>) {
    let mut findings = Vec::new();
    let read = wps
        .iter()
        .zip(from..)
        .map(|(wp, i)| one(subject, &wp.whitelist, &subject.wp(i, "whitelist"), &mut findings));
    (read.collect(), findings)
}

fn one(
    subject: Subject<'_>,
    patterns: &[String],
    pointer: &str,
    findings: &mut Vec<Finding>,
) -> Option<Whitelist> {
    let patterns = &*without_stand_ins(patterns);
    let (whitelist, problems) = match Whitelist::parse(patterns) {
        Ok(parsed) => (Some(parsed.whitelist), parsed.warnings),
        Err(problems) => (rest(patterns, &problems), problems),
    };
    // A blank pattern is the plan room's finding.
    let told = problems.iter().filter(|p| !patterns[p.pattern].is_empty());
    findings.extend(told.map(|p| finding(subject, patterns, pointer, p)));
    whitelist
}

/// The patterns, of which one that something stands in for is blank.
fn without_stand_ins(patterns: &[String]) -> Cow<'_, [String]> {
    if !patterns.iter().any(|pattern| is_nameless(pattern)) {
        return Cow::Borrowed(patterns);
    }
    let blank = |pattern: &String| match is_nameless(pattern) {
        true => String::new(),
        false => pattern.clone(),
    };
    patterns.iter().map(blank).collect()
}

/// What the patterns without an error match. It is less than what was meant, unless one that takes away is
/// missing: then nothing can be said.
fn rest(patterns: &[String], problems: &[PatternFinding]) -> Option<Whitelist> {
    let bad =
        |i: &usize| problems.iter().any(|p| p.pattern == *i && p.severity() == Severity::Error);
    let (bad, good): (Vec<usize>, Vec<usize>) = (0..patterns.len()).partition(bad);
    if bad.iter().any(|&i| patterns[i].starts_with('!')) {
        return None;
    }
    let good: Vec<&String> = good.into_iter().map(|i| &patterns[i]).collect();
    Whitelist::parse(&good).ok().map(|parsed| parsed.whitelist)
}

fn finding(
    subject: Subject<'_>,
    patterns: &[String],
    list: &str,
    problem: &PatternFinding,
) -> Finding {
    let at = format!("{list}/{}", problem.pattern);
    let pattern = patterns.get(problem.pattern).map_or("", String::as_str);
    let message = format!("pattern `{pattern}`: {problem}");
    let finding = match problem.severity() {
        Severity::Error => subject.error("pattern", &at, message),
        Severity::Warning => subject.warning("pattern", &at, message),
    };
    let finding = finding.help(problem.help());
    subject.inside(finding, &at, problem.range.clone())
}
