//! What a reviewer says and what a worker reports: the two documents that other programs write.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::question::Question;

/// A reviewer's judgment of one WP in one round (`schemas/verdict.schema.json`).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Verdict {
    /// The judgment itself.
    pub verdict: Judgment,
    /// One or two sentences for the person who reads the run's summary.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub summary: String,
    /// What must change, or what was seen: numbered by their order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<ReviewFinding>,
}

/// Approve, or ask for changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Judgment {
    /// The work may be committed.
    Approve,
    /// The findings go into the next round's brief.
    RequestChanges,
}

/// One thing a reviewer found, at a file and a line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReviewFinding {
    /// Path from the repository's root.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// Line in that file, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// How much it matters.
    #[serde(default)]
    pub severity: ReviewSeverity,
    /// What is wrong, and what would be right.
    pub message: String,
}

/// How much a review finding matters.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum ReviewSeverity {
    /// A remark.
    Note,
    /// Should be mended.
    Minor,
    /// Must be mended.
    #[default]
    Major,
}

impl ReviewSeverity {
    /// The name as in a verdict.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Note => "note",
            Self::Minor => "minor",
            Self::Major => "major",
        }
    }
}

impl Verdict {
    /// What an answer has to hold, for whoever reads that one does not.
    pub const EXPECTED: &'static str = "expected is JSON with \"verdict\": \"approve\" or \"request_changes\", as `sop schema verdict` says";

    /// The verdict in what a reviewer said: the last fenced block of JSON, or else the whole text. What
    /// is not exactly a verdict is none.
    ///
    /// # Errors
    /// What is wrong with it, for the reviewer to read.
    pub fn in_answer(answer: &str) -> Result<Self, String> {
        if answer.trim().is_empty() {
            return Err("the answer is empty".to_owned());
        }
        let text = last_block(answer);
        let verdict = serde_json::from_str(text.as_deref().unwrap_or(answer));
        verdict.map_err(|error| match text {
            Some(_) => format!("the last block of JSON is no verdict: {error}"),
            None => {
                format!("there is no fenced block of JSON, and the whole is no verdict: {error}")
            }
        })
    }
}

/// The JSON in an answer: its last fenced block of it, or else the whole text.
///
/// # Errors
/// What is wrong with the answer, for whoever gave it to read.
pub(super) fn json_in(answer: &str) -> Result<Value, String> {
    if answer.trim().is_empty() {
        return Err("the answer is empty".to_owned());
    }
    let block = last_block(answer);
    serde_json::from_str(block.as_deref().unwrap_or(answer)).map_err(|error| match block {
        Some(_) => format!("the last block of JSON cannot be read: {error}"),
        None => format!("there is no fenced block of JSON, and the whole is none: {error}"),
    })
}

/// The last fenced block that is JSON by name, or has no name.
fn last_block(text: &str) -> Option<String> {
    let (mut last, mut open) = (None, None::<(&str, bool, Vec<&str>)>);
    for line in text.lines() {
        let ticks = &line.trim()[..line.trim().len() - line.trim().trim_start_matches('`').len()];
        match &mut open {
            None if ticks.len() >= 3 => {
                let name = line.trim()[ticks.len()..].trim();
                let json = name.is_empty() || name.eq_ignore_ascii_case("json");
                open = Some((ticks, json, Vec::new()));
            }
            None => {}
            Some((fence, json, lines)) => {
                if line.trim() == *fence {
                    if *json {
                        last = Some(lines.join("\n"));
                    }
                    open = None;
                } else {
                    lines.push(line);
                }
            }
        }
    }
    last
}

/// A worker's final report (`schemas/report.schema.json`). It informs, it never proves.
///
/// A worker may write it as JSON to the path in `SOP_REPORT`; any other text found there is kept as
/// `summary`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Report {
    /// What was done, or, from a scout, what was found.
    #[serde(default)]
    pub summary: String,
    /// Files created, changed, deleted or renamed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<String>,
    /// Choices made that the brief left open.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub choices: Vec<String>,
    /// Lines that belong into files shared by the stage, for whoever consolidates them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub wiring: Vec<Wiring>,
    /// Commands that were run, with their real exit codes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub commands: Vec<RanCommand>,
    /// Choices that the brief does not settle and the worker did not make: the work stops here until
    /// they are answered.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub questions: Vec<Question>,
}

impl Report {
    /// The report in what a worker wrote or said: the whole of it as JSON, or its last fenced block of
    /// JSON. Other text is none.
    #[must_use]
    pub fn in_text(text: &str) -> Option<Self> {
        let whole = serde_json::from_str(text).ok();
        whole.or_else(|| serde_json::from_str(&last_block(text)?).ok())
    }
}

/// Lines for a file that this WP may not touch itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Wiring {
    /// The shared file.
    pub file: String,
    /// What to add to it.
    pub lines: String,
}

/// A command that a worker says it ran.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RanCommand {
    /// The command line.
    pub run: String,
    /// Its exit code.
    pub exit: i32,
}
