//! A forge's program, run once: an argument vector, a text on its standard input, an answer of bounded size
//! within bounded time.

use std::io::ErrorKind;
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::process;
use crate::process::spawn::in_own_session;
use crate::quick::hear::{self, Heard, Most, Why, Wish};

use super::error::{ForgeError, Kind};

/// Bytes of an answer: more than a list of requests with long bodies.
const ANSWER: u64 = 16 << 20;
/// Bytes of what it says beside it.
const SAID: u64 = 64 << 10;
/// Lines of that which are shown, and how long each may be.
const SHOWN: (usize, usize) = (6, 400);
/// How long it may take: it may have to make several calls.
const LIMIT: Duration = Duration::from_secs(90);

/// What a program came to.
#[derive(Debug)]
pub(super) struct Done {
    /// Its exit code; none when it was ended.
    pub code: Option<i32>,
    /// Its answer.
    pub out: Vec<u8>,
    /// What it said beside it.
    pub err: String,
}

impl Done {
    /// What it said, as a person may see it.
    pub fn shown(&self) -> String {
        let lines = self.err.lines().map(str::trim).filter(|line| !line.is_empty());
        let lines = lines.map(|line| {
            let cut: String = line.chars().take(SHOWN.1).collect();
            process::plain(cut.as_bytes())
        });
        lines.take(SHOWN.0).collect::<Vec<_>>().join("; ")
    }
}

/// Runs `program`, which gets `input` and, of the caller's environment, nothing that has it ask, colour, page,
/// or look at a repository.
pub(super) fn run(program: &str, args: &[&str], input: &[u8]) -> Result<Done, ForgeError> {
    let mut command = Command::new(program);
    for (name, _) in std::env::vars_os() {
        if name.as_encoded_bytes().starts_with(b"GIT_") {
            command.env_remove(name);
        }
    }
    for name in ["GH_REPO", "GH_DEBUG", "DEBUG", "GH_FORCE_TTY", "CLICOLOR_FORCE"] {
        command.env_remove(name);
    }
    command
        .args(args)
        .current_dir("/")
        .env("LC_ALL", "C")
        .env("NO_COLOR", "1")
        .env("GH_PROMPT_DISABLED", "1")
        .env("GH_NO_UPDATE_NOTIFIER", "1")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let child = in_own_session(&mut command).map_err(|error| match error.kind() {
        ErrorKind::NotFound => {
            ForgeError::new(Kind::NoProgram, format!("`{program}` is not installed"))
        }
        _ => ForgeError::new(Kind::NoProgram, format!("`{program}` cannot be started: {error}")),
    })?;
    let over_time = || {
        let text = format!("`{program}` had no answer within {} s", LIMIT.as_secs());
        ForgeError::new(Kind::Unreachable, text)
    };
    let (out, err) = (Most::First(ANSWER), Most::First(SAID));
    let heard = hear::hear(child, &Wish { input, limit: Some(LIMIT), out, err });
    match heard {
        Ok(Heard { status, why: Why::Itself, out, err }) => {
            let err = String::from_utf8_lossy(&err).into_owned();
            Ok(Done { code: status.code(), out, err })
        }
        _ => Err(over_time()),
    }
}
