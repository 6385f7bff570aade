//! What a holder listens to besides its command: signals, orders through the step's folder, and the
//! tether to its engine. All of it wakes one `poll`.

use std::fs::{self, File};
use std::io::{self, Read};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::fs::OpenOptionsExt;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::OFlags;
use rustix::io::Errno;
use signal_hook::consts::{SIGCHLD, SIGHUP, SIGINT, SIGTERM};

use crate::launch::How;
use crate::launch::step::{Step, nonblocking};

/// What the holder is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Order {
    /// Stop the command.
    Stop(How),
    /// The engine is gone, and the step was bound to it.
    Cut,
}

/// Everything that is listened to.
pub(super) struct Controls {
    step: Step,
    wake: UnixStream,
    /// A byte for each TERM.
    terms: UnixStream,
    terms_heard: usize,
    fifo: File,
    fifo_path: PathBuf,
    tethered: bool,
    cut: bool,
    ordered: Option<How>,
}

impl Controls {
    /// Starts to listen. The FIFO is open before the standing order is first read, so none is missed.
    pub(super) fn open(step: &Step, outlives: bool) -> io::Result<Self> {
        let (wake, wakes) = UnixStream::pair()?;
        wake.set_nonblocking(true)?;
        // A second TERM is more than the first, so they are counted.
        let (terms, term) = UnixStream::pair()?;
        terms.set_nonblocking(true)?;
        signal_hook::low_level::pipe::register(SIGTERM, term)?;
        // INT and HUP get handlers that do nothing else: an ignored signal would stay ignored in the
        // command, a handled one does not.
        for signal in [SIGCHLD, SIGINT, SIGHUP] {
            signal_hook::low_level::pipe::register(signal, wakes.try_clone()?)?;
        }
        let fifo_path = step.file("control");
        make_fifo(&fifo_path)?;
        // Open for writing too: a FIFO without writers would be at its end, and wake for ever.
        let fifo =
            File::options().read(true).write(true).custom_flags(nonblocking()).open(&fifo_path)?;
        if !outlives {
            let flags = rustix::fs::fcntl_getfl(rustix::stdio::stdin())?;
            rustix::fs::fcntl_setfl(rustix::stdio::stdin(), flags | OFlags::NONBLOCK)?;
        }
        Ok(Self {
            step: step.clone(),
            wake,
            terms,
            terms_heard: 0,
            fifo,
            fifo_path,
            tethered: !outlives,
            cut: false,
            ordered: step.ordered(),
        })
    }

    /// Sleeps until something happens here or on one of `others`, or `timeout` is over. Says which of
    /// `others` can be read.
    pub(super) fn wait(
        &mut self,
        others: &mut [(BorrowedFd<'_>, bool)],
        timeout: Duration,
    ) -> io::Result<()> {
        let time = Timespec {
            tv_sec: timeout.as_secs().try_into().unwrap_or(i64::MAX),
            tv_nsec: timeout.subsec_nanos().into(),
        };
        let mut fds = vec![
            PollFd::from_borrowed_fd(self.wake.as_fd(), PollFlags::IN),
            PollFd::from_borrowed_fd(self.terms.as_fd(), PollFlags::IN),
            PollFd::from_borrowed_fd(self.fifo.as_fd(), PollFlags::IN),
        ];
        let untethered = fds.len();
        if self.tethered && !self.cut {
            fds.push(PollFd::from_borrowed_fd(rustix::stdio::stdin(), PollFlags::IN));
        }
        let own = fds.len();
        fds.extend(others.iter().map(|(fd, _)| PollFd::from_borrowed_fd(*fd, PollFlags::IN)));
        match poll(&mut fds, Some(&time)) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        let tether = own > untethered && !fds[untethered].revents().is_empty();
        for ((_, ready), fd) in others.iter_mut().zip(&fds[own..]) {
            *ready = !fd.revents().is_empty();
        }
        drain(&mut self.wake);
        self.terms_heard += drain(&mut self.terms);
        if drain(&mut self.fifo) > 0 {
            self.ordered = self.step.ordered();
        }
        if tether {
            self.cut = is_at_end();
        }
        Ok(())
    }

    /// The strongest order that stands.
    pub(super) fn order(&self) -> Option<Order> {
        if self.cut {
            return Some(Order::Cut);
        }
        let by_signal = match self.terms_heard {
            0 => None,
            1 => Some(How::Term),
            _ => Some(How::Kill),
        };
        self.ordered.max(by_signal).map(Order::Stop)
    }

    /// Stops to listen for orders: the step is over.
    pub(super) fn close(&self) {
        let _tidy_only = fs::remove_file(&self.fifo_path);
    }
}

#[cfg(not(target_vendor = "apple"))]
fn make_fifo(path: &Path) -> io::Result<()> {
    use rustix::fs::{CWD, Mode};
    match rustix::fs::mkfifoat(CWD, path, Mode::RUSR | Mode::WUSR) {
        Ok(()) | Err(Errno::EXIST) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

#[cfg(target_vendor = "apple")]
fn make_fifo(_: &Path) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Empties it, and says how many bytes there were.
fn drain(from: &mut impl Read) -> usize {
    let mut bytes = [0; 256];
    let mut drained = 0;
    while let Ok(read @ 1..) = from.read(&mut bytes) {
        drained += read;
    }
    drained
}

/// Whether standard input, the tether, has no writer left. Nobody writes to it; if someone did, the
/// bytes mean nothing.
fn is_at_end() -> bool {
    let mut bytes = [0; 64];
    loop {
        match rustix::io::read(rustix::stdio::stdin(), &mut bytes) {
            Ok(0) => return true,
            Ok(_) | Err(Errno::INTR) => {}
            Err(Errno::AGAIN) => return false,
            // An end that cannot be read is as good as none.
            Err(_) => return true,
        }
    }
}
