//! A model that does as the test says: it speaks what providers speak, on 127.0.0.1, so that real
//! agents can be run against it, for nothing and always the same.
//!
//! The scenario is part of the address that an agent is pointed to: [`ModelServer::url`]. In `Edit` the
//! model calls one tool, to write the file that the prompt names as `TARGET=/absolute/path`, and says
//! that it is done when the tool has answered. Each call costs 1000 tokens in and 20 out.
//!
//! One file for each protocol, all alike: which paths it serves, how a request is read ([`Call`]), how
//! an answer ([`Say`]) is written.

mod chat;
mod gemini;
mod http;
mod messages;
mod responses;

use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use http::{Request, Response};

/// Tokens of each call.
pub const INPUT: u64 = 1000;
pub const OUTPUT: u64 = 20;

/// What is written to the target.
pub const CONTENT: &str = "written by the model\n";

/// How the model behaves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scenario {
    /// One tool call that writes the target, then a word.
    Edit,
    /// A word: `READY`.
    Text,
    /// A whole answer with nothing in it.
    Empty,
    /// No answer, ever.
    Hang,
    /// As `Edit`, after a second's thought before each answer.
    Slow,
    /// The stream ends in the middle of an answer.
    Cut,
    /// Twice 429, then as `Edit`.
    Limited,
    /// What the test's own play says: [`ModelServer::playing`].
    Play,
    /// Always this status.
    Status(u16),
}

impl Scenario {
    fn name(self) -> String {
        match self {
            Self::Status(status) => status.to_string(),
            other => format!("{other:?}").to_lowercase(),
        }
    }

    fn of(name: &str) -> Option<Self> {
        let named = [
            Self::Edit,
            Self::Text,
            Self::Empty,
            Self::Hang,
            Self::Slow,
            Self::Cut,
            Self::Limited,
            Self::Play,
        ];
        let status = || name.parse().ok().map(Self::Status);
        named.into_iter().find(|one| one.name() == name).or_else(status)
    }
}

/// One call of a model, as a protocol read it.
#[derive(Debug, Clone, Default)]
pub struct Call {
    /// The model that was asked for.
    pub model: String,
    /// Everything that was said so far, as JSON text.
    pub said: String,
    /// Answers of tools so far.
    pub tool_answers: usize,
    /// Tools that may be called: name and JSON schema of the arguments.
    pub tools: Vec<(String, Value)>,
    /// The JSON schema that the answer has to keep to, where one is told.
    pub form: Option<Value>,
    /// Whether the answer is to come in pieces.
    pub stream: bool,
}

/// What the model says.
#[derive(Debug, Clone, PartialEq)]
pub enum Say {
    /// Calls this tool.
    Tool(String, Value),
    /// Says this.
    Text(String),
    /// Nothing at all.
    Nothing,
}

/// An answer as it goes over the wire.
pub enum Answer {
    /// One document.
    Whole(Value),
    /// Server-sent events: name and data. With `Cut`, only those before `cut` are sent.
    Stream { events: Vec<(Option<&'static str>, String)>, cut: usize },
}

/// A language that providers speak.
pub trait Protocol: Sync {
    /// Whether a POST to this path is a call of a model.
    fn serves(&self, path: &str) -> bool;
    /// Reads a call. The path may tell more than the body.
    fn read(&self, path: &str, body: &Value) -> Call;
    /// Writes an answer; `n` makes its ids differ from those of others.
    fn write(&self, call: &Call, say: &Say, n: usize) -> Answer;
    /// Writes a refusal.
    fn refuse(&self, status: u16, message: &str) -> Value;
}

const PROTOCOLS: &[&dyn Protocol] =
    &[&responses::Responses, &messages::Messages, &chat::Chat, &gemini::Gemini];

/// The server. It is gone when this is dropped.
pub struct ModelServer {
    port: u16,
    state: Arc<State>,
}

#[derive(Default)]
struct State {
    over: AtomicBool,
    calls: Mutex<Vec<(Scenario, Call)>>,
    play: Option<Play>,
}

/// What a model does in [`Scenario::Play`] with a call that may use tools.
pub type Play = Box<dyn Fn(&Call) -> Act + Send + Sync>;

/// One thing that a model does.
#[derive(Debug, Clone)]
pub enum Act {
    /// Has a line of shell run, in the agent's folder.
    Run(String),
    /// Says this, and ends its turn.
    Say(String),
}

impl ModelServer {
    pub fn start() -> Self {
        Self::with(State::default())
    }

    /// A model whose [`Scenario::Play`] is this.
    pub fn playing(play: impl Fn(&Call) -> Act + Send + Sync + 'static) -> Self {
        Self::with(State { play: Some(Box::new(play)), ..State::default() })
    }

    fn with(state: State) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = listener.local_addr().expect("it is bound").port();
        let state = Arc::new(state);
        let shared = Arc::clone(&state);
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                if shared.over.load(Ordering::SeqCst) {
                    return;
                }
                let state = Arc::clone(&shared);
                thread::spawn(move || serve(stream, &state));
            }
        });
        Self { port, state }
    }

    /// Where an agent finds this scenario, without `/v1`.
    pub fn url(&self, scenario: Scenario) -> String {
        format!("http://127.0.0.1:{}/s/{}", self.port, scenario.name())
    }

    /// The calls of this scenario so far.
    pub fn calls(&self, scenario: Scenario) -> Vec<Call> {
        let calls = self.state.calls.lock().expect("nobody panicked");
        calls.iter().filter(|(of, _)| *of == scenario).map(|(_, call)| call.clone()).collect()
    }
}

impl Drop for ModelServer {
    fn drop(&mut self) {
        self.state.over.store(true, Ordering::SeqCst);
        // Wakes the listener, which then leaves.
        let _ = TcpStream::connect(("127.0.0.1", self.port));
    }
}

fn serve(mut stream: TcpStream, state: &State) {
    let Some(request) = Request::read(&mut stream) else { return };
    let nothing = || Response::document(404, &json!({ "error": { "message": "no such path" } }));
    let parts = request.path.strip_prefix("/s/").and_then(|rest| rest.split_once('/'));
    let Some((scenario, path)) = parts.and_then(|(name, rest)| Some((Scenario::of(name)?, rest)))
    else {
        nothing().write(&mut stream);
        return;
    };
    let protocol = PROTOCOLS.iter().find(|one| request.method == "POST" && one.serves(path));
    let Some(protocol) = protocol else {
        // Agents ask for lists of models and the like; none is as good as any.
        nothing().write(&mut stream);
        return;
    };
    let call = protocol.read(path, &request.body);
    let n = {
        let mut calls = state.calls.lock().expect("nobody panicked");
        calls.push((scenario, call.clone()));
        calls.iter().filter(|(of, _)| *of == scenario).count()
    };
    let status = match scenario {
        Scenario::Status(status) => Some(status),
        Scenario::Limited if n <= 2 => Some(429),
        _ => None,
    };
    if let Some(status) = status {
        let response = Response::document(status, &protocol.refuse(status, message(status)));
        response.with(&[("retry-after", "1")][..usize::from(status == 429)]).write(&mut stream);
        return;
    }
    match scenario {
        Scenario::Hang => {
            while !state.over.load(Ordering::SeqCst) {
                thread::sleep(Duration::from_millis(20));
            }
            return;
        }
        Scenario::Slow => thread::sleep(Duration::from_secs(1)),
        _ => {}
    }
    let cut = scenario == Scenario::Cut;
    let said = match (scenario, &state.play) {
        (Scenario::Play, Some(play)) if !call.tools.is_empty() => match play(&call) {
            Act::Say(text) => Say::Text(text),
            Act::Run(line) => shell(&call, &line)
                .unwrap_or_else(|| Say::Text("There is no shell for this.".to_owned())),
        },
        _ => say(scenario, &call),
    };
    let answer = protocol.write(&call, &said, n);
    Response::answer(answer, cut).write(&mut stream);
}

fn message(status: u16) -> &'static str {
    match status {
        401 => "this key is not accepted",
        402 => "insufficient credits: add some to go on",
        404 => "the model does not exist or you do not have access to it",
        429 => "rate limit reached, try again in 20s",
        _ => "the server had an error",
    }
}

fn say(scenario: Scenario, call: &Call) -> Say {
    match scenario {
        Scenario::Empty => Say::Nothing,
        Scenario::Text => Say::Text("READY".to_owned()),
        // Agents ask for a title and the like, without tools; gemini in a form, which model is to answer.
        _ if call.tools.is_empty() && call.form.is_some() => {
            Say::Text(filled_in(call.form.as_ref().unwrap_or(&Value::Null)).to_string())
        }
        _ if call.tools.is_empty() => Say::Text("A task".to_owned()),
        _ if call.tool_answers > 0 => Say::Text("Done: the file is written.".to_owned()),
        _ => tool(call).unwrap_or_else(|| Say::Text("There is no tool for this.".to_owned())),
    }
}

/// A value that keeps to a schema, of those that agents use.
fn filled_in(schema: &Value) -> Value {
    if let Some(first) = schema["enum"].as_array().and_then(|all| all.first()) {
        return first.clone();
    }
    match schema["type"].as_str().unwrap_or_default().to_ascii_lowercase().as_str() {
        "object" => {
            let fields = schema["properties"].as_object().into_iter().flatten();
            fields.map(|(name, schema)| (name.clone(), filled_in(schema))).collect()
        }
        "array" => json!([]),
        "number" | "integer" => json!(schema["minimum"].as_u64().unwrap_or(50).max(1)),
        "boolean" => json!(false),
        _ => json!("so"),
    }
}

/// Where the prompt says `TARGET=`, the last time.
fn target(said: &str) -> Option<&str> {
    let (_, rest) = said.rsplit_once("TARGET=/")?;
    let end = rest.find(|c: char| c.is_whitespace() || "\"\\'<".contains(c)).unwrap_or(rest.len());
    // With the slash.
    let start = said.len() - rest.len() - 1;
    Some(&said[start..=start + end])
}

/// A call of a tool that writes the target: a shell if there is one, else whatever writes files.
fn tool(call: &Call) -> Option<Say> {
    const WRITERS: [&str; 4] = ["write_file", "write", "Write", "create_file"];
    let target = target(&call.said)?;
    let line = format!("printf '{}' > '{target}'", CONTENT.replace('\n', "\\n"));
    if let Some(say) = shell(call, &line) {
        return Some(say);
    }
    let (name, schema) = named(call, &WRITERS)?;
    let path = ["file_path", "filePath", "path"]
        .into_iter()
        .find(|field| schema["properties"].get(field).is_some())?;
    Some(Say::Tool(name, json!({ path: target, "content": CONTENT })))
}

/// A call of the tool that runs a line of shell, if there is one.
fn shell(call: &Call, line: &str) -> Option<Say> {
    const SHELLS: [&str; 7] =
        ["exec_command", "shell", "run_shell_command", "bash", "Bash", "local_shell", "terminal"];
    let (name, schema) = named(call, &SHELLS)?;
    // gemini refuses a line with a substitution in it, unless that is quoted.
    let quoted = format!("printf %s '{}' | sh", line.replace('\'', r"'\''"));
    let line = if name == "run_shell_command" { &quoted } else { line };
    let known = &schema["properties"];
    let mut arguments = match (known.get("cmd"), &known["command"]["type"]) {
        (Some(_), _) => json!({ "cmd": line }),
        (None, kind) if kind == "array" => json!({ "command": ["sh", "-c", line] }),
        _ => json!({ "command": line }),
    };
    if known.get("description").is_some() {
        arguments["description"] = json!("write the file");
    }
    Some(Say::Tool(name, arguments))
}

fn named(call: &Call, names: &[&str]) -> Option<(String, Value)> {
    call.tools.iter().find(|(name, _)| names.contains(&name.as_str())).cloned()
}
