//! The Messages API of Anthropic: `POST …/messages`.

use serde_json::{Value, json};

use super::{Answer, Call, INPUT, OUTPUT, Protocol, Say};

pub struct Messages;

impl Protocol for Messages {
    fn serves(&self, path: &str) -> bool {
        path.ends_with("/messages")
    }

    fn read(&self, _: &str, body: &Value) -> Call {
        let messages = body["messages"].as_array().cloned().unwrap_or_default();
        let results = |message: &Value| {
            let blocks = message["content"].as_array().into_iter().flatten();
            blocks.filter(|block| block["type"] == "tool_result").count()
        };
        // What tools answer comes as a user's message too.
        let is_word = |message: &Value| message["role"] == "user" && results(message) == 0;
        let last = messages.iter().rposition(is_word).map_or(0, |at| at + 1);
        let tools = body["tools"].as_array().into_iter().flatten();
        Call {
            model: body["model"].as_str().unwrap_or_default().to_owned(),
            tool_answers: messages[last..].iter().map(results).sum(),
            said: body["messages"].to_string(),
            tools: tools
                .filter_map(|tool| {
                    Some((tool["name"].as_str()?.to_owned(), tool["input_schema"].clone()))
                })
                .collect(),
            form: None,
            stream: body["stream"] == true,
        }
    }

    fn write(&self, call: &Call, say: &Say, n: usize) -> Answer {
        let block = match say {
            Say::Nothing => None,
            Say::Tool(name, input) => Some(
                json!({ "type": "tool_use", "id": format!("toolu_{n}"), "name": name, "input": input }),
            ),
            Say::Text(text) => Some(json!({ "type": "text", "text": text })),
        };
        let reason = if matches!(say, Say::Tool(..)) { "tool_use" } else { "end_turn" };
        let mut message = json!({
            "id": format!("msg_{n}"), "type": "message", "role": "assistant", "model": call.model,
            "content": block.iter().collect::<Vec<_>>(), "stop_reason": reason, "stop_sequence": null,
            "usage": { "input_tokens": INPUT, "output_tokens": OUTPUT },
        });
        if !call.stream {
            return Answer::Whole(message);
        }
        message["content"] = json!([]);
        message["stop_reason"] = Value::Null;
        let mut events =
            vec![("message_start", json!({ "type": "message_start", "message": message }))];
        if let Some(block) = block {
            let (bare, delta) = match say {
                Say::Tool(_, input) => {
                    let mut bare = block;
                    bare["input"] = json!({});
                    (bare, json!({ "type": "input_json_delta", "partial_json": input.to_string() }))
                }
                _ => (
                    json!({ "type": "text", "text": "" }),
                    json!({ "type": "text_delta", "text": block["text"] }),
                ),
            };
            events.push((
                "content_block_start",
                json!({ "type": "content_block_start", "index": 0, "content_block": bare }),
            ));
            events.push((
                "content_block_delta",
                json!({ "type": "content_block_delta", "index": 0, "delta": delta }),
            ));
            events
                .push(("content_block_stop", json!({ "type": "content_block_stop", "index": 0 })));
        }
        let cut = events.len().saturating_sub(1).max(1);
        events.push((
            "message_delta",
            json!({
                "type": "message_delta", "delta": { "stop_reason": reason, "stop_sequence": null },
                "usage": { "output_tokens": OUTPUT },
            }),
        ));
        events.push(("message_stop", json!({ "type": "message_stop" })));
        let events =
            events.into_iter().map(|(name, data)| (Some(name), data.to_string())).collect();
        Answer::Stream { events, cut }
    }

    fn refuse(&self, status: u16, message: &str) -> Value {
        let kind = match status {
            401 => "authentication_error",
            402 => "billing_error",
            404 => "not_found_error",
            429 => "rate_limit_error",
            _ => "api_error",
        };
        json!({ "type": "error", "error": { "type": kind, "message": message } })
    }
}
