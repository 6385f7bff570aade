//! Where the measures work: on memory where there is some, because loops that delete and make again
//! measure the disk's journal, not the program.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

/// A folder for scratch folders.
pub struct Place {
    root: PathBuf,
}

impl Place {
    pub fn find() -> Self {
        let memory = PathBuf::from("/dev/shm");
        let root = if memory.is_dir() { memory } else { std::env::temp_dir() };
        Self { root }
    }

    pub fn describe(&self) -> String {
        match self.root == Path::new("/dev/shm") {
            true => "tmpfs (/dev/shm)".to_owned(),
            false => format!("{} (no /dev/shm here: deletes may distort)", self.root.display()),
        }
    }

    /// A folder that is gone when the value is.
    pub fn scratch(&self) -> TempDir {
        let made = tempfile::Builder::new().prefix("sop-bench-").tempdir_in(&self.root);
        made.expect("a scratch folder can be made")
    }

    /// A repository with one commit of `files` small files, a hundred in a folder. `repo/` is the
    /// checkout, `wt/` is for worktrees.
    pub fn repository(&self, files: usize) -> Repository {
        let repository = Repository { root: self.scratch() };
        let top = repository.top();
        fs::create_dir_all(repository.worktrees()).expect("a folder for worktrees");
        for n in 0..files {
            let folder = top.join(format!("d{}", n / 100));
            if n % 100 == 0 {
                fs::create_dir_all(&folder).expect("a folder");
            }
            fs::write(folder.join(format!("f{n}.txt")), format!("file {n}\n")).expect("a file");
        }
        fs::create_dir_all(&top).expect("the checkout");
        fs::write(top.join("README"), "bench\n").expect("a file");
        repository.git(&["init", "-q", "-b", "main", "."]);
        repository.git(&["add", "-A"]);
        repository.git(&["commit", "-q", "-m", "base"]);
        repository
    }
}

/// A repository of [`Place::repository`].
pub struct Repository {
    root: TempDir,
}

impl Repository {
    pub fn top(&self) -> PathBuf {
        self.root.path().join("repo")
    }

    pub fn worktrees(&self) -> PathBuf {
        self.root.path().join("wt")
    }

    /// Where else something may lie: beside the checkout.
    pub fn beside(&self, name: &str) -> PathBuf {
        self.root.path().join(name)
    }

    pub fn git(&self, args: &[&str]) -> String {
        let done = Command::new("git").current_dir(self.top()).args(args).output();
        let done = done.expect("git is installed");
        let said = String::from_utf8_lossy(&done.stderr);
        assert!(done.status.success(), "git {}: {said}", args.join(" "));
        String::from_utf8_lossy(&done.stdout).trim().to_owned()
    }

    /// `sop` with these arguments, in the checkout.
    pub fn sop(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_sop"));
        command.current_dir(self.top()).args(args).env("SOP_WORKTREES", self.worktrees());
        command
    }

    /// Writes a plan beside the checkout and gives its path.
    pub fn plan(&self, text: &str) -> String {
        written(self.beside("plan.toml"), text)
    }

    /// Writes a plan into the checkout, where plans are checked against the repository.
    pub fn plan_inside(&self, text: &str) -> String {
        written(self.top().join("plan.toml"), text)
    }
}

fn written(path: PathBuf, text: &str) -> String {
    fs::write(&path, text).expect("the plan can be written");
    path.to_string_lossy().into_owned()
}
