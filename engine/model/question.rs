//! A design choice that the brief does not settle (a fork): what a worker asks, and where in its
//! report it may say so.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Most questions that are taken from one attempt.
pub const MOST_QUESTIONS: usize = 8;

/// The question that every brief shows as an example: a worker that repeats its brief does not ask it.
const EXAMPLE: &str = "a choice that is not yours, with the options you see";

/// Most characters of a question or of its default.
const LONGEST: usize = 2000;

/// What a worker asks.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Question {
    /// The choice, with the options that the worker sees.
    pub question: String,
    /// What the worker would do if nobody answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default: Option<String>,
}

impl Question {
    /// A question of at least a word; what is longer than a person would read is cut.
    #[must_use]
    pub fn new(question: &str, default: Option<&str>) -> Option<Self> {
        let cut = |text: &str| text.trim().chars().take(LONGEST).collect::<String>();
        let question = cut(question);
        let default = default.map(cut).filter(|text| !text.is_empty());
        (!question.is_empty() && question != EXAMPLE).then_some(Self { question, default })
    }

    /// Whether `known`, as a plan has it, is this question: the same words, whatever the case, the
    /// spaces and the marks between them.
    #[must_use]
    pub fn is(&self, known: &str) -> bool {
        let words = |text: &str| -> Vec<String> {
            let words = text.split(|c: char| !c.is_alphanumeric()).filter(|w| !w.is_empty());
            words.map(str::to_lowercase).collect()
        };
        let (asked, known) = (words(&self.question), words(known));
        !known.is_empty() && asked == known
    }
}

/// The questions that a report ends with: fenced blocks named `question`, each with the question and,
/// on a last line `default: …`, what its writer would do. A question with work after it was settled by
/// the writer, so only blocks with nothing but space and other such blocks behind them count.
#[must_use]
pub fn questions_in(report: &str) -> Vec<Question> {
    let lines: Vec<&str> = report.lines().collect();
    let mut found = Vec::new();
    let mut end = lines.len();
    loop {
        while end > 0 && lines[end - 1].trim().is_empty() {
            end -= 1;
        }
        let Some((begin, question)) = block_before(&lines[..end]) else { break };
        found.extend(question);
        end = begin;
    }
    found.reverse();
    found.truncate(MOST_QUESTIONS);
    found
}

/// The block that these lines end with: where it begins, and what it asks.
fn block_before(lines: &[&str]) -> Option<(usize, Option<Question>)> {
    let (last, before) = lines.split_last()?;
    let fence = last.trim();
    if fence.len() < 3 || !fence.bytes().all(|byte| byte == b'`') {
        return None;
    }
    let opens = |line: &&str| line.trim().starts_with(fence);
    let begin = before.iter().rposition(opens)?;
    let name = before[begin].trim().trim_start_matches('`').trim();
    if !name.eq_ignore_ascii_case("question") {
        return None;
    }
    let inside = &before[begin + 1..];
    let default = inside.last().and_then(|line| {
        let (key, value) = line.split_once(':')?;
        key.trim().eq_ignore_ascii_case("default").then(|| value.trim())
    });
    let asked = &inside[..inside.len() - usize::from(default.is_some())];
    Some((begin, Question::new(&asked.join("\n"), default)))
}
