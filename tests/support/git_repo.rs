//! A real repository in a temporary folder, cut off from the configuration of whoever runs the tests.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use bstr::{BString, ByteSlice};
use sop::git::{Identity, Repo, Snapshot, SnapshotSpec, Worktree, WorktreeSpec};
use sop::model::ids::CommitId;
use tempfile::TempDir;

/// When every commit of a test was made.
pub const WHEN: i64 = 1_700_000_000;

/// The only settings of the user's that git finds in a test.
pub const QUIET_GIT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/support/quiet.gitconfig");

/// `main/` (the user's checkout), `wt/` (worktrees), `run/` (seeds), `outside/` (somebody else's folder).
pub struct GitRepo {
    root: TempDir,
}

/// A command with none of git's variables, a fixed author and a fixed date.
pub fn command(program: &str, dir: &Path) -> Command {
    let mut command = Command::new(program);
    for (name, _) in std::env::vars_os() {
        if name.as_encoded_bytes().starts_with(b"GIT_") {
            command.env_remove(name);
        }
    }
    command
        .current_dir(dir)
        .env("GIT_CONFIG_GLOBAL", QUIET_GIT)
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("LC_ALL", "C");
    for role in ["AUTHOR", "COMMITTER"] {
        command
            .env(format!("GIT_{role}_NAME"), "Test")
            .env(format!("GIT_{role}_EMAIL"), "test@example.com");
        command.env(format!("GIT_{role}_DATE"), format!("@{WHEN} +0000"));
    }
    command
}

fn finished(output: Output, what: &str) -> Vec<u8> {
    let stderr = output.stderr.to_str_lossy();
    assert!(
        output.status.success(),
        "{what}: {:?}\n{stderr}{}",
        output.status,
        output.stdout.to_str_lossy()
    );
    output.stdout
}

/// Runs a shell script and gives what it printed.
pub fn sh(dir: &Path, script: &str) -> String {
    let output = command("sh", dir).args(["-euc", script]).output().expect("sh");
    finished(output, script).to_str_lossy().trim_end().to_owned()
}

/// Who commits in tests.
pub fn tester() -> Identity {
    Identity { name: "Test".to_owned(), email: "test@example.com".to_owned() }
}

impl GitRepo {
    /// A repository whose first commit is what `script` leaves in the checkout.
    pub fn new(script: &str) -> Self {
        Self::with_init(script, "git init -q -b main .")
    }

    /// As [`GitRepo::new`], made by another `git init`.
    pub fn with_init(script: &str, init: &str) -> Self {
        let fixture = Self { root: tempfile::tempdir().expect("a temporary folder") };
        for folder in ["main", "wt", "run", "outside"] {
            std::fs::create_dir(fixture.at(folder)).expect("a folder");
        }
        let settings = "git config user.name Test; git config user.email test@example.com; git config commit.gpgsign false";
        sh(
            &fixture.at("main"),
            &format!(
                "{init}\n{settings}\n{script}\ngit add -A -f\ngit commit -q --allow-empty -m base"
            ),
        );
        fixture
    }

    /// Another one with the same checkout and history, for tests that need many.
    pub fn copy(&self) -> Self {
        let fixture = Self { root: tempfile::tempdir().expect("a temporary folder") };
        for folder in ["wt", "run", "outside"] {
            std::fs::create_dir(fixture.at(folder)).expect("a folder");
        }
        let copied = command("cp", &self.main())
            .arg("-a")
            .arg(".")
            .arg(fixture.main())
            .output()
            .expect("cp");
        finished(copied, "cp");
        fixture
    }

    /// A place in the temporary folder, links resolved.
    pub fn at(&self, name: &str) -> PathBuf {
        self.root.path().canonicalize().expect("the folder").join(name)
    }

    pub fn main(&self) -> PathBuf {
        self.at("main")
    }

    pub fn sh(&self, script: &str) -> String {
        sh(&self.main(), script)
    }

    pub fn repo(&self) -> Repo {
        Repo::discover(&self.main()).expect("the repository")
    }

    pub fn head(&self) -> CommitId {
        CommitId(self.sh("git rev-parse HEAD"))
    }

    pub fn spec(&self, name: &str) -> WorktreeSpec {
        WorktreeSpec {
            path: self.at("wt").join(name),
            branch: Some(format!("sop/run-1/{name}")),
            base: self.head(),
            seed: self.at("run").join(format!("{name}.seed")),
        }
    }

    /// The worktree of a WP, fresh.
    pub fn worktree(&self, name: &str) -> Worktree {
        self.repo().add_worktree(&self.spec(name)).expect("a worktree")
    }

    /// Everything about the user's checkout that must stay as it was: files, index, HEAD, branch, configuration.
    pub fn checkout_state(&self) -> String {
        let files = "find . -path ./.git -prune -o -printf '%P %y %m %T@ %l\\n' -type f -exec sha256sum {} + | sort";
        let index = "sha256sum .git/index .git/HEAD .git/config; stat -c '%Y %i' .git/index; git rev-parse HEAD refs/heads/main";
        format!("{}\n{}", self.sh(files), self.sh(index))
    }
}

/// A snapshot against the commit the worktree was made from.
pub fn snapshot(worktree: &Worktree) -> Snapshot {
    worktree.snapshot(&SnapshotSpec::at(worktree.base())).expect("a snapshot")
}

/// The changed paths of a snapshot, for comparing.
pub fn changed(snapshot: &Snapshot) -> Vec<BString> {
    snapshot.changes.iter().map(|change| change.path.clone()).collect()
}
