//! What `claude -p --output-format stream-json` prints.

use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;

use serde::Deserialize;

use crate::model::turn::{FaultClass, Spent, Usage, Usd};
use crate::worker::seam::{Ask, End, Ended, Heard, Reader};
use crate::worker::{Tally, fault, shown};

/// The model of a message that claude wrote itself, to say that a call failed.
const SYNTHETIC: &str = "<synthetic>";

/// One message. Fields and kinds that are not needed are not named.
#[derive(Debug, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Event {
    System(System),
    Assistant {
        message: Assistant,
        /// Why the call failed.
        #[serde(default)]
        error: Option<String>,
    },
    User {
        message: User,
    },
    Result(Box<Outcome>),
    #[serde(other)]
    Other,
}

#[derive(Debug, Deserialize)]
#[serde(tag = "subtype", rename_all = "snake_case")]
enum System {
    Init {
        session_id: String,
        model: String,
    },
    ApiRetry {
        #[serde(default)]
        attempt: u64,
        #[serde(default)]
        max_retries: u64,
        #[serde(default)]
        error_status: Option<u16>,
    },
    #[serde(other)]
    Other,
}

#[derive(Debug, Deserialize)]
struct Assistant {
    #[serde(default)]
    id: String,
    #[serde(default)]
    model: String,
    #[serde(default)]
    content: Vec<Block>,
    #[serde(default)]
    usage: Tokens,
}

#[derive(Debug, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Block {
    Text {
        text: String,
    },
    ToolUse {
        name: String,
        #[serde(default)]
        input: Input,
    },
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

#[derive(Debug, Deserialize)]
struct User {
    content: serde_json::Value,
}

#[derive(Debug, Clone, Copy, Default, Deserialize)]
struct Tokens {
    #[serde(default)]
    input_tokens: u64,
    #[serde(default)]
    cache_creation_input_tokens: u64,
    #[serde(default)]
    cache_read_input_tokens: u64,
    #[serde(default)]
    output_tokens: u64,
}

#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct ModelTokens {
    #[serde(default)]
    input_tokens: u64,
    #[serde(default)]
    cache_creation_input_tokens: u64,
    #[serde(default)]
    cache_read_input_tokens: u64,
    #[serde(default)]
    output_tokens: u64,
}

/// The last message.
#[derive(Debug, Deserialize)]
struct Outcome {
    #[serde(default)]
    subtype: String,
    #[serde(default)]
    is_error: bool,
    #[serde(default)]
    api_error_status: Option<u16>,
    #[serde(default)]
    result: Option<String>,
    #[serde(default)]
    errors: Vec<String>,
    #[serde(default)]
    session_id: Option<String>,
    #[serde(default)]
    num_turns: u32,
    #[serde(default)]
    total_cost_usd: Option<f64>,
    #[serde(default)]
    usage: Tokens,
    #[serde(default, rename = "modelUsage")]
    model_usage: BTreeMap<String, ModelTokens>,
    #[serde(default)]
    permission_denials: Vec<Denial>,
}

#[derive(Debug, Deserialize)]
struct Denial {
    tool_name: String,
    #[serde(default)]
    tool_input: Input,
}

pub(super) struct ClaudeReader {
    cwd: PathBuf,
    max_turns: Option<u32>,
    usd: Option<Usd>,
    /// Tokens by call: a call with several blocks is told block by block, each time with its tokens.
    calls: HashMap<String, Usage>,
    outcome: Option<Box<Outcome>>,
    /// The kind of the last call that failed.
    failed: Option<String>,
}

impl ClaudeReader {
    pub(super) fn new(ask: &Ask<'_>) -> Self {
        Self {
            cwd: ask.cwd.to_owned(),
            max_turns: ask.max_turns,
            usd: ask.usd,
            calls: HashMap::new(),
            outcome: None,
            failed: None,
        }
    }

    fn assistant(&mut self, message: Assistant, error: Option<String>, tally: &mut Tally) -> Heard {
        let is_error = message.model == SYNTHETIC;
        if is_error {
            self.failed = error;
        } else {
            tally.note_model(&message.model);
            self.calls.insert(message.id, message.usage.into());
            tally.turns = u32::try_from(self.calls.len()).unwrap_or(u32::MAX);
            tally.usage = Usage::default();
            self.calls.values().for_each(|usage| tally.usage += *usage);
        }
        let say = message.content.into_iter().filter_map(|block| match block {
            Block::Text { text } => Some(text),
            Block::ToolUse { name, input } => Some(self.used(&name, &input)),
            Block::Other => None,
        });
        let say: Vec<String> = say.collect();
        let error = if is_error { say.last().cloned() } else { None };
        Heard { say, error, ..Heard::default() }
    }

    /// A use of a tool, for people.
    fn used(&self, name: &str, input: &Input) -> String {
        let verb = match name {
            "Edit" | "Write" | "NotebookEdit" => "edit",
            "Read" => "read",
            "Grep" | "Glob" => "search",
            other => other,
        };
        match input {
            Input { command: Some(command), .. } => shown::run(command),
            Input { file_path: Some(path), .. } => shown::file(verb, path, &self.cwd),
            Input { pattern: Some(pattern), .. } => format!("{verb} {pattern}"),
            _ => format!("use {name}"),
        }
    }

    fn outcome(&mut self, outcome: Box<Outcome>, tally: &mut Tally) -> Heard {
        if let Some(session) = &outcome.session_id {
            tally.note_session(session);
        }
        // Of all models, and right where `usage` is not: after a call that was made again.
        let mut usage = Usage::default();
        outcome.model_usage.values().for_each(|tokens| usage += Usage::from(*tokens));
        if usage.total() == 0 {
            usage = outcome.usage.into();
        }
        if usage.total() > 0 {
            tally.usage = usage;
            tally.turns = tally.turns.max(outcome.num_turns);
        }
        tally.cost_usd = outcome.total_cost_usd.map(Usd::from);
        for denial in &outcome.permission_denials {
            tally.note_denial(&self.used(&denial.tool_name, &denial.tool_input));
        }
        let error = outcome.result.clone().filter(|_| outcome.is_error);
        self.outcome = Some(outcome);
        Heard { error, over: true, ..Heard::default() }
    }
}

impl Reader for ClaudeReader {
    fn line(&mut self, line: &[u8], tally: &mut Tally) -> Heard {
        let Ok(event) = serde_json::from_slice(line) else {
            return Heard::nothing();
        };
        match event {
            Event::System(System::Init { session_id, model }) => {
                tally.note_session(&session_id);
                tally.note_model(&model);
                Heard::say(shown::session("claude", &session_id))
            }
            Event::System(System::ApiRetry { attempt, max_retries, error_status }) => {
                let status = error_status.map_or("nothing".to_owned(), |s| format!("status {s}"));
                Heard::error(format!(
                    "the provider answered {status}; trying again ({attempt} of {max_retries})"
                ))
            }
            Event::Assistant { message, error } => self.assistant(message, error, tally),
            Event::User { message } => failures(&message.content),
            Event::Result(outcome) => self.outcome(outcome, tally),
            Event::System(System::Other) | Event::Other => Heard::nothing(),
        }
    }

    fn end(self: Box<Self>, ended: &Ended<'_>, _: &mut Tally) -> End {
        let Some(outcome) = self.outcome else {
            return End { fault: Some(fault::untold(ended)), ..End::default() };
        };
        let stopped_at = match outcome.subtype.as_str() {
            "error_max_turns" => self.max_turns.map(|most| Spent::Turns { most }),
            "error_max_budget_usd" => self.usd.map(|most| Spent::Usd { most }),
            _ => None,
        };
        if stopped_at.is_some() {
            return End { text: outcome.result, fault: None, stopped_at };
        }
        if outcome.is_error {
            let kind = self.failed.as_deref().and_then(kind);
            let status = outcome.api_error_status.and_then(fault::of_status);
            let errors = Some(outcome.errors.join("; ")).filter(|errors| !errors.is_empty());
            let message = outcome.result.or(errors).unwrap_or(outcome.subtype);
            let fault = fault::told(&message, status.or(kind), ended.now);
            return End { fault: Some(fault), ..End::default() };
        }
        let text = outcome.result.filter(|text| !text.trim().is_empty());
        let fault = if text.is_none() { Some(fault::empty()) } else { None };
        End { text, fault, stopped_at: None }
    }
}

/// Tools that failed or were refused, as the agent is told.
fn failures(content: &serde_json::Value) -> Heard {
    let blocks = content.as_array().into_iter().flatten();
    let failed = blocks.filter(|block| block["is_error"] == true);
    let say = failed.filter_map(|block| {
        let line = block["content"].as_str()?.lines().next()?;
        Some(format!("failed: {line}"))
    });
    Heard { say: say.collect(), ..Heard::default() }
}

/// What claude's own kinds of errors mean.
fn kind(kind: &str) -> Option<FaultClass> {
    match kind {
        "authentication_failed" | "oauth_org_not_allowed" => Some(FaultClass::Auth),
        "billing_error" => Some(FaultClass::Credit),
        "rate_limit" => Some(FaultClass::RateLimit),
        "model_not_found" => Some(FaultClass::ModelUnknown),
        "server_error" | "overloaded" => Some(FaultClass::Provider),
        _ => None,
    }
}

impl From<Tokens> for Usage {
    fn from(tokens: Tokens) -> Self {
        let cached = tokens.cache_read_input_tokens;
        let fresh = tokens.input_tokens.saturating_add(tokens.cache_creation_input_tokens);
        let input = fresh.saturating_add(cached);
        Self { input, cached, output: tokens.output_tokens }
    }
}

impl From<ModelTokens> for Usage {
    fn from(tokens: ModelTokens) -> Self {
        let cached = tokens.cache_read_input_tokens;
        let fresh = tokens.input_tokens.saturating_add(tokens.cache_creation_input_tokens);
        let input = fresh.saturating_add(cached);
        Self { input, cached, output: tokens.output_tokens }
    }
}
