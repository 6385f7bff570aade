//! `claude -p`: Anthropic's agent.
//!
//! It prints one JSON message a line and the sum of everything at the end. Without permission flags
//! it says that a file is written when it is not; only the list of denials tells.

mod reader;

use std::ffi::{OsStr, OsString};

use super::flags::{self, Flag};
use super::seam::{Abilities, Agent, Ask, CommandLine, Feed, Home, Login, Reader};
use crate::model::plan::Adapter;
use crate::model::turn::Usd;
use crate::process::escape_path;

/// The adapter.
pub struct Claude;

/// Flags with which a plan takes permissions into its own hands.
const PERMISSIONS: &[Flag] = &[
    ("--permission-mode", true),
    ("--dangerously-skip-permissions", false),
    ("--allow-dangerously-skip-permissions", false),
];

impl Agent for Claude {
    fn program(&self) -> &'static [&'static str] {
        &["claude"]
    }

    fn install(&self) -> &'static str {
        "npm install -g @anthropic-ai/claude-code"
    }

    fn command(&self, ask: &Ask<'_>) -> CommandLine {
        let mut argv: Vec<OsString> = ask.program.iter().map(OsString::from).collect();
        let mut add = |flag: &str, value: &OsStr| {
            let mut word = OsString::from(flag);
            word.push(value);
            argv.push(word);
        };
        for word in ["-p", "--verbose", "--output-format=stream-json"] {
            add(word, "".as_ref());
        }
        if ask.read_only {
            // Whatever would need a person's consent is refused: there is none.
            add("--permission-mode=", "default".as_ref());
            add("--allowedTools=", "Read,Grep,Glob".as_ref());
            add("--disallowedTools=", "Edit,Write,NotebookEdit".as_ref());
        } else {
            if !flags::has(ask.args, PERMISSIONS) {
                add("--permission-mode=", "acceptEdits".as_ref());
            }
            add("--allowedTools=", "Bash,Edit,Write,NotebookEdit".as_ref());
            for folder in ask.writable {
                add("--add-dir=", folder.as_os_str());
            }
        }
        if let Some(model) = ask.model {
            add("--model=", model.as_ref());
        }
        if let Some(effort) = ask.effort {
            add("--effort=", effort.as_ref());
        }
        if let Some(turns) = ask.max_turns {
            add("--max-turns=", turns.max(1).to_string().as_ref());
        }
        if let Some(usd) = ask.usd {
            add("--max-budget-usd=", f64::from(usd.max(Usd(1))).to_string().as_ref());
        }
        if let Some(session) = ask.session {
            add("--resume=", session.as_ref());
        }
        argv.extend(flags::own(ask, PERMISSIONS));
        CommandLine {
            argv,
            env: vec![
                // The engine backs off by itself, and tells a person.
                ("CLAUDE_CODE_MAX_RETRIES", "3".into()),
                ("DISABLE_AUTOUPDATER", "1".into()),
            ],
            // Set where the engine was itself started by this agent, which then will not start.
            unset: &["CLAUDECODE", "CLAUDE_CODE_ENTRYPOINT", "CLAUDE_CODE_SSE_PORT"],
            stdin: Feed::Prompt,
        }
    }

    fn reader(&self, ask: &Ask<'_>) -> Box<dyn Reader> {
        Box::new(reader::ClaudeReader::new(ask))
    }

    fn abilities(&self) -> Abilities {
        Abilities {
            resumes: true,
            redirects: false,
            tells_tokens: true,
            tells_cost: Adapter::Claude.tells_cost() == Some(true),
            tells_turns: true,
            read_only: true,
        }
    }

    fn login(&self, home: &Home) -> Login {
        for name in ["ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN"] {
            if home.var(name).is_some() {
                return Login::Yes(name.to_owned());
            }
        }
        let file = home.folder("CLAUDE_CONFIG_DIR", ".claude").join(".credentials.json");
        if file.is_file() {
            return Login::Yes(escape_path(&file));
        }
        // A cloud has a login of its own; a Mac keeps it in the keychain.
        let cloud =
            ["CLAUDE_CODE_USE_BEDROCK", "CLAUDE_CODE_USE_VERTEX", "CLAUDE_CODE_USE_FOUNDRY"];
        if cfg!(target_os = "macos") || cloud.iter().any(|name| home.var(name).is_some()) {
            return Login::Unknown;
        }
        Login::No("run `claude` once and log in, or set ANTHROPIC_API_KEY".to_owned())
    }
}
