//! The Responses API of OpenAI: `POST …/responses`.

use serde_json::{Value, json};

use super::{Answer, Call, INPUT, OUTPUT, Protocol, Say};

pub struct Responses;

impl Protocol for Responses {
    fn serves(&self, path: &str) -> bool {
        path.ends_with("/responses")
    }

    fn read(&self, _: &str, body: &Value) -> Call {
        let items = body["input"].as_array().cloned().unwrap_or_default();
        let answers = |item: &&Value| item["type"] == "function_call_output";
        let tools = body["tools"].as_array().into_iter().flatten();
        Call {
            model: body["model"].as_str().unwrap_or_default().to_owned(),
            tool_answers: since_the_last_word(&items, |item| item["role"] == "user")
                .iter()
                .filter(answers)
                .count(),
            said: body["input"].to_string(),
            tools: tools
                .filter_map(|tool| {
                    Some((tool["name"].as_str()?.to_owned(), tool["parameters"].clone()))
                })
                .collect(),
            form: None,
            stream: body["stream"] == true,
        }
    }

    fn write(&self, call: &Call, say: &Say, n: usize) -> Answer {
        let item = match say {
            Say::Nothing => None,
            Say::Tool(name, arguments) => Some(json!({
                "type": "function_call", "id": format!("fc_{n}"), "call_id": format!("call_{n}"),
                "name": name, "arguments": arguments.to_string(), "status": "completed",
            })),
            Say::Text(text) => Some(json!({
                "type": "message", "id": format!("msg_{n}"), "role": "assistant", "status": "completed",
                "content": [{ "type": "output_text", "text": text, "annotations": [] }],
            })),
        };
        let whole = json!({
            "id": format!("resp_{n}"), "object": "response", "created_at": 1_790_000_000,
            "status": "completed", "model": call.model, "output": item.iter().collect::<Vec<_>>(),
            "usage": {
                "input_tokens": INPUT, "input_tokens_details": { "cached_tokens": 0 },
                "output_tokens": OUTPUT, "output_tokens_details": { "reasoning_tokens": 0 },
                "total_tokens": INPUT + OUTPUT,
            },
        });
        if !call.stream {
            return Answer::Whole(whole);
        }
        let mut begun = whole.clone();
        begun["status"] = json!("in_progress");
        begun["output"] = json!([]);
        begun["usage"] = Value::Null;
        let mut events = vec![json!({ "type": "response.created", "response": begun })];
        if let Some(item) = item {
            let mut bare = item.clone();
            for part in ["arguments", "content"] {
                if let Some(part) = bare.get_mut(part) {
                    *part = if part.is_string() { json!("") } else { json!([]) };
                }
            }
            events.push(
                json!({ "type": "response.output_item.added", "output_index": 0, "item": bare }),
            );
            if let Say::Text(text) = say {
                events.push(json!({
                    "type": "response.output_text.delta", "item_id": item["id"], "output_index": 0,
                    "content_index": 0, "delta": text,
                }));
            }
            events.push(
                json!({ "type": "response.output_item.done", "output_index": 0, "item": item }),
            );
        }
        let cut = events.len() - 1;
        events.push(json!({ "type": "response.completed", "response": whole }));
        let events = events.iter().map(|event| (name(&event["type"]), event.to_string())).collect();
        Answer::Stream { events, cut }
    }

    fn refuse(&self, status: u16, message: &str) -> Value {
        json!({ "error": { "message": message, "type": "error", "code": status.to_string() } })
    }
}

/// The part of a conversation after the user's last word: in a session that goes on, what tools
/// answered before it is of earlier turns.
fn since_the_last_word(items: &[Value], is_word: impl Fn(&Value) -> bool) -> &[Value] {
    let last = items.iter().rposition(is_word).map_or(0, |at| at + 1);
    &items[last..]
}

fn name(kind: &Value) -> Option<&'static str> {
    [
        "response.created",
        "response.output_item.added",
        "response.output_text.delta",
        "response.output_item.done",
        "response.completed",
    ]
    .into_iter()
    .find(|name| kind == name)
}
