//! The lines of the Agent Client Protocol: JSON-RPC 2.0, one message a line, in both directions.

use serde_json::{Value, json};

/// The protocol's own word for a method that this side does not have.
pub const NO_SUCH_METHOD: i64 = -32601;
/// For a request that is understood and not granted.
pub const NOT_GRANTED: i64 = -32602;
/// An agent's word for a login that is missing.
pub const AUTH_REQUIRED: i64 = -32000;

/// One line from the agent.
#[derive(Debug, Clone, PartialEq)]
pub enum Message {
    /// It wants an answer.
    Request {
        /// Its own number or name for it, to be given back as it is.
        id: Value,
        /// What it asks for.
        method: String,
        /// With what.
        params: Value,
    },
    /// It tells something.
    Notice {
        /// What.
        method: String,
        /// With what.
        params: Value,
    },
    /// It answers one of our requests.
    Answer {
        /// Which.
        id: u64,
        /// The result, or the error object.
        result: Result<Value, Value>,
    },
}

/// Reads a line; nothing if it is no message.
#[must_use]
pub fn parse(line: &[u8]) -> Option<Message> {
    let Ok(Value::Object(mut fields)) = serde_json::from_slice(line) else {
        return None;
    };
    let id = fields.remove("id").filter(|id| !id.is_null());
    let params = fields.remove("params").unwrap_or(Value::Null);
    match (fields.remove("method"), id) {
        (Some(Value::String(method)), Some(id)) => Some(Message::Request { id, method, params }),
        (Some(Value::String(method)), None) => Some(Message::Notice { method, params }),
        (None, Some(id)) => {
            let result = match fields.remove("error").filter(|error| !error.is_null()) {
                Some(error) => Err(error),
                None => Ok(fields.remove("result").unwrap_or(Value::Null)),
            };
            Some(Message::Answer { id: id.as_u64()?, result })
        }
        _ => None,
    }
}

/// A request of ours.
#[must_use]
pub fn request(id: u64, method: &str, params: Value) -> Vec<u8> {
    line(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }))
}

/// Something we tell.
#[must_use]
pub fn notice(method: &str, params: Value) -> Vec<u8> {
    line(&json!({ "jsonrpc": "2.0", "method": method, "params": params }))
}

/// Our answer to a request.
#[must_use]
pub fn answer(id: &Value, result: Value) -> Vec<u8> {
    line(&json!({ "jsonrpc": "2.0", "id": id, "result": result }))
}

/// Our refusal of a request.
#[must_use]
pub fn refuse(id: &Value, code: i64, message: &str) -> Vec<u8> {
    let error = json!({ "code": code, "message": message });
    line(&json!({ "jsonrpc": "2.0", "id": id, "error": error }))
}

fn line(message: &Value) -> Vec<u8> {
    let mut bytes = message.to_string().into_bytes();
    bytes.push(b'\n');
    bytes
}
