//! `gemini -p`: Google's agent.
//!
//! It prints one JSON message a line. It tries a call that fails again for minutes, of which it tells
//! only on standard error; its exit code may be a provider's status less 256 (402 is 146); and it takes
//! its time to leave.

mod reader;

use std::ffi::OsString;

use super::flags::{self, Flag};
use super::seam::{Abilities, Agent, Ask, CommandLine, Feed, Home, Login, Reader};
use crate::model::plan::Adapter;
use crate::process::escape_path;

/// The adapter.
pub struct Gemini;

/// Flags with which a plan takes permissions into its own hands.
const PERMISSIONS: &[Flag] =
    &[("--approval-mode", true), ("--yolo", false), ("-y", false), ("--allowed-tools", true)];

impl Agent for Gemini {
    fn program(&self) -> &'static [&'static str] {
        &["gemini"]
    }

    fn install(&self) -> &'static str {
        "npm install -g @google/gemini-cli"
    }

    fn command(&self, ask: &Ask<'_>) -> CommandLine {
        let mut argv: Vec<OsString> = ask.program.iter().map(OsString::from).collect();
        let mut add = |flag: &str, value: &str| argv.push(format!("{flag}{value}").into());
        add("--output-format=", "stream-json");
        if ask.read_only {
            // Whatever would need a person's consent is not even offered to the model.
            add("--approval-mode=", "default");
        } else if !flags::has(ask.args, PERMISSIONS) {
            add("--approval-mode=", "yolo");
        }
        if let Some(model) = ask.model {
            add("--model=", model);
        }
        if let Some(session) = ask.session {
            add("--resume=", session);
        }
        if !ask.read_only {
            for folder in ask.writable {
                let mut word = OsString::from("--include-directories=");
                word.push(folder);
                argv.push(word);
            }
        }
        argv.extend(flags::own(ask, PERMISSIONS));
        CommandLine {
            argv,
            // It works in no folder that it was not told to trust; the plan's worktrees are.
            env: vec![("GEMINI_CLI_TRUST_WORKSPACE", "true".into())],
            unset: &[],
            stdin: Feed::Prompt,
        }
    }

    fn reader(&self, ask: &Ask<'_>) -> Box<dyn Reader> {
        Box::new(reader::GeminiReader::new(ask))
    }

    fn abilities(&self) -> Abilities {
        Abilities {
            resumes: true,
            redirects: false,
            tells_tokens: true,
            tells_cost: Adapter::Gemini.tells_cost() == Some(true),
            tells_turns: true,
            read_only: true,
        }
    }

    fn login(&self, home: &Home) -> Login {
        for name in ["GEMINI_API_KEY", "GOOGLE_API_KEY"] {
            if home.var(name).is_some() {
                return Login::Yes(name.to_owned());
            }
        }
        let dir = home.folder("GEMINI_CLI_HOME", "").join(".gemini");
        let file = dir.join("oauth_creds.json");
        if file.is_file() {
            return Login::Yes(escape_path(&file));
        }
        // A key that it was given once may be in the system's keychain, and a cloud has its own login.
        Login::Unknown
    }
}
