//! What an attempt told when it ended: its report, what its agent's stream came to, and what it asks.
//! It informs; it never proves.

use std::path::{Path, PathBuf};

use crate::event::Asked;
use crate::launch::{Exit, Outcome};
use crate::ledger::settled;
use crate::model::outcome::End;
use crate::model::plan::{Does, Kind};
use crate::model::question::{MOST_QUESTIONS, Question, questions_in};
use crate::model::turn::{Fault, FaultClass, Turn};
use crate::model::verdict::Report;
use crate::plain_file;
use crate::process;
use crate::worker;

use super::Unit;
use super::brief::REPORT_LIMIT;
use crate::run::directory::RunDir;

/// Exit code of a command that says: not now, try again later (`EX_TEMPFAIL` of `sysexits.h`).
const TRY_LATER: i32 = 75;

/// Most bytes of a question that was put with `sop ask`.
const ASK_LIMIT: u64 = 1 << 16;

/// What an attempt told.
#[derive(Debug, Default)]
pub(super) struct Told {
    /// The report's name within the run directory.
    pub report: Option<String>,
    /// What its agent's stream came to.
    pub turn: Option<Turn>,
    /// Why it is not a finished turn.
    pub fault: Option<Fault>,
    /// What it asks.
    pub asks: Vec<Asked>,
}

impl Unit {
    /// Collects what attempt `attempt` told.
    pub(super) fn told(&self, attempt: u32, outcome: &Outcome, end: &End) -> Told {
        let turn = self.turn(attempt);
        let report = self.report(attempt);
        let is_agent = matches!(self.worker().does, Does::Agent { .. });
        let log = RunDir::log_name(self.state.id.as_str(), "work", attempt);
        let log = self.site.dir.named(&log);
        let fault = fault_of_attempt(is_agent, outcome, end, turn.as_ref(), &log);
        let asks = self.asks(attempt, report.as_deref());
        Told { report, turn, fault, asks }
    }

    /// Whether no look at the worktree follows, so that it has to be said here what else was touched.
    pub(super) fn is_unscoped(told: &Told, end: &End) -> bool {
        let ended = matches!(end, End::Cancelled | End::Signal { .. } | End::Lost) || end.broken();
        ended || told.fault.is_some() || !told.asks.is_empty()
    }

    /// The folder of an attempt's session, and what is in it.
    pub(super) fn turn_folder(&self, attempt: u32) -> PathBuf {
        self.site.dir.named(&RunDir::turn_name(&self.state.id, attempt))
    }

    /// An agent's turn as its driver left it, or as a command of the plan told it itself.
    fn turn(&self, attempt: u32) -> Option<Turn> {
        let path = self.turn_folder(attempt).join("turn.json");
        worker::read_turn(&path).unwrap_or_else(|error| {
            tracing::warn!(?path, %error, "no turn");
            None
        })
    }

    /// The report that the attempt left: the file it was told of, or what its agent said last, or, for a
    /// scout that is a command, what it printed.
    fn report(&self, attempt: u32) -> Option<String> {
        let name = RunDir::report_name(&self.state.id, attempt);
        let answer = format!("{}/answer.md", RunDir::turn_name(&self.state.id, attempt));
        let printed = (self.wp().kind == Kind::Scout).then(|| printed_report(&name));
        let written = |name: &String| {
            // A link would let the report be any file of the user's.
            let meta = std::fs::symlink_metadata(self.site.dir.named(name));
            meta.is_ok_and(|meta| meta.is_file() && meta.len() > 0)
        };
        [Some(name), Some(answer), printed].into_iter().flatten().find(written)
    }

    /// What the worker asks: with `sop ask`, or at the end of its report. What the plan settles, or an
    /// earlier answer, is answered already.
    fn asks(&self, attempt: u32, report: Option<&str>) -> Vec<Asked> {
        let mut questions = self.put(attempt);
        let text =
            report.and_then(|name| plain_file::read(&self.site.dir.named(name), REPORT_LIMIT).ok());
        if let Some(bytes) = text {
            let text = String::from_utf8_lossy(&bytes);
            let told = match Report::in_text(&text) {
                Some(report) if !report.questions.is_empty() => report.questions,
                _ => questions_in(&text),
            };
            let fresh = |q: &Question| Question::new(&q.question, q.default.as_deref());
            for question in told.iter().filter_map(fresh) {
                if !questions.iter().any(|known| known.is(&question.question)) {
                    questions.push(question);
                }
            }
        }
        questions.truncate(MOST_QUESTIONS);
        let (forks, before) = (&self.wp().forks, &self.state.forks);
        let asked = |question: Question| {
            let answer = settled(&question, forks, before).map(|(answer, _)| answer.to_owned());
            Asked { question: question.question, default: question.default, answer }
        };
        questions.into_iter().map(asked).collect()
    }

    /// What was put with `sop ask`, in that order.
    fn put(&self, attempt: u32) -> Vec<Question> {
        let folder = self.turn_folder(attempt).join("asks");
        let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
        let mut paths: Vec<PathBuf> = entries
            .filter_map(|entry| Some(entry.ok()?.path()))
            .filter(|path| path.extension().is_some_and(|ending| ending == "json"))
            .take(10 * MOST_QUESTIONS)
            .collect();
        paths.sort();
        let read = |path: &PathBuf| {
            let bytes = plain_file::read(path, ASK_LIMIT).ok()?;
            let question: Question = serde_json::from_slice(&bytes).ok()?;
            Question::new(&question.question, question.default.as_deref())
        };
        paths.iter().filter_map(read).take(MOST_QUESTIONS).collect()
    }
}

/// Why an attempt is no finished turn, as the journal has it. That it was ended at its wall clock or for its
/// silence is work to look at, and no fault of anybody's.
#[must_use]
pub fn fault_of_attempt(
    is_agent: bool,
    outcome: &Outcome,
    end: &End,
    turn: Option<&Turn>,
    log: &Path,
) -> Option<Fault> {
    let ours = |fault: &Fault| {
        matches!(end, End::Timeout { .. } | End::Idle { .. })
            && fault.class == FaultClass::Interrupted
    };
    fault_of(is_agent, outcome, end, turn, log).filter(|fault| !ours(fault))
}

/// Why a session is no finished turn: as its agent's stream has it, or as its end tells.
pub(in crate::run) fn fault_of(
    is_agent: bool,
    outcome: &Outcome,
    end: &End,
    turn: Option<&Turn>,
    log: &Path,
) -> Option<Fault> {
    if *end == End::Cancelled {
        return None;
    }
    if let Some(turn) = turn {
        return turn.fault.clone();
    }
    let ended_itself = matches!(end, End::Exit { .. }) && !end.broken();
    let (class, what) = match outcome.exit {
        Exit::Code(TRY_LATER) if !is_agent => {
            (FaultClass::RateLimit, "it exits 75: try again later")
        }
        _ if is_agent && ended_itself => {
            (FaultClass::Crash, "the agent left no account of its turn")
        }
        _ => return None,
    };
    let last =
        process::tail(log, 1).unwrap_or_default().pop().filter(|line| !line.trim().is_empty());
    let message = last.unwrap_or_else(|| what.to_owned());
    Some(Fault { class, message, resets_at: None })
}

/// What a scout prints, beside where it may write.
pub(super) fn printed_report(name: &str) -> String {
    format!("{}.out", name.trim_end_matches(".md"))
}
