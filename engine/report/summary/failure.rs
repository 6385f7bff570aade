//! The first cause: of all that went wrong, what went wrong first and by itself.

use std::path::Path;

use schemars::JsonSchema;
use serde::Serialize;

use super::facts::problems;
use crate::ledger::{GatePhase, Ledger, Phase, WpState};
use crate::model::outcome::{Check, Class, Problem};
use crate::process::escape_path;
use crate::report::cells::output_line;
use crate::report::live::last_bytes;

/// Lines of a log that are shown.
const LINES: usize = 40;

/// Bytes at the end of a log that are looked at for them.
const WINDOW: u64 = 16 * 1024;

/// What went wrong first.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Failure {
    /// The WP or the stage.
    pub what: String,
    /// Whose answer it needs.
    pub class: Class,
    /// The check that found it.
    pub check: Check,
    /// What is wrong.
    pub message: String,
    /// The path, command or file:line it is about.
    pub subject: Option<String>,
    /// The last lines of its log, escaped.
    pub tail: Vec<String>,
    /// The whole log.
    pub log: Option<String>,
    /// Why that is not all that was printed.
    pub log_error: Option<String>,
    /// Problems found together with it.
    pub others: usize,
}

impl Failure {
    /// Of all that did not get through in `ledger`, what came first; `None` when nothing failed.
    /// What was deferred or cancelled is a consequence, not a cause.
    #[must_use]
    pub fn first(ledger: &Ledger, directory: &Path) -> Option<Self> {
        let failed = |wp: &&WpState| matches!(wp.phase, Phase::Escalated | Phase::Blocked);
        let first = ledger.wps.iter().filter(failed).min_by_key(|wp| wp.settled_at);
        if let Some(wp) = first {
            let class = match wp.phase {
                Phase::Blocked => Class::Infrastructure,
                _ => wp.rounds.last().and_then(|round| round.class).unwrap_or(Class::Decision),
            };
            return Self::of(wp.id.to_string(), class, &problems(wp), (ledger, directory));
        }
        if let Some(look) = ledger.verify.as_ref() {
            let what = || "the whole".to_owned();
            if let Some(problem) = &look.halted {
                return Self::of(what(), Class::Infrastructure, &[problem], (ledger, directory));
            }
            if look.failed() {
                let problems: Vec<&Problem> = look.problems.iter().collect();
                return Self::of(what(), Class::Decision, &problems, (ledger, directory));
            }
        }
        let gate = ledger.gates.last()?;
        let stage = &ledger.wps.iter().find(|wp| wp.level == gate.level)?.stage;
        let (class, problems): (Class, Vec<&Problem>) = match (&gate.halted, gate.phase) {
            (Some(problem), _) => (Class::Infrastructure, vec![problem]),
            (None, GatePhase::Failed) => {
                (gate.class.unwrap_or(Class::Work), gate.problems.iter().collect())
            }
            _ => return None,
        };
        Self::of(format!("stage {stage}"), class, &problems, (ledger, directory))
    }

    fn of(
        what: String,
        class: Class,
        problems: &[&Problem],
        (ledger, directory): (&Ledger, &Path),
    ) -> Option<Self> {
        let problem = problems.first()?;
        let log_error = problem.log.as_ref().and_then(|log| log_error(ledger, log));
        let log = problem.log.as_ref().map(|log| directory.join(log));
        let noted = problem.tail.as_deref().filter(|tail| !tail.trim().is_empty());
        let text = match (noted, &log) {
            (Some(tail), _) => tail.to_owned(),
            (None, Some(log)) => last_bytes(log, WINDOW).unwrap_or_default(),
            (None, None) => String::new(),
        };
        let lines: Vec<&str> = text.lines().collect();
        let tail = &lines[lines.len().saturating_sub(LINES)..];
        Some(Self {
            what,
            class,
            check: problem.check,
            message: problem.message.clone(),
            subject: problem.subject.clone(),
            tail: tail.iter().map(|line| output_line(line)).collect(),
            log: log.map(|log| escape_path(&log)),
            log_error,
            others: problems.len() - 1,
        })
    }
}

/// Why a log is not complete, if what wrote it said so.
fn log_error(ledger: &Ledger, log: &str) -> Option<String> {
    let of_wps = ledger.wps.iter().flat_map(|wp| wp.worked.iter().chain(&wp.proved));
    let of_gates = ledger.gates.iter().flat_map(|gate| &gate.proved);
    let mut ran = of_wps.chain(of_gates).filter(|ran| ran.log == log);
    ran.find_map(|ran| ran.log_error.clone())
}
