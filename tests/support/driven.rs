//! The driver with an agent that is a shell script, or a real one, in a folder of its own.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use sop::model::plan::Adapter;
use sop::model::time::Length;
use sop::model::turn::Turn;
use sop::worker::{Drive, read_answer, read_turn};
use tempfile::TempDir;

/// Longer than anything here takes on a busy machine; nothing waits that long unless it fails.
pub const PATIENCE: Duration = Duration::from_secs(120);

/// A turn that is about to be driven.
pub struct Driven {
    temp: TempDir,
    pub order: Drive,
    pub env: BTreeMap<String, String>,
}

/// What came of it.
#[derive(Debug)]
pub struct Done {
    /// The exit code; 256 when a signal ended the driver.
    pub code: i32,
    pub out: String,
    pub err: String,
    pub turn: Option<Turn>,
    pub answer: Option<String>,
}

impl Driven {
    /// `agent` is played by a shell script, in the worktree, with the adapter's arguments.
    pub fn script(agent: Adapter, script: &str) -> Self {
        let mut driven = Self::real(agent);
        let path = driven.path("agent");
        fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        driven.order.program = vec![path.to_str().unwrap().to_owned()];
        driven
    }

    /// The agent itself, from the search path.
    pub fn real(agent: Adapter) -> Self {
        let temp = tempfile::tempdir().unwrap();
        let root = temp.path();
        for folder in ["tree", "home", "say"] {
            fs::create_dir(root.join(folder)).unwrap();
        }
        let prompt = root.join("brief.md");
        fs::write(&prompt, "do it\n").unwrap();
        let mut order = Drive::new(agent, prompt, root);
        order.grace = Length::secs(5);
        Self { order, env: BTreeMap::new(), temp }
    }

    /// A path beside the worktree, which is `tree`.
    pub fn path(&self, name: &str) -> PathBuf {
        self.temp.path().join(name)
    }

    pub fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap_or_default()
    }

    pub fn prompt(&self, text: &str) {
        fs::write(&self.order.prompt, text).unwrap();
    }

    /// Says something to the agent at work, as `sop interrupt` does.
    pub fn say(&self, n: u32, text: &str) {
        let whole = self.path("word");
        fs::write(&whole, text).unwrap();
        fs::rename(whole, self.order.say.join(format!("{n}.txt"))).unwrap();
    }

    /// The driver's command line, with nothing of the surroundings let in.
    pub fn command(&self) -> Command {
        let file = self.path("drive.json");
        self.order.write(&file).unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_sop"));
        command
            .arg("__drive")
            .arg(file)
            .current_dir(self.path("tree"))
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", self.path("home"))
            .envs(&self.env)
            .stdin(Stdio::null());
        command
    }

    /// Runs it to its end.
    pub fn run(&self) -> Done {
        self.start().finish()
    }

    /// Starts it.
    pub fn start(&self) -> Running<'_> {
        let [out, err] = ["out", "err"].map(|name| fs::File::create(self.path(name)).unwrap());
        let child = self.command().stdout(out).stderr(err).spawn().unwrap();
        Running { driven: self, child }
    }
}

/// A driver at work. It is killed if the test gives up on it.
pub struct Running<'a> {
    driven: &'a Driven,
    pub child: Child,
}

impl Running<'_> {
    pub fn finish(mut self) -> Done {
        let mut status = None;
        until("the driver to end", || {
            status = self.child.try_wait().unwrap();
            status.is_some()
        });
        let driven = self.driven;
        Done {
            code: status.and_then(|status| status.code()).unwrap_or(256),
            out: driven.read("out"),
            err: driven.read("err"),
            turn: read_turn(&driven.order.turn).unwrap(),
            answer: read_answer(&driven.order.answer).unwrap(),
        }
    }

    pub fn pid(&self) -> i32 {
        self.child.id().cast_signed()
    }

    pub fn term(&self) {
        let pid = rustix::process::Pid::from_raw(self.pid()).unwrap();
        rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
    }
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Done {
    pub fn turn(&self) -> &Turn {
        self.turn.as_ref().unwrap_or_else(|| panic!("no turn: {self:?}"))
    }
}

/// Waits until something is so.
#[track_caller]
pub fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let began = Instant::now();
    while !is_so() {
        assert!(began.elapsed() < PATIENCE, "waited in vain for {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Waits for a file.
#[track_caller]
pub fn until_there(path: &Path) {
    until(&path.display().to_string(), || path.exists());
}
