//! Whether an agent is there, and which: looked up as a start of it would, and asked for its version.

use std::ffi::OsString;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use super::seam::{Agent, Home};
use crate::process::plain;
use crate::quick;

/// How long a program may take to tell its version.
const VERSION: Duration = Duration::from_secs(20);
/// Bytes that it may be.
const BYTES: u64 = 64 << 10;

impl Home {
    /// That of this process, with a worker's own environment over it.
    #[must_use]
    pub fn here(env: &std::collections::BTreeMap<String, String>) -> Self {
        let mut all: std::collections::BTreeMap<OsString, OsString> = std::env::vars_os().collect();
        all.extend(env.iter().map(|(name, value)| (name.into(), value.into())));
        let dir = all.get(std::ffi::OsStr::new("HOME")).map(PathBuf::from).unwrap_or_default();
        Self { dir, env: all }
    }

    /// The program that a start of `name` would run: a path as it is, anything else from the search
    /// path.
    #[must_use]
    pub fn find(&self, name: &str) -> Option<PathBuf> {
        let runs = |path: &Path| {
            path.metadata()
                .is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
        };
        if name.contains('/') {
            return Some(PathBuf::from(name)).filter(|path| runs(path));
        }
        let folders = self.var("PATH")?;
        std::env::split_paths(folders).map(|folder| folder.join(name)).find(|path| runs(path))
    }
}

/// What the program says when it is asked for its version: one line, escaped. Nothing where it says
/// none, takes too long, or is not to be asked.
#[must_use]
pub fn version(agent: &dyn Agent, program: &[String], home: &Home) -> Option<String> {
    version_within(agent, program, home, VERSION)
}

/// As [`version`], for whoever cannot wait that long.
#[must_use]
pub fn version_within(
    agent: &dyn Agent,
    program: &[String],
    home: &Home,
    limit: Duration,
) -> Option<String> {
    let (name, first) = program.split_first()?;
    let args = agent.version_args();
    if args.is_empty() {
        return None;
    }
    let mut command = Command::new(home.find(name)?);
    command.args(first).args(args).env_clear().envs(&home.env);
    let said = quick::ask(command, limit, BYTES).ok()?.out;
    let line = said.split(|byte| *byte == b'\n').map(plain).find(|line| !line.trim().is_empty());
    line.map(|line| line.trim().chars().take(80).collect())
}
