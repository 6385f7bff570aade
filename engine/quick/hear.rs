//! A program fed, heard and waited for until it is over itself: who it started may hold its pipes for as long as it
//! likes, and is not waited for.
//!
//! One loop over its pipes and its end, in the thread that asks: no other is left behind that reads for nobody.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::process::{Child, ExitStatus};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::OFlags;
use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};

/// How long the rest of what it said may take once it is gone. It is in the pipe: only somebody else can keep that
/// open longer.
pub const DRAIN: Duration = Duration::from_secs(1);

/// What a pipe holds at most, and so the most that one read can bring.
const CHUNK: usize = 64 * 1024;

/// The longest pause between two looks where the system does not tell that a program ended.
const LOOK: Duration = Duration::from_millis(20);

/// How much of what it says is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Most {
    /// All of it.
    All,
    /// So many bytes from its beginning; the rest is let go.
    First(u64),
    /// At most so many bytes: it is ended when it says more.
    Within(u64),
}

/// How a program is heard.
#[derive(Debug, Clone, Copy)]
pub struct Wish<'a> {
    /// What it gets to read, if its standard input is a pipe.
    pub input: &'a [u8],
    /// How long it may take; as long as it likes if not given.
    pub limit: Option<Duration>,
    /// Of its standard output.
    pub out: Most,
    /// Of its standard error.
    pub err: Most,
}

/// How it ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Why {
    /// By itself.
    Itself,
    /// It took too long, and was ended.
    Late,
    /// It said too much, and was ended.
    TooMuch,
}

/// What it said.
#[derive(Debug)]
pub struct Heard {
    /// How it ended.
    pub status: ExitStatus,
    /// Why.
    pub why: Why,
    /// Its standard output.
    pub out: Vec<u8>,
    /// Its standard error.
    pub err: Vec<u8>,
}

/// Hears `child`, which leads a process group of its own, to its end. Whoever is left of its group then and still holds
/// its pipes, or belongs to one that was ended, is ended too.
///
/// # Errors
/// It cannot be waited for.
pub fn hear(mut child: Child, wish: &Wish<'_>) -> io::Result<Heard> {
    let began = Instant::now();
    let mut input = Input::open(child.stdin.take().map(OwnedFd::from), wish.input);
    let mut out = Pipe::new(child.stdout.take().map(OwnedFd::from), wish.out);
    let mut err = Pipe::new(child.stderr.take().map(OwnedFd::from), wish.err);
    let mut life = Life::of(Pid::from_child(&child));
    let mut chunk = vec![0; CHUNK];
    let why = loop {
        let over = out.end.is_none() && err.end.is_none();
        if life.gone.is_some_and(|at| over || at.elapsed() >= DRAIN) {
            break Why::Itself;
        }
        if wish.limit.is_some_and(|limit| began.elapsed() >= limit) {
            break Why::Late;
        }
        let limit = wish.limit.map(|limit| limit.saturating_sub(began.elapsed()));
        let drain = life.gone.map(|at| DRAIN.saturating_sub(at.elapsed()));
        let pause = [limit, drain, life.pause()].into_iter().flatten().min();
        let pause = pause.and_then(|pause| Timespec::try_from(pause).ok());
        let [reads, outs, errs, ends] = wait_for(
            [
                (input.end.as_ref(), PollFlags::OUT),
                (out.end.as_ref(), PollFlags::IN),
                (err.end.as_ref(), PollFlags::IN),
                (life.awaited(), PollFlags::IN),
            ],
            pause.as_ref(),
        )?;
        if reads {
            input.feed();
        }
        if outs {
            out.read(&mut chunk);
        }
        if errs {
            err.read(&mut chunk);
        }
        if out.too_much || err.too_much {
            break Why::TooMuch;
        }
        life.look(ends);
    };
    let held = out.end.is_some() || err.end.is_some();
    if why != Why::Itself || held {
        end(&mut child);
    }
    Ok(Heard { status: child.wait()?, why, out: out.said, err: err.said })
}

/// Ends the child with its group. It was not waited for yet, so the id is its own.
fn end(child: &mut Child) {
    let _ = kill_process_group(Pid::from_child(child), Signal::KILL);
    let _ = child.kill();
}

/// Waits until one of them is ready, and says which are.
fn wait_for(
    ends: [(Option<&OwnedFd>, PollFlags); 4],
    pause: Option<&Timespec>,
) -> io::Result<[bool; 4]> {
    let mut asked = Vec::with_capacity(ends.len());
    for (end, what) in ends {
        if let Some(end) = end {
            let end: BorrowedFd<'_> = end.as_fd();
            asked.push(PollFd::from_borrowed_fd(end, what));
        }
    }
    match poll(&mut asked, pause) {
        Ok(_) | Err(Errno::INTR) => {}
        Err(error) => return Err(error.into()),
    }
    let mut asked = asked.iter();
    Ok(ends.map(|(end, _)| {
        end.is_some() && asked.next().is_some_and(|asked| !asked.revents().is_empty())
    }))
}

/// The end of a pipe that is read.
struct Pipe {
    end: Option<OwnedFd>,
    most: Most,
    said: Vec<u8>,
    too_much: bool,
}

impl Pipe {
    fn new(end: Option<OwnedFd>, most: Most) -> Self {
        Self { end, most, said: Vec::new(), too_much: false }
    }

    /// Reads once; a pipe at its end is closed.
    fn read(&mut self, chunk: &mut [u8]) {
        let Some(end) = &self.end else { return };
        let said = match rustix::io::read(end, &mut chunk[..]) {
            Ok(0) => &[],
            Ok(n) => &chunk[..n],
            Err(Errno::AGAIN | Errno::INTR) => return,
            Err(_) => &[],
        };
        if said.is_empty() {
            self.end = None;
            return;
        }
        let room =
            |most: u64| usize::try_from(most).unwrap_or(usize::MAX).saturating_sub(self.said.len());
        let kept = match self.most {
            Most::All => said.len(),
            Most::First(most) | Most::Within(most) => room(most).min(said.len()),
        };
        self.too_much = matches!(self.most, Most::Within(_)) && kept < said.len();
        self.said.extend_from_slice(&said[..kept]);
    }
}

/// The end of a pipe that is fed.
struct Input<'a> {
    end: Option<OwnedFd>,
    rest: &'a [u8],
}

impl<'a> Input<'a> {
    fn open(end: Option<OwnedFd>, rest: &'a [u8]) -> Self {
        // Without this a write waits for a reader that may have gone.
        let open = |end: &OwnedFd| rustix::fs::fcntl_setfl(end, OFlags::NONBLOCK).is_ok();
        Self { end: end.filter(|end| !rest.is_empty() && open(end)), rest }
    }

    fn feed(&mut self) {
        let Some(end) = &self.end else { return };
        match rustix::io::write(end, self.rest) {
            Ok(n) => self.rest = &self.rest[n..],
            Err(Errno::AGAIN | Errno::INTR) => return,
            // One that ends early closes the pipe; its exit code tells the story then.
            Err(_) => self.rest = &[],
        }
        if self.rest.is_empty() {
            self.end = None;
        }
    }
}

/// Whether it still lives. It is not collected, so that its id stays its own.
struct Life {
    pid: Pid,
    /// Readable once it is over, where the system has such a thing.
    pin: Option<OwnedFd>,
    gone: Option<Instant>,
    pause: Duration,
}

impl Life {
    fn of(pid: Pid) -> Self {
        #[cfg(target_os = "linux")]
        let pin = rustix::process::pidfd_open(pid, rustix::process::PidfdFlags::empty()).ok();
        #[cfg(not(target_os = "linux"))]
        let pin = None;
        Self { pid, pin, gone: None, pause: Duration::from_micros(200) }
    }

    fn awaited(&self) -> Option<&OwnedFd> {
        self.pin.as_ref().filter(|_| self.gone.is_none())
    }

    /// How long until it is looked for again.
    fn pause(&mut self) -> Option<Duration> {
        if self.pin.is_some() || self.gone.is_some() {
            return None;
        }
        self.pause = (self.pause * 2).min(LOOK);
        Some(self.pause)
    }

    fn look(&mut self, ended: bool) {
        let asked = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        let is_gone = match self.pin {
            Some(_) => ended,
            None => !matches!(waitid(WaitId::Pid(self.pid), asked), Ok(None)),
        };
        if is_gone && self.gone.is_none() {
            self.gone = Some(Instant::now());
        }
    }
}
