//! What a step runs, and within which limits: the contents of `spec.json`.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::Key;
use super::wire;

/// One command. Texts are the system's own, bytes and all; nothing here passes through a shell.
/// Relative paths are taken from the engine's working directory when the step is submitted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Spec {
    /// Program and arguments. A program with a slash in it is taken from `cwd`, one without from the
    /// command's own `PATH`.
    #[serde(with = "wire::texts")]
    pub argv: Vec<OsString>,
    /// The working directory, which must exist.
    #[serde(with = "wire::path")]
    pub cwd: PathBuf,
    /// Set on top of the engine's environment.
    #[serde(with = "wire::pairs")]
    pub env: Vec<(OsString, OsString)>,
    /// Removed from it (before `env` is set).
    #[serde(with = "wire::texts")]
    pub env_remove: Vec<OsString>,
    /// Standard input.
    pub stdin: Stdin,
    /// Wall clock from the start of the command; no limit if absent.
    #[serde(with = "wire::optional_millis", rename = "timeout_ms")]
    pub timeout: Option<Duration>,
    /// Longest silence, on standard output and error together; no limit if absent.
    #[serde(with = "wire::optional_millis", rename = "idle_timeout_ms")]
    pub idle_timeout: Option<Duration>,
    /// Time between TERM and KILL.
    #[serde(with = "wire::millis", rename = "grace_ms")]
    pub grace: Duration,
    /// Standard output and error, in the order of their arrival.
    #[serde(with = "wire::path")]
    pub log: PathBuf,
    /// Most bytes that the log keeps: its first half and its end.
    pub log_limit: u64,
    /// Standard output alone, beside the log. With it the order of output and error in the log is
    /// only as exact as two pipes can tell.
    pub capture: Option<Capture>,
    /// The lock file of the worktree: of all the steps that name it, in whatever engine, one runs at
    /// a time, and the others wait.
    #[serde(with = "wire::optional_path")]
    pub slot: Option<PathBuf>,
    /// Whether it shares the slot with others that share it: those that only read. Whoever does not waits
    /// for all of them, and they for it.
    #[serde(default)]
    pub slot_shared: bool,
    /// Whether the step goes on when the engine dies (a worker), or is ended with it (all else).
    pub outlives: bool,
}

/// Where standard input comes from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stdin {
    /// Nowhere.
    Null,
    /// This file.
    File(#[serde(with = "wire::path")] PathBuf),
}

/// A file that gets standard output alone.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Capture {
    /// The file.
    #[serde(with = "wire::path")]
    pub path: PathBuf,
    /// Most bytes that it keeps, as for the log.
    pub limit: u64,
}

impl Spec {
    /// A command with no input, no wall clock, ten seconds of grace, a log of 16 MiB, no slot, and
    /// bound to the engine's life.
    pub fn new<A: Into<OsString>>(
        argv: impl IntoIterator<Item = A>,
        cwd: impl Into<PathBuf>,
        log: impl Into<PathBuf>,
    ) -> Self {
        Self {
            argv: argv.into_iter().map(Into::into).collect(),
            cwd: cwd.into(),
            env: Vec::new(),
            env_remove: Vec::new(),
            stdin: Stdin::Null,
            timeout: None,
            idle_timeout: None,
            grace: Duration::from_secs(10),
            log: log.into(),
            log_limit: 16 << 20,
            capture: None,
            slot: None,
            slot_shared: false,
            outlives: false,
        }
    }
}

/// `spec.json`.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct SpecFile {
    /// The key, for whoever reads the folder.
    pub key: Key,
    /// The command.
    #[serde(flatten)]
    pub spec: Spec,
}
