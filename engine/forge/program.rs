//! A forge's program, run once: an argument vector, a text on its standard input, an answer of bounded size
//! within bounded time.

use std::io::{ErrorKind, Read, Write};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use crate::process;
use crate::process::spawn::in_own_session;

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
    wait(child, input).ok_or_else(over_time)
}

/// Feeds it, reads it and waits for it; nothing when it had to be ended.
fn wait(mut child: Child, input: &[u8]) -> Option<Done> {
    let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    std::thread::scope(|scope| {
        let (tell, told) = mpsc::channel();
        if let Some(mut stdin) = stdin {
            // One that ends early closes the pipe; its exit code tells the story then.
            scope.spawn(move || drop(stdin.write_all(input)));
        }
        let said = tell.clone();
        scope.spawn(move || drop(said.send((false, bounded(stderr, SAID)))));
        scope.spawn(move || drop(tell.send((true, bounded(stdout, ANSWER)))));
        let until = Instant::now() + LIMIT;
        let (mut out, mut err) = (Vec::new(), Vec::new());
        for _ in 0..2 {
            match told.recv_timeout(until.saturating_duration_since(Instant::now())) {
                Ok((true, bytes)) => out = bytes,
                Ok((false, bytes)) => err = bytes,
                Err(_) => {
                    let _ = child.kill();
                    let _ = child.wait();
                    return None;
                }
            }
        }
        // Both pipes are at their end: it is ending, or has handed nothing on that we would wait for.
        let code = child.wait().ok().and_then(|status| status.code());
        Some(Done { code, out, err: String::from_utf8_lossy(&err).into_owned() })
    })
}

/// What comes, up to a bound; the rest is taken and let go, so that nobody waits for a full pipe.
fn bounded(from: Option<impl Read>, most: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    if let Some(mut from) = from {
        let _ = (&mut from).take(most).read_to_end(&mut bytes);
        let _ = std::io::copy(&mut from, &mut std::io::sink());
    }
    bytes
}
