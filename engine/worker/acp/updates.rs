//! What `session/update` tells: the agent's words, its tools, what it used. Agents tell it in parts and
//! in their own ways; this puts it together as far as they agree.

use std::collections::HashMap;

use serde_json::Value;

use super::policy::Call;
use crate::model::turn::{Usage, Usd};
use crate::worker::tally::Tally;

/// Bytes of the agent's last words that are kept.
const TEXT: usize = 1024 * 1024;
/// Tool calls that are remembered at once; an agent that leaves more open is not remembered.
const CALLS: usize = 1000;

/// Messages in a row without the use of a tool between them, after which an agent goes round in circles:
/// a message without one is the end of its turn.
const MESSAGES: u32 = 8;

/// All that was told in one session.
#[derive(Debug, Default)]
pub struct Updates {
    /// The words since the last use of a tool: in the end, the answer.
    text: String,
    /// The line of the agent's words that is not whole yet.
    line: String,
    calls: HashMap<String, Told>,
    /// The message that the words belong to, for agents that name it, and how many there were in a row.
    message: Option<String>,
    messages: u32,
    /// A model call was made, and nothing of its answer has come yet.
    asked: bool,
    /// What `usage_update` came to, for agents that tell no sum.
    seen: u64,
    /// Money of the turns before this one, and of this one.
    cost: Option<f64>,
}

#[derive(Debug, Default)]
struct Told {
    call: Call,
    said: bool,
}

impl Updates {
    /// A prompt goes out: what comes now belongs to it.
    pub fn prompt(&mut self) {
        self.text.clear();
        self.line.clear();
        self.messages = 0;
        self.asked = true;
    }

    /// It begins one message after the other and ends none: opencode does so, and asks its provider each
    /// time, when the provider's answers are cut.
    #[must_use]
    pub fn goes_round(&self) -> bool {
        self.messages > MESSAGES
    }

    /// The agent's last words.
    #[must_use]
    pub fn text(&self) -> Option<&str> {
        Some(self.text.trim()).filter(|text| !text.is_empty())
    }

    /// What is known of a call, with what a request tells on top.
    pub fn call(&mut self, told: &Value) -> &Call {
        let id = told.get("toolCallId").and_then(Value::as_str).unwrap_or_default();
        if self.calls.len() >= CALLS && !self.calls.contains_key(id) {
            self.calls.clear();
        }
        let known = self.calls.entry(id.to_owned()).or_default();
        known.call.learn(told);
        &known.call
    }

    /// One update; lines for people come back.
    pub fn hear(&mut self, update: &Value, tally: &mut Tally) -> Vec<String> {
        match update.get("sessionUpdate").and_then(Value::as_str) {
            Some("agent_message_chunk") => self.words(update, tally),
            Some("agent_thought_chunk") => {
                self.answered(tally);
                Vec::new()
            }
            Some("tool_call") => {
                let mut say = self.used_tool(tally);
                say.extend(self.tool(update, true));
                say
            }
            Some("tool_call_update") => self.tool(update, false),
            Some("usage_update") => {
                self.used(update, tally);
                Vec::new()
            }
            _ => Vec::new(),
        }
    }

    /// The agent's words that made no whole line.
    pub fn rest(&mut self) -> Vec<String> {
        let line = std::mem::take(&mut self.line);
        if line.trim().is_empty() { Vec::new() } else { vec![line] }
    }

    /// Adds the usage that the answer to a prompt tells; where it tells none, what was seen on the way
    /// stands.
    pub fn total(&mut self, result: &Value, tally: &mut Tally) {
        // gemini has it in a place of its own.
        let counted = result.get("usage").filter(|usage| usage.is_object());
        let counted = counted.or_else(|| result.pointer("/_meta/quota/token_count"));
        let Some(counted) = counted else {
            return;
        };
        let number = |names: [&str; 2]| {
            names.iter().find_map(|name| counted.get(*name)).and_then(Value::as_u64).unwrap_or(0)
        };
        let cached = number(["cachedReadTokens", "cached_tokens"]);
        tally.usage.input = tally.usage.input.saturating_sub(std::mem::take(&mut self.seen));
        tally.usage += Usage {
            input: number(["inputTokens", "input_tokens"]).saturating_add(cached),
            cached,
            output: number(["outputTokens", "output_tokens"])
                .saturating_add(number(["thoughtTokens", "thought_tokens"])),
        };
    }

    fn words(&mut self, update: &Value, tally: &mut Tally) -> Vec<String> {
        let text = update.pointer("/content/text").and_then(Value::as_str).unwrap_or_default();
        if text.is_empty() {
            return Vec::new();
        }
        let message = update.get("messageId").and_then(Value::as_str);
        if message.is_some() && message != self.message.as_deref() {
            self.message = message.map(str::to_owned);
            self.messages += 1;
        }
        if is_notice(text) {
            return vec![text.to_owned()];
        }
        self.answered(tally);
        if self.text.len() + text.len() <= TEXT {
            self.text.push_str(text);
        }
        self.line.push_str(text);
        let Some(end) = self.line.rfind('\n') else {
            // A line without an end is said in pieces.
            return if self.line.len() > 4096 { self.rest() } else { Vec::new() };
        };
        let rest = self.line.split_off(end + 1);
        let whole = std::mem::replace(&mut self.line, rest);
        whole.lines().filter(|line| !line.trim().is_empty()).map(str::to_owned).collect()
    }

    fn tool(&mut self, update: &Value, first: bool) -> Vec<String> {
        let id = update.get("toolCallId").and_then(Value::as_str).unwrap_or_default().to_owned();
        let status = update.get("status").and_then(Value::as_str);
        self.call(update);
        let mut say = Vec::new();
        let ended = matches!(status, Some("completed" | "failed"));
        if let Some(told) = self.calls.get_mut(&id) {
            // A title is told once it says something: at first there may be but the tool's bare name.
            let titled = status == Some("in_progress") || !(first || told.call.input.is_null());
            if !told.said && (ended || titled) {
                told.said = true;
                say.push(told.call.words());
            }
            if status == Some("failed") {
                say.push(format!("failed: {}", told.call.words()));
            }
        }
        if ended {
            self.calls.remove(&id);
            self.asked = true;
        }
        say
    }

    /// The model's answer came to the use of a tool: what it said before is not its last words.
    pub fn used_tool(&mut self, tally: &mut Tally) -> Vec<String> {
        self.answered(tally);
        self.text.clear();
        self.messages = 0;
        self.rest()
    }

    /// Something of an answer came: it is the first of a model call where one was made before it.
    fn answered(&mut self, tally: &mut Tally) {
        if std::mem::take(&mut self.asked) {
            tally.turns = tally.turns.saturating_add(1);
        }
    }

    fn used(&mut self, update: &Value, tally: &mut Tally) {
        // What the context holds after a model call: what that call read and wrote.
        let used = update.get("used").and_then(Value::as_u64).unwrap_or(0);
        self.seen = self.seen.saturating_add(used);
        tally.usage.input = tally.usage.input.saturating_add(used);
        let dollars = update.pointer("/cost/currency").and_then(Value::as_str) == Some("USD");
        let amount = update.pointer("/cost/amount").and_then(Value::as_f64).filter(|_| dollars);
        if let Some(amount) = amount.filter(|amount| self.cost.is_none_or(|cost| *amount > cost)) {
            self.cost = Some(amount);
            tally.cost_usd = Some(Usd::from(amount));
        }
    }
}

/// What codex-acp says in the model's place, about itself.
fn is_notice(text: &str) -> bool {
    text.starts_with("Model metadata for ") && text.contains("Defaulting to fallback metadata")
}
