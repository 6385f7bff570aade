//! Any agent that speaks the Agent Client Protocol (version 1) on its standard input and output: one
//! process, one session, one turn, and answers to what it asks meanwhile.
//!
//! - [`wire`]: messages as lines;
//! - [`conversation`]: the course of a turn;
//! - [`choices`]: model, effort and mode, in the two ways that agents offer them;
//! - [`updates`]: what the agent tells while it works;
//! - [`ending`]: what the end of it is told as;
//! - [`policy`], [`bounds`], [`reads`]: what it may do;
//! - [`files`]: files that it reads and writes through us.

pub mod bounds;
pub mod choices;
pub mod conversation;
pub mod ending;
pub mod files;
pub mod policy;
pub mod reads;
pub mod updates;
pub mod wire;

use super::opencode;
use super::seam::{Abilities, Agent, Ask, CommandLine, Feed, Home, Login, Reader};
use crate::model::plan::Adapter;
use conversation::Conversation;

/// The adapter.
#[derive(Debug)]
pub struct Acp;

impl Agent for Acp {
    fn program(&self) -> &'static [&'static str] {
        &[]
    }

    fn install(&self) -> &'static str {
        "see the agent's own page; its name is the first word of the worker's `program`"
    }

    fn command(&self, ask: &Ask<'_>) -> CommandLine {
        let words = ask.program.iter().chain(ask.args);
        CommandLine {
            argv: words.map(Into::into).collect(),
            env: vec![
                // It asks for nothing unless it is told to, and gives up its turn over a refusal; a
                // rule it works around. Agents read no variables of each other's.
                ("OPENCODE_PERMISSION", opencode::permissions(ask).to_string().into()),
                ("OPENCODE_DISABLE_AUTOUPDATE", "1".into()),
                // As for the agents themselves: the engine backs off, and tells a person.
                ("CLAUDE_CODE_MAX_RETRIES", "3".into()),
                ("GEMINI_CLI_TRUST_WORKSPACE", "true".into()),
            ],
            unset: &[],
            stdin: Feed::Reader,
        }
    }

    fn reader(&self, ask: &Ask<'_>) -> Box<dyn Reader> {
        Box::new(Conversation::new(ask))
    }

    fn abilities(&self) -> Abilities {
        Abilities {
            resumes: true,
            redirects: true,
            tells_tokens: true,
            tells_cost: Adapter::Acp.tells_cost() == Some(true),
            tells_turns: true,
            read_only: true,
        }
    }

    fn version_args(&self) -> &'static [&'static str] {
        // Not every agent knows such an argument, and who does not begins to serve.
        &[]
    }

    fn leaves(&self) -> bool {
        // They serve until somebody ends them: of four, two stay on when their input is closed.
        false
    }

    fn login(&self, _home: &Home) -> Login {
        Login::Unknown
    }
}
