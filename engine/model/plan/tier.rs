//! Who works: tiers, and the workers and adapters behind them.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::model::ids::{TierId, WorkerId};
use crate::model::time::Length;

/// A named choice of worker, model and effort.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tier {
    /// Who works.
    pub worker: WorkerId,
    /// Model, for workers that take one.
    pub model: Option<String>,
    /// Effort, for workers that take one.
    pub effort: Option<String>,
    /// Tier for the next round after a failed one on this tier.
    pub escalate_to: Option<TierId>,
    /// Tiers to go on with when this one's provider cannot serve.
    pub fallback: Vec<TierId>,
    /// WPs at work and sessions of reviewers on this tier at once.
    pub max_parallel: Option<usize>,
    /// Wall clock of one attempt.
    pub timeout: Length,
    /// Longest silence of one attempt.
    pub idle_timeout: Option<Length>,
    /// Size of one attempt's log in bytes.
    pub log_limit: u64,
    /// Time between TERM and KILL.
    #[serde(default = "grace")]
    pub grace: Length,
    /// Model calls in one attempt.
    #[serde(default)]
    pub max_turns: Option<u32>,
    /// What a later attempt goes on with.
    #[serde(default)]
    pub continues: Continue,
}

/// How long a worker has after TERM, where the plan does not say.
#[must_use]
pub fn grace() -> Length {
    Length::secs(10)
}

/// What a later attempt at the same WP goes on with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Continue {
    /// The agent's own session where it has one, with only what is new; else as `fresh`.
    #[default]
    Session,
    /// A new session that gets the whole brief.
    Fresh,
}

/// What takes a brief and changes files.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Worker {
    /// What it is.
    #[serde(flatten)]
    pub does: Does,
    /// Extra environment.
    pub env: BTreeMap<String, String>,
}

/// What a worker is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Does {
    /// A coding agent, driven by its adapter.
    Agent {
        /// Which adapter.
        agent: Adapter,
        /// Program and first arguments, in place of the adapter's own; empty is the adapter's own.
        program: Vec<String>,
        /// Arguments on top of the adapter's.
        args: Vec<String>,
    },
    /// Any command.
    Command {
        /// Argument vector; each argument is a template over `wp`, `plan`, `tier`, `run`, `round`, `brief_file`.
        command: Vec<String>,
        /// How the brief is handed over.
        brief: BriefBy,
    },
}

/// Adapters to coding agents: each knows one agent's command line and stream.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Adapter {
    /// `codex exec`.
    Codex,
    /// `claude -p`.
    Claude,
    /// `gemini -p`.
    Gemini,
    /// `opencode run`.
    Opencode,
    /// `aider --message-file`.
    Aider,
    /// Any agent that speaks the Agent Client Protocol on its standard input and output.
    Acp,
}

impl Adapter {
    /// Every adapter, in the order they are listed.
    pub const ALL: [Self; 6] =
        [Self::Codex, Self::Claude, Self::Gemini, Self::Opencode, Self::Aider, Self::Acp];

    /// The name as in a plan.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Codex => "codex",
            Self::Claude => "claude",
            Self::Gemini => "gemini",
            Self::Opencode => "opencode",
            Self::Aider => "aider",
            Self::Acp => "acp",
        }
    }

    /// Whether its agent tells what a turn costs; nothing where that depends on the program.
    #[must_use]
    pub fn tells_cost(self) -> Option<bool> {
        match self {
            Self::Claude | Self::Opencode | Self::Aider => Some(true),
            Self::Codex | Self::Gemini => Some(false),
            Self::Acp => None,
        }
    }
}

/// Programs that speak the Agent Client Protocol, and whether they tell what a turn costs over it.
const OVER_THE_PROTOCOL: [(&str, bool); 5] = [
    ("codex-acp", false),
    ("gemini", false),
    ("gemini-cli", false),
    ("claude-agent-acp", true),
    ("opencode", true),
];

/// Workers that need no `[workers.NAME]` table: name, adapter, and the program where it is not the
/// adapter's own.
pub const BUILT_IN_WORKERS: [(&str, Adapter, &[&str]); 9] = [
    ("codex", Adapter::Codex, &[]),
    ("claude", Adapter::Claude, &[]),
    ("gemini", Adapter::Gemini, &[]),
    ("opencode", Adapter::Opencode, &[]),
    ("aider", Adapter::Aider, &[]),
    ("codex-acp", Adapter::Acp, &["codex-acp"]),
    ("claude-acp", Adapter::Acp, &["claude-agent-acp"]),
    ("gemini-acp", Adapter::Acp, &["gemini", "--acp"]),
    ("opencode-acp", Adapter::Acp, &["opencode", "acp"]),
];

impl Worker {
    /// The program and its arguments as the plan has them; empty for an agent's own program.
    #[must_use]
    pub fn argv(&self) -> &[String] {
        match &self.does {
            Does::Command { command, .. } => command,
            Does::Agent { program, .. } => program,
        }
    }

    /// Whether what it costs is told, so that a budget of money can hold it; nothing where nobody can know
    /// beforehand: a command may tell it in the file `SOP_TURN`.
    #[must_use]
    pub fn tells_cost(&self) -> Option<bool> {
        let Does::Agent { agent, program, .. } = &self.does else { return None };
        agent.tells_cost().or_else(|| {
            // `npx @scope/program --flag` is as good as `/a/path/program`.
            let mut words = program.iter().filter_map(|word| word.rsplit('/').next());
            words.find_map(|word| {
                let known = OVER_THE_PROTOCOL.iter().find(|(name, _)| *name == word);
                known.map(|(_, tells)| *tells)
            })
        })
    }

    /// The built-in worker of this name.
    #[must_use]
    pub fn built_in(name: &str) -> Option<Self> {
        let (_, agent, program) = BUILT_IN_WORKERS.iter().find(|(known, ..)| *known == name)?;
        let program = program.iter().map(|word| (*word).to_owned()).collect();
        let does = Does::Agent { agent: *agent, program, args: Vec::new() };
        Some(Self { does, env: BTreeMap::new() })
    }
}

/// How a worker is handed its brief.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum BriefBy {
    /// On standard input.
    #[default]
    Stdin,
    /// As a file, whose path is `{{ brief_file }}` and `SOP_BRIEF`.
    File,
    /// As the last argument.
    Arg,
}
