//! A launcher in a folder of its own, and shell scripts to run under it.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use sop::launch::{Key, LaunchError, Launcher, Local, Outcome, Spec};
use sop::model::ids::RunId;

/// Longer than anything here takes on a busy machine; nothing waits that long unless it fails.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// A launcher, its root, and a worktree to work in.
pub struct Bench {
    dir: Place,
    pub local: Local,
}

enum Place {
    Own(tempfile::TempDir),
    Given(PathBuf),
}

impl Place {
    fn path(&self) -> &Path {
        match self {
            Self::Own(dir) => dir.path(),
            Self::Given(dir) => dir,
        }
    }
}

impl Bench {
    pub fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir(dir.path().join("tree")).unwrap();
        Self::on(Place::Own(dir))
    }

    /// The same folder as another bench, from a process that stands in for an engine.
    pub fn standing_in() -> Self {
        Self::on(Place::Given(std::env::var_os("SOP_TEST_DIR").expect("started by a test").into()))
    }

    fn on(dir: Place) -> Self {
        let local = Local::new(dir.path().join("sop-run")).with_program(env!("CARGO_BIN_EXE_sop"));
        Self { dir, local }
    }

    /// A path beside the worktree.
    pub fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// A path in the worktree.
    pub fn tree(&self) -> PathBuf {
        self.path("tree")
    }

    /// `sh -c script` in the worktree.
    pub fn shell(&self, script: &str) -> Spec {
        self.command(["sh", "-c", script])
    }

    pub fn command<A: Into<OsString>>(&self, argv: impl IntoIterator<Item = A>) -> Spec {
        let mut spec = Spec::new(argv, self.tree(), self.path("log"));
        spec.grace = Duration::from_secs(5);
        spec
    }

    /// Runs to the end.
    pub async fn run(&self, spec: &Spec) -> Outcome {
        self.run_as(&key("worker"), spec).await
    }

    pub async fn run_as(&self, key: &Key, spec: &Spec) -> Outcome {
        let handle = self.local.submit(key, spec).unwrap();
        within(handle.wait()).await.unwrap()
    }

    /// Leaves the spec of a step, as an engine does that dies before its holder comes up.
    pub async fn leave(&self, key: &Key, spec: &Spec) {
        let nobody = self.local.clone().with_program("true");
        let error = within(nobody.submit(key, spec).unwrap().wait()).await.unwrap_err();
        assert!(matches!(error, LaunchError::HolderFailed { .. }), "{error}");
    }

    /// A holder for a step that was left, with no engine behind it: its tether is cut already.
    pub fn bare_holder(&self, key: &Key) -> Child {
        let mut command = Command::new(env!("CARGO_BIN_EXE_sop"));
        command.arg("__hold").arg(self.local.step_dir(key));
        command.stdin(Stdio::null()).spawn().unwrap()
    }

    /// Both.
    pub async fn hold(&self, key: &Key, spec: &Spec) -> Child {
        self.leave(key, spec).await;
        self.bare_holder(key)
    }

    pub fn log(&self) -> String {
        String::from_utf8_lossy(&std::fs::read(self.path("log")).unwrap()).into_owned()
    }
}

pub fn key(step: &str) -> Key {
    Key::new(&RunId::new("demo-1").unwrap(), "client", step, 1).unwrap()
}

/// The future's answer, or a failure of the test after [`PATIENCE`].
pub async fn within<T>(future: impl Future<Output = T>) -> T {
    tokio::time::timeout(PATIENCE, future).await.expect("it should have been over long ago")
}

/// Waits until `probe` gives something.
pub async fn until<T>(what: &str, mut probe: impl FnMut() -> Option<T>) -> T {
    let deadline = Instant::now() + PATIENCE;
    loop {
        if let Some(found) = probe() {
            return found;
        }
        assert!(Instant::now() < deadline, "never saw: {what}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// Waits for a file with a whole line in it, and gives that line.
pub async fn line_of(path: &Path) -> String {
    let read =
        || std::fs::read_to_string(path).ok()?.split_once('\n').map(|(line, _)| line.to_owned());
    until(&format!("a line in {}", path.display()), read).await
}

/// The id that a script wrote with `echo $$ > path`.
pub async fn pid_in(path: &Path) -> i32 {
    line_of(path).await.parse().unwrap()
}

/// The id of the holder of a step that has started.
pub async fn holder_of(bench: &Bench, key: &Key) -> i32 {
    let line = line_of(&bench.local.step_dir(key).join("started")).await;
    let fence: serde_json::Value = serde_json::from_str(&line).unwrap();
    fence["holder"]["pid"].as_i64().unwrap().try_into().unwrap()
}

/// Sends a signal to a process that this test, or a holder of its, started.
pub fn send(pid: i32, signal: rustix::process::Signal) {
    rustix::process::kill_process(rustix::process::Pid::from_raw(pid).unwrap(), signal).unwrap();
}

/// This test binary again, running only the ignored test `name`, which plays an engine of its own.
pub fn stand_in(name: &str, dir: &Path) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", name, "--ignored", "--nocapture", "--test-threads=1"]);
    command.env("SOP_TEST_DIR", dir).stdout(Stdio::null()).stderr(Stdio::null());
    command
}

/// Whether a process with this id lives; a zombie does not.
pub fn lives(pid: i32) -> bool {
    sop::process::identity::Stat::read(pid).is_some_and(|stat| !stat.is_zombie())
}
