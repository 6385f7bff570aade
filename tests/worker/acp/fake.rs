//! An agent of our own that speaks the protocol: this very test binary, run again with one test and a
//! script in its environment. What the test harness prints around it is the kind of noise that real
//! agents make too.

use std::io::{BufRead, Write};
use std::path::PathBuf;
use std::process::exit;

use serde_json::{Value, json};

/// Names the script. Not set, the test below is a test that has nothing to do.
pub const SCRIPT: &str = "SOP_TEST_FAKE_ACP";

/// The program and arguments that make this binary the agent.
pub fn program() -> Vec<String> {
    let this = std::env::current_exe().expect("a path of its own");
    let this = this.to_str().expect("a readable path").to_owned();
    [&this, "worker::acp::fake::agent", "--exact", "--nocapture", "--test-threads=1"]
        .map(str::to_owned)
        .to_vec()
}

/// The agent, where it is asked for.
#[test]
fn agent() {
    if let Ok(script) = std::env::var(SCRIPT) {
        // The harness has begun a line.
        let _ = writeln!(std::io::stdout());
        Fake { script, cwd: PathBuf::new(), next: 1000, late: false }.serve();
    }
}

struct Fake {
    script: String,
    cwd: PathBuf,
    next: u64,
    /// A history is still to be told.
    late: bool,
}

const SESSION: &str = "sess-1";

impl Fake {
    fn serve(mut self) {
        while let Some(message) = receive() {
            let id = message["id"].clone();
            let params = &message["params"];
            match message["method"].as_str() {
                Some("initialize") => {
                    if self.script == "old" {
                        answer(&id, &json!({ "protocolVersion": 0 }));
                        continue;
                    }
                    let loads = self.script != "forgets";
                    let capabilities = json!({ "loadSession": loads });
                    answer(
                        &id,
                        &json!({ "protocolVersion": 1, "agentCapabilities": capabilities }),
                    );
                }
                Some("session/new") if self.script == "auth" => {
                    refuse(&id, -32000, "Authentication required", &Value::Null);
                }
                Some("session/new" | "session/load") => {
                    self.cwd = params["cwd"].as_str().expect("a folder").into();
                    if message["method"] == "session/load" {
                        assert_eq!(params["sessionId"], SESSION);
                        self.say("what was said in the turn before\n");
                        self.late = true;
                    }
                    answer(
                        &id,
                        &json!({
                            "sessionId": SESSION,
                            "models": {
                                "currentModelId": "small",
                                "availableModels": [{ "modelId": "small" }, { "modelId": "large" }],
                            },
                        }),
                    );
                }
                Some("session/set_model") if self.late => {
                    // As gemini does: the rest of the history comes when the session is long there.
                    self.late = false;
                    self.tool("of the turn before", "completed");
                    self.say("the last words of the turn before\n");
                    answer(&id, &json!({}));
                }
                Some("session/set_model") => match params["modelId"].as_str() {
                    Some("small" | "large") => answer(&id, &json!({})),
                    _ => refuse(&id, -32602, "Invalid params", &json!("there is no such thing")),
                },
                Some("session/prompt") => {
                    let text = params["prompt"][0]["text"].as_str().expect("a text").to_owned();
                    self.turn(&id, &text);
                }
                // A cancellation of nothing.
                Some("session/cancel") => {}
                other => panic!("not a method of this agent: {other:?}"),
            }
        }
        if self.script == "stays" {
            ignore_term();
            std::thread::sleep(std::time::Duration::from_secs(600));
        }
    }

    fn turn(&mut self, id: &Value, text: &str) {
        match self.script.as_str() {
            "edit" | "stays" => {
                self.edit("hello.txt");
                self.say("Done: wrote the file.\n");
                self.used(1000);
                self.end(id, "end_turn");
            }
            "outside" => {
                self.edit("../outside.txt");
                self.edit(".git/config");
                self.edit("out/through-a-link.txt");
                self.say("Tried.\n");
                self.end(id, "end_turn");
            }
            "reads" => {
                let mut seen = Vec::new();
                for path in ["a.txt", "../secret.txt", "out/secret.txt"] {
                    let params = json!({ "sessionId": SESSION, "path": self.cwd.join(path) });
                    let answer = self.ask("fs/read_text_file", params);
                    seen.push(answer["result"]["content"].as_str().unwrap_or("refused").to_owned());
                }
                self.say(&seen.join("|"));
                self.end(id, "end_turn");
            }
            "waits" if text.contains("begin") => {
                self.tool("long", "in_progress");
                // Whatever comes until then is not for now.
                while receive().expect("a cancellation")["method"] != "session/cancel" {}
                self.end(id, "cancelled");
            }
            "waits" | "echo" => {
                self.say(&format!("heard: {text}"));
                self.end(id, "end_turn");
            }
            "cancels" => self.end(id, "cancelled"),
            "dies" => {
                self.say("I was about to");
                let _ = writeln!(std::io::stderr(), "panicked: out of cheese");
                exit(3);
            }
            "garbage" => {
                let mut out = std::io::stdout().lock();
                let _ = out.write_all(b"\xff\xfe{]\n[1,2]\n{\"jsonrpc\":\"2.0\"}\n\"\"\n");
                let _ = out.write_all(&vec![b'x'; 5 * 1024 * 1024]);
                let _ = out.write_all(b"\n");
                drop(out);
                send(&json!({ "jsonrpc": "2.0", "id": 999, "result": {} }));
                send(&json!({ "jsonrpc": "2.0", "method": "session/update", "params": 7 }));
                send(&json!({ "jsonrpc": "2.0", "id": "x", "method": "terminal/create" }));
                assert_eq!(receive().expect("a refusal")["error"]["code"], -32601);
                self.say("In spite of it all.");
                self.end(id, "end_turn");
            }
            "empty" => self.end(id, "end_turn"),
            "cut" => {
                self.say("As I was sayi");
                self.end(id, "max_tokens");
            }
            "endless" => loop {
                self.next += 1;
                let call = format!("call-{}", self.next);
                self.tool(&call, "in_progress");
                self.tool(&call, "completed");
                self.used(1000);
                std::thread::sleep(std::time::Duration::from_millis(20));
            },
            "round" => loop {
                self.next += 1;
                let content = json!({ "type": "text", "text": "Done." });
                update(&json!({
                    "sessionUpdate": "agent_message_chunk", "messageId": self.next.to_string(),
                    "content": content,
                }));
                std::thread::sleep(std::time::Duration::from_millis(20));
            },
            "402" => {
                let message = "{\"error\":{\"message\":\"no money\",\"code\":402}}";
                refuse(id, 402, message, &Value::Null);
            }
            "429" => refuse(
                id,
                -32603,
                "Internal error",
                &json!({ "details": "429 Too Many Requests, try again in 20s" }),
            ),
            "500" => {
                refuse(id, -32603, "Internal error", &json!({ "message": "unexpected status 500" }))
            }
            other => panic!("not a script of this agent: {other}"),
        }
    }

    /// Asks whether it may write a file, and writes it through the client if it may.
    fn edit(&mut self, name: &str) {
        let path = self.cwd.join(name);
        let call = json!({
            "toolCallId": name, "kind": "edit", "title": format!("Edit {name}"), "status": "pending",
            "locations": [{ "path": path }],
        });
        update(&with(&call, "sessionUpdate", "tool_call"));
        let options = json!([
            { "optionId": "yes-always", "kind": "allow_always", "name": "Always" },
            { "optionId": "yes", "kind": "allow_once", "name": "Yes" },
            { "optionId": "no", "kind": "reject_once", "name": "No" },
        ]);
        let params =
            json!({ "sessionId": SESSION, "toolCall": { "toolCallId": name }, "options": options });
        let answer = self.ask("session/request_permission", params);
        let allowed =
            answer["result"]["outcome"] == json!({ "outcome": "selected", "optionId": "yes" });
        // What an agent that does not take no for an answer would do.
        let params = json!({ "sessionId": SESSION, "path": path, "content": "edited\n" });
        let answer = self.ask("fs/write_text_file", params);
        assert_eq!(answer.get("result").is_some(), allowed, "{answer}");
        self.tool(name, if allowed { "completed" } else { "failed" });
    }

    fn ask(&mut self, method: &str, params: Value) -> Value {
        self.next += 1;
        send(&json!({ "jsonrpc": "2.0", "id": self.next, "method": method, "params": params }));
        receive().expect("an answer")
    }

    fn say(&self, text: &str) {
        let content = json!({ "type": "text", "text": text });
        update(&json!({ "sessionUpdate": "agent_message_chunk", "content": content }));
    }

    fn tool(&self, id: &str, status: &str) {
        update(&json!({
            "sessionUpdate": "tool_call_update", "toolCallId": id, "status": status, "title": id,
        }));
        if status == "in_progress" {
            update(&json!({ "sessionUpdate": "agent_thought_chunk", "content": {} }));
        }
    }

    fn used(&self, tokens: u64) {
        let cost = json!({ "amount": 0.25, "currency": "USD" });
        update(
            &json!({ "sessionUpdate": "usage_update", "used": tokens, "size": 9, "cost": cost }),
        );
    }

    fn end(&self, id: &Value, reason: &str) {
        answer(id, &json!({ "stopReason": reason }));
    }
}

fn ignore_term() {
    let ignored = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false));
    signal_hook::flag::register(signal_hook::consts::SIGTERM, ignored).expect("a handler");
}

fn with(value: &Value, key: &str, text: &str) -> Value {
    let mut value = value.clone();
    value[key] = json!(text);
    value
}

fn update(update: &Value) {
    let params = json!({ "sessionId": SESSION, "update": update });
    send(&json!({ "jsonrpc": "2.0", "method": "session/update", "params": params }));
}

fn answer(id: &Value, result: &Value) {
    send(&json!({ "jsonrpc": "2.0", "id": id, "result": result }));
}

fn refuse(id: &Value, code: i64, message: &str, data: &Value) {
    let error = json!({ "code": code, "message": message, "data": data });
    send(&json!({ "jsonrpc": "2.0", "id": id, "error": error }));
}

fn send(message: &Value) {
    let mut out = std::io::stdout().lock();
    // Nobody listens any more: it is being ended.
    if writeln!(out, "{message}").and_then(|()| out.flush()).is_err() {
        exit(0);
    }
}

fn receive() -> Option<Value> {
    let mut line = String::new();
    let read = std::io::stdin().lock().read_line(&mut line).expect("a line");
    (read > 0).then(|| serde_json::from_str(&line).expect("a message"))
}
