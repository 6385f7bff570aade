//! The command's output on its way to the log, in constant memory.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::Instant;

use rustix::fs::OFlags;
use rustix::io::Errno;
use rustix::pipe::{PipeFlags, pipe_with};

use crate::launch::Outcome;
use crate::process::LimitedLog;

/// What a pipe holds at most, and so the most that one read can bring.
const CHUNK: usize = 64 * 1024;

/// The reading ends, and where it goes.
pub(super) struct Output {
    pipes: Vec<Pipe>,
    log: LimitedLog,
    capture: Option<LimitedLog>,
    buffer: Vec<u8>,
    last: Instant,
}

struct Pipe {
    end: OwnedFd,
    captured: bool,
}

/// The writing ends, for the command's standard output and error.
pub(super) struct Ends {
    pub(super) out: OwnedFd,
    pub(super) err: OwnedFd,
}

impl Output {
    /// Makes one pipe for both, so that the log has them in the order they were written; or two if
    /// standard output is wanted for itself.
    pub(super) fn open(log: LimitedLog, capture: Option<LimitedLog>) -> io::Result<(Self, Ends)> {
        let (read, out) = pipe_with(PipeFlags::CLOEXEC)?;
        let mut pipes = vec![Pipe { end: read, captured: capture.is_some() }];
        let err = if capture.is_some() {
            let (read, err) = pipe_with(PipeFlags::CLOEXEC)?;
            pipes.push(Pipe { end: read, captured: false });
            err
        } else {
            out.try_clone()?
        };
        for pipe in &pipes {
            rustix::fs::fcntl_setfl(&pipe.end, OFlags::NONBLOCK)?;
        }
        let buffer = vec![0; CHUNK];
        Ok((Self { pipes, log, capture, buffer, last: Instant::now() }, Ends { out, err }))
    }

    /// What to poll.
    pub(super) fn fds(&self) -> Vec<(BorrowedFd<'_>, bool)> {
        self.pipes.iter().map(|pipe| (pipe.end.as_fd(), false)).collect()
    }

    /// When something last came.
    pub(super) fn last(&self) -> Instant {
        self.last
    }

    /// Reads once from each pipe that is `ready`. A pipe at its end is closed.
    pub(super) fn pump(&mut self, ready: &[bool]) {
        let mut ready = ready.iter().copied();
        let Self { pipes, log, capture, buffer, last } = self;
        pipes.retain(|pipe| {
            if !ready.next().unwrap_or(false) {
                return true;
            }
            match rustix::io::read(&pipe.end, &mut buffer[..]) {
                Ok(0) => false,
                Ok(n) => {
                    *last = Instant::now();
                    log.write(&buffer[..n]);
                    if let Some(capture) = capture.as_mut().filter(|_| pipe.captured) {
                        capture.write(&buffer[..n]);
                    }
                    true
                }
                Err(error) => matches!(error, Errno::AGAIN | Errno::INTR),
            }
        });
    }

    /// Takes what is still in the pipes and closes the log. Everyone who could write is dead by now;
    /// should a stranger have got hold of a writing end, it does not hold this up: what a pipe holds
    /// is read, twice over at most.
    pub(super) fn finish(mut self, outcome: &mut Outcome) {
        for _ in 0..32 {
            let open = self.pipes.len();
            let before = self.last;
            self.pump(&vec![true; open]);
            if self.pipes.is_empty() || (self.pipes.len() == open && self.last == before) {
                break;
            }
        }
        let written = self.log.finish();
        outcome.lines = written.lines;
        outcome.bytes = written.bytes;
        outcome.dropped_bytes = written.dropped;
        outcome.log_error = written.error;
        if let Some(written) = self.capture.map(LimitedLog::finish) {
            outcome.capture_dropped_bytes = written.dropped;
            outcome.log_error = outcome.log_error.take().or(written.error);
        }
    }
}

/// Opens a log, its folder too if that is missing.
pub(super) fn create(path: &std::path::Path, limit: u64) -> io::Result<LimitedLog> {
    match LimitedLog::create_plain(path, limit) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            std::fs::create_dir_all(path.parent().unwrap_or(path))?;
            LimitedLog::create_plain(path, limit)
        }
        other => other,
    }
}
