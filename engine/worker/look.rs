//! Whether an agent is there, and which: looked up as a start of it would, and asked for its version.

use std::ffi::OsString;
use std::io::Read as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use super::seam::{Agent, Home};
use crate::process::{plain, spawn};

/// How long a program may take to tell its version.
const VERSION: Duration = Duration::from_secs(20);
/// Bytes of it that are looked at.
const BYTES: u64 = 4096;

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
    let (name, first) = program.split_first()?;
    let args = agent.version_args();
    if args.is_empty() {
        return None;
    }
    let path = home.find(name)?;
    let mut command = Command::new(path);
    command.args(first).args(args).env_clear().envs(&home.env);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = spawn::in_own_session(&mut command).ok()?;
    let out = child.stdout.take()?;
    let (to, from) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        let mut said = Vec::new();
        let _short_is_fine = out.take(BYTES).read_to_end(&mut said);
        let _too_late = to.send(said);
    });
    let began = Instant::now();
    let said = from.recv_timeout(VERSION).unwrap_or_default();
    while child.try_wait().is_ok_and(|end| end.is_none()) && began.elapsed() < VERSION {
        std::thread::sleep(Duration::from_millis(5));
    }
    let _ended_already = child.kill();
    let _collected = child.wait();
    let line = said.split(|byte| *byte == b'\n').map(plain).find(|line| !line.trim().is_empty());
    line.map(|line| line.trim().chars().take(80).collect())
}
