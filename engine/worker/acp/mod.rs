//! Any agent that speaks the Agent Client Protocol (version 1) on its standard input and output: one
//! process, one session, one turn, and answers to what it asks meanwhile.
//!
//! - [`wire`]: messages as lines;
//! - [`conversation`]: the course of a turn;
//! - [`choices`]: model, effort and mode, in the two ways that agents offer them;
//! - [`updates`]: what the agent tells while it works;
//! - [`policy`], [`bounds`], [`reads`]: what it may do;
//! - [`files`]: files that it reads and writes through us.

pub mod bounds;
pub mod choices;
pub mod conversation;
pub mod files;
pub mod policy;
pub mod reads;
pub mod updates;
pub mod wire;

use super::seam::{Abilities, Agent, Ask, CommandLine, Feed, Home, Login, Reader};
use conversation::Conversation;

/// What opencode is told by its environment, since it asks for nothing unless it is told to; nobody
/// else reads it.
const ASK_FIRST: &str = r#"{"edit":"ask","bash":"ask","external_directory":"ask"}"#;

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
            env: vec![("OPENCODE_PERMISSION", ASK_FIRST.into())],
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
            tells_cost: false,
            tells_turns: true,
            read_only: true,
        }
    }

    fn login(&self, _home: &Home) -> Login {
        Login::Unknown
    }
}
