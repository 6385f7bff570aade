//! What an adapter is. The driver knows no agent by name: it asks for a command line, feeds lines to
//! a [`Reader`], and asks the reader in the end what the turn came to.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use jiff::Timestamp;

use super::tally::Tally;
use crate::model::turn::{Fault, Spent, Usd};
use crate::process::reap::Death;

/// An adapter to one agent.
pub trait Agent: Sync {
    /// The agent's own program and first arguments, for a worker that names none. Empty where there
    /// is no such thing (ACP is spoken by many).
    fn program(&self) -> &'static [&'static str];

    /// How people get it, for when it is not found: a command to run, or where to look.
    fn install(&self) -> &'static str;

    /// The command line of one turn. No shell sees it.
    fn command(&self, ask: &Ask<'_>) -> CommandLine;

    /// What listens to this turn.
    fn reader(&self, ask: &Ask<'_>) -> Box<dyn Reader>;

    /// What the agent can be relied on for.
    fn abilities(&self) -> Abilities;

    /// Whether it leaves by itself once its turn is over and its input closed. Who does not is asked to
    /// after a moment.
    fn leaves(&self) -> bool {
        true
    }

    /// Arguments after the program that make it print its version and leave.
    fn version_args(&self) -> &'static [&'static str] {
        &["--version"]
    }

    /// Whether it is logged in, as far as files and the environment tell. Nothing is called.
    fn login(&self, home: &Home) -> Login;
}

/// One turn as it is asked for.
#[derive(Debug, Clone)]
pub struct Ask<'a> {
    /// The program and its first arguments. Empty only where neither the worker nor the adapter has one.
    pub program: &'a [String],
    /// The plan's arguments on top of the adapter's.
    pub args: &'a [String],
    /// The model, if the tier names one. It may begin with `-`: write `--model=VALUE`.
    pub model: Option<&'a str>,
    /// The effort, if the tier names one. As with the model.
    pub effort: Option<&'a str>,
    /// The session to go on with. A [`Tally::is_session`]: it never begins with `-`.
    pub session: Option<&'a str>,
    /// What is said to the agent.
    pub prompt: &'a str,
    /// The same, as a file.
    pub prompt_file: &'a Path,
    /// Whether it may only read.
    pub read_only: bool,
    /// Folders outside the worktree that it may write to as well.
    pub writable: &'a [PathBuf],
    /// Model calls that are left, for agents with a limit of their own. The driver counts too.
    pub max_turns: Option<u32>,
    /// Money that is left, for agents with a limit of their own. The driver counts too.
    pub usd: Option<Usd>,
    /// The worktree, absolute.
    pub cwd: &'a Path,
}

/// What is executed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandLine {
    /// The argument vector, program first.
    pub argv: Vec<OsString>,
    /// Environment for the agent, where the driver's own does not set it: the plan has the last word.
    pub env: Vec<(&'static str, OsString)>,
    /// Environment that the agent must not see.
    pub unset: &'static [&'static str],
    /// What its standard input is.
    pub stdin: Feed,
}

/// An agent's standard input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Feed {
    /// At its end from the start.
    Nothing,
    /// The prompt, then the end.
    Prompt,
    /// What the reader writes ([`Reader::open`], [`Heard::write`]), open until the turn is over.
    Reader,
}

/// What listens to one turn of an agent, line by line.
pub trait Reader {
    /// What the agent is told first, for [`Feed::Reader`].
    fn open(&mut self) -> Vec<u8> {
        Vec::new()
    }

    /// One line of its standard output, without the newline. What it tells goes into the tally.
    fn line(&mut self, line: &[u8], tally: &mut Tally) -> Heard;

    /// Gives the agent a new word while it works ([`Abilities::redirects`]): what to write to it.
    fn redirect(&mut self, _text: &str) -> Option<Vec<u8>> {
        None
    }

    /// For agents that tell more in files of their own than on their output: called a few times a
    /// second while the agent works, and once more when it is gone.
    fn look(&mut self, _tally: &mut Tally) {}

    /// What the turn came to, once the agent is gone.
    fn end(self: Box<Self>, ended: &Ended<'_>, tally: &mut Tally) -> End;
}

/// What became of one line.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Heard {
    /// For people, one line each. The driver shortens and escapes them.
    pub say: Vec<String>,
    /// An error that it told, which it may get over.
    pub error: Option<String>,
    /// To the agent's standard input.
    pub write: Vec<u8>,
    /// The turn is over. The agent's input is closed, and it is ended if it does not leave within
    /// the grace; at once if it never does ([`Agent::leaves`]).
    pub over: bool,
}

impl Heard {
    /// Nothing of interest.
    #[must_use]
    pub fn nothing() -> Self {
        Self::default()
    }

    /// One line for people.
    #[must_use]
    pub fn say(text: impl Into<String>) -> Self {
        Self { say: vec![text.into()], ..Self::default() }
    }

    /// One line for people, which is an error.
    #[must_use]
    pub fn error(text: impl Into<String>) -> Self {
        let text = text.into();
        Self { say: vec![text.clone()], error: Some(text), ..Self::default() }
    }
}

/// How the agent's process ended.
#[derive(Debug, Clone, Copy)]
pub struct Ended<'a> {
    /// Its exit code or the signal that ended it. A code above 128 need not mean a signal.
    pub exit: Death,
    /// Somebody asked it to end: the holder, a person, a new word. Not that [`Heard::over`] was said.
    pub stopped: bool,
    /// The end of what it printed to standard error; foreign bytes.
    pub errors: &'a [u8],
    /// When it ended, for times told as "in 20 seconds".
    pub now: Timestamp,
}

/// What a turn came to.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct End {
    /// The agent's last words.
    pub text: Option<String>,
    /// Why it is no finished turn.
    pub fault: Option<Fault>,
    /// The limit of [`Ask`] that the agent itself stopped at; no fault then.
    pub stopped_at: Option<Spent>,
}

/// What an agent can be relied on for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize)]
pub struct Abilities {
    /// A later turn can go on with a session.
    pub resumes: bool,
    /// A turn can be given a new word without ending the process.
    pub redirects: bool,
    /// It tells tokens.
    pub tells_tokens: bool,
    /// It tells money.
    pub tells_cost: bool,
    /// It tells each model call as it is answered, so that a limit holds while it works.
    pub tells_turns: bool,
    /// It can itself be held to reading.
    pub read_only: bool,
}

/// Where an agent would look for its login.
#[derive(Debug, Clone, Default)]
pub struct Home {
    /// The home folder.
    pub dir: PathBuf,
    /// The environment that it would have.
    pub env: BTreeMap<OsString, OsString>,
}

impl Home {
    /// A variable that is set and not empty.
    #[must_use]
    pub fn var(&self, name: &str) -> Option<&OsString> {
        self.env.get(std::ffi::OsStr::new(name)).filter(|value| !value.is_empty())
    }

    /// The folder that `name` says, or else `default` in the home folder.
    #[must_use]
    pub fn folder(&self, name: &str, default: &str) -> PathBuf {
        self.var(name).map_or_else(|| self.dir.join(default), PathBuf::from)
    }
}

/// Whether an agent is logged in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Login {
    /// It has something to show: a key in the environment, a file. Whether it is accepted, only a
    /// call would tell.
    Yes(String),
    /// It has nothing; what to do.
    No(String),
    /// Cannot be told from outside.
    Unknown,
}
