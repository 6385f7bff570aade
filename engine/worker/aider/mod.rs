//! `aider --message-file`: an agent that talks to a model and applies what it answers.
//!
//! It prints text for people and no structure. By itself it leaves `.aider*` files in the worktree and
//! commits; it is told not to, which costs the map of the repository that it keeps there.

mod reader;

use std::ffi::OsString;

use super::seam::{Abilities, Agent, Ask, CommandLine, Feed, Home, Login, Reader};
use crate::model::plan::Adapter;

/// The adapter.
pub struct Aider;

/// What it must not do here, and how it prints.
const MANNERS: &[&str] = &[
    "--yes-always",
    "--no-auto-commits",
    "--no-dirty-commits",
    "--no-gitignore",
    "--no-pretty",
    "--no-stream",
    "--no-fancy-input",
    "--no-check-update",
    "--no-show-release-notes",
    "--no-show-model-warnings",
    "--no-analytics",
    "--no-suggest-shell-commands",
    "--no-detect-urls",
    "--chat-history-file=/dev/null",
    "--input-history-file=/dev/null",
    "--map-tokens=0",
];

impl Agent for Aider {
    fn program(&self) -> &'static [&'static str] {
        &["aider"]
    }

    fn install(&self) -> &'static str {
        "python -m pip install aider-install && aider-install"
    }

    fn command(&self, ask: &Ask<'_>) -> CommandLine {
        let mut argv: Vec<OsString> = ask.program.iter().map(OsString::from).collect();
        argv.extend(MANNERS.iter().map(OsString::from));
        let mut add = |flag: &str, value: &std::ffi::OsStr| {
            let mut word = OsString::from(flag);
            word.push(value);
            argv.push(word);
        };
        if let Some(model) = ask.model {
            add("--model=", model.as_ref());
        }
        if let Some(effort) = ask.effort {
            add("--reasoning-effort=", effort.as_ref());
        }
        add("--message-file=", ask.prompt_file.as_os_str());
        argv.extend(ask.args.iter().map(OsString::from));
        if ask.read_only {
            // Last, so that nothing before them counts: it answers and applies nothing.
            argv.extend(["--chat-mode=ask", "--dry-run"].map(OsString::from));
        }
        CommandLine {
            argv,
            // Prices come with it; newer ones would be fetched at every start.
            env: vec![
                ("LITELLM_LOCAL_MODEL_COST_MAP", "True".into()),
                // It folds what it prints.
                ("COLUMNS", "4000".into()),
            ],
            unset: &[],
            stdin: Feed::Nothing,
        }
    }

    fn reader(&self, _ask: &Ask<'_>) -> Box<dyn Reader> {
        Box::new(reader::AiderReader::default())
    }

    fn abilities(&self) -> Abilities {
        Abilities {
            resumes: false,
            redirects: false,
            tells_tokens: true,
            tells_cost: Adapter::Aider.tells_cost() == Some(true),
            tells_turns: true,
            read_only: true,
        }
    }

    fn login(&self, home: &Home) -> Login {
        let keys = [
            "OPENAI_API_KEY",
            "ANTHROPIC_API_KEY",
            "GEMINI_API_KEY",
            "OPENROUTER_API_KEY",
            "DEEPSEEK_API_KEY",
        ];
        match keys.iter().find(|name| home.var(name).is_some()) {
            Some(name) => Login::Yes((*name).to_owned()),
            // Its settings may have one, and a local model needs none.
            None => Login::Unknown,
        }
    }
}
