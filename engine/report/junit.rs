//! The run as JUnit XML, for the places that show test results: a suite for each stage, a case for
//! each WP, and one for the stage's gate.
//!
//! A WP that did not get through is a failure; one that infrastructure blocks is an error; one that
//! was deferred, cancelled or not reached is skipped. Its DoD commands with their exit codes are its
//! output, next to the last lines of what failed.

use std::fmt::Write as _;
use std::io::{self, Write};
use std::time::Duration;

use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};

use super::escape::{visible, visible_lines};
use super::narrate::{length_of, one};
use super::words;
use crate::ledger::{GatePhase, GateState, Ledger, Phase, WpState};
use crate::model::outcome::{Class, Problem, Ran};

/// Writes `ledger` as JUnit XML.
///
/// # Errors
/// When `out` cannot be written.
pub fn write(ledger: &Ledger, out: impl Write) -> io::Result<()> {
    let mut report = Report::new(fit_line(ledger.run.as_str()));
    report.set_time(ledger.updated_at.since(ledger.created_at).0);
    for level in ledger.wps.chunk_by(|a, b| a.stage == b.stage) {
        report.add_test_suite(suite(ledger, level));
    }
    report.serialize(out).map_err(io::Error::other)
}

fn suite(ledger: &Ledger, wps: &[WpState]) -> TestSuite {
    let stage = wps.first().map_or("", |wp| wp.stage.as_str());
    let mut suite = TestSuite::new(fit_line(stage));
    let mut spent = Duration::ZERO;
    let class = format!("{}.{stage}", ledger.run);
    for wp in wps {
        let mut case = TestCase::new(fit_line(wp.id.as_str()), status(wp));
        let took = length_of(wp).unwrap_or_default().0;
        spent += took;
        case.set_classname(fit_line(&class)).set_time(took);
        for (name, value) in facts(wp) {
            case.add_property((name.to_owned(), fit_line(&value)));
        }
        let output = output(wp);
        if !output.is_empty() {
            case.set_system_out(fit(&output));
        }
        suite.add_test_case(case);
    }
    let levels = wps.iter().map(|wp| wp.level);
    let gates = ledger.gates.iter().filter(|g| levels.clone().any(|level| level == g.level));
    for gate in gates.filter(|gate| gate.phase != GatePhase::Superseded) {
        let mut case = TestCase::new(format!("gate {}", gate.gate), gate_status(gate));
        case.set_classname(fit_line(&class));
        if !gate.proved.is_empty() {
            case.set_system_out(fit(&listed(&gate.proved)));
        }
        suite.add_test_case(case);
    }
    suite.set_time(spent);
    suite
}

fn status(wp: &WpState) -> TestCaseStatus {
    match wp.phase {
        Phase::Passed | Phase::Integrated => TestCaseStatus::success(),
        Phase::Escalated => {
            let class = wp.rounds.last().and_then(|r| r.class).unwrap_or(Class::Decision);
            failed(NonSuccessKind::Failure, class, wp.carried())
        }
        Phase::Blocked => {
            let problems: Vec<Problem> = wp.blocked_by.iter().cloned().collect();
            failed(NonSuccessKind::Error, Class::Infrastructure, &problems)
        }
        phase => {
            let why = match &wp.because {
                Some(because) => format!("deferred: {because} did not get through"),
                None => words::state(phase).to_owned(),
            };
            let mut status = TestCaseStatus::skipped();
            status.set_type(phase.name()).set_message(fit_line(&why));
            status
        }
    }
}

fn gate_status(gate: &GateState) -> TestCaseStatus {
    match (gate.phase, &gate.halted) {
        (_, Some(problem)) => {
            failed(NonSuccessKind::Error, Class::Infrastructure, std::slice::from_ref(problem))
        }
        (GatePhase::Passed, _) => TestCaseStatus::success(),
        (GatePhase::Failed, _) => {
            failed(NonSuccessKind::Failure, gate.class.unwrap_or(Class::Work), &gate.problems)
        }
        _ => TestCaseStatus::skipped(),
    }
}

fn failed(kind: NonSuccessKind, class: Class, problems: &[Problem]) -> TestCaseStatus {
    let mut status = TestCaseStatus::non_success(kind);
    status.set_type(class.to_string());
    if let Some(first) = problems.first() {
        status.set_message(fit_line(&one(first)));
    }
    let all: Vec<String> = problems.iter().map(|p| format!("{}: {}", p.check, one(p))).collect();
    status.set_description(fit(&all.join("\n")));
    status
}

fn facts(wp: &WpState) -> Vec<(&'static str, String)> {
    let mut facts = vec![
        ("title", wp.title.clone()),
        ("tier", wp.tier.to_string()),
        ("risk", words::risk(wp.risk).to_owned()),
        ("rounds", wp.round.to_string()),
    ];
    facts.extend(wp.branch.clone().map(|branch| ("branch", branch)));
    facts.extend(wp.commit.as_ref().map(|commit| ("commit", commit.to_string())));
    facts
}

fn output(wp: &WpState) -> String {
    let mut text = listed(&wp.proved);
    let problems = if wp.phase == Phase::Blocked { &[] } else { wp.carried() };
    for problem in problems.iter().chain(&wp.blocked_by).filter(|_| wp.phase.stuck()) {
        if let Some(tail) = problem.tail.as_deref().filter(|tail| !tail.is_empty()) {
            let log = problem.log.as_deref().unwrap_or("output");
            let _ = write!(text, "\n{log}:\n{}\n", tail.trim_end());
        }
    }
    text
}

fn listed(commands: &[Ran]) -> String {
    let mut text = String::new();
    for ran in commands {
        let _ = writeln!(text, "{}: {} ({} lines, {})", ran.run, ran.end, ran.lines, ran.log);
    }
    text
}

/// As [`fit`], for an attribute, which has one line: XML readers take a line break in one for a blank.
fn fit_line(text: &str) -> String {
    fit(&visible(text))
}

/// Text that XML can hold: what a terminal would obey is escaped, so that nothing is lost in silence;
/// the two code points that are left over are not characters at all.
fn fit(text: &str) -> String {
    visible_lines(text).replace(['\u{fffe}', '\u{ffff}'], "\u{fffd}")
}
