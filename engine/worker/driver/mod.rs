//! The driver: `sop __drive FILE`. The process that runs one turn of one agent: starts it, listens to
//! it, shows people what it does, counts, ends it at its limits, hands it new words, and leaves what
//! came of it.
//!
//! It is the command of a step, so it stands below a holder, which owns wall clock, silence and
//! orders, and ends whatever is left. It exits as the agent did. It is a subreaper: what its agent
//! starts stays below it, so that an agent which is replaced is gone before the next one comes.

mod lines;
mod part;
mod say;
mod screen;

use std::io::{self, Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

use jiff::Timestamp;
use signal_hook::consts::{SIGCHLD, SIGHUP, SIGINT, SIGTERM};

use super::seam::{Agent, End, Ended};
use super::tally::{Most, Tally};
use super::trouble::Trouble;
use super::{Drive, adapter, results, spent};
use crate::model::turn::{Fault, FaultClass, Spent, Turn, Usd};
use crate::plain_file;
use crate::process::LimitedLog;
use crate::process::escape_path;
use crate::process::reap::{Children, Death, reap};
use lines::{Event, Stream, What};
use part::{NotStarted, Part};
use say::{Say, Word};
use screen::Screen;

/// How often is looked at what nobody wakes the driver for.
const TICK: Duration = Duration::from_millis(200);
/// How often the turn is written down while it goes on.
const NOTE: Duration = Duration::from_secs(2);
/// How long an agent that never leaves by itself is given to put away what its turn came to.
const LINGER: Duration = Duration::from_secs(1);
/// Exit code of a driver that could not do its own work.
const FAILED: u8 = 125;

/// Why a driver could not do its work.
#[derive(Debug, thiserror::Error)]
enum DriveError {
    #[error("cannot read the order {}: {source}", escape_path(path))]
    Order { path: PathBuf, source: io::Error },
    #[error("there is no adapter `{0}` in this build")]
    NoAdapter(&'static str),
    #[error("cannot read the brief {}: {source}", escape_path(path))]
    Prompt { path: PathBuf, source: io::Error },
    #[error("cannot write {}: {source}", escape_path(path))]
    Write { path: PathBuf, source: io::Error },
    #[error("cannot {0}: {1}")]
    System(&'static str, io::Error),
}

/// Runs the turn that the file says; for `main`, before anything else is looked at.
#[must_use]
pub fn main(file: &Path) -> ExitCode {
    match Driver::open(file).and_then(Driver::run) {
        Ok(code) => ExitCode::from(code),
        Err(error) => {
            complain(&error.to_string());
            ExitCode::from(FAILED)
        }
    }
}

/// One line on standard error.
fn complain(text: &str) {
    let text = crate::process::escape(text.as_bytes());
    let _nobody_left = writeln!(io::stderr(), "sop: {text}");
}

struct Driver {
    drive: Drive,
    agent: &'static dyn Agent,
    cwd: PathBuf,
    say: Say,
    screen: Screen,
    stream: Stream,
    events: Receiver<Event>,
    sender: SyncSender<Event>,
    /// Whether it was asked to end.
    asked: Arc<AtomicBool>,
    /// What the parts before this one came to.
    total: Tally,
    limit: Option<Spent>,
    noted: Option<(Instant, Tally)>,
    trouble: Trouble,
}

/// How one part ended.
enum Next {
    /// The turn is over.
    Over(End, u8),
    /// The agent is started again, with this word.
    Again(Word),
}

impl Driver {
    fn open(file: &Path) -> Result<Self, DriveError> {
        let drive = Drive::read(file)
            .map_err(|source| DriveError::Order { path: file.to_owned(), source })?;
        let agent = adapter(drive.agent).ok_or(DriveError::NoAdapter(drive.agent.name()))?;
        #[cfg(target_os = "linux")]
        rustix::process::set_child_subreaper(Some(rustix::process::getpid()))
            .map_err(|error| DriveError::System("become a subreaper", error.into()))?;
        let log = LimitedLog::create(&drive.stream, drive.stream_limit)
            .map_err(|source| DriveError::Write { path: drive.stream.clone(), source })?;
        // Short, so that an agent which prints faster than it is read waits, and memory stays flat.
        let (sender, events) = sync_channel(4);
        Ok(Self {
            agent,
            cwd: std::env::current_dir()
                .map_err(|error| DriveError::System("tell the working directory", error))?,
            say: Say::new(&drive.say),
            screen: Screen::new(),
            stream: Stream::new(log),
            events,
            asked: listen_for_signals(sender.clone())
                .map_err(|error| DriveError::System("listen for signals", error))?,
            sender,
            total: Tally::default(),
            limit: None,
            noted: None,
            trouble: Trouble::new(&drive.error),
            drive,
        })
    }

    /// The whole turn. Gives the exit code.
    fn run(mut self) -> Result<u8, DriveError> {
        let mut path = self.drive.prompt.clone();
        let mut prompt = plain_file::read_own(&path)
            .map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
            .map_err(|source| DriveError::Prompt { path: path.clone(), source })?;
        for number in 0.. {
            let started = self.start(number, &prompt, &path);
            let mut part = match started {
                Ok(part) => part,
                Err(NotStarted { code, why }) => {
                    complain(&why);
                    let fault = Fault { class: FaultClass::Crash, message: why, resets_at: None };
                    self.leave(End { fault: Some(fault), ..End::default() })?;
                    return Ok(code);
                }
            };
            let word = self.follow(&mut part);
            match self.finish(part, word) {
                Next::Over(end, code) => {
                    self.leave(end)?;
                    return Ok(code);
                }
                Next::Again(word) => {
                    path = self
                        .say
                        .take(&word)
                        .map_err(|error| DriveError::System("take the new word", error))?;
                    prompt = word.text;
                }
            }
        }
        unreachable!("numbers do not run out")
    }

    fn start(&self, number: u32, prompt: &str, path: &Path) -> Result<Part, NotStarted> {
        let most = self.left();
        let session = self.total.session.as_deref().or(self.drive.session.as_deref());
        let program = self.drive.program_or(self.agent);
        let ask = self.drive.ask(&program, prompt, path, session, most, &self.cwd);
        let (line, reader) = (self.agent.command(&ask), self.agent.reader(&ask));
        Part::start(number, &line, prompt, reader, &self.stream, &self.sender)
    }

    /// What is left of the limits after the parts before.
    fn left(&self) -> Most {
        let most = self.drive.most();
        let used = &self.total;
        Most {
            turns: most.turns.map(|most| most.saturating_sub(used.turns)),
            usd: most
                .usd
                .map(|most| Usd(most.0.saturating_sub(used.cost_usd.unwrap_or_default().0))),
            tokens: most.tokens.map(|most| most.saturating_sub(used.usage.total())),
        }
    }

    /// Sees the agent to its end. Gives the word that it is to be started again with.
    fn follow(&mut self, part: &mut Part) -> Option<Word> {
        let mut word = None;
        let mut looked = Instant::now();
        let mut children = Children::Some;
        // An agent that is replaced must be gone with all it started.
        while !part.is_finished() || (word.is_some() && children == Children::Some) {
            let pause = part.stop.as_mut().map_or(TICK, |stop| stop.tick().min(TICK));
            let event = self.events.recv_timeout(pause).ok();
            let idle = event.is_none();
            let woken = event.is_some_and(|event| handle(part, event, &mut self.screen));
            if idle || woken || looked.elapsed() >= TICK {
                looked = Instant::now();
                children = reap(|pid, death| {
                    if pid.as_raw_nonzero().get() == part.pid {
                        part.died(death);
                    }
                });
                part.reader.look(&mut part.tally);
                self.heed(part);
                if part.exit.is_none() && part.over.is_none() && part.stop.is_none() {
                    word = self.hand_over(part);
                }
                self.note(part);
                self.tell_trouble(part);
            }
        }
        word
    }

    /// Ends the agent where it is asked for, where a limit is passed, or where it does not leave.
    fn heed(&mut self, part: &mut Part) {
        let grace = self.drive.grace.0;
        if self.asked.load(Ordering::SeqCst) {
            part.stopped = true;
            // The holder counts the same grace from the same moment, and kills the driver too: what
            // the turn came to is to be written before that.
            part.stop(grace.saturating_sub((grace / 4).min(Duration::from_secs(2))));
        }
        if part.exit.is_some() {
            return;
        }
        let patience = if self.agent.leaves() { grace } else { grace.min(LINGER) };
        if part.overdue(patience) {
            part.stop(grace);
        } else if part.over.is_none() && part.stop.is_none() {
            let alone = part.tally.passed(&self.left());
            self.limit = alone.or_else(|| spent::read(&self.drive.spent));
            if let Some(limit) = self.limit {
                screen::show(&format!("ended at {limit}"));
                part.stopped = true;
                part.stop(grace);
            }
        }
    }

    /// Gives the agent a word that waits. Gives it back if the agent must be started again for it.
    fn hand_over(&self, part: &mut Part) -> Option<Word> {
        let word = self.say.next()?;
        let abilities = self.agent.abilities();
        if abilities.redirects {
            // Not before there is a session; then it waits.
            let bytes = part.reader.redirect(&word.text)?;
            if let Err(error) = self.say.take(&word) {
                self.say.refuse(&word, &error.to_string());
                return None;
            }
            part.write(bytes);
            screen::show(&format!("told: {}", word.text));
            return None;
        }
        if !abilities.resumes {
            let name = self.drive.agent.name();
            self.say.refuse(&word, &format!("{name} takes no word while it works"));
            return None;
        }
        // Before it has told its session there is nothing to come back to; the word waits.
        part.tally.session.as_ref().or(self.total.session.as_ref())?;
        screen::show(&format!("told: {}", word.text));
        part.stopped = true;
        part.stop(self.drive.grace.0);
        Some(word)
    }

    /// Reads the end of a part.
    fn finish(&mut self, mut part: Part, word: Option<Word>) -> Next {
        let exit = part.exit.unwrap_or(Death::Code(i32::from(FAILED)));
        let errors = part.errors.end();
        let ended = Ended { exit, stopped: part.stopped, errors: &errors, now: Timestamp::now() };
        part.reader.look(&mut part.tally);
        let end = part.reader.end(&ended, &mut part.tally);
        self.total.add(part.tally);
        match word {
            Some(word) if !self.asked.load(Ordering::SeqCst) => return Next::Again(word),
            Some(word) => self.say.refuse(&word, "the attempt was ended"),
            None => {}
        }
        let code = match exit {
            Death::Code(code) => u8::try_from(code).unwrap_or(1),
            // The agent was done and did not leave; that it was made to is no failure of its turn.
            Death::Signal(_) if part.over.is_some() && !part.stopped => {
                u8::from(end.fault.is_some())
            }
            Death::Signal(signal) => u8::try_from(128 + signal).unwrap_or(FAILED),
        };
        Next::Over(end, code)
    }

    /// Writes down what is known so far, for the case that this process does not live to tell the end.
    fn note(&mut self, part: &Part) {
        let mut tally = self.total.clone();
        tally.add(part.tally.clone());
        let due = match &self.noted {
            None => tally.session.is_some(),
            Some((at, noted)) => *noted != tally && at.elapsed() >= NOTE,
        };
        if due {
            let message = "its driver was ended before the turn was over".to_owned();
            let fault = Fault { class: FaultClass::Interrupted, message, resets_at: None };
            let turn = Turn { fault: Some(fault), ..tally.clone().turn() };
            let _the_last_one_counts = self.write_turn(&turn);
            self.noted = Some((Instant::now(), tally));
        }
    }

    /// Leaves the last error that was told, for whoever asks how it stands.
    fn tell_trouble(&mut self, part: &mut Part) {
        self.trouble.look(&part.errors.end());
        if let Some(error) = part.error.take() {
            self.trouble.heard(&error);
        }
        let _it_is_in_the_log_too = self.trouble.leave();
    }

    /// Leaves what the turn came to.
    fn leave(self, end: End) -> Result<(), DriveError> {
        self.stream.finish();
        while let Some(word) = self.say.next() {
            self.say.refuse(&word, "the agent was done before it could be told");
        }
        let text = end.text.filter(|text| !text.trim().is_empty());
        let stopped_at = self.limit.or(end.stopped_at);
        let turn = Turn {
            answered: text.is_some(),
            // A limit of the plan is no fault.
            fault: if stopped_at.is_some() { None } else { end.fault },
            stopped_at,
            ..self.total.clone().turn()
        };
        let answer = &self.drive.answer;
        results::replace(answer, results::cut(&text.unwrap_or_default()).as_bytes())
            .map_err(|source| DriveError::Write { path: answer.clone(), source })?;
        self.write_turn(&turn)
    }

    fn write_turn(&self, turn: &Turn) -> Result<(), DriveError> {
        let path = &self.drive.turn;
        serde_json::to_vec_pretty(turn)
            .map_err(io::Error::from)
            .and_then(|bytes| results::replace(path, &bytes))
            .map_err(|source| DriveError::Write { path: path.clone(), source })
    }
}

/// Takes in what happened. Says whether there may be more to look at than this.
fn handle(part: &mut Part, event: Event, screen: &mut Screen) -> bool {
    if let What::Woken = event.what {
        return true;
    }
    // What an earlier part left behind may still print.
    if event.part != part.number {
        return false;
    }
    match event.what {
        What::Line(line) => {
            screen.heard(&part.line(&line));
            false
        }
        What::Long(bytes) => {
            screen.heard(&[format!("(a line of {bytes} bytes is left out)")]);
            false
        }
        What::Over => {
            part.stream_is_over();
            true
        }
        What::Woken => true,
    }
}

/// Hears what asks this process to end, and wakes it for that and for the death of a child.
fn listen_for_signals(to: SyncSender<Event>) -> io::Result<Arc<AtomicBool>> {
    let asked = Arc::new(AtomicBool::new(false));
    let (mut wake, wakes) = UnixStream::pair()?;
    for signal in [SIGTERM, SIGINT, SIGHUP] {
        signal_hook::flag::register(signal, Arc::clone(&asked))?;
    }
    for signal in [SIGTERM, SIGINT, SIGHUP, SIGCHLD] {
        signal_hook::low_level::pipe::register(signal, wakes.try_clone()?)?;
    }
    thread::spawn(move || {
        let mut bytes = [0; 64];
        while matches!(wake.read(&mut bytes), Ok(1..)) {
            if to.send(Event { part: 0, what: What::Woken }).is_err() {
                return;
            }
        }
    });
    Ok(asked)
}
