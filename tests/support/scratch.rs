//! A folder of its own, a repository in it if wanted, and the binary run there with nothing of the
//! surroundings let in.

use std::ffi::OsStr;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use tempfile::TempDir;

use super::git_repo::QUIET_GIT;

/// A folder that goes away with the test.
pub struct Scratch {
    // Dropped with the test, and the folder with it.
    _temp: TempDir,
    root: PathBuf,
}

/// What a process said.
#[derive(Debug)]
pub struct Said {
    /// Exit code; 256 when a signal ended it.
    pub code: i32,
    /// Standard output.
    pub out: String,
    /// Standard error.
    pub err: String,
}

impl Scratch {
    /// An empty folder, outside any repository.
    pub fn folder() -> Self {
        let temp = TempDir::new().expect("a temporary folder");
        let root = temp.path().canonicalize().expect("it is there").join("work");
        std::fs::create_dir(&root).expect("a folder in it");
        Self { _temp: temp, root }
    }

    /// A repository on branch `main` with one commit that holds `files` (name, text).
    pub fn repo(files: &[(&str, &str)]) -> Self {
        let scratch = Self::folder();
        scratch.git(&["init", "--quiet", "--initial-branch=main"]);
        for (name, text) in files {
            scratch.write(name, text);
        }
        scratch.commit("first");
        scratch
    }

    /// The folder.
    pub fn path(&self) -> &Path {
        &self.root
    }

    /// Writes a file, and the folders above it.
    pub fn write(&self, name: &str, text: impl AsRef<[u8]>) {
        let path = self.root.join(name);
        let folder = path.parent().expect("a name below the root");
        std::fs::create_dir_all(folder).expect("folders");
        std::fs::write(path, text).expect("a file");
    }

    /// Reads a file.
    pub fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.root.join(name)).expect("a text file")
    }

    /// Commits everything.
    pub fn commit(&self, message: &str) {
        self.git(&["add", "--all"]);
        self.git(&["commit", "--quiet", "--allow-empty", "-m", message]);
    }

    /// Runs git, which must succeed, and returns what it said.
    pub fn git(&self, args: &[&str]) -> String {
        let said = run(self.command("git").args(args), "");
        assert_eq!(said.code, 0, "git {args:?}: {}", said.err);
        said.out
    }

    /// Runs `sop`.
    pub fn sop(&self, args: &[&str]) -> Said {
        run(self.command(env!("CARGO_BIN_EXE_sop")).args(args), "")
    }

    /// Runs `sop` with this on standard input.
    pub fn sop_reads(&self, args: &[&str], input: &str) -> Said {
        run(self.command(env!("CARGO_BIN_EXE_sop")).args(args), input)
    }

    /// Runs `sop` with these variables set.
    pub fn sop_with(&self, env: &[(&str, &str)], args: &[&str]) -> Said {
        let mut command = self.command(env!("CARGO_BIN_EXE_sop"));
        run(command.args(args).envs(env.iter().copied()), "")
    }

    /// A program, to be run here in an empty environment but for the search path.
    pub fn command(&self, program: impl AsRef<OsStr>) -> Command {
        let mut command = Command::new(program);
        command
            .current_dir(&self.root)
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", self.root.parent().expect("a folder above"))
            .env("GIT_CONFIG_GLOBAL", QUIET_GIT)
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env("GIT_AUTHOR_NAME", "A")
            .env("GIT_AUTHOR_EMAIL", "a@localhost")
            .env("GIT_COMMITTER_NAME", "A")
            .env("GIT_COMMITTER_EMAIL", "a@localhost")
            .env("GIT_AUTHOR_DATE", "2026-01-01T00:00:00Z")
            .env("GIT_COMMITTER_DATE", "2026-01-01T00:00:00Z");
        command
    }
}

/// Runs a command to its end.
pub fn run(command: &mut Command, input: &str) -> Said {
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("it starts");
    let mut stdin = child.stdin.take().expect("piped");
    // It may have ended without reading.
    let _ = stdin.write_all(input.as_bytes());
    drop(stdin);
    let output = child.wait_with_output().expect("it ends");
    let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
    Said {
        code: output.status.code().unwrap_or(256),
        out: text(&output.stdout),
        err: text(&output.stderr),
    }
}

/// Whether `tool` can be run here. Where it cannot, the test that asks is skipped and says so on the real
/// standard error; under CI that is a failure, since nobody reads what was skipped there.
pub fn has_tool(tool: &str, get_it: &str) -> bool {
    let line = format!("command -v {tool}");
    let found = run(Scratch::folder().command("sh").args(["-c", &line]), "").code == 0;
    if !found {
        assert!(std::env::var_os("CI").is_none(), "`{tool}` is needed here: {get_it}");
        skipped(&format!("no `{tool}` on the search path ({get_it})"));
    }
    found
}

/// The folder of the agents that the heavier suite runs, where it is asked for (`SOP_TEST_AGENTS`, see
/// `tests/agents/install.sh`).
pub fn agents_folder() -> Option<String> {
    std::env::var("SOP_TEST_AGENTS").ok().filter(|folder| !folder.is_empty())
}

/// Says on the real standard error that the test which asks proves nothing here, and why.
pub fn skipped(why: &str) {
    let name = std::thread::current().name().unwrap_or("a test").to_owned();
    let _ = writeln!(std::io::stderr(), "skipped: {name}: {why}");
}

/// What a test needs of the machine besides programs: `works` says whether it is there. Where it is not,
/// the test is skipped and says so; under CI that is a failure.
pub fn has(what: &str, works: bool) -> bool {
    if !works {
        assert!(std::env::var_os("CI").is_none(), "this needs {what}");
        skipped(&format!("no {what} here"));
    }
    works
}

/// The same for what only an administrator of the system may do. A container may run CI as root and
/// without that right, so there it is a failure only where the right is there.
pub fn has_right(what: &str, works: bool) -> bool {
    if !works && !may_administer() {
        skipped(&format!("no right to {what} here"));
        return false;
    }
    has(&format!("a way to {what}"), works)
}

/// Whether this process has the capability `CAP_SYS_ADMIN`.
fn may_administer() -> bool {
    const BIT: u32 = 21;
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let set = status.lines().find_map(|line| line.strip_prefix("CapEff:"));
    let set = set.and_then(|set| u64::from_str_radix(set.trim(), 16).ok()).unwrap_or_default();
    set & (1 << BIT) != 0
}
