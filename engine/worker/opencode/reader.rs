//! What `opencode run --format json` prints.

use std::path::PathBuf;

use serde::Deserialize;

use crate::model::turn::{Fault, FaultClass, Usage, Usd};
use crate::worker::seam::{Ask, End, Ended, Heard, Reader};
use crate::worker::{Tally, fault, shown};

/// Answers in a row that the provider never finished. Then it is not the one answer that was cut.
const CUT: u32 = 3;

/// One event. Fields and kinds that are not needed are not named.
#[derive(Debug, Deserialize)]
struct Event {
    #[serde(rename = "sessionID", default)]
    session: String,
    #[serde(flatten)]
    kind: Kind,
}

#[derive(Debug, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Kind {
    Text {
        part: Text,
    },
    ToolUse {
        part: Box<Tool>,
    },
    StepFinish {
        part: Step,
    },
    Error {
        error: Failure,
    },
    #[serde(other)]
    Other,
}

#[derive(Debug, Deserialize)]
struct Text {
    #[serde(default)]
    text: String,
}

#[derive(Debug, Deserialize)]
struct Tool {
    #[serde(default)]
    tool: String,
    state: State,
}

#[derive(Debug, Deserialize)]
struct State {
    #[serde(default)]
    status: String,
    #[serde(default)]
    input: Input,
    #[serde(default)]
    error: Option<String>,
}

/// What people want to know of a tool's input.
#[derive(Debug, Default, Deserialize)]
struct Input {
    #[serde(default)]
    command: Option<String>,
    #[serde(default, rename = "filePath")]
    file_path: Option<String>,
    #[serde(default)]
    pattern: Option<String>,
}

/// The end of one model call.
#[derive(Debug, Deserialize)]
struct Step {
    #[serde(default)]
    reason: String,
    #[serde(default)]
    tokens: Tokens,
    #[serde(default)]
    cost: f64,
}

#[derive(Debug, Default, Deserialize)]
struct Tokens {
    #[serde(default)]
    input: u64,
    #[serde(default)]
    output: u64,
    #[serde(default)]
    reasoning: u64,
    #[serde(default)]
    cache: Cache,
}

#[derive(Debug, Default, Deserialize)]
struct Cache {
    #[serde(default)]
    read: u64,
    #[serde(default)]
    write: u64,
}

#[derive(Debug, Deserialize)]
struct Failure {
    #[serde(default)]
    name: String,
    #[serde(default)]
    data: Detail,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Detail {
    #[serde(default)]
    message: String,
    #[serde(default)]
    status_code: Option<u16>,
    #[serde(default)]
    response_body: Option<String>,
    /// Under which the log tells what happened.
    #[serde(default, rename = "ref")]
    reference: Option<String>,
}

pub(super) struct OpencodeReader {
    cwd: PathBuf,
    /// The words since the last use of a tool: in the end, the answer.
    text: Vec<String>,
    cost: f64,
    /// Answers in a row that were cut.
    cut: u32,
    /// The last model call ended by itself.
    finished: bool,
    failure: Option<Failure>,
}

impl OpencodeReader {
    pub(super) fn new(ask: &Ask<'_>) -> Self {
        Self {
            cwd: ask.cwd.to_owned(),
            text: Vec::new(),
            cost: 0.0,
            cut: 0,
            finished: false,
            failure: None,
        }
    }

    /// A use of a tool, for people.
    fn used(&self, tool: &str, input: &Input) -> String {
        let verb = match tool {
            "write" | "edit" | "patch" | "multiedit" | "apply_patch" => "edit",
            "grep" | "glob" => "search",
            other => other,
        };
        match input {
            Input { command: Some(command), .. } => shown::run(command),
            Input { file_path: Some(path), .. } => shown::file(verb, path, &self.cwd),
            Input { pattern: Some(pattern), .. } => format!("{verb} {pattern}"),
            _ => format!("use {tool}"),
        }
    }

    fn tool(&mut self, tool: &Tool, tally: &mut Tally) -> Heard {
        self.text.clear();
        let used = self.used(&tool.tool, &tool.state.input);
        if tool.state.status != "error" {
            return Heard::say(used);
        }
        let why = tool.state.error.as_deref().unwrap_or_default();
        // Its words for a rule that refuses and for a question that nobody was asked.
        if why.contains("permission") || why.contains("rejected") {
            tally.note_denial(&used);
            return Heard::say(format!("denied: {used}"));
        }
        Heard::say(format!("failed: {used}"))
    }

    fn step(&mut self, step: &Step, tally: &mut Tally) -> Heard {
        let Tokens { input, output, reasoning, cache } = &step.tokens;
        tally.turns = tally.turns.saturating_add(1);
        tally.usage += Usage {
            input: input.saturating_add(cache.read).saturating_add(cache.write),
            cached: cache.read,
            output: output.saturating_add(*reasoning),
        };
        self.cost += step.cost.max(0.0);
        // A model without a price costs 0 here, which tells nothing.
        if self.cost > 0.0 {
            tally.cost_usd = Some(Usd::from(self.cost));
        }
        self.finished = !matches!(step.reason.as_str(), "unknown" | "tool-calls");
        if step.reason != "unknown" {
            self.cut = 0;
            return Heard::nothing();
        }
        self.cut += 1;
        let error = Some(format!("the provider's answer was cut ({} in a row)", self.cut));
        Heard { error, over: self.cut >= CUT, ..Heard::default() }
    }
}

impl Reader for OpencodeReader {
    fn line(&mut self, line: &[u8], tally: &mut Tally) -> Heard {
        let Ok(Event { session, kind }) = serde_json::from_slice(line) else {
            return Heard::nothing();
        };
        let first = tally.session.is_none();
        tally.note_session(&session);
        let mut heard = match kind {
            Kind::Text { part } => {
                let say = part.text.lines().filter(|line| !line.trim().is_empty());
                let say = say.map(str::to_owned).collect();
                self.text.push(part.text);
                Heard { say, ..Heard::default() }
            }
            Kind::ToolUse { part } => self.tool(&part, tally),
            Kind::StepFinish { part } => self.step(&part, tally),
            Kind::Error { error } => {
                let heard = Heard::error(format!("{}: {}", error.name, error.data.message));
                self.failure = Some(error);
                heard
            }
            Kind::Other => Heard::nothing(),
        };
        if first && tally.session.is_some() {
            heard.say.insert(0, shown::session("opencode", &session));
        }
        heard
    }

    fn end(self: Box<Self>, ended: &Ended<'_>, _: &mut Tally) -> End {
        let text = Some(self.text.join("\n")).filter(|text| !text.trim().is_empty());
        let fault = if self.cut >= CUT {
            let message = format!("the provider's answer was cut {CUT} times in a row");
            Some(fault::told(&message, Some(FaultClass::Provider), ended.now))
        } else if let Some(failure) = &self.failure {
            Some(failed(failure, ended))
        } else if !self.finished {
            Some(fault::untold(ended))
        } else if text.is_none() {
            Some(fault::empty())
        } else {
            None
        };
        End { text, fault, stopped_at: None }
    }
}

fn failed(failure: &Failure, ended: &Ended<'_>) -> Fault {
    let data = &failure.data;
    if let Some(told) = data.reference.as_deref().and_then(|reference| logged(ended, reference)) {
        return fault::told(&told, None, ended.now);
    }
    let status = data.status_code.and_then(fault::of_status);
    let told = fault::told(&data.message, status, ended.now);
    // The provider's own words may tell more than the agent's: that a 429 is about credit, and when
    // it can be tried again.
    match data.response_body.as_deref().map(|body| fault::told(body, status, ended.now)) {
        Some(body) if body.class != FaultClass::Crash => {
            Fault { class: body.class, resets_at: body.resets_at.or(told.resets_at), ..told }
        }
        _ => told,
    }
}

/// What the log on standard error says of an error that the event only refers to.
fn logged(ended: &Ended<'_>, reference: &str) -> Option<String> {
    let errors = String::from_utf8_lossy(ended.errors);
    let line = errors.lines().find(|line| line.contains(&format!("ref={reference} ")))?;
    let told = line.split_once("error=\"")?.1;
    told.split('"').next().map(str::to_owned)
}
