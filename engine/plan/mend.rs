//! A plan that the schema refuses, mended just enough to be read for its meaning, so that a person
//! hears of all that is wrong at once. What is mended here is never run.

use std::collections::{HashMap, HashSet};

use serde::Deserialize;
use serde_json::{Value, json};

use super::document::Document;
use super::explain::{Complaint, Remedy};
use super::lower::Note;
use super::pointer;

/// How the names begin that stand in for those that are missing or are no names.
pub const NAMELESS: &str = "unnamed--";

/// What was done to a plan that the schema refuses.
#[derive(Debug, Default)]
pub struct Mended {
    /// Pointers to what the schema has spoken of: meaning has nothing to say about these.
    settled: HashSet<String>,
    /// Keys that were read as others: as what, and where they stand in the file.
    pub renamed: HashMap<String, String>,
}

impl Mended {
    /// Whether the schema has said what there is to say about the part that `note` is about, or about
    /// the table in which it found something lacking.
    #[must_use]
    pub fn settles(&self, note: &Note) -> bool {
        let table = note.looked_in.into_iter();
        pointer::ancestors(&note.at).chain(table).any(|at| self.settled.contains(at))
    }
}

/// Mends `plan`. `None` when there is too little left of it.
#[must_use]
pub fn mend(plan: &Value, complaints: &[Complaint]) -> Option<(Document, Mended)> {
    // What stands under a misspelt key may be wrong by itself; then the key is left out.
    attempt(plan, complaints, true).or_else(|| attempt(plan, complaints, false))
}

fn attempt(plan: &Value, complaints: &[Complaint], rename: bool) -> Option<(Document, Mended)> {
    let mut plan = plan.clone();
    let mut mended = Mended::default();
    for Complaint { at, remedy, .. } in complaints {
        match remedy {
            Remedy::StandIn => {
                put(&mut plan, at);
                mended.settled.insert(at.clone());
            }
            Remedy::Remove => {
                take(&mut plan, at);
                mended.settled.insert(at.clone());
            }
            Remedy::Rename(to) => {
                let value = take(&mut plan, at);
                let free = plan.pointer(to).is_none();
                match value.zip(holder(&mut plan, to)) {
                    Some((value, (Value::Object(entries), key))) if rename && free => {
                        entries.insert(key, value);
                        mended.renamed.insert(to.clone(), at.clone());
                    }
                    _ => mended.settled.extend([at.clone(), to.clone()]),
                }
            }
        }
    }
    let document = Document::deserialize(plan).ok()?;
    Some((document, mended))
}

/// What holds the value at `at`, and its key there.
fn holder<'a>(plan: &'a mut Value, at: &str) -> Option<(&'a mut Value, String)> {
    let key = pointer::parts(at).last()?.into_owned();
    Some((plan.pointer_mut(pointer::parent(at)?)?, key))
}

fn take(plan: &mut Value, at: &str) -> Option<Value> {
    match holder(plan, at)? {
        (Value::Object(entries), key) => entries.remove(&key),
        _ => None,
    }
}

/// Puts something harmless at `at`, or nothing where a key may be left out.
fn put(plan: &mut Value, at: &str) {
    let stand_in = stand_in(at);
    match (holder(plan, at), stand_in) {
        (Some((Value::Object(entries), key)), Some(value)) => {
            entries.insert(key, value);
        }
        (Some((Value::Object(entries), key)), None) => {
            entries.remove(&key);
        }
        (Some((Value::Array(items), key)), value) => {
            let item = key.parse::<usize>().ok().and_then(|i| items.get_mut(i));
            if let Some(item) = item {
                let name = at.replace(|c: char| !c.is_ascii_alphanumeric(), "-");
                *item = value.unwrap_or_else(|| json!(format!("{NAMELESS}{name}")));
            }
        }
        _ => {}
    }
}

/// Something harmless for what may not be left out.
fn stand_in(at: &str) -> Option<Value> {
    let parts: Vec<_> = pointer::parts(at).collect();
    let parts: Vec<&str> = parts.iter().map(AsRef::as_ref).collect();
    Some(match parts.as_slice() {
        ["version"] => json!(1),
        ["plan"] => json!({ "name": "unnamed", "goal": "none" }),
        ["plan", "name"] => json!("unnamed"),
        ["plan", "goal"] => json!("none"),
        ["tiers", _] => json!({ "worker": "unnamed" }),
        ["tiers", _, "worker"] => json!("unnamed"),
        ["review"] => json!({ "tier": "unnamed" }),
        ["review", "tier"] => json!("unnamed"),
        ["workers", _, "agent"] => json!("codex"),
        ["workers", _] => json!({ "command": ["true"] }),
        ["stage", n] => json!({ "name": format!("{NAMELESS}{n}") }),
        ["stage", n, "name"] => json!(format!("{NAMELESS}{n}")),
        ["wp", n] => json!({ "id": format!("{NAMELESS}{n}") }),
        ["wp", n, "id"] => json!(format!("{NAMELESS}{n}")),
        [.., "dod" | "live", _] | [.., "run"] => json!("true"),
        [.., "command"] => json!(["true"]),
        ["wp", _, "forks", _] => json!({ "question": "none", "default": "none" }),
        ["wp", _, "forks", _, _] => json!("none"),
        _ => return None,
    })
}
