//! Runs in a bare repository with worktrees beside it: from a worktree, and from the bare folder itself.

use std::fs;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use crate::support::checkout::Checkout;
use crate::support::git_repo::{command, sh};
use crate::support::scratch::{Said, run};

/// `repo/.bare`, `repo/.git` that leads there, `repo/main/` and `repo/second/`; `home/`, `trees/`.
struct Bare {
    /// The files with the repository, and what that keeps of either worktree, its index among it. Before the
    /// folder, so that they are compared while that is there.
    checkouts: [Checkout; 3],
    temp: TempDir,
}

const PLAN: &str = r#"
version = 1
[plan]
name = "p"
goal = "Make it."
base = "main"
[tiers.standard]
worker = "script"
[workers.script]
command = ["sh", "-c", "echo made > made.txt"]
[[wp]]
id = "a"
whitelist = ["made.txt"]
dod = ["test -f made.txt"]
brief_text = "Make it."
"#;

impl Bare {
    fn new() -> Self {
        let temp = TempDir::new().expect("a folder");
        let folder = temp.path().canonicalize().expect("the folder").join("repo");
        let kept = |name: &str| Checkout::new(folder.join(".bare/worktrees").join(name), "");
        let checkouts = [Checkout::new(folder.clone(), ".bare"), kept("main"), kept("second")];
        let bare = Self { checkouts, temp };
        for name in ["first", "repo", "home", "trees"] {
            fs::create_dir(bare.at(name)).expect("a folder");
        }
        fs::write(bare.at("first/plan.toml"), PLAN).expect("a plan");
        let with = format!("{PLAN}[provision]\ncopy = [\".env\"]\n").replace("\"p\"", "\"q\"");
        fs::write(bare.at("first/copying.toml"), with).expect("a plan");
        sh(
            &bare.at("first"),
            "git init -q -b main --template= .; echo .env > .gitignore; git add -A; git commit -q -m first",
        );
        sh(
            &bare.at("repo"),
            "git clone -q --bare ../first .bare; echo 'gitdir: ./.bare' > .git
             git worktree add -q main main; git worktree add -q -b second second main; echo x > main/.env",
        );
        bare
    }

    fn at(&self, name: &str) -> PathBuf {
        self.temp.path().canonicalize().expect("the folder").join(name)
    }

    fn sop(&self, folder: &str, args: &[&str]) -> Said {
        self.checkouts.iter().for_each(Checkout::sop_runs);
        let mut sop = command(env!("CARGO_BIN_EXE_sop"), &self.at(folder));
        sop.env("HOME", self.at("home"))
            .env("SOP_WORKTREES", self.at("trees"))
            .env_remove("SOP_RUN");
        run(sop.args(args), "")
    }

    fn ends(&self, folder: &str, code: i32, args: &[&str]) -> Said {
        let said = self.sop(folder, args);
        assert_eq!(said.code, code, "in {folder}, sop {args:?}\n{}\n{}", said.out, said.err);
        said
    }
}

fn made(folder: &Path, run: &str) -> String {
    sh(folder, &format!("git show sop/{run}/a:made.txt"))
}

#[test]
fn a_run_works_from_a_worktree_and_is_known_from_the_others() {
    let bare = Bare::new();
    bare.ends("repo/main", 0, &["apply", "--yes"]);
    assert_eq!(made(&bare.at("repo/main"), "p-1"), "made");
    for folder in ["repo/second", "repo", "repo/.bare"] {
        let said = bare.ends(folder, 0, &["run", "list"]);
        assert!(said.out.contains("p-1") && said.out.contains("1 of 1"), "{folder}: {}", said.out);
    }
    bare.ends("repo/main", 0, &["apply", "copying.toml", "--yes"]);
    // Worktrees are at one place, wherever one is.
    let made = ["mine", "more"].map(|name| format!(".bare/refs/heads/{name}"));
    bare.checkouts[0].touched(&[&made[0], &made[1]], "the lead has branches made");
    bare.checkouts[0].touched(&[".bare/logs"], "and git notes it");
    bare.ends("repo/second", 0, &["worktree", "new", "mine"]);
    bare.ends("repo/main", 0, &["worktree", "new", "more"]);
    let places = fs::read_dir(bare.at("trees")).expect("a folder").count();
    assert_eq!(places, 1);
}

#[test]
fn a_run_works_from_the_bare_folder_itself() {
    let bare = Bare::new();
    bare.ends("repo/.bare", 0, &["apply", "../main/plan.toml", "--yes"]);
    bare.ends("repo", 0, &["apply", "main/plan.toml", "--yes"]);
    for run in ["p-1", "p-2"] {
        assert_eq!(made(&bare.at("repo/main"), run), "made");
    }
    let said = bare.ends("repo", 5, &["apply", "main/copying.toml", "--yes"]);
    let text = said.out + &said.err;
    assert!(text.contains("has no checkout to copy"), "{text}");
}

#[test]
fn sync_in_a_bare_repository_is_about_the_worktree_of_its_branch() {
    let bare = Bare::new();
    let synced = ["main", ".bare/refs/heads/main", ".bare/logs/refs/heads/main"];
    bare.checkouts[0].touched(&synced, "it is brought up to date");
    bare.checkouts[1].touched(&[""], "it is brought up to date");
    sh(&bare.at("repo/second"), "echo ahead > ahead.txt; git add -A; git commit -q -m ahead");
    let said = bare.ends("repo/second", 0, &["worktree", "sync", "--from", "second"]);
    assert!(said.out.contains("1 file changed"), "{}", said.out);
    assert_eq!(sh(&bare.at("repo/main"), "cat ahead.txt; git status --porcelain"), "ahead");
    let said = bare.ends("repo/second", 3, &["worktree", "rm", "main"]);
    assert!(said.err.contains("it is the main checkout"), "{}", said.err);
}
