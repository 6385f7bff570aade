//! The driver's order: a JSON file that the engine writes before it starts `sop __drive FILE`.

use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::seam::{Agent, Ask, CommandLine};
use super::tally::{Most, Tally};
use crate::model::plan::{Adapter, grace};
use crate::model::time::Length;
use crate::model::turn::Usd;
use crate::plain_file;
use crate::process::escape_path;

/// Largest raw stream that is kept, where the engine does not say.
const STREAM_LIMIT: u64 = 64 * 1024 * 1024;

/// One turn of an agent, in the driver's working directory. Paths are absolute.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Drive {
    /// Which adapter.
    pub agent: Adapter,
    /// Program and first arguments; empty is the adapter's own.
    #[serde(default)]
    pub program: Vec<String>,
    /// Arguments on top of the adapter's.
    #[serde(default)]
    pub args: Vec<String>,
    /// Model.
    #[serde(default)]
    pub model: Option<String>,
    /// Effort.
    #[serde(default)]
    pub effort: Option<String>,
    /// The file with what is said to the agent.
    pub prompt: PathBuf,
    /// The session to go on with.
    #[serde(default)]
    pub session: Option<String>,
    /// Whether the agent may only read.
    #[serde(default)]
    pub read_only: bool,
    /// Folders outside the worktree that the agent may write to (a sandbox would refuse them): where
    /// its report goes, where it asks.
    #[serde(default)]
    pub writable: Vec<PathBuf>,
    /// Model calls that it may make.
    #[serde(default)]
    pub max_turns: Option<u32>,
    /// Money that it may use: what is left of the budgets.
    #[serde(default)]
    pub usd: Option<Usd>,
    /// Tokens that it may use: what is left of the budgets.
    #[serde(default)]
    pub tokens: Option<u64>,
    /// Time between TERM and KILL when the driver ends the agent.
    #[serde(default = "grace")]
    pub grace: Length,
    /// Where the [`Turn`](crate::model::turn::Turn) is left, by rename.
    pub turn: PathBuf,
    /// Where the agent's last words are left, by rename.
    pub answer: PathBuf,
    /// Where the agent's standard output is kept as it came.
    pub stream: PathBuf,
    /// Size of that file in bytes, at most.
    #[serde(default = "stream_limit")]
    pub stream_limit: u64,
    /// The folder for words that reach the agent while it works: the driver looks there.
    pub say: PathBuf,
    /// Where the engine leaves the limit that this session and others have passed together ([`spent`]):
    /// the driver looks there, and ends the agent.
    ///
    /// [`spent`]: super::spent
    #[serde(default)]
    pub spent: PathBuf,
    /// Where the last error that the agent told is left while it works ([`trouble`](super::trouble)).
    #[serde(default)]
    pub error: PathBuf,
}

fn stream_limit() -> u64 {
    STREAM_LIMIT
}

impl Drive {
    /// A turn with nothing but what it must have. `folder` gets its results: `turn.json`,
    /// `answer.md`, `stream.jsonl`, `say/`.
    #[must_use]
    pub fn new(agent: Adapter, prompt: PathBuf, folder: &Path) -> Self {
        Self {
            agent,
            program: Vec::new(),
            args: Vec::new(),
            model: None,
            effort: None,
            prompt,
            session: None,
            read_only: false,
            writable: Vec::new(),
            max_turns: None,
            usd: None,
            tokens: None,
            grace: grace(),
            turn: folder.join("turn.json"),
            answer: folder.join("answer.md"),
            stream: folder.join("stream.jsonl"),
            stream_limit: STREAM_LIMIT,
            say: folder.join("say"),
            spent: super::spent::file(folder),
            error: super::trouble::file(folder),
        }
    }

    /// Writes the order, by rename.
    ///
    /// # Errors
    /// What the system said.
    pub fn write(&self, path: &Path) -> io::Result<()> {
        super::results::replace(path, &serde_json::to_vec_pretty(self)?)
    }

    /// The command line of the driver for the order that was written to `path`: the program of the holder that
    /// starts it, even where that was replaced meanwhile.
    ///
    /// # Errors
    /// When `sop` cannot say where its own program is, or that is no text.
    pub fn command(&self, path: &Path) -> io::Result<Vec<String>> {
        let text = |path: &Path| {
            let text = path.to_str().map(str::to_owned);
            text.ok_or_else(|| io::Error::other(format!("{} is not UTF-8", escape_path(path))))
        };
        let program = match cfg!(target_os = "linux") {
            true => "/proc/self/exe".to_owned(),
            false => text(&std::env::current_exe()?)?,
        };
        Ok(vec![program, "__drive".to_owned(), text(path)?])
    }

    /// Reads an order.
    ///
    /// # Errors
    /// When it cannot be read, or is none.
    pub fn read(path: &Path) -> io::Result<Self> {
        Ok(serde_json::from_slice(&plain_file::read_own(path)?)?)
    }

    /// The program and its first arguments: the worker's, or else the adapter's own.
    #[must_use]
    pub fn program_or(&self, agent: &dyn Agent) -> Vec<String> {
        if self.program.is_empty() {
            agent.program().iter().map(|word| (*word).to_owned()).collect()
        } else {
            self.program.clone()
        }
    }

    /// The agent's command line for saying `prompt` in `cwd`, as the driver would run it.
    #[must_use]
    pub fn command_line(&self, agent: &dyn Agent, prompt: &str, cwd: &Path) -> CommandLine {
        let program = self.program_or(agent);
        agent.command(&self.ask(
            &program,
            prompt,
            &self.prompt,
            self.session.as_deref(),
            self.most(),
            cwd,
        ))
    }

    /// What is asked of the agent.
    pub(super) fn ask<'a>(
        &'a self,
        program: &'a [String],
        prompt: &'a str,
        prompt_file: &'a Path,
        session: Option<&'a str>,
        most: Most,
        cwd: &'a Path,
    ) -> Ask<'a> {
        Ask {
            program,
            args: &self.args,
            model: self.model.as_deref(),
            effort: self.effort.as_deref(),
            session: session.filter(|session| Tally::is_session(session)),
            prompt,
            prompt_file,
            read_only: self.read_only,
            writable: &self.writable,
            max_turns: most.turns,
            usd: most.usd,
            cwd,
        }
    }

    /// What the turn may use up.
    #[must_use]
    pub fn most(&self) -> Most {
        Most { turns: self.max_turns, usd: self.usd, tokens: self.tokens }
    }
}
