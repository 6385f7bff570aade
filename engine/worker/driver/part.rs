//! One process of an agent. A turn has more than one when it is given a new word and the agent can
//! only take it in a new process.

use std::io;
use std::process::{Command, Stdio};
use std::sync::mpsc::{Sender, SyncSender};
use std::time::{Duration, Instant};

use rustix::io::Errno;

use super::lines::{Errors, Event, Stream, feed, listen};
use crate::process::escape;
use crate::process::reap::Death;
use crate::process::spawn;
use crate::process::stop::Stop;
use crate::worker::Tally;
use crate::worker::seam::{CommandLine, Feed, Heard, Reader};

/// How long the rest of the output may take to arrive once the agent is gone. It is in the pipe; only
/// something that the agent left behind can keep the pipe open longer.
const DRAIN: Duration = Duration::from_secs(1);

/// Why an agent could not be started.
pub(super) struct NotStarted {
    /// As a shell has it: 127 for what is not there, 126 for what is no program.
    pub(super) code: u8,
    /// A sentence.
    pub(super) why: String,
}

/// An agent at work.
pub(super) struct Part {
    pub(super) number: u32,
    pub(super) pid: i32,
    pub(super) reader: Box<dyn Reader>,
    pub(super) tally: Tally,
    pub(super) errors: Errors,
    /// The last error that its stream told since somebody looked.
    pub(super) error: Option<String>,
    pub(super) exit: Option<Death>,
    /// It was asked to end, other than by its own saying that the turn is over.
    pub(super) stopped: bool,
    /// Its reader said that the turn is over.
    pub(super) over: Option<Instant>,
    pub(super) stop: Option<Stop>,
    stdin: Option<Sender<Vec<u8>>>,
    /// Of standard output and standard error, those that are not at their end.
    streams: u8,
    gone: Option<Instant>,
}

impl Part {
    /// Starts the agent.
    pub(super) fn start(
        number: u32,
        line: &CommandLine,
        prompt: &str,
        mut reader: Box<dyn Reader>,
        stream: &Stream,
        events: &SyncSender<Event>,
    ) -> Result<Self, NotStarted> {
        let (program, args) = line.argv.split_first().ok_or_else(|| NotStarted {
            code: 127,
            why: "the worker names no program, and its adapter has none of its own".to_owned(),
        })?;
        let mut command = Command::new(program);
        command.args(args).stdout(Stdio::piped()).stderr(Stdio::piped());
        command.stdin(if line.stdin == Feed::Nothing { Stdio::null() } else { Stdio::piped() });
        for name in line.unset {
            command.env_remove(name);
        }
        for (name, value) in &line.env {
            if std::env::var_os(name).is_none() {
                command.env(name, value);
            }
        }
        let name = escape(program.as_encoded_bytes());
        let mut child = spawn::in_own_session(&mut command).map_err(|error| why(&name, &error))?;
        let pid = child.id().cast_signed();
        if let Some(out) = child.stdout.take() {
            listen(out, stream.clone(), events.clone(), number);
        }
        let err = child.stderr.take();
        let errors =
            err.map(|err| Errors::pass_on(err, events.clone(), number)).unwrap_or_default();
        let mut stdin = child.stdin.take().map(feed);
        let first = match line.stdin {
            Feed::Nothing => Vec::new(),
            Feed::Prompt => prompt.as_bytes().to_vec(),
            Feed::Reader => reader.open(),
        };
        if let Some(stdin) = &stdin {
            let _it_does_not_read = stdin.send(first);
        }
        if line.stdin == Feed::Prompt {
            stdin = None;
        }
        Ok(Self {
            number,
            pid,
            tally: Tally::default(),
            errors,
            error: None,
            exit: None,
            stopped: false,
            over: None,
            stop: None,
            stdin,
            streams: 2,
            gone: None,
            reader,
        })
    }

    /// Hands bytes to the agent.
    pub(super) fn write(&self, bytes: Vec<u8>) {
        if let Some(stdin) = &self.stdin
            && !bytes.is_empty()
        {
            let _it_does_not_read = stdin.send(bytes);
        }
    }

    /// Feeds a line to the reader and does what the reader says. Gives what there is to say to people.
    pub(super) fn line(&mut self, line: &[u8]) -> Vec<String> {
        let Heard { say, error, write, over } = self.reader.line(line, &mut self.tally);
        self.error = error.or(self.error.take());
        self.write(write);
        if over && self.over.is_none() {
            self.over = Some(Instant::now());
            self.stdin = None;
        }
        say
    }

    pub(super) fn stream_is_over(&mut self) {
        self.streams = self.streams.saturating_sub(1);
    }

    pub(super) fn died(&mut self, death: Death) {
        self.exit = Some(death);
        self.gone = Some(Instant::now());
        if let Some(stop) = &mut self.stop {
            stop.ask_the_rest();
        }
    }

    /// The agent is gone, and nothing more that it printed can come.
    pub(super) fn is_finished(&self) -> bool {
        self.gone.is_some_and(|gone| self.streams == 0 || gone.elapsed() >= DRAIN)
    }

    /// The turn is over, and the agent has had `time` to leave.
    pub(super) fn overdue(&self, time: Duration) -> bool {
        self.over.is_some_and(|over| over.elapsed() >= time)
    }

    /// Asks everything below this process to end.
    pub(super) fn stop(&mut self, grace: Duration) {
        if self.stop.is_none() {
            self.stop = Some(Stop::ask(std::process::id().cast_signed(), grace));
        }
    }
}

fn why(program: &str, error: &io::Error) -> NotStarted {
    match error.raw_os_error().map(Errno::from_raw_os_error) {
        Some(Errno::NOENT | Errno::NOTDIR) => NotStarted {
            code: 127,
            why: format!(
                "{program}: no such program, or the interpreter in its first line is missing"
            ),
        },
        Some(Errno::TOOBIG) => NotStarted {
            code: 126,
            why: format!("{program} cannot be started: the brief is too long for an argument"),
        },
        _ => NotStarted { code: 126, why: format!("{program} cannot be executed: {error}") },
    }
}
