//! One turn over the protocol: initialize, a session (new, or the one to go on with), model, effort and
//! mode as far as they are to be set, the prompt, and answers to whatever the agent asks meanwhile.
//!
//! A new word in the middle of it is `session/cancel` and, once the agent has let go, another prompt in
//! the same session.

use std::collections::VecDeque;

use serde_json::{Value, json};

use super::bounds::Bounds;
use super::choices::{Choices, Set};
use super::ending::{Stop, told};
use super::files;
use super::policy::{self, Policy, Ruling};
use super::updates::Updates;
use super::wire::{self, Message};
use crate::model::turn::FaultClass;
use crate::worker::seam::{Ask, End, Ended, Heard, Reader};
use crate::worker::tally::Tally;
use crate::worker::{fault, retrying};

/// The protocol's version that this speaks.
const VERSION: u64 = 1;

/// What the agent owes us an answer to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Owed {
    Initialize,
    Session,
    Model,
    /// Effort or mode: a refusal is said and passed over.
    Wish,
    /// A mode without which the session would not be held to reading.
    Mode,
    Prompt,
}

/// The conversation.
pub struct Conversation {
    cwd: String,
    model: Option<String>,
    effort: Option<String>,
    /// The session to go on with, then the session.
    session: Option<String>,
    goes_on: bool,
    prompts: VecDeque<String>,
    policy: Policy,
    choices: Choices,
    updates: Updates,
    next: u64,
    owed: Option<(u64, Owed)>,
    settled: [bool; 3],
    /// A prompt was cancelled for the sake of another one.
    redirected: bool,
    end: Option<Stop>,
}

impl Conversation {
    /// For the turn that is asked for.
    #[must_use]
    pub fn new(ask: &Ask<'_>) -> Self {
        Self {
            cwd: ask.cwd.to_string_lossy().into_owned(),
            model: ask.model.map(str::to_owned),
            effort: ask.effort.map(str::to_owned),
            session: ask.session.map(str::to_owned),
            goes_on: ask.session.is_some(),
            prompts: VecDeque::from([ask.prompt.to_owned()]),
            policy: Policy { read_only: ask.read_only, bounds: Bounds::new(ask.cwd, ask.writable) },
            choices: Choices::default(),
            updates: Updates::default(),
            next: 0,
            owed: None,
            settled: [false; 3],
            redirected: false,
            end: None,
        }
    }

    fn request(&mut self, owed: Owed, method: &str, params: Value) -> Vec<u8> {
        self.next += 1;
        self.owed = Some((self.next, owed));
        wire::request(self.next, method, params)
    }

    /// The params of a request that is about the session.
    fn of_session(&self, mut params: Value) -> Value {
        if let (Some(session), Some(fields)) = (&self.session, params.as_object_mut()) {
            fields.insert("sessionId".to_owned(), json!(session));
        }
        params
    }

    fn stop(&mut self, stop: Stop) -> Heard {
        let error = match &stop {
            Stop::Told { message, .. } => Some(message.clone()),
            _ => None,
        };
        self.end = Some(stop);
        Heard { say: self.updates.rest(), error, over: true, ..Heard::default() }
    }

    fn give_up(&mut self, class: FaultClass, message: String) -> Heard {
        self.stop(Stop::Told { message, code: None, class: Some(class) })
    }

    fn answered(&mut self, owed: Owed, result: Value, tally: &mut Tally) -> Heard {
        match owed {
            Owed::Initialize => self.initialized(&result),
            Owed::Session => {
                if let Some(session) = result.get("sessionId").and_then(Value::as_str) {
                    self.session = Some(session.to_owned());
                }
                let Some(session) = &self.session else {
                    let message = "the agent opened a session without a name".to_owned();
                    return self.give_up(FaultClass::Crash, message);
                };
                tally.note_session(session);
                self.choices.learn(&result);
                self.settle(tally)
            }
            Owed::Model | Owed::Wish | Owed::Mode => {
                self.choices.learn(&result);
                self.settle(tally)
            }
            Owed::Prompt => self.prompted(&result, tally),
        }
    }

    fn refused(&mut self, owed: Owed, error: &Value, tally: &mut Tally) -> Heard {
        let message = told(error);
        match owed {
            Owed::Model => {
                let class = fault::of_text(&message).unwrap_or(FaultClass::ModelUnknown);
                let models = self.choices.models().join(", ");
                let name = self.model.clone().unwrap_or_default();
                let message =
                    format!("the agent does not take {name} ({message}); it lists: {models}");
                self.give_up(class, message)
            }
            Owed::Wish => {
                let mut heard = self.settle(tally);
                heard.say.insert(0, format!("passed over: {message}"));
                heard
            }
            Owed::Mode => {
                let message = format!("the agent cannot be held to reading: {message}");
                self.give_up(FaultClass::Crash, message)
            }
            Owed::Prompt if self.redirected => self.say_next(),
            _ => {
                let code = error.get("code").and_then(Value::as_i64);
                self.stop(Stop::Told { message, code, class: None })
            }
        }
    }

    fn initialized(&mut self, result: &Value) -> Heard {
        if let Some(version) = result.get("protocolVersion").and_then(Value::as_u64)
            && version != VERSION
        {
            let message =
                format!("the agent speaks version {version} of the protocol, not {VERSION}");
            return self.give_up(FaultClass::Crash, message);
        }
        let place = json!({ "cwd": self.cwd, "mcpServers": [] });
        let can = |pointer: &str| {
            let can = result.pointer(&format!("/agentCapabilities/{pointer}"));
            can.is_some_and(|can| can.is_object() || can == &Value::Bool(true))
        };
        let write = if !self.goes_on {
            self.request(Owed::Session, "session/new", place)
        } else if can("sessionCapabilities/resume") {
            let params = self.of_session(place);
            self.request(Owed::Session, "session/resume", params)
        } else if can("loadSession") {
            let params = self.of_session(place);
            self.request(Owed::Session, "session/load", params)
        } else {
            let message = "the agent cannot go on with a session".to_owned();
            return self.give_up(FaultClass::Crash, message);
        };
        Heard { write, ..Heard::default() }
    }

    /// How to set the model, if it is to be set. In a session that goes on it always is: an agent may tell
    /// its history only after it has answered that the session is there, and by the answer to another
    /// request it has.
    fn model(&self) -> Option<Result<Option<Set>, String>> {
        let goes_on = || self.choices.current_model().filter(|_| self.goes_on);
        let model = self.model.as_deref().or_else(goes_on)?;
        Some(self.choices.set_model(model, self.goes_on))
    }

    /// Sets what is still to be set, one after the other (a model decides which efforts there are), and
    /// prompts.
    fn settle(&mut self, tally: &mut Tally) -> Heard {
        let mut say = Vec::new();
        for step in 0..self.settled.len() {
            if std::mem::replace(&mut self.settled[step], true) {
                continue;
            }
            let (owed, set) = match step {
                0 => match self.model() {
                    Some(Ok(set)) => (Owed::Model, set),
                    Some(Err(message)) => return self.give_up(FaultClass::ModelUnknown, message),
                    None => continue,
                },
                1 => {
                    let Some(effort) = self.effort.as_deref() else { continue };
                    if !self.choices.has_effort() {
                        say.push("the agent lets no effort be chosen: passed over".to_owned());
                    }
                    (Owed::Wish, self.choices.set_effort(effort))
                }
                _ if self.policy.read_only => (Owed::Mode, self.choices.set_mode(true)),
                _ => (Owed::Wish, self.choices.set_mode(false)),
            };
            if let Some(Set { method, params }) = set {
                let params = self.of_session(params);
                let write = self.request(owed, method, params);
                return Heard { say, write, ..Heard::default() };
            }
        }
        let model = self.model.as_deref().or(self.choices.current_model());
        if let Some(model) = model {
            tally.note_model(model);
        }
        let heard = self.say_next();
        say.extend(heard.say);
        Heard { say, ..heard }
    }

    /// The next prompt.
    fn say_next(&mut self) -> Heard {
        self.redirected = false;
        let say = self.updates.rest();
        let Some(text) = self.prompts.pop_front() else {
            return self.stop(Stop::Cancelled);
        };
        self.updates.prompt();
        let prompt = json!({ "prompt": [{ "type": "text", "text": text }] });
        let params = self.of_session(prompt);
        let write = self.request(Owed::Prompt, "session/prompt", params);
        Heard { say, write, ..Heard::default() }
    }

    fn prompted(&mut self, result: &Value, tally: &mut Tally) -> Heard {
        self.updates.total(result, tally);
        if self.redirected {
            return self.say_next();
        }
        self.stop(Stop::of_reason(result.get("stopReason").and_then(Value::as_str)))
    }

    fn asked(&mut self, id: &Value, method: &str, params: &Value, tally: &mut Tally) -> Heard {
        let files = |done: Result<Value, files::FileError>, what: &str| match done {
            Ok(result) => Heard { write: wire::answer(id, result), ..Heard::default() },
            Err(error) => {
                let path = params.get("path").and_then(Value::as_str).unwrap_or("a file");
                let message = format!("{what} {path} refused: {error}");
                let write = wire::refuse(id, wire::NOT_GRANTED, &message);
                Heard { say: vec![message], write, ..Heard::default() }
            }
        };
        match method {
            "session/request_permission" => self.permission(id, params, tally),
            "fs/read_text_file" => files(files::read(&self.policy.bounds, params), "reading"),
            "fs/write_text_file" if self.policy.read_only => {
                tally.note_denial(params.get("path").and_then(Value::as_str).unwrap_or(method));
                files(Err(files::FileError::ReadOnly), "writing")
            }
            "fs/write_text_file" => files(files::write(&self.policy.bounds, params), "writing"),
            _ => {
                let message = format!("{method} is not offered here");
                Heard {
                    write: wire::refuse(id, wire::NO_SUCH_METHOD, &message),
                    ..Heard::default()
                }
            }
        }
    }

    fn permission(&mut self, id: &Value, params: &Value, tally: &mut Tally) -> Heard {
        // Some tell of a tool first when they ask for it.
        let mut say = self.updates.used_tool(tally);
        let call = self.updates.call(params.get("toolCall").unwrap_or(&Value::Null));
        let (ruling, words) = (self.policy.rule(call), call.words());
        if let Ruling::Deny(why) = ruling {
            tally.note_denial(&words);
            say.push(format!("denied, {why}: {words}"));
        }
        // Where it is cancelled the agent must not go on, whatever was ruled.
        let chosen = policy::option(params.get("options").unwrap_or(&Value::Null), ruling);
        let outcome = match chosen.filter(|_| !self.redirected) {
            Some(option) => json!({ "outcome": "selected", "optionId": option }),
            None => json!({ "outcome": "cancelled" }),
        };
        Heard { say, write: wire::answer(id, json!({ "outcome": outcome })), ..Heard::default() }
    }
}

impl Reader for Conversation {
    fn open(&mut self) -> Vec<u8> {
        let params = json!({
            "protocolVersion": VERSION,
            "clientCapabilities": {
                "fs": { "readTextFile": true, "writeTextFile": !self.policy.read_only },
                "terminal": false,
            },
            "clientInfo": { "name": "sop", "title": "sop", "version": env!("CARGO_PKG_VERSION") },
        });
        self.request(Owed::Initialize, "initialize", params)
    }

    fn line(&mut self, line: &[u8], tally: &mut Tally) -> Heard {
        if self.end.is_some() {
            return Heard::nothing();
        }
        match wire::parse(line) {
            Some(Message::Request { id, method, params }) => {
                self.asked(&id, &method, &params, tally)
            }
            Some(Message::Notice { method, params }) if method == "session/update" => {
                let update = params.get("update").unwrap_or(&Value::Null);
                self.choices.learn(update);
                // What comes before the prompt is history that is told again; it was counted then.
                if !matches!(self.owed, Some((_, Owed::Prompt))) {
                    return Heard::nothing();
                }
                let say = self.updates.hear(update, tally);
                let mut heard = Heard { say, ..Heard::default() };
                if self.updates.goes_round() {
                    let message = "it begins one message after the other and ends none: \
                                   its provider's answers are cut"
                        .to_owned();
                    let end = self.give_up(FaultClass::Provider, message);
                    heard.say.extend(end.say);
                    (heard.error, heard.over) = (end.error, true);
                }
                heard
            }
            Some(Message::Answer { id, result }) => match self.owed.take() {
                Some((owed_id, owed)) if owed_id == id => match result {
                    Ok(result) => self.answered(owed, result, tally),
                    Err(error) => self.refused(owed, &error, tally),
                },
                owed => {
                    self.owed = owed;
                    Heard::nothing()
                }
            },
            // Agents print other things too; that is for the raw stream.
            Some(Message::Notice { .. }) | None => Heard::nothing(),
        }
    }

    fn redirect(&mut self, text: &str) -> Option<Vec<u8>> {
        if self.end.is_some() {
            return None;
        }
        self.prompts.push_back(text.to_owned());
        if !matches!(self.owed, Some((_, Owed::Prompt))) {
            // Nothing was asked yet: it is said with the first prompt.
            let whole: Vec<String> = self.prompts.drain(..).collect();
            self.prompts.push_back(whole.join("\n\n"));
            return Some(Vec::new());
        }
        if std::mem::replace(&mut self.redirected, true) {
            // A second word before the first was heard: both go out together.
            let whole: Vec<String> = self.prompts.drain(..).collect();
            self.prompts.push_back(whole.join("\n\n"));
            return Some(Vec::new());
        }
        Some(wire::notice("session/cancel", self.of_session(json!({}))))
    }

    fn end(self: Box<Self>, ended: &Ended<'_>, _tally: &mut Tally) -> End {
        let text = self.updates.text().map(str::to_owned);
        let fault = match &self.end {
            Some(stop) => stop.fault(text.is_some(), ended.now),
            None => Some(retrying::fault(ended).unwrap_or_else(|| fault::untold(ended))),
        };
        End { text, fault, stopped_at: None }
    }
}
