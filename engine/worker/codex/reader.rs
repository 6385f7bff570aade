//! What `codex exec --json` prints.

use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::rollout::Rollout;
use crate::model::turn::{FaultClass, Usage};
use crate::worker::seam::{End, Ended, Heard, Reader};
use crate::worker::{Tally, fault, shown};

/// One event. Fields and kinds that are not needed are not named.
#[derive(Debug, Deserialize)]
#[serde(tag = "type")]
enum Event {
    #[serde(rename = "thread.started")]
    ThreadStarted { thread_id: String },
    #[serde(rename = "item.started")]
    ItemStarted { item: Item },
    #[serde(rename = "item.completed")]
    ItemCompleted { item: Item },
    #[serde(rename = "turn.completed")]
    TurnCompleted {
        #[serde(default)]
        usage: Tokens,
    },
    #[serde(rename = "turn.failed")]
    TurnFailed { error: Message },
    #[serde(rename = "error")]
    Error(Message),
    #[serde(other)]
    Other,
}

#[derive(Debug, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Item {
    AgentMessage {
        text: String,
    },
    CommandExecution {
        command: String,
        #[serde(default)]
        exit_code: Option<i64>,
        #[serde(default)]
        status: String,
    },
    FileChange {
        #[serde(default)]
        changes: Vec<Change>,
        #[serde(default)]
        status: String,
    },
    McpToolCall {
        server: String,
        tool: String,
    },
    WebSearch {
        #[serde(default)]
        query: String,
    },
    /// A warning: the turn goes on.
    Error(Message),
    #[serde(other)]
    Other,
}

#[derive(Debug, Deserialize)]
struct Change {
    path: String,
    #[serde(default)]
    kind: String,
}

#[derive(Debug, Deserialize)]
struct Message {
    message: String,
}

#[derive(Debug, Clone, Copy, Default, Deserialize)]
struct Tokens {
    #[serde(default)]
    input_tokens: u64,
    #[serde(default)]
    cached_input_tokens: u64,
    #[serde(default)]
    output_tokens: u64,
}

/// How the turn ended, as told.
enum Told {
    Completed,
    Failed(String),
}

pub(super) struct CodexReader {
    cwd: PathBuf,
    rollout: Option<Rollout>,
    text: Option<String>,
    told: Option<Told>,
    /// The last error; it may be one that codex got over.
    error: Option<String>,
}

impl CodexReader {
    /// `home` is codex's own folder, with the sessions in it.
    pub(super) fn new(cwd: &Path, session: Option<&str>, home: Option<&Path>) -> Self {
        Self {
            cwd: cwd.to_owned(),
            rollout: home.map(|home| Rollout::new(home, session)),
            text: None,
            told: None,
            error: None,
        }
    }

    fn started(&self, item: &Item) -> Heard {
        match item {
            Item::CommandExecution { command, .. } => Heard::say(shown::run(command)),
            Item::McpToolCall { server, tool } => Heard::say(format!("use {server}.{tool}")),
            Item::WebSearch { query } if !query.is_empty() => Heard::say(format!("search {query}")),
            _ => Heard::nothing(),
        }
    }

    fn completed(&mut self, item: Item, tally: &mut Tally) -> Heard {
        match item {
            Item::AgentMessage { text } => {
                let heard = Heard::say(text.as_str());
                self.text = Some(text);
                heard
            }
            Item::CommandExecution { command, status, .. } if status == "declined" => {
                let command = shown::run(&command);
                tally.note_denial(&command);
                Heard::say(format!("refused: {command}"))
            }
            Item::CommandExecution { exit_code: Some(code), .. } if code != 0 => {
                Heard::say(format!("it exited with {code}"))
            }
            Item::FileChange { changes, status } => {
                let refused = status == "declined";
                let say = changes.iter().map(|change| {
                    let verb = match change.kind.as_str() {
                        "add" => "add",
                        "delete" => "delete",
                        _ => "edit",
                    };
                    let what = shown::file(verb, &change.path, &self.cwd);
                    if refused {
                        tally.note_denial(&what);
                        return format!("refused: {what}");
                    }
                    what
                });
                Heard { say: say.collect(), ..Heard::default() }
            }
            Item::Error(Message { message }) => Heard::say(format!("note: {message}")),
            _ => Heard::nothing(),
        }
    }
}

impl Reader for CodexReader {
    fn line(&mut self, line: &[u8], tally: &mut Tally) -> Heard {
        let Ok(event) = serde_json::from_slice(line) else {
            return Heard::nothing();
        };
        match event {
            Event::ThreadStarted { thread_id } => {
                tally.note_session(&thread_id);
                if let (Some(rollout), Some(session)) = (&mut self.rollout, &tally.session) {
                    rollout.is_of(session);
                }
                Heard::say(shown::session("codex", &thread_id))
            }
            Event::ItemStarted { item } => self.started(&item),
            Event::ItemCompleted { item } => self.completed(item, tally),
            Event::TurnCompleted { usage } => {
                // Of the whole session: too much for a session that was gone on with. The rollout
                // knows better, where there is one.
                tally.usage = Usage {
                    input: usage.input_tokens,
                    cached: usage.cached_input_tokens,
                    output: usage.output_tokens,
                };
                tally.turns = tally.turns.max(1);
                self.look(tally);
                self.told = Some(Told::Completed);
                Heard { over: true, ..Heard::default() }
            }
            Event::TurnFailed { error } => {
                self.told = Some(Told::Failed(error.message));
                Heard { over: true, ..Heard::default() }
            }
            Event::Error(Message { message }) => {
                let said = vec![format!("error: {message}")];
                let heard = Heard { say: said, error: Some(message.clone()), ..Heard::default() };
                self.error = Some(message);
                heard
            }
            Event::Other => Heard::nothing(),
        }
    }

    fn look(&mut self, tally: &mut Tally) {
        if let Some(rollout) = &mut self.rollout {
            rollout.read();
            rollout.tell(tally);
        }
    }

    fn end(self: Box<Self>, ended: &Ended<'_>, _: &mut Tally) -> End {
        let mut fault = match (self.told, self.error) {
            (Some(Told::Completed), _) => match &self.text {
                Some(text) if !text.trim().is_empty() => None,
                _ => Some(fault::empty()),
            },
            (Some(Told::Failed(message)), _) => Some(fault::told(&message, None, ended.now)),
            (None, Some(message)) if !ended.stopped => Some(fault::told(&message, None, ended.now)),
            (None, _) => Some(fault::untold(ended)),
        };
        if let Some(fault) = &mut fault
            && fault.class == FaultClass::RateLimit
            && fault.resets_at.is_none()
        {
            fault.resets_at = self.rollout.and_then(|rollout| rollout.resets_at());
        }
        End { text: self.text, fault, stopped_at: None }
    }
}
