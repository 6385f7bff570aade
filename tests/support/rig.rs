//! A repository with a plan in it, the binary run there, and everything that a run leaves behind to be
//! looked at: its journal, its branches, its worktrees, its processes, the user's checkout.
//!
//! The user's checkout is compared when the rig goes, byte for byte and index included, with what it was when `sop`
//! first ran there ([`Checkout`]). What a test writes with [`Rig::write`] or does with [`Rig::git`] is a change of its
//! own; others are made in [`Rig::by_hand`]; and what something else is meant to change is named in [`Rig::touches`].
//!
//! Workers write marks (`$MARKS/…`) outside of every worktree, so that what really ran is known from
//! themselves and not from the engine. The folder is on tmpfs where there is one: nothing here asks what
//! a disk does, and a run syncs a lot.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::io::Write as _;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use sop::event::{Event, Record};
use sop::journal;
use sop::ledger::{Ledger, WpState};
use sop::model::ids::WpId;
use tempfile::TempDir;

use super::checkout::{Bytes, Checkout, walk};
use super::git_repo::QUIET_GIT;
use super::scratch::{Said, run};

/// Longer than anything here takes on a busy machine; nothing waits that long unless it fails.
const PATIENCE: Duration = Duration::from_secs(180);

/// A repository, and folders around it.
pub struct Rig {
    /// Before the folder, so that it is compared while that is there.
    checkout: Checkout,
    temp: TempDir,
}

/// What of git changes nothing, not even an index that is out of date.
const LOOKS: [&str; 12] = [
    "cat-file",
    "diff-tree",
    "for-each-ref",
    "fsck",
    "log",
    "ls-files",
    "ls-tree",
    "merge-base",
    "rev-list",
    "rev-parse",
    "show",
    "show-ref",
];

impl Rig {
    /// A repository on `main` with one commit that holds `files` and the plan.
    pub fn new(plan: &str, files: &[(&str, &str)]) -> Self {
        let rig = Self::empty();
        for name in ["repo", "trees", "marks", "home"] {
            fs::create_dir(rig.root().join(name)).expect("a folder");
        }
        rig.git(&["init", "--quiet", "--initial-branch=main", "--template="]);
        for (name, text) in files {
            rig.write(name, text);
        }
        rig.write("plan.toml", plan);
        rig.git(&["add", "--all"]);
        rig.git(&["commit", "--quiet", "-m", "first"]);
        rig
    }

    /// The same as another, in a folder of its own. Nothing may be running in that.
    pub fn copy_of(other: &Self) -> Self {
        let rig = Self::empty();
        let from = other.root().join(".");
        let copied = Command::new("cp").arg("-a").arg(from).arg(rig.root()).status();
        assert!(copied.expect("cp").success());
        rig
    }

    fn empty() -> Self {
        let temp = folder();
        Self { checkout: Checkout::new(temp.path().join("repo"), ".git"), temp }
    }

    /// What a test changes of the checkout itself, while `sop` has run there already.
    #[track_caller]
    pub fn by_hand<T>(&self, change: impl FnOnce() -> T) -> T {
        self.checkout.by_hand(change)
    }

    /// These places below the checkout are meant to change, and why; they are not compared.
    pub fn touches(&self, names: &[&str], why: &str) {
        self.checkout.touched(names, why);
    }

    /// The folder around everything.
    pub fn root(&self) -> &Path {
        self.temp.path()
    }

    /// The user's checkout.
    pub fn repo(&self) -> PathBuf {
        self.root().join("repo")
    }

    /// A mark that a worker leaves.
    pub fn mark(&self, name: &str) -> PathBuf {
        self.root().join("marks").join(name)
    }

    /// The lines of a mark; none when it is not there.
    pub fn lines(&self, name: &str) -> Vec<String> {
        let text = fs::read_to_string(self.mark(name)).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }

    /// Writes a file of the checkout, and the folders above it.
    #[track_caller]
    pub fn write(&self, name: &str, text: &str) {
        let path = self.repo().join(name);
        self.by_hand(|| {
            fs::create_dir_all(path.parent().expect("below the root")).expect("folders");
            fs::write(path, text).expect("a file");
        });
    }

    /// The plan as it stands.
    pub fn plan_text(&self) -> String {
        std::fs::read_to_string(self.repo().join("plan.toml")).expect("a plan")
    }

    /// Runs git in the checkout, which must succeed, and returns what it said.
    #[track_caller]
    pub fn git(&self, args: &[&str]) -> String {
        let git = || run(self.command("git").args(args), "");
        let said = match args.first().is_some_and(|verb| LOOKS.contains(verb)) {
            true => git(),
            false => self.by_hand(git),
        };
        assert_eq!(said.code, 0, "git {args:?}: {}", said.err);
        said.out
    }

    /// Runs `sop` in the checkout.
    pub fn sop(&self, args: &[&str]) -> Said {
        self.sop_with(&[], args)
    }

    /// Runs `sop` with these variables set.
    pub fn sop_with(&self, env: &[(&str, &str)], args: &[&str]) -> Said {
        let mut command = self.binary();
        command.args(args).envs(env.iter().copied());
        self.ends_in_time(command)
    }

    /// Runs `sop` without the right to pass over permissions, which tests that run as root have.
    pub fn sop_unprivileged(&self, args: &[&str]) -> Said {
        if !rustix::process::geteuid().is_root() {
            return self.sop(args);
        }
        self.checkout.sop_runs();
        let mut command = self.command("setpriv");
        command.args(["--bounding-set=-all", "--inh-caps=-all", env!("CARGO_BIN_EXE_sop")]);
        command.args(args);
        self.ends_in_time(command)
    }

    /// Runs to the end; what takes for ever is a failure, and is ended.
    fn ends_in_time(&self, mut command: Command) -> Said {
        let files = || {
            let path =
                tempfile::NamedTempFile::new_in(self.root()).expect("a file").into_temp_path();
            (fs::File::create(&path).expect("it can be written"), path)
        };
        let ((out, out_path), (err, err_path)) = (files(), files());
        let child = command.stdin(Stdio::null()).stdout(out).stderr(err).spawn();
        let mut engine = Engine { child: child.expect("it starts") };
        let deadline = Instant::now() + 2 * PATIENCE;
        let status = loop {
            if let Some(status) = engine.child.try_wait().expect("a child") {
                break status;
            }
            assert!(Instant::now() < deadline, "{command:?} does not end");
            std::thread::sleep(Duration::from_millis(3));
        };
        let text = |path| String::from_utf8_lossy(&fs::read(path).expect("its file")).into_owned();
        Said { code: status.code().unwrap_or(256), out: text(out_path), err: text(err_path) }
    }

    /// Runs `sop`, which must end so.
    pub fn sop_ends(&self, code: i32, args: &[&str]) -> Said {
        let said = self.sop(args);
        assert_eq!(said.code, code, "sop {args:?}\n{}\n{}", said.out, said.err);
        said
    }

    /// `sop apply --yes`, which must end so.
    pub fn apply(&self, code: i32) -> Said {
        self.sop_ends(code, &["apply", "--yes"])
    }

    /// Starts `sop` at the head of a process group of its own, as a shell does, its output in
    /// `engine.out`.
    pub fn start(&self, args: &[&str]) -> Engine {
        self.start_with(&[], args)
    }

    /// The same, with these variables set.
    pub fn start_with(&self, env: &[(&str, &str)], args: &[&str]) -> Engine {
        let path = self.root().join("engine.out");
        let out = fs::File::options().create(true).append(true).open(path).expect("a file");
        let err = out.try_clone().expect("another hold");
        let mut command = self.binary();
        command
            .args(args)
            .envs(env.iter().copied())
            .stdin(Stdio::null())
            .stdout(out)
            .stderr(err)
            .process_group(0);
        Engine { child: command.spawn().expect("it starts") }
    }

    /// The same, run by another program that is given these arguments before it.
    pub fn start_under(&self, program: &str, before: &[&str], args: &[&str]) -> Engine {
        let path = self.root().join("engine.out");
        let out = fs::File::options().create(true).append(true).open(path).expect("a file");
        let err = out.try_clone().expect("another hold");
        self.checkout.sop_runs();
        let mut command = self.command(program);
        command.args(before).arg(env!("CARGO_BIN_EXE_sop")).args(args);
        command.stdin(Stdio::null()).stdout(out).stderr(err).process_group(0);
        Engine { child: command.spawn().expect("it starts") }
    }

    /// Runs `sop` at a terminal, and types `keys` once it shows `prompt`. Its exit code, and all it showed.
    pub fn types(&self, keys: &str, prompt: &str, args: &[&str]) -> (i32, String) {
        self.types_with(&[], keys, prompt, args)
    }

    /// The same, with these variables set (`NAME=value`).
    pub fn types_with(
        &self,
        env: &[&str],
        keys: &str,
        prompt: &str,
        args: &[&str],
    ) -> (i32, String) {
        let path = self.root().join("screen");
        fs::write(&path, "").expect("a file");
        let words = [&[env!("CARGO_BIN_EXE_sop")][..], args].concat();
        let line = shlex::try_join(words).expect("words");
        self.checkout.sop_runs();
        let mut command = self.command("script");
        command.envs(env.iter().filter_map(|pair| pair.split_once('=')));
        command.args(["-qefc", &line]).arg(&path).env("TERM", "dumb").env("SHELL", "/bin/sh");
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        let mut engine = Engine { child: command.spawn().expect("it starts") };
        let shown = || String::from_utf8_lossy(&fs::read(&path).unwrap_or_default()).into_owned();
        until(|| shown().contains(prompt).then_some(()).ok_or_else(shown));
        let typed = engine.child.stdin.as_mut().expect("its keyboard").write_all(keys.as_bytes());
        typed.expect("it is typed");
        // The keyboard stays where it is: its end would be an answer too.
        let keyboard = engine.child.stdin.take();
        let code = engine.wait();
        drop(keyboard);
        (code, shown())
    }

    /// Sends a signal to the process that holds the newest worker of a WP.
    pub fn signal_holder(&self, id: &str, signal: rustix::process::Signal) {
        let attempt = self.wp(id).attempt;
        let dir = self.run_dir().join(format!("steps/{id}/work-{attempt}"));
        let mark = dir.as_os_str().as_bytes().to_vec();
        let holds = |pid: &i32| {
            let line = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
            line.split(|byte| *byte == 0).any(|arg| arg == mark)
        };
        let found = self.processes().into_iter().map(|(pid, _)| pid).find(holds);
        let pid = rustix::process::Pid::from_raw(found.expect("there is a holder")).expect("an id");
        rustix::process::kill_process(pid, signal).expect("it is there");
    }

    fn binary(&self) -> Command {
        self.checkout.sop_runs();
        self.command(env!("CARGO_BIN_EXE_sop"))
    }

    fn command(&self, program: impl AsRef<OsStr>) -> Command {
        let mut command = Command::new(program);
        command
            .current_dir(self.repo())
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", self.root().join("home"))
            .env("SOP_WORKTREES", self.root().join("trees"))
            .env("MARKS", self.root().join("marks"))
            .env("GIT_CONFIG_GLOBAL", QUIET_GIT)
            .env("GIT_CONFIG_NOSYSTEM", "1");
        for who in ["AUTHOR", "COMMITTER"] {
            command
                .env(format!("GIT_{who}_NAME"), "A")
                .env(format!("GIT_{who}_EMAIL"), "a@localhost")
                .env(format!("GIT_{who}_DATE"), "2026-01-01T00:00:00Z");
        }
        command
    }

    /// The directory of the newest run.
    pub fn run_dir(&self) -> PathBuf {
        let runs = fs::read_dir(self.repo().join(".git/sop-run")).expect("there is a run");
        let journals = runs.map(|entry| entry.expect("an entry").path().join("journal.jsonl"));
        let newest = journals.filter(|path| path.exists()).max_by_key(|path| {
            fs::metadata(path).and_then(|meta| meta.modified()).expect("it has a date")
        });
        newest.expect("a run with a journal").parent().expect("its folder").to_owned()
    }

    /// The records of the newest run.
    pub fn records(&self) -> Vec<Record> {
        journal::read(&self.run_dir().join("journal.jsonl")).expect("a whole journal").records
    }

    /// The state of the newest run.
    pub fn ledger(&self) -> Ledger {
        Ledger::fold(&self.records()).expect("the journal holds together")
    }

    /// The state of one WP.
    pub fn wp(&self, id: &str) -> WpState {
        self.ledger().wp(&WpId::new(id).expect("an id")).expect("a WP of the plan").clone()
    }

    /// The state of one WP as the newest run has it by now, if there is one by now.
    pub fn peek(&self, id: &str) -> Option<WpState> {
        let journal = self.repo().join(".git/sop-run");
        let run = fs::read_dir(journal).ok()?.find_map(|entry| {
            let path = entry.ok()?.path().join("journal.jsonl");
            path.exists().then_some(path)
        })?;
        let records = journal::read(&run).ok()?.records;
        Ledger::fold(&records).ok()?.wp(&WpId::new(id).ok()?).cloned()
    }

    /// How many records of the newest run are so.
    pub fn count(&self, so: impl Fn(&Event) -> bool) -> usize {
        self.records().iter().filter(|record| so(&record.event)).count()
    }

    /// A file of the newest run's directory.
    pub fn of_run(&self, name: &str) -> String {
        let path = self.run_dir().join(name);
        fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    }

    /// Branches that `sop` made, each with its tree.
    pub fn trees(&self) -> BTreeMap<String, String> {
        let format = "--format=%(refname:short) %(tree)";
        let refs = self.git(&["for-each-ref", format, "refs/heads/sop", "refs/heads/sop-stage"]);
        let pairs = refs.lines().map(|line| line.split_once(' ').expect("two words"));
        pairs.map(|(name, tree)| (name.to_owned(), tree.to_owned())).collect()
    }

    /// A file on a branch.
    pub fn on(&self, branch: &str, file: &str) -> String {
        self.git(&["show", &format!("{branch}:{file}")])
    }

    /// Everything that is the user's: the checkout byte for byte with modes and links, and of the
    /// repository all but objects and what is `sop`'s own.
    pub fn users(&self) -> Bytes {
        let ours = [
            "sop-run",
            "objects",
            "worktrees",
            "refs/heads/sop",
            "refs/heads/sop-stage",
            "logs/refs/heads/sop",
            "logs/refs/heads/sop-stage",
        ];
        let ours: Vec<PathBuf> =
            ours.iter().map(|name| self.repo().join(".git").join(name)).collect();
        let mut found = Bytes::new();
        walk(&self.repo(), &ours, &mut found);
        found
    }

    /// The same, without these places below the repository's folder, and without folders.
    pub fn users_but(&self, names: &[&str]) -> Bytes {
        let git = self.repo().join(".git");
        let mut found = self.users();
        found.retain(|path, _| !names.iter().any(|name| path.starts_with(git.join(name))));
        found
    }

    /// Worktrees that are left, as folders or in git's list.
    pub fn worktrees(&self) -> Vec<PathBuf> {
        let mut found = Vec::new();
        let below = |folder: &Path| -> Vec<PathBuf> {
            let entries = fs::read_dir(folder).into_iter().flatten();
            entries.map(|entry| entry.expect("an entry").path()).collect()
        };
        for run in below(&self.root().join("trees")).iter().flat_map(|repo| below(repo)) {
            found.extend(below(&run));
        }
        found.extend(below(&self.repo().join(".git/worktrees")));
        found
    }

    /// Processes that come of a run here: id and command line.
    pub fn processes(&self) -> Vec<(i32, String)> {
        let mark = [b"MARKS=", self.root().join("marks").as_os_str().as_bytes()].concat();
        let pids = fs::read_dir("/proc")
            .into_iter()
            .flatten()
            .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse::<i32>().ok());
        pids.filter_map(|pid| {
            let environ = fs::read(format!("/proc/{pid}/environ")).ok()?;
            environ.split(|b| *b == 0).any(|entry| entry == mark).then(|| {
                let line = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
                (pid, String::from_utf8_lossy(&line).replace('\0', " "))
            })
        })
        .collect()
    }

    /// Waits until nothing of a run here is alive.
    pub fn until_quiet(&self) {
        until(|| match self.processes() {
            left if left.is_empty() => Ok(()),
            left => Err(format!("these still run: {left:?}")),
        });
    }

    /// Waits until a mark has this many lines.
    pub fn until_lines(&self, name: &str, lines: usize) {
        until(|| match self.lines(name).len() {
            n if n >= lines => Ok(()),
            n => Err(format!("{name} has {n} lines, not {lines}; {}", self.engine_said())),
        });
    }

    /// Waits until a WP's state is so.
    pub fn until_wp(&self, id: &str, what: &str, so: impl Fn(&WpState) -> bool) {
        until(|| match self.peek(id) {
            Some(wp) if so(&wp) => Ok(()),
            wp => Err(format!("never {what}: {:?}; {}", wp.map(|wp| wp.phase), self.engine_said())),
        });
    }

    /// Waits until the log of a WP's first worker holds this.
    pub fn until_log(&self, id: &str, text: &str) {
        let path = self.run_dir().join(format!("logs/{id}-work-1.log"));
        until(|| match fs::read_to_string(&path) {
            Ok(log) if log.contains(text) => Ok(()),
            log => Err(format!("{log:?}")),
        });
    }

    /// Waits until the holder of a WP's newest worker has been told to stop it.
    pub fn until_cancelled(&self, id: &str) {
        until(|| {
            let steps = self.run_dir().join("steps").join(id);
            let told = fs::read_dir(steps)
                .into_iter()
                .flatten()
                .any(|step| step.is_ok_and(|step| step.path().join("cancel").exists()));
            if told { Ok(()) } else { Err(format!("{id} is not told; {}", self.engine_said())) }
        });
    }

    /// What engines that were started in the background have printed.
    pub fn engine_said(&self) -> String {
        fs::read_to_string(self.root().join("engine.out")).unwrap_or_default()
    }
}

/// A `sop` in the background.
pub struct Engine {
    child: Child,
}

impl Engine {
    /// Its process id.
    pub fn pid(&self) -> i32 {
        self.child.id().cast_signed()
    }

    /// Whether it has ended.
    pub fn is_over(&mut self) -> bool {
        self.child.try_wait().expect("a child").is_some()
    }

    /// Sends a signal to it alone.
    pub fn signal(&self, signal: rustix::process::Signal) {
        let pid = rustix::process::Pid::from_child(&self.child);
        rustix::process::kill_process(pid, signal).expect("it is there");
    }

    /// Sends a signal to its whole process group, as a terminal does.
    pub fn signal_group(&self, signal: rustix::process::Signal) {
        let pid = rustix::process::Pid::from_child(&self.child);
        rustix::process::kill_process_group(pid, signal).expect("it is there");
    }

    /// Its exit code, once it has ended; 256 when a signal ended it.
    pub fn wait(mut self) -> i32 {
        let mut code = None;
        until(|| {
            code = self.child.try_wait().expect("a child");
            code.map(drop).ok_or_else(|| "the engine does not end".to_owned())
        });
        code.and_then(|status| status.code()).unwrap_or(256)
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        // Only of a test that failed is anything left to end.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Waits until `look` is content; what it said last is the failure.
pub fn until(mut look: impl FnMut() -> Result<(), String>) {
    let deadline = Instant::now() + PATIENCE;
    while let Err(why) = look() {
        assert!(Instant::now() < deadline, "{why}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

fn folder() -> TempDir {
    let memory = Path::new("/dev/shm");
    let made = match memory.is_dir() {
        true => tempfile::Builder::new().prefix("sop-test-").tempdir_in(memory),
        false => TempDir::new(),
    };
    made.expect("a temporary folder")
}
