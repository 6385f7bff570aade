//! The plan room: from text to plan, and every finding on the way.

mod agents;
mod budgets;
mod command;
mod consolidation;
mod delivery;
mod differential;
mod findings;
mod layers;
mod literal;
mod meaning;
mod places;
mod resolve;
mod review;
mod scale;
mod schemas;
mod undecided;
mod write;

use std::path::Path;

use sop::finding::{Finding, Severity};
use sop::plan::{Layers, Read, Source, read};

/// A plan that is right, to be made wrong.
const GOOD: &str = r#"version = 1
[plan]
name = "settings"
goal = "Move the settings page."
[workers.codemod]
command = ["scripts/codemod.sh", "{{ wp.id }}"]
[tiers.light]
worker = "codemod"
[[wp]]
id = "client"
whitelist = ["src/client/**"]
dod = ["cargo test"]
brief_text = "Rename it."
"#;

/// Reads a text, with no folder for briefs.
fn reading(text: &str) -> (Source, Read) {
    let source = Source::new("plan.toml", text);
    let read = read(&source, Path::new("/nowhere"), &Layers::default());
    (source, read)
}

/// Each finding as one line: place, severity, rule, message, what stands there, help and suggestion.
fn lines(source: &Source, findings: &[Finding]) -> Vec<String> {
    let line = |finding: &Finding| {
        let span = finding.span.clone().expect("every finding has a place");
        let (line, column) = source.position(span.start);
        let mark = match finding.severity {
            Severity::Error => "",
            Severity::Warning => " (warning)",
            Severity::Note => " (note)",
        };
        let mut text = format!(
            "{line}:{column}{mark} {}: {} at <{}>",
            finding.code, finding.message, &source.text[span]
        );
        for related in &finding.related {
            let (line, column) = source.position(related.span.start);
            text.push_str(&format!(", {} {line}:{column}", related.label));
        }
        if let Some(help) = &finding.help {
            text.push_str(&format!("; {help}"));
        }
        text
    };
    findings.iter().map(line).collect()
}

/// The findings of a text, a line each.
fn found(text: &str) -> Vec<String> {
    let (source, read) = reading(text);
    lines(&source, &read.findings)
}

/// The one finding of a text.
#[track_caller]
fn only(text: &str) -> String {
    let found = found(text);
    assert_eq!(found.len(), 1, "one finding is wanted: {found:#?}");
    found.into_iter().next().unwrap()
}

/// `GOOD` with `from` replaced by `to`.
#[track_caller]
fn good_but(from: &str, to: &str) -> String {
    assert_eq!(GOOD.matches(from).count(), 1, "{from:?} is not there once");
    GOOD.replace(from, to)
}

#[test]
fn a_good_plan_has_no_findings() {
    assert_eq!(found(GOOD), [""; 0]);
}
