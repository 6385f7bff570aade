//! What `gemini --output-format stream-json` prints.

use std::collections::HashMap;
use std::path::PathBuf;

use serde::Deserialize;

use crate::model::turn::{Fault, FaultClass, Usage};
use crate::worker::seam::{Ask, End, Ended, Heard, Reader};
use crate::worker::{Tally, fault, retrying, shown};

/// One message. Fields and kinds that are not needed are not named.
#[derive(Debug, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Event {
    Init {
        session_id: String,
        #[serde(default)]
        model: String,
    },
    Message {
        role: String,
        #[serde(default)]
        content: String,
    },
    ToolUse {
        tool_name: String,
        #[serde(default)]
        tool_id: String,
        #[serde(default)]
        parameters: Input,
    },
    ToolResult {
        #[serde(default)]
        tool_id: String,
        #[serde(default)]
        status: String,
    },
    Error {
        #[serde(default)]
        severity: String,
        #[serde(default)]
        message: String,
    },
    Result(Outcome),
    #[serde(other)]
    Other,
}

/// What people want to know of a tool's input.
#[derive(Debug, Default, Deserialize)]
struct Input {
    #[serde(default)]
    command: Option<String>,
    #[serde(default)]
    file_path: Option<String>,
    #[serde(default)]
    pattern: Option<String>,
}

/// The last message.
#[derive(Debug, Deserialize)]
struct Outcome {
    #[serde(default)]
    status: String,
    #[serde(default)]
    error: Option<Told>,
    #[serde(default)]
    stats: Stats,
}

#[derive(Debug, Deserialize)]
struct Told {
    #[serde(default)]
    message: String,
}

#[derive(Debug, Clone, Copy, Default, Deserialize)]
struct Stats {
    #[serde(default)]
    total_tokens: u64,
    #[serde(default)]
    input_tokens: u64,
    #[serde(default)]
    cached: u64,
}

pub(super) struct GeminiReader {
    cwd: PathBuf,
    /// The words since the last use of a tool: in the end, the answer.
    text: String,
    /// The line of them that is not whole yet.
    line: String,
    /// Tools at work, in words for people.
    tools: HashMap<String, String>,
    /// A model call was made, and nothing of its answer has come yet.
    asked: bool,
    /// The last error that it told on the way.
    error: Option<String>,
    outcome: Option<Outcome>,
}

impl GeminiReader {
    pub(super) fn new(ask: &Ask<'_>) -> Self {
        Self {
            cwd: ask.cwd.to_owned(),
            text: String::new(),
            line: String::new(),
            tools: HashMap::new(),
            asked: true,
            error: None,
            outcome: None,
        }
    }

    /// Something of an answer came: it is the first of a model call where one was made before it.
    fn answered(&mut self, tally: &mut Tally) {
        if std::mem::take(&mut self.asked) {
            tally.turns = tally.turns.saturating_add(1);
        }
    }

    fn rest(&mut self) -> Vec<String> {
        let line = std::mem::take(&mut self.line);
        line.lines().filter(|line| !line.trim().is_empty()).map(str::to_owned).collect()
    }

    fn words(&mut self, content: &str, tally: &mut Tally) -> Heard {
        self.answered(tally);
        if self.text.len() + content.len() <= super::super::results::ANSWER as usize {
            self.text.push_str(content);
        }
        self.line.push_str(content);
        let rest = self.line.rfind('\n').map(|end| self.line.split_off(end + 1));
        let Some(rest) = rest else {
            return Heard::nothing();
        };
        let say = self.rest();
        self.line = rest;
        Heard { say, ..Heard::default() }
    }

    /// A use of a tool, for people.
    fn used(&self, name: &str, input: &Input) -> String {
        let verb = match name {
            "replace" | "write_file" | "edit" => "edit",
            "read_file" | "read_many_files" => "read",
            "search_file_content" | "grep_search" | "glob" => "search",
            other => other,
        };
        match input {
            Input { command: Some(command), .. } => shown::run(command),
            Input { file_path: Some(path), .. } => shown::file(verb, path, &self.cwd),
            Input { pattern: Some(pattern), .. } => format!("{verb} {pattern}"),
            _ => format!("use {name}"),
        }
    }

    fn outcome(&mut self, outcome: Outcome, tally: &mut Tally) -> Heard {
        let Stats { total_tokens, input_tokens, cached } = outcome.stats;
        // What is neither read nor written was thought, which is paid as written.
        tally.usage = Usage {
            input: input_tokens,
            cached,
            output: total_tokens.saturating_sub(input_tokens),
        };
        let error = outcome.error.as_ref().map(|error| error.message.clone());
        self.outcome = Some(outcome);
        Heard { say: self.rest(), error, over: true, ..Heard::default() }
    }
}

impl Reader for GeminiReader {
    fn line(&mut self, line: &[u8], tally: &mut Tally) -> Heard {
        let Ok(event) = serde_json::from_slice(line) else {
            return Heard::nothing();
        };
        match event {
            Event::Init { session_id, model } => {
                tally.note_session(&session_id);
                tally.note_model(&model);
                Heard::say(shown::session("gemini", &session_id))
            }
            Event::Message { role, content } if role == "assistant" => self.words(&content, tally),
            Event::ToolUse { tool_name, tool_id, parameters } => {
                self.answered(tally);
                self.text.clear();
                let mut say = self.rest();
                let used = self.used(&tool_name, &parameters);
                say.push(used.clone());
                self.tools.insert(tool_id, used);
                Heard { say, ..Heard::default() }
            }
            Event::ToolResult { tool_id, status } => {
                self.asked = true;
                let used = self.tools.remove(&tool_id).unwrap_or_else(|| "a tool".to_owned());
                if status == "error" {
                    Heard::say(format!("failed: {used}"))
                } else {
                    Heard::nothing()
                }
            }
            Event::Error { severity, message } => {
                if severity == "warning" {
                    return Heard::say(message);
                }
                self.error = Some(message.clone());
                Heard::error(message)
            }
            Event::Result(outcome) => self.outcome(outcome, tally),
            Event::Message { .. } | Event::Other => Heard::nothing(),
        }
    }

    fn end(self: Box<Self>, ended: &Ended<'_>, _: &mut Tally) -> End {
        let Some(outcome) = self.outcome else {
            let fault = retrying::fault(ended).unwrap_or_else(|| fault::untold(ended));
            return End { fault: Some(fault), ..End::default() };
        };
        let text = Some(self.text).filter(|text| !text.trim().is_empty());
        if outcome.status != "error" {
            let fault = if text.is_none() { Some(fault::empty()) } else { None };
            return End { text, fault, ..End::default() };
        }
        let told = outcome.error.map(|error| error.message).or(self.error).unwrap_or_default();
        // Its word for a turn that said nothing, which it has tried again a few times by then.
        if told.contains("empty response") {
            let empty =
                Fault { class: FaultClass::EmptyTurn, ..fault::told(&told, None, ended.now) };
            return End { fault: Some(empty), ..End::default() };
        }
        let told =
            if told.is_empty() { "it ended with an error that it did not tell" } else { &told };
        End { text: None, fault: Some(fault::told(told, None, ended.now)), stopped_at: None }
    }
}
