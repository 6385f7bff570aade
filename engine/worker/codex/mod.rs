//! `codex exec`: OpenAI's agent.
//!
//! It prints one JSON event a line, and tells tokens only at the end of a turn, and then those of the
//! whole session; what it uses while it works is in the session's own file ([`rollout`]). Its sandbox
//! is what holds a reviewer to reading.

mod reader;
mod rollout;

use std::ffi::OsString;
use std::fs;

use super::flags::{self, Flag};
use super::seam::{Abilities, Agent, Ask, CommandLine, Feed, Home, Login, Reader};
use crate::model::plan::Adapter;
use crate::process::escape_path;

/// The adapter.
pub struct Codex;

/// Flags with which a plan takes permissions into its own hands.
const PERMISSIONS: &[Flag] = &[
    ("-s", true),
    ("--sandbox", true),
    ("--full-auto", false),
    ("--approve-for-me", false),
    ("--dangerously-bypass-approvals-and-sandbox", false),
    ("--yolo", false),
];

impl Agent for Codex {
    fn program(&self) -> &'static [&'static str] {
        &["codex"]
    }

    fn install(&self) -> &'static str {
        "npm install -g @openai/codex"
    }

    fn command(&self, ask: &Ask<'_>) -> CommandLine {
        let mut argv: Vec<OsString> = ask.program.iter().map(OsString::from).collect();
        // A work package may be built in a folder that codex has never been told to trust.
        argv.extend(["exec", "--json", "--skip-git-repo-check"].map(OsString::from));
        if ask.read_only {
            argv.push("--sandbox=read-only".into());
        } else if !flags::has(ask.args, PERMISSIONS) {
            argv.push("--sandbox=workspace-write".into());
        }
        for folder in ask.writable.iter().filter(|_| !ask.read_only) {
            argv.push(joined("--add-dir=", folder.as_os_str()));
        }
        if let Some(model) = ask.model {
            argv.push(joined("--model=", model.as_ref()));
        }
        if let Some(effort) = ask.effort {
            // A JSON string is a TOML string too.
            let value = serde_json::Value::from(effort);
            argv.push(format!("--config=model_reasoning_effort={value}").into());
        }
        argv.extend(flags::own(ask, PERMISSIONS));
        if let Some(session) = ask.session {
            argv.extend(["resume", "--", session].map(OsString::from));
        }
        argv.push("-".into());
        CommandLine { argv, env: Vec::new(), unset: &[], stdin: Feed::Prompt }
    }

    fn reader(&self, ask: &Ask<'_>) -> Box<dyn Reader> {
        Box::new(reader::CodexReader::new(ask.cwd, ask.session, home().as_deref()))
    }

    fn abilities(&self) -> Abilities {
        Abilities {
            resumes: true,
            redirects: false,
            tells_tokens: true,
            tells_cost: Adapter::Codex.tells_cost() == Some(true),
            tells_turns: true,
            read_only: true,
        }
    }

    fn login(&self, home: &Home) -> Login {
        // Not OPENAI_API_KEY: `codex exec` does not look at it.
        if home.var("CODEX_API_KEY").is_some() {
            return Login::Yes("CODEX_API_KEY".to_owned());
        }
        let folder = home.folder("CODEX_HOME", ".codex");
        let file = folder.join("auth.json");
        if file.is_file() {
            return Login::Yes(escape_path(&file));
        }
        // A provider of the user's own has a key of its own.
        let config = fs::read_to_string(folder.join("config.toml")).unwrap_or_default();
        if config.lines().any(|line| line.trim_start().starts_with("model_provider")) {
            return Login::Unknown;
        }
        Login::No("run `codex login`, or set CODEX_API_KEY".to_owned())
    }
}

fn joined(flag: &str, value: &std::ffi::OsStr) -> OsString {
    let mut word = OsString::from(flag);
    word.push(value);
    word
}

/// Where codex keeps its sessions, for this process's own environment.
fn home() -> Option<std::path::PathBuf> {
    let set = |name| std::env::var_os(name).filter(|value| !value.is_empty());
    set("CODEX_HOME")
        .map(Into::into)
        .or_else(|| set("HOME").map(|home| std::path::Path::new(&home).join(".codex")))
}
