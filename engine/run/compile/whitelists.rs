//! The whitelists of WPs and the shared files of stages, read: each problem at its bytes of the pattern.

use crate::finding::Finding;
use crate::whitelist::{PatternFinding, Severity, Whitelist};

use super::subject::Subject;

/// The whitelists of a plan, by the index of what they belong to.
pub(super) struct Whitelists {
    /// Of each WP; `None` where it has findings.
    pub wps: Vec<Option<Whitelist>>,
    /// The shared files of each stage; `None` where they have findings.
    pub shared: Vec<Option<Whitelist>>,
}

/// Reads them all.
pub(super) fn read(subject: Subject<'_>, findings: &mut Vec<Finding>) -> Whitelists {
    let mut parse = |patterns: &[String], pointer: String| {
        let (whitelist, problems) = match Whitelist::parse(patterns) {
            Ok(parsed) => (Some(parsed.whitelist), parsed.warnings),
            Err(problems) => (None, problems),
        };
        let told = problems.iter().map(|p| finding(subject, patterns, &pointer, p));
        findings.extend(told);
        whitelist
    };
    let wps = subject.plan.wps.iter().enumerate();
    let wps = wps.map(|(i, wp)| parse(&wp.whitelist, subject.wp(i, "whitelist")));
    let wps = wps.collect();
    let stages = subject.plan.stages.iter().enumerate();
    let shared = stages
        .map(|(i, stage)| parse(&stage.shared, format!("{}/shared", subject.origins.stage(i))));
    Whitelists { wps, shared: shared.collect() }
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
