//! The Gemini API of Google: `POST …/models/MODEL:generateContent` and `:streamGenerateContent`.

use serde_json::{Value, json};

use super::{Answer, Call, INPUT, OUTPUT, Protocol, Say};

pub struct Gemini;

impl Protocol for Gemini {
    fn serves(&self, path: &str) -> bool {
        path.ends_with(":generateContent") || path.ends_with(":streamGenerateContent")
    }

    fn read(&self, path: &str, body: &Value) -> Call {
        let contents = body["contents"].as_array().cloned().unwrap_or_default();
        let answers = |content: &Value| {
            let parts = content["parts"].as_array().into_iter().flatten();
            parts.filter(|part| part.get("functionResponse").is_some()).count()
        };
        // What tools answer comes as a user's content too.
        let is_word = |content: &Value| content["role"] == "user" && answers(content) == 0;
        let last = contents.iter().rposition(is_word).map_or(0, |at| at + 1);
        let tools = body["tools"].as_array().into_iter().flatten();
        let tools = tools.filter_map(|tool| tool["functionDeclarations"].as_array()).flatten();
        let (model, verb) = path.rsplit_once(':').unwrap_or((path, ""));
        Call {
            model: model.rsplit('/').next().unwrap_or_default().to_owned(),
            tool_answers: contents[last..].iter().map(answers).sum(),
            said: body["contents"].to_string(),
            tools: tools
                .filter_map(|tool| {
                    let schema = tool.get("parametersJsonSchema").unwrap_or(&tool["parameters"]);
                    Some((tool["name"].as_str()?.to_owned(), schema.clone()))
                })
                .collect(),
            form: ["responseJsonSchema", "responseSchema"]
                .iter()
                .find_map(|key| body["generationConfig"].get(key))
                .cloned(),
            stream: verb.starts_with("stream"),
        }
    }

    fn write(&self, call: &Call, say: &Say, n: usize) -> Answer {
        let part = match say {
            Say::Nothing => None,
            Say::Text(text) => Some(json!({ "text": text })),
            Say::Tool(name, arguments) => {
                Some(json!({ "functionCall": { "name": name, "args": arguments } }))
            }
        };
        let document = |parts: Vec<&Value>, reason: Option<&str>| {
            let mut candidate =
                json!({ "index": 0, "content": { "role": "model", "parts": parts } });
            if let Some(reason) = reason {
                candidate["finishReason"] = json!(reason);
            }
            json!({
                "candidates": [candidate], "modelVersion": call.model, "responseId": format!("r{n}"),
                "usageMetadata": {
                    "promptTokenCount": INPUT, "candidatesTokenCount": OUTPUT,
                    "totalTokenCount": INPUT + OUTPUT,
                },
            })
        };
        if !call.stream {
            return Answer::Whole(document(part.iter().collect(), Some("STOP")));
        }
        let begun = document(part.iter().collect(), None);
        let ended = document(Vec::new(), Some("STOP"));
        let events = [begun, ended].iter().map(|piece| (None, piece.to_string())).collect();
        Answer::Stream { events, cut: 1 }
    }

    fn refuse(&self, status: u16, message: &str) -> Value {
        let word = match status {
            401 => "UNAUTHENTICATED",
            402 => "FAILED_PRECONDITION",
            404 => "NOT_FOUND",
            429 => "RESOURCE_EXHAUSTED",
            _ => "INTERNAL",
        };
        json!({ "error": { "code": status, "message": message, "status": word } })
    }
}
