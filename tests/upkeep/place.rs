//! A repository with a main checkout and a worktree of the lead's, put into a state.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::sync::LazyLock;

use sop::git::Repo;
use sop::upkeep::fresh::{self, New};
use tempfile::TempDir;

use super::bytes::{self, Contents, Files};
use super::states::{Merge, State};
use crate::support::git_repo::{command, sh};

/// What all start from: `main`, and under `refs/pre/` what is to come of it.
const BASE: &str = r#"
    git init -q -b main --template= .
    git config user.name Test; git config user.email test@example.com
    printf '*.log\nbuild/\n' > .gitignore
    echo one > tracked.txt; mkdir dir; echo two > dir/inner.txt; echo three > other.txt
    git add -A; git commit -q -m base
    echo 'first of the work' > work.txt; git add -A; git commit -q -m 'work 1'
    echo 'second of the work' >> work.txt; echo more > more.txt; git add -A; git commit -q -m 'work 2'
    git update-ref refs/pre/work HEAD; git update-ref refs/pre/merged HEAD
    git reset -q --hard HEAD~2; echo beside > beside.txt; git add -A; git commit -q -m beside
    git update-ref refs/pre/unmerged HEAD
    git merge -q --squash refs/pre/work; git commit -q -m squashed
    echo 'on top' >> work.txt; git commit -q -a -m 'on top'
    git update-ref refs/pre/squash HEAD
    git reset -q --hard refs/pre/unmerged; git cherry-pick -n refs/pre/work~1 > /dev/null; git commit -q -m 'picked 1'
    git cherry-pick -n refs/pre/work > /dev/null; git commit -q -m 'picked 2'
    echo 'on top' >> work.txt; git commit -q -a -m 'on top'
    git update-ref refs/pre/rebase HEAD
    git reset -q --hard refs/pre/unmerged~1
    git clone -q --bare . ../sub.git
"#;

/// The folder around it, packed: a folder that a static holds is never removed.
static FIRST: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let temp = folder();
    fs::create_dir(temp.path().join("main")).expect("a folder");
    sh(&temp.path().join("main"), BASE);
    let packed = command("tar", temp.path()).args(["-c", "."]).output().expect("tar");
    assert!(packed.status.success());
    packed.stdout
});

fn folder() -> TempDir {
    let memory = Path::new("/dev/shm");
    let made = match memory.is_dir() {
        true => tempfile::Builder::new().prefix("sop-test-").tempdir_in(memory),
        false => TempDir::new(),
    };
    made.expect("a temporary folder")
}

/// `main/`, `trees/lead/w`, `sub.git`, and whatever a state puts beside them.
pub struct Place {
    temp: TempDir,
    process: Option<Child>,
    /// The main checkout as it was when the place was ready.
    pub main_before: Files,
    index_before: Vec<u8>,
    /// Whether something was to become of it, so that it is not compared once more at the end.
    moved: bool,
}

impl Place {
    /// With the lead's worktree in `state`.
    pub fn with_tree(state: &State) -> Self {
        let mut place = Self::bare();
        let new = New { name: "w".to_owned(), ..New::default() };
        let made =
            fresh::make_in(&place.repo(), &new, &place.root().join("trees")).expect("a worktree");
        assert_eq!(made.path, place.tree());
        if !state.untouched {
            sh(&place.tree(), "git reset -q --hard refs/pre/work");
        }
        let main = match state.merge {
            Merge::Merged => "merged",
            Merge::Unmerged => "unmerged",
            Merge::Squash => "squash",
            Merge::Rebase => "rebase",
        };
        sh(&place.main(), &format!("git reset -q --hard refs/pre/{main}"));
        place.ready(state, &place.tree());
        place
    }

    /// With the main checkout in `state`.
    pub fn with_main(state: &State) -> Self {
        let mut place = Self::bare();
        sh(&place.main(), "git reset -q --hard refs/pre/merged");
        place.ready(state, &place.main());
        place
    }

    fn bare() -> Self {
        let temp = folder();
        let mut tar = command("tar", temp.path());
        let mut tar =
            tar.args(["-x", "--preserve-permissions"]).stdin(Stdio::piped()).spawn().expect("tar");
        tar.stdin.take().expect("piped").write_all(&FIRST).expect("unpacked");
        assert!(tar.wait().expect("tar").success());
        Self {
            temp,
            process: None,
            main_before: BTreeMap::new(),
            index_before: Vec::new(),
            moved: false,
        }
    }

    fn ready(&mut self, state: &State, folder: &Path) {
        let script =
            format!("ROOT='{}'; MAIN=\"$ROOT/main\"\n{}", self.root().display(), state.script);
        sh(folder, &script);
        if state.process {
            let mut sleep = command("cat", folder);
            // A group of its own: what is in that of the tests is taken for whoever asks.
            let child = sleep
                .process_group(0)
                .stdin(Stdio::piped())
                .stdout(Stdio::null())
                .spawn()
                .expect("cat");
            self.process = Some(child);
        }
        self.prepared();
    }

    /// The main checkout is to stay as it is now: a test that changes it itself says so afterwards.
    pub fn prepared(&mut self) {
        self.main_before = bytes::on_disk(&self.main());
        self.index_before = self.main_index();
    }

    fn main_index(&self) -> Vec<u8> {
        let git = self.main().join(".git");
        ["index", "HEAD", "config"]
            .iter()
            .flat_map(|name| fs::read(git.join(name)).unwrap_or_default())
            .collect()
    }

    pub fn root(&self) -> PathBuf {
        self.temp.path().canonicalize().expect("the folder")
    }

    pub fn main(&self) -> PathBuf {
        self.root().join("main")
    }

    pub fn tree(&self) -> PathBuf {
        self.root().join("trees/lead/w")
    }

    pub fn repo(&self) -> Repo {
        Repo::discover(&self.main()).expect("a repository")
    }

    /// All work that there is: in the worktree and its index, wherever somebody moved it, in the main checkout and its
    /// index, under refs, those that one worktree has for itself too, in the logs of HEADs, and all of that of every
    /// submodule and of what they were cloned from. What is ignored is the second.
    pub fn work(&self) -> (Contents, Contents) {
        let common = self.main().join(".git");
        let mut all = bytes::by_refs(&common);
        let mut ignored = Contents::new();
        let admin = common.join("worktrees/w");
        for folder in [self.main(), self.tree(), self.root().join("trees/lead/elsewhere")] {
            if folder.join(".git").exists() {
                let list = sh(&folder, "git ls-files -o -i --exclude-standard 2>/dev/null || true");
                let mut files = bytes::on_disk(&folder);
                let mut out = BTreeMap::new();
                for name in list.lines() {
                    out.extend(files.remove_entry(Path::new(name)));
                }
                ignored.extend(bytes::contents(&out));
                all.extend(bytes::contents(&files));
            }
        }
        for folder in [&common, &admin].into_iter().filter(|folder| folder.exists()) {
            all.extend(bytes::of_git_folder(folder, &common));
            for module in bytes::modules(&folder.join("modules")) {
                all.extend(bytes::by_refs(&module));
                all.extend(bytes::of_git_folder(&module, &module));
            }
        }
        for remote in ["sub.git", "deep.git"].map(|name| self.root().join(name)) {
            if remote.exists() {
                all.extend(bytes::by_refs(&remote));
            }
        }
        (all, ignored)
    }

    /// The main checkout is another one by now, and why.
    pub fn moved(&mut self, _why: &str) {
        self.moved = true;
    }

    /// That the main checkout is byte for byte what it was, its index, HEAD and configuration too.
    pub fn main_is_as_it_was(&self, what: &str) {
        assert_eq!(bytes::on_disk(&self.main()), self.main_before, "{what}: the main checkout");
        assert_eq!(self.main_index(), self.index_before, "{what}: its index");
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        if !self.moved && !std::thread::panicking() {
            self.main_is_as_it_was("at the end");
        }
        if let Some(mut child) = self.process.take() {
            drop(child.stdin.take());
            let _ = child.wait();
        }
    }
}
