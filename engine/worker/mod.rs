//! Adapters to coding agents: a brief in, a [`Turn`](crate::model::turn::Turn) out.
//!
//! An agent is run by a driver, `sop __drive FILE`, a process of its own below the step's holder: it
//! lives on when the engine dies, and ends with everything else of the step when the holder says so.
//! What it must do is in the file ([`Drive`]); what came of it is in two more ([`read_turn`],
//! [`read_answer`]).
//!
//! - [`seam`]: what an adapter is: a command line, and a [`Reader`] of what the agent prints;
//! - [`tally`]: what is known of a turn so far;
//! - [`drive`]: the driver's order, as a file;
//! - [`driver`]: the process that runs it;
//! - [`results`]: what the driver leaves, read with suspicion;
//! - [`spent`]: a limit that sessions have passed together, which ends them;
//! - [`fault`]: what agents and providers say when they fail, as a class;
//! - [`look`]: whether an agent is there, and which;
//! - [`trial`]: one turn outside of any run;
//! - one module for each agent, all alike: who they are, how they are called, what they print;
//! - [`acp`]: one for all agents that speak the Agent Client Protocol.
//!
//! Nothing here is believed: exit 0 proves no work, and a turn without an answer is no turn.

pub mod acp;
mod aider;
mod claude;
mod codex;
pub mod drive;
pub mod driver;
pub mod fault;
mod flags;
mod gemini;
pub mod look;
mod opencode;
pub mod results;
mod retrying;
pub mod seam;
mod shown;
pub mod spent;
pub mod tally;
pub mod trial;
pub mod trouble;

pub use drive::Drive;
pub use results::{read_answer, read_turn};
pub use seam::{Abilities, Agent, Ask, CommandLine, End, Ended, Feed, Heard, Home, Login, Reader};
pub use tally::Tally;

use crate::model::plan::Adapter;

/// The adapter of this name.
#[must_use]
pub fn adapter(adapter: Adapter) -> Option<&'static dyn Agent> {
    match adapter {
        Adapter::Codex => Some(&codex::Codex),
        Adapter::Claude => Some(&claude::Claude),
        Adapter::Gemini => Some(&gemini::Gemini),
        Adapter::Opencode => Some(&opencode::Opencode),
        Adapter::Aider => Some(&aider::Aider),
        Adapter::Acp => Some(&acp::Acp),
    }
}
