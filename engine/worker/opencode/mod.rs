//! `opencode run`: an agent for any provider; models are named `provider/model`.
//!
//! It prints one JSON event a line. Where a call fails before it is made (an unknown model) the event
//! says nothing and only the log on standard error tells. A provider's stream that is cut makes it ask
//! again without end, so the reader ends that.

mod reader;

use std::ffi::OsString;

use serde_json::{Map, Value, json};

use super::flags::{self, Flag};
use super::seam::{Abilities, Agent, Ask, CommandLine, Feed, Home, Login, Reader};
use crate::model::plan::Adapter;
use crate::process::escape_path;

/// The adapter.
pub struct Opencode;

/// Flags with which a plan takes permissions into its own hands.
const PERMISSIONS: &[Flag] = &[("--auto", false), ("--agent", true)];

impl Agent for Opencode {
    fn program(&self) -> &'static [&'static str] {
        &["opencode"]
    }

    fn install(&self) -> &'static str {
        "npm install -g opencode-ai"
    }

    fn command(&self, ask: &Ask<'_>) -> CommandLine {
        let mut argv: Vec<OsString> = ask.program.iter().map(OsString::from).collect();
        let mut add = |flag: &str, value: &str| argv.push(format!("{flag}{value}").into());
        add("run", "");
        add("--format=", "json");
        add("--print-logs", "");
        add("--log-level=", "ERROR");
        // Without one it pays another model call to find one.
        add("--title=", "sop");
        if let Some(model) = ask.model {
            add("--model=", model);
        }
        if let Some(effort) = ask.effort {
            add("--variant=", effort);
        }
        if let Some(session) = ask.session {
            add("--session=", session);
        }
        argv.extend(flags::own(ask, PERMISSIONS));
        CommandLine {
            argv,
            env: vec![
                ("OPENCODE_PERMISSION", permissions(ask).to_string().into()),
                ("OPENCODE_DISABLE_AUTOUPDATE", "1".into()),
            ],
            unset: &[],
            stdin: Feed::Prompt,
        }
    }

    fn reader(&self, ask: &Ask<'_>) -> Box<dyn Reader> {
        Box::new(reader::OpencodeReader::new(ask))
    }

    fn abilities(&self) -> Abilities {
        Abilities {
            resumes: true,
            redirects: false,
            tells_tokens: true,
            tells_cost: Adapter::Opencode.tells_cost() == Some(true),
            tells_turns: true,
            read_only: true,
        }
    }

    fn login(&self, home: &Home) -> Login {
        for name in
            ["OPENCODE_API_KEY", "ANTHROPIC_API_KEY", "OPENAI_API_KEY", "OPENROUTER_API_KEY"]
        {
            if home.var(name).is_some() {
                return Login::Yes(name.to_owned());
            }
        }
        let file = home.folder("XDG_DATA_HOME", ".local/share").join("opencode/auth.json");
        if file.is_file() {
            return Login::Yes(escape_path(&file));
        }
        // It knows a hundred providers, each with a variable of its own, and local ones with none.
        Login::Unknown
    }
}

/// What it is allowed, on top of the user's own settings. It asks nobody: what it would ask about it
/// is refused.
pub(super) fn permissions(ask: &Ask<'_>) -> Value {
    if ask.read_only {
        return json!({ "bash": "deny", "edit": "deny", "external_directory": "deny" });
    }
    let mut outside = Map::new();
    outside.insert("*".to_owned(), json!("deny"));
    for folder in ask.writable {
        // Its `*` reaches through folders too, and the last pattern that fits decides.
        outside.insert(format!("{}/*", folder.display()), json!("allow"));
    }
    json!({ "external_directory": outside, "doom_loop": "deny" })
}
