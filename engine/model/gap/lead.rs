//! What a scout of an audit hands in. A lead is hearsay: it becomes a finding once the commit has been
//! looked at.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::super::verdict::json_in;
use super::{Concern, Severity};

/// Leads that one answer is heard out for.
pub const MOST_LEADS: usize = 200;

/// What a scout of an audit answers (`sop schema leads`).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Leads {
    /// What it found; empty where it found nothing.
    pub findings: Vec<Lead>,
}

/// One thing that a scout says it found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Lead {
    /// Path from the repository's root.
    pub path: String,
    /// Line in that file, from 1, at which the quote begins.
    pub line: u32,
    /// The line, or the lines, as they stand in the file.
    pub quote: String,
    /// How much it matters.
    pub severity: Severity,
    /// What it is about.
    pub concern: Concern,
    /// What it is, in a few words. Default: the first words of `evidence`.
    #[serde(default)]
    pub title: String,
    /// Why it is a gap.
    pub evidence: String,
    /// What would mend it.
    pub fix: String,
    /// Other files that mending it touches, new ones among them. Default: none.
    #[serde(default)]
    pub files: Vec<String>,
    /// A name for it within this answer, for `depends_on`. Default: none.
    #[serde(default)]
    pub id: Option<String>,
    /// Names of other findings of this answer that have to be mended first. Default: none.
    #[serde(default)]
    pub depends_on: Vec<String>,
}

/// An entry of an answer that is no lead.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Malformed {
    /// The place, as far as it gives one.
    pub place: String,
    /// What it says, as JSON.
    pub said: String,
    /// What is wrong with it.
    pub why: String,
}

impl Leads {
    /// The entries of an answer: its last fenced block of JSON, or else the whole text. One bad entry is
    /// reported by itself and spoils no other.
    ///
    /// # Errors
    /// What is wrong with the answer, for the scout to read.
    pub fn in_answer(answer: &str) -> Result<Vec<Result<Lead, Malformed>>, String> {
        let value = json_in(answer)?;
        let Some(entries) = value.get("findings").and_then(Value::as_array) else {
            return Err("it has no list `findings`, which is empty where nothing was found".into());
        };
        Ok(entries.iter().enumerate().map(|(n, value)| entry(n, value)).collect())
    }
}

fn entry(n: usize, value: &Value) -> Result<Lead, Malformed> {
    let read = match n < MOST_LEADS {
        true => Lead::deserialize(value).map_err(|error| format!("it is no finding: {error}")),
        false => Err(format!("one answer is heard out for {MOST_LEADS} findings")),
    };
    read.map_err(|why| {
        let path = value.get("path").and_then(Value::as_str);
        let line = value.get("line").and_then(Value::as_u64);
        let place = match (path, line) {
            (Some(path), Some(line)) => format!("{path}:{line}"),
            (Some(path), None) => path.to_owned(),
            _ => String::new(),
        };
        Malformed { place, said: value.to_string(), why }
    })
}
