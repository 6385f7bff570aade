//! Each plan of `plans-examples`, run as its header says, in a repository of its own that holds the
//! example at the same path. What they promise a reader is what is asserted here.

mod agents;
mod codemod;
mod critic;
mod needs;
mod pictures;
mod quickstart;
mod readme;
mod review;
mod scout;
mod staged;

use std::path::{Path, PathBuf};

use crate::support::scratch::{Said, Scratch};

/// The top of this repository.
fn top() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// A repository with this repository's examples, and the source that some of them read.
struct Example {
    scratch: Scratch,
    plan: PathBuf,
    before: String,
}

impl Example {
    fn new(name: &str) -> Self {
        let scratch = Scratch::repo(&[]);
        for folder in ["engine", "plans-examples"] {
            copy(&top().join(folder), &scratch.path().join(folder));
        }
        scratch.commit("A copy of sop");
        let before = checkout(&scratch);
        let plan = PathBuf::from(format!("plans-examples/{name}/plan.toml"));
        Self { scratch, plan, before }
    }

    /// `sop apply PLAN --yes`. The plan has no finding, not even a warning.
    fn apply(&self) -> Said {
        let plan = self.plan.to_str().expect("plain");
        let checked = self.scratch.sop(&["validate", plan]);
        assert_eq!(checked.code, 0, "{}{}", checked.out, checked.err);
        assert!(checked.out.contains("no findings"), "{}", checked.out);
        self.scratch.sop_with(&[("LC_ALL", "C.UTF-8")], &["apply", plan, "--yes"])
    }

    /// A file as a branch has it.
    fn on(&self, branch: &str, file: &str) -> String {
        self.scratch.git(&["show", &format!("{branch}:{file}")])
    }

    /// A file of the run directory.
    fn recorded(&self, run: &str, file: &str) -> String {
        self.scratch.read(&format!(".git/sop-run/{run}/{file}"))
    }

    /// The paths in which a branch differs from `main`.
    fn changed(&self, branch: &str) -> Vec<String> {
        let names = self.scratch.git(&["diff", "--name-only", &format!("main...{branch}")]);
        names.lines().map(str::to_owned).collect()
    }

    /// Whoever ran the example finds the checkout as it was, and no worktree is left over.
    fn undisturbed(&self) {
        assert_eq!(checkout(&self.scratch), self.before);
        let worktrees = self.scratch.git(&["worktree", "list", "--porcelain"]);
        assert_eq!(worktrees.matches("worktree ").count(), 1, "{worktrees}");
    }
}

/// Branch, commit and state of a checkout.
fn checkout(scratch: &Scratch) -> String {
    let head = scratch.git(&["symbolic-ref", "HEAD"]) + &scratch.git(&["rev-parse", "main"]);
    head + &scratch.git(&["status", "--porcelain", "--ignored"])
}

/// The commands that the summary says to type next, without their reasons.
fn next(said: &Said) -> Vec<String> {
    let (_, next) = said.out.rsplit_once("\nNext\n").expect("a summary says what is next");
    let line = |line: &str| line.split("  # ").next().unwrap_or_default().trim().to_owned();
    next.lines().map(line).filter(|line| !line.is_empty()).collect()
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).expect("a folder");
    for entry in std::fs::read_dir(from).expect("a folder of this repository") {
        let entry = entry.expect("an entry");
        let target = to.join(entry.file_name());
        if entry.file_type().expect("a type").is_dir() {
            copy(&entry.path(), &target);
        } else {
            std::fs::copy(entry.path(), target).expect("a copy");
        }
    }
}
