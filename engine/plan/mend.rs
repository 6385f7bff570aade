//! A file that the schema refuses, mended just enough to be read for its meaning, so that a person
//! hears of all that is wrong at once. What is mended here is never run.

use std::collections::HashSet;

use serde_json::{Value, json};

use super::explain::Remedy;
use super::lower::Note;
use super::stand_in::nameless;
use super::{Places, pointer};

/// What was done to a file that the schema refuses.
#[derive(Debug, Default)]
pub struct Mended {
    /// Pointers to what the schema has spoken of: meaning has nothing to say about these.
    settled: HashSet<String>,
    /// Pointers to values that were put into a list.
    wrapped: HashSet<String>,
}

impl Mended {
    /// Whether the schema has said what there is to say about the part that `note` is about, or about
    /// the table in which it found something lacking.
    #[must_use]
    pub fn settles(&self, note: &Note) -> bool {
        self.covers(&note.at) || note.looked_in.is_some_and(|at| self.settled.contains(at))
    }

    /// Whether the schema has spoken of this part, or of what holds it.
    #[must_use]
    pub fn covers(&self, at: &str) -> bool {
        pointer::ancestors(at).any(|at| self.settled.contains(at))
    }

    /// Whether the schema has spoken of this very value: as such, or as one that is no list.
    #[must_use]
    pub fn settled(&self, at: &str) -> bool {
        self.settled.contains(at)
            || pointer::parent(at).is_some_and(|list| self.wrapped.contains(list))
    }

    /// Does `remedy` to the value at `at`.
    pub fn mend(&mut self, plan: &mut Value, places: &mut Places, at: &str, remedy: &Remedy) {
        match remedy {
            Remedy::StandIn => {
                if self.settled.insert(at.to_owned()) {
                    put(plan, at);
                } else {
                    // What stood in was no better.
                    take(plan, at);
                }
            }
            Remedy::Remove => {
                take(plan, at);
                self.settled.insert(at.to_owned());
            }
            Remedy::Wrap => {
                if let Some(value) = plan.pointer_mut(at) {
                    *value = json!([value.take()]);
                }
                let only = pointer::join(at, 0);
                places.rename(only, at.to_owned());
                self.wrapped.insert(at.to_owned());
            }
            Remedy::Rename(to) => {
                let value = take(plan, at);
                let free = plan.pointer(to).is_none();
                match value.zip(holder(plan, to)) {
                    Some((value, (Value::Object(entries), key))) if free => {
                        entries.insert(key, value);
                        places.rename(to.clone(), at.to_owned());
                    }
                    _ => self.settled.extend([at.to_owned(), to.clone()]),
                }
            }
        }
    }
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
                *item = value.unwrap_or_else(|| json!(nameless(at)));
            }
        }
        _ => {}
    }
}

/// Something harmless for what may not be left out.
fn stand_in(at: &str) -> Option<Value> {
    let parts: Vec<_> = pointer::parts(at).collect();
    let parts: Vec<&str> = parts.iter().map(AsRef::as_ref).collect();
    let name = || json!(nameless(at));
    Some(match parts.as_slice() {
        ["version"] => json!(1),
        ["plan"] => json!({ "name": name(), "goal": "none" }),
        ["plan", "name"] => name(),
        ["plan", "goal"] => json!("none"),
        ["tiers", _] => json!({ "worker": name() }),
        ["review"] => json!({ "tier": name() }),
        ["tiers", _, "worker"] | ["review", "tier"] => name(),
        ["workers", _, "agent"] => json!("codex"),
        ["workers", _] => json!({ "command": ["true"] }),
        ["stage", _] => json!({ "name": name() }),
        ["wp", _] => json!({ "id": name() }),
        ["stage", _, "name"] | ["wp", _, "id"] => name(),
        [.., "dod" | "live", _] | [.., "run"] => json!("true"),
        [.., "command"] => json!(["true"]),
        ["wp", _, "forks", _] => json!({ "question": "none", "default": "none" }),
        ["wp", _, "forks", _, _] => json!("none"),
        _ => return None,
    })
}
