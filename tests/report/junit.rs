//! JUnit: the run for the places that show test results.

use quick_junit::{Report, TestCaseStatus};
use sop::report::junit;

use super::scene::{evil, good, mixed, text};
use crate::support::story::Story;

fn xml(run: &Story) -> String {
    text(|out| junit::write(&run.ledger, out))
}

fn read(run: &Story) -> Report {
    Report::deserialize_from_str(&xml(run)).unwrap()
}

#[test]
fn a_suite_for_each_stage_and_a_case_for_each_wp_and_gate() {
    let report = read(&mixed());
    let names: Vec<(String, Vec<String>)> = report
        .test_suites
        .iter()
        .map(|suite| {
            let cases = suite.test_cases.iter().map(|case| case.name.to_string());
            (suite.name.to_string(), cases.collect())
        })
        .collect();
    let names: Vec<(&str, Vec<&str>)> = names
        .iter()
        .map(|(suite, cases)| (suite.as_str(), cases.iter().map(String::as_str).collect()))
        .collect();
    assert_eq!(
        names,
        [
            ("foundation", vec!["client", "parser", "docs", "gate 1"]),
            ("features", vec!["form", "list", "site", "gate 2"]),
        ]
    );
    assert_eq!((report.tests, report.failures, report.errors), (8, 1, 0));
}

#[test]
fn a_failure_has_its_class_its_message_and_its_output() {
    let report = read(&mixed());
    let docs = &report.test_suites[0].test_cases[2];
    let TestCaseStatus::NonSuccess { message, ty, description, .. } = &docs.status else {
        panic!("{docs:?}");
    };
    assert_eq!(ty.as_deref(), Some("decision"));
    assert_eq!(message.as_deref(), Some("cargo test exits 1"));
    assert_eq!(description.as_deref(), Some("dod: cargo test exits 1"));
    let output = docs.system_out.as_deref().unwrap();
    assert!(output.contains("cargo check: exit 0") && output.contains("cargo test: exit 1"));
    assert!(output.contains("logs/docs-dod-2-3.log:\nthread 'main' panicked\nfailed"), "{output}");
}

#[test]
fn what_was_deferred_is_skipped_and_says_why() {
    let report = read(&mixed());
    let site = &report.test_suites[1].test_cases[2];
    let TestCaseStatus::Skipped { message, ty, .. } = &site.status else { panic!("{site:?}") };
    assert_eq!(ty.as_deref(), Some("deferred"));
    assert_eq!(message.as_deref(), Some("deferred: docs did not get through"));
}

#[test]
fn a_good_run_has_neither_failures_nor_skips() {
    let report = read(&good());
    let success =
        |case: &quick_junit::TestCase| matches!(case.status, TestCaseStatus::Success { .. });
    assert!(report.test_suites.iter().all(|suite| suite.test_cases.iter().all(success)));
}

#[test]
fn what_xml_cannot_hold_is_escaped_not_lost() {
    let text = xml(&evil());
    let fine = |c: char| matches!(c, '\t' | '\n' | ' '..='\u{d7ff}' | '\u{e000}'..='\u{fffd}' | '\u{10000}'..);
    assert_eq!(text.chars().find(|c| !fine(*c)), None);
    assert!(text.contains("\\u{1b}[2Jb\\u{202e}c"), "{text}");
    Report::deserialize_from_str(&text).unwrap();
}

#[test]
fn a_line_break_in_a_title_is_written_out() {
    // In an attribute an XML reader would take it for a blank.
    let text = xml(&evil());
    for attribute in text.split('"').skip(1).step_by(2) {
        assert!(!attribute.contains(['\n', '\t']), "{attribute:?}");
    }
}
