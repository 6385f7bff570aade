//! What an agent prints, on its way to the reader: line by line, in bounded memory, and kept as it
//! came beside that. Threads, because the driver has nothing else to do but wait.

use std::io::{self, Read, Write};
use std::process::{ChildStderr, ChildStdin, ChildStdout};
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use bstr::ByteSlice;

use crate::process::LimitedLog;

/// Longest line that reaches the reader, in bytes. An agent that puts a whole file into one event
/// makes longer ones; they are kept in the stream, and not read.
pub const LINE: usize = 4 * 1024 * 1024;
/// What is kept of the end of standard error.
const ERRORS: usize = 16 * 1024;
const CHUNK: usize = 64 * 1024;

/// What happened, and to which part of the turn.
pub(super) struct Event {
    pub(super) part: u32,
    pub(super) what: What,
}

pub(super) enum What {
    /// A line of standard output, without its newline.
    Line(Vec<u8>),
    /// A line that was longer than [`LINE`], and how long.
    Long(u64),
    /// The end of standard output, or of standard error.
    Over,
    /// A signal for the driver, or the death of a child; of no part.
    Woken,
}

/// The raw stream, shared by the parts of a turn.
#[derive(Clone)]
pub(super) struct Stream(Arc<Mutex<Option<LimitedLog>>>);

impl Stream {
    pub(super) fn new(log: LimitedLog) -> Self {
        Self(Arc::new(Mutex::new(Some(log))))
    }

    fn write(&self, bytes: &[u8]) {
        // A writer that panicked left a log that is still a log.
        if let Some(log) = &mut *self.0.lock().unwrap_or_else(PoisonError::into_inner) {
            log.write(bytes);
        }
    }

    /// Joins the log's pieces; what comes later is dropped.
    pub(super) fn finish(&self) {
        if let Some(log) = self.0.lock().unwrap_or_else(PoisonError::into_inner).take() {
            log.finish();
        }
    }
}

/// Reads standard output to its end.
pub(super) fn listen(mut out: ChildStdout, stream: Stream, to: SyncSender<Event>, part: u32) {
    thread::spawn(move || {
        let mut cutter = Cutter::default();
        let mut chunk = vec![0; CHUNK];
        let mut send = |what| to.send(Event { part, what }).is_ok();
        while let Some(bytes) = read(&mut out, &mut chunk) {
            stream.write(bytes);
            if !cutter.cut(bytes, &mut send) {
                return;
            }
        }
        let _main_is_gone = cutter.finish(&mut send) && send(What::Over);
    });
}

/// The next bytes, or nothing at the end.
fn read<'a>(from: &mut impl Read, chunk: &'a mut [u8]) -> Option<&'a [u8]> {
    loop {
        match from.read(chunk) {
            Ok(0) => return None,
            Ok(n) => return Some(&chunk[..n]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => return None,
        }
    }
}

/// Cuts bytes into lines.
#[derive(Default)]
struct Cutter {
    line: Vec<u8>,
    /// Bytes of the line that did not fit.
    over: u64,
}

impl Cutter {
    /// Sends what is complete. False when nobody listens any more.
    fn cut(&mut self, bytes: &[u8], send: &mut impl FnMut(What) -> bool) -> bool {
        let mut rest = bytes;
        while let Some(at) = rest.find_byte(b'\n') {
            self.push(&rest[..at]);
            rest = &rest[at + 1..];
            if !self.flush(send) {
                return false;
            }
        }
        self.push(rest);
        true
    }

    fn push(&mut self, bytes: &[u8]) {
        let room = LINE - self.line.len();
        let (kept, lost) = bytes.split_at(room.min(bytes.len()));
        self.line.extend_from_slice(kept);
        self.over += lost.len() as u64;
    }

    fn flush(&mut self, send: &mut impl FnMut(What) -> bool) -> bool {
        let line = std::mem::take(&mut self.line);
        match std::mem::take(&mut self.over) {
            0 => send(What::Line(line)),
            over => send(What::Long(line.len() as u64 + over)),
        }
    }

    /// Sends the last line, if it has no newline.
    fn finish(&mut self, send: &mut impl FnMut(What) -> bool) -> bool {
        self.line.is_empty() || self.flush(send)
    }
}

/// The end of standard error.
#[derive(Clone, Default)]
pub(super) struct Errors(Arc<Mutex<Vec<u8>>>);

impl Errors {
    /// Passes standard error on as it is, and keeps its end.
    pub(super) fn pass_on(mut err: ChildStderr, to: SyncSender<Event>, part: u32) -> Self {
        let errors = Self::default();
        let kept = errors.clone();
        thread::spawn(move || {
            let mut chunk = vec![0; CHUNK];
            while let Some(bytes) = read(&mut err, &mut chunk) {
                kept.keep(bytes);
                // Nobody to tell if it fails; the agent goes on all the same.
                let _gone = io::stderr().write_all(bytes);
            }
            let _main_is_gone = to.send(Event { part, what: What::Over });
        });
        errors
    }

    fn keep(&self, bytes: &[u8]) {
        let mut end = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        end.extend_from_slice(&bytes[bytes.len().saturating_sub(ERRORS)..]);
        let surplus = end.len().saturating_sub(ERRORS);
        end.drain(..surplus);
    }

    pub(super) fn end(&self) -> Vec<u8> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// Writes what it is sent to standard input, in order; the end is when the sender is dropped. An
/// agent that does not read holds up nobody else.
pub(super) fn feed(mut stdin: ChildStdin) -> Sender<Vec<u8>> {
    let (to, from): (Sender<Vec<u8>>, Receiver<Vec<u8>>) = channel();
    thread::spawn(move || {
        for bytes in from {
            if stdin.write_all(&bytes).and_then(|()| stdin.flush()).is_err() {
                return;
            }
        }
    });
    to
}
