//! The Chat Completions API of OpenAI, which most other providers speak too: `POST …/chat/completions`.

use serde_json::{Value, json};

use super::{Answer, Call, INPUT, OUTPUT, Protocol, Say};

pub struct Chat;

impl Protocol for Chat {
    fn serves(&self, path: &str) -> bool {
        path.ends_with("/chat/completions")
    }

    fn read(&self, _: &str, body: &Value) -> Call {
        let messages = body["messages"].as_array().cloned().unwrap_or_default();
        let last = messages.iter().rposition(|message| message["role"] == "user");
        let since = &messages[last.map_or(0, |at| at + 1)..];
        let tools = body["tools"].as_array().into_iter().flatten();
        Call {
            model: body["model"].as_str().unwrap_or_default().to_owned(),
            tool_answers: since.iter().filter(|message| message["role"] == "tool").count(),
            said: body["messages"].to_string(),
            tools: tools
                .filter_map(|tool| {
                    let tool = &tool["function"];
                    Some((tool["name"].as_str()?.to_owned(), tool["parameters"].clone()))
                })
                .collect(),
            form: None,
            stream: body["stream"] == true,
        }
    }

    fn write(&self, call: &Call, say: &Say, n: usize) -> Answer {
        let usage = json!({
            "prompt_tokens": INPUT, "completion_tokens": OUTPUT, "total_tokens": INPUT + OUTPUT,
        });
        let (message, reason) = match say {
            Say::Nothing => (json!({ "role": "assistant", "content": "" }), "stop"),
            Say::Text(text) => (json!({ "role": "assistant", "content": text }), "stop"),
            Say::Tool(name, arguments) => {
                let function = json!({ "name": name, "arguments": arguments.to_string() });
                let called = json!([{
                    "index": 0, "id": format!("call_{n}"), "type": "function", "function": function,
                }]);
                let message = json!({ "role": "assistant", "content": null, "tool_calls": called });
                (message, "tool_calls")
            }
        };
        let document = |kind: &str, choices: Value| {
            json!({
                "id": format!("chat_{n}"), "object": kind, "created": 1_790_000_000,
                "model": call.model, "choices": choices,
            })
        };
        if !call.stream {
            let choice = json!([{ "index": 0, "message": message, "finish_reason": reason }]);
            let mut whole = document("chat.completion", choice);
            whole["usage"] = usage;
            return Answer::Whole(whole);
        }
        let piece = |delta: &Value, reason: &Value| {
            let choice = json!([{ "index": 0, "delta": delta, "finish_reason": reason }]);
            document("chat.completion.chunk", choice)
        };
        let mut last = document("chat.completion.chunk", json!([]));
        last["usage"] = usage;
        let pieces = [piece(&message, &Value::Null), piece(&json!({}), &json!(reason)), last];
        let mut events: Vec<_> = pieces.iter().map(|piece| (None, piece.to_string())).collect();
        events.push((None, "[DONE]".to_owned()));
        Answer::Stream { events, cut: 1 }
    }

    fn refuse(&self, status: u16, message: &str) -> Value {
        json!({ "error": { "message": message, "type": "error", "code": status.to_string() } })
    }
}
