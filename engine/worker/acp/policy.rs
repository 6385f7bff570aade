//! What an agent may do when it asks. Nobody sits beside it, so every request is answered at once:
//! inside the worktree it may work, outside it may not, and a session that may only read is held to it.
//!
//! A request to change a file that names no place at all is granted only where changing is allowed;
//! where it went is what the scope check finds out. A command is granted or not by what it is said to
//! do: this is a policy and no sandbox.

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::bounds::Bounds;
use super::reads;
use crate::worker::shown;

/// The rules of one session.
#[derive(Debug, Clone)]
pub struct Policy {
    /// Whether it may only read.
    pub read_only: bool,
    /// Where it may reach.
    pub bounds: Bounds,
}

/// An answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ruling {
    /// It may, this once.
    Allow,
    /// It may not, and why.
    Deny(&'static str),
}

/// What is known of one use of a tool. Agents tell it in parts: what comes later adds to it.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Call {
    /// `read`, `edit`, `execute`, … as the agent says.
    pub kind: Option<String>,
    /// For people: the command, the path.
    pub title: Option<String>,
    /// Paths that it names.
    pub paths: Vec<PathBuf>,
    /// The tool's own input.
    pub input: Value,
}

/// Where a tool's input names a path.
const PATHS: &[&str] = &[
    "path",
    "file_path",
    "filePath",
    "filepath",
    "abs_path",
    "absolute_path",
    "notebook_path",
    "directory",
    "dir_path",
    "dir",
    "cwd",
    "workdir",
    "old_path",
    "new_path",
    "source",
    "destination",
];
/// Paths that are kept of one call.
const MOST_PATHS: usize = 1000;

impl Call {
    /// Adds what a `tool_call`, a `tool_call_update` or a request's `toolCall` tells.
    pub fn learn(&mut self, told: &Value) {
        let text = |key: &str| told.get(key).and_then(Value::as_str).map(str::to_owned);
        self.kind = text("kind").or(self.kind.take());
        self.title = text("title").filter(|title| !title.is_empty()).or(self.title.take());
        let list = |key: &str| told.get(key).and_then(Value::as_array).into_iter().flatten();
        let mut paths: Vec<&str> = Vec::new();
        paths.extend(
            list("locations")
                .chain(list("content"))
                .filter_map(|place| place.get("path").and_then(Value::as_str)),
        );
        if let Some(Value::Object(input)) = told.get("rawInput") {
            paths.extend(PATHS.iter().filter_map(|key| input.get(*key)).filter_map(Value::as_str));
            // codex names the files of a patch as the keys of an object.
            let changes = input.get("changes").and_then(Value::as_object);
            paths.extend(changes.into_iter().flat_map(|files| files.keys().map(String::as_str)));
            if !input.is_empty() {
                self.input = Value::Object(input.clone());
            }
        }
        for path in paths.into_iter().map(Path::new) {
            if self.paths.len() < MOST_PATHS && !self.paths.iter().any(|known| known == path) {
                self.paths.push(path.to_owned());
            }
        }
    }

    /// In a few words, as for the other agents: what it is and what it is about.
    #[must_use]
    pub fn words(&self) -> String {
        match (self.kind.as_deref(), self.title.as_deref()) {
            (Some("execute"), Some(title)) => shown::run(title),
            (None | Some("other"), Some(title)) => title.to_owned(),
            // Many a title begins with it: `Read src/a.rs`.
            (Some(kind), Some(title)) if title.to_lowercase().starts_with(kind) => title.to_owned(),
            (Some(kind), Some(title)) => format!("{kind} {title}"),
            (kind, None) => format!("use {}", kind.unwrap_or("a tool")),
        }
    }
}

impl Policy {
    /// Whether the call is allowed.
    #[must_use]
    pub fn rule(&self, call: &Call) -> Ruling {
        let changes = match call.kind.as_deref() {
            Some("read" | "search" | "think" | "fetch") => false,
            Some("execute") => !reads::only_reads(&call.input),
            // What is not told to read is taken to change something.
            _ => true,
        };
        if self.read_only && changes {
            return Ruling::Deny("this session may only read");
        }
        let reach = |path: &PathBuf| match call.kind.as_deref() {
            Some("edit" | "delete" | "move") => self.bounds.changeable(path).is_some(),
            _ => self.bounds.inside(path).is_some(),
        };
        if call.paths.iter().all(reach) {
            Ruling::Allow
        } else {
            Ruling::Deny("it reaches out of the worktree")
        }
    }
}

/// The option of a permission request that says what was ruled: for this once where there is such an
/// option, since the next use of the same tool is another question.
#[must_use]
pub fn option(options: &Value, ruling: Ruling) -> Option<&str> {
    let kinds = match ruling {
        Ruling::Allow => ["allow_once", "allow_always"],
        Ruling::Deny(_) => ["reject_once", "reject_always"],
    };
    let options = options.as_array()?;
    kinds.iter().find_map(|kind| {
        let fits = |option: &&Value| option.get("kind").and_then(Value::as_str) == Some(kind);
        options.iter().find(fits)?.get("optionId")?.as_str()
    })
}
