//! How `git` is started: with an environment of its own, never a terminal, never the user's hooks.
//!
//! Every variable that would point git at another repository, index or configuration is taken out
//! (`sop` may itself run inside a git hook). The child gets a process group of its own, so that a
//! terminal's Ctrl-C reaches `sop` alone, which then decides.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use bstr::ByteSlice;

use super::error::GitError;
use crate::process;
use crate::quick::hear::{self, Heard, Most, Why, Wish};
use crate::quick::{self, Answer, NoAnswer};

/// `GIT_*` variables that say who the user is to the network or where their own configuration lives,
/// and never which repository is meant. All others are removed.
const KEPT: [&str; 6] = [
    "GIT_ASKPASS",
    "GIT_CONFIG_GLOBAL",
    "GIT_CONFIG_NOSYSTEM",
    "GIT_CONFIG_SYSTEM",
    "GIT_SSH",
    "GIT_SSH_COMMAND",
];

/// Settings under which nothing of the user's or the worker's runs, hides or converts behind our back, and what git
/// lists is all there is, in the form that we read.
const HARDENED: [&str; 23] = [
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "core.untrackedCache=false",
    "core.splitIndex=false",
    "core.safecrlf=false",
    "core.quotePath=true",
    "core.trustctime=true",
    "core.checkStat=default",
    "core.ignoreStat=false",
    "index.sparse=false",
    "index.version=2",
    "gc.auto=0",
    "maintenance.auto=false",
    "add.ignoreErrors=false",
    "color.ui=false",
    "status.showUntrackedFiles=all",
    "status.relativePaths=false",
    "diff.relative=false",
    "diff.ignoreSubmodules=none",
    "diff.noprefix=false",
    "diff.mnemonicPrefix=false",
    // A file that is not there ends every command that compares anything.
    "diff.orderFile=/dev/null",
    "log.showSignature=false",
];

/// How many lines of standard error an error carries.
const TAIL_LINES: usize = 12;

/// What is said of a command that was ended because it took too long.
pub(super) const OVER_TIME: &str = "no answer";

enum Input {
    Null,
    Bytes(Vec<u8>),
    /// The child inherits an open lock file: the lock then lasts as long as the child, even when `sop`
    /// is killed in between.
    Held(File),
}

/// One `git` command about to run.
pub(super) struct Git {
    command: Command,
    shown: Vec<OsString>,
    input: Input,
    limit: Option<Duration>,
    /// An argument that nobody is shown, and what stands in its place.
    secret: Option<(String, String)>,
}

impl Git {
    /// A `git` that starts in `dir` and finds its repository by `git_dir`.
    pub(super) fn new(dir: &Path, git_dir: &Path) -> Self {
        let mut git = Self::bare(dir);
        git.command.env("GIT_DIR", git_dir);
        git
    }

    /// A `git` that starts in `dir` and finds its repository from there.
    pub(super) fn bare(dir: &Path) -> Self {
        let mut command = Command::new("git");
        for (name, _) in std::env::vars_os() {
            if name.as_encoded_bytes().starts_with(b"GIT_")
                && !KEPT.iter().any(|kept| name == OsStr::new(kept))
            {
                command.env_remove(name);
            }
        }
        command
            .current_dir(dir)
            .env("LC_ALL", "C")
            .env("GIT_TERMINAL_PROMPT", "0")
            .process_group(0);
        for setting in HARDENED {
            command.args(["-c", setting]);
        }
        Self { command, shown: vec!["git".into()], input: Input::Null, limit: None, secret: None }
    }

    pub(super) fn config(mut self, setting: &str) -> Self {
        self.command.args(["-c", setting]);
        self
    }

    pub(super) fn arg(mut self, arg: impl AsRef<OsStr>) -> Self {
        self.shown.push(arg.as_ref().to_owned());
        self.command.arg(arg);
        self
    }

    /// An argument that people see as `shown`: a URL may hold a password.
    pub(super) fn arg_as(mut self, arg: &str, shown: &str) -> Self {
        self.command.arg(arg);
        self.shown.push(shown.into());
        self.secret = (arg != shown).then(|| (arg.to_owned(), shown.to_owned()));
        self
    }

    /// Is ended when it takes longer: whoever is at the other end of a network may never answer.
    pub(super) fn within(mut self, limit: Duration) -> Self {
        self.limit = Some(limit);
        self
    }

    pub(super) fn args<T: AsRef<OsStr>>(self, args: impl IntoIterator<Item = T>) -> Self {
        args.into_iter().fold(self, Self::arg)
    }

    pub(super) fn env(mut self, name: &str, value: impl AsRef<OsStr>) -> Self {
        self.command.env(name, value);
        self
    }

    /// Does not write an index it only reads.
    pub(super) fn reading(self) -> Self {
        self.env("GIT_OPTIONAL_LOCKS", "0")
    }

    pub(super) fn feed(mut self, bytes: Vec<u8>) -> Self {
        self.input = Input::Bytes(bytes);
        self
    }

    pub(super) fn holding(mut self, lock: File) -> Self {
        self.input = Input::Held(lock);
        self
    }

    /// The command line for people: no `-c` settings, everything unprintable escaped.
    fn line(&self) -> String {
        let words = self.shown.iter().map(|word| {
            let bytes = word.as_encoded_bytes();
            let plain = !bytes.is_empty()
                && bytes.iter().all(|b| b.is_ascii_alphanumeric() || b"-_./=:@^{}%+,".contains(b));
            if plain { bytes.to_str_lossy().into_owned() } else { format!("{:?}", bytes.as_bstr()) }
        });
        words.collect::<Vec<_>>().join(" ")
    }

    /// Runs to the end, whatever the exit code.
    pub(super) fn output(mut self) -> Result<(Output, String), GitError> {
        let line = self.line();
        let not_started = |source| GitError::NotStarted { command: line.clone(), source };
        self.command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let (stdin, bytes) = match self.input {
            Input::Null => (Stdio::null(), None),
            Input::Held(file) => (Stdio::from(file), None),
            Input::Bytes(bytes) => (Stdio::piped(), Some(bytes)),
        };
        let child = self.command.stdin(stdin).spawn().map_err(not_started)?;
        // `command` holds our copy of a lock handed over; the child must be its only other holder.
        drop(self.command);
        let input = bytes.unwrap_or_default();
        // Its helpers are of the same group, and end with it when it is late.
        let wish = Wish { input: &input, limit: self.limit, out: Most::All, err: Most::All };
        let heard = hear::hear(child, &wish).map_err(not_started)?;
        let Heard { status, why, out: stdout, err: stderr } = heard;
        let mut output = Output { status, stdout, stderr };
        if let (Some(limit), Why::Late) = (self.limit, why) {
            let text = format!("{OVER_TIME} within {} s", limit.as_secs());
            output.stderr.extend(text.as_bytes());
        }
        if let Some((secret, shown)) = &self.secret {
            output.stderr = output.stderr.replace(secret, shown);
        }
        Ok((output, line))
    }

    /// Runs to the end and gives the standard output, if the exit code is 0.
    pub(super) fn run(self) -> Result<Vec<u8>, GitError> {
        let (output, line) = self.output()?;
        if output.status.success() { Ok(output.stdout) } else { Err(failed(&output, line)) }
    }

    /// As [`Git::run`], for at most `limit` and `most` bytes; it reads nothing.
    pub(super) fn asked(self, limit: Duration, most: u64) -> Result<Vec<u8>, GitError> {
        let line = self.line();
        match quick::ask(self.command, limit, most) {
            Ok(Answer { status, out, .. }) if status.success() => Ok(out),
            Ok(Answer { status, out, err }) => {
                Err(failed(&Output { status, stdout: out, stderr: err }, line))
            }
            Err(NoAnswer::NotStarted(source)) => {
                Err(GitError::NotStarted { command: line, source })
            }
            Err(source) => Err(GitError::NoAnswer { command: line, source }),
        }
    }

    /// As [`Git::run`], for answers of one line of text.
    pub(super) fn run_line(self) -> Result<String, GitError> {
        let out = self.run()?;
        Ok(out.trim_end().to_str_lossy().into_owned())
    }

    /// Runs to the end; `true` for exit code 0, `false` for 1.
    pub(super) fn ask(self) -> Result<bool, GitError> {
        let (output, line) = self.output()?;
        match output.status.code() {
            Some(0) => Ok(true),
            Some(1) => Ok(false),
            _ => Err(failed(&output, line)),
        }
    }
}

/// What a command that did not end well leaves for the reader.
pub(super) fn failed(output: &Output, command: String) -> GitError {
    let lines: Vec<&[u8]> = output.stderr.lines().filter(|line| !line.trim().is_empty()).collect();
    let last = &lines[lines.len().saturating_sub(TAIL_LINES)..];
    let shown: Vec<String> = last.iter().map(|line| process::plain(line)).collect();
    GitError::Failed { command, code: output.status.code(), stderr: shown.join("\n") }
}
