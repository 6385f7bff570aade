//! The folder of one step: its files, its locks, and the state that they add up to. Engine and holder
//! both go through here.

use std::fs::{self, File};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use rustix::fs::{FlockOperation, fcntl_lock};
use rustix::io::Errno;
use rustix::process::{Flock, FlockType, fcntl_getlk};
use serde::{Deserialize, Serialize};

use crate::plain_file;
use crate::process::Identity;

use super::files::{Durable, read_json, write_json, write_line, write_renamed};
use super::spec::SpecFile;
use super::{How, LaunchError, Outcome};

/// The state of a step, as its files and locks tell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum State {
    /// No holder, and the fence is open.
    NeverStarted,
    /// A holder has the step and waits for the worktree's slot, or is about to start.
    Waiting,
    /// The command runs.
    Running(Progress),
    /// It is over.
    Ended(Outcome),
    /// It was started, its holder is gone, and there is no result.
    Lost,
}

/// A running step, seen from outside.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Progress {
    /// The command's process id, for people only: by the time it is read it may be another's.
    pub pid: Option<i32>,
    /// When the command was started.
    pub started_at: Timestamp,
    /// When it last printed something, if it has.
    pub last_output: Option<Timestamp>,
}

/// The first line of `started`: written with the file, before the command is.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Fence {
    /// The holder.
    pub holder: Option<Identity>,
    /// What [`TOKEN`] is set to for this start.
    pub token: String,
    /// When.
    pub at: Timestamp,
}

/// `started`: one line for the fence, a second when the command runs.
#[derive(Debug, Clone)]
pub(super) struct Started {
    pub fence: Fence,
    pub worker: Option<Identity>,
}

/// The environment entry that marks all that a step starts.
pub(super) const TOKEN: &str = "SOP_HELD_BY";

/// The folder of one step.
#[derive(Debug, Clone)]
pub struct Step {
    dir: PathBuf,
}

/// The lock of a step, held while this lives.
#[derive(Debug)]
pub(super) struct KeyLock(#[expect(dead_code, reason = "held, not read")] File);

impl Step {
    /// Takes the folder, which need not exist yet.
    #[must_use]
    pub fn at(dir: PathBuf) -> Self {
        Self { dir }
    }

    /// The folder.
    #[must_use]
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    pub(super) fn file(&self, name: &str) -> PathBuf {
        self.dir.join(name)
    }

    pub(super) fn spec(&self) -> Result<Option<SpecFile>, LaunchError> {
        read_json(&self.file("spec.json"))
    }

    pub(super) fn write_spec(&self, spec: &SpecFile) -> Result<(), LaunchError> {
        fs::create_dir_all(&self.dir).map_err(LaunchError::file("make the folder", &self.dir))?;
        write_json(&self.file("spec.json"), spec, Durable::No)
    }

    pub(super) fn outcome(&self) -> Result<Option<Outcome>, LaunchError> {
        read_json(&self.file("result.json"))
    }

    /// Leaves the result.
    pub(super) fn write_outcome(
        &self,
        outcome: &Outcome,
        durable: Durable,
    ) -> Result<(), LaunchError> {
        write_json(&self.file("result.json"), outcome, durable)
    }

    /// Takes the step's lock, or nothing if another holder has it.
    ///
    /// A record lock, not `flock`: it can be asked about without being taken, so that a look from
    /// outside never keeps a holder out. It falls when the holder dies, and no child inherits it.
    pub(super) fn lock(&self) -> io::Result<Option<KeyLock>> {
        let file = File::options()
            .create(true)
            .truncate(false)
            .write(true)
            .custom_flags(plain_file::careful())
            .open(self.file("lock"))?;
        match fcntl_lock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => Ok(Some(KeyLock(file))),
            Err(Errno::AGAIN | Errno::ACCESS) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Whether a holder has the lock.
    pub(super) fn is_held(&self) -> Result<bool, LaunchError> {
        self.held_by().map(|held| held.is_some())
    }

    /// The lock as its holder has it, with the holder's process id where the kernel can tell it.
    pub(super) fn held_by(&self) -> Result<Option<Flock>, LaunchError> {
        let path = self.file("lock");
        match File::options().read(true).custom_flags(plain_file::careful()).open(&path) {
            Ok(file) => fcntl_getlk(&file, &Flock::from(FlockType::ReadLock))
                .map_err(|error| LaunchError::file("ask about the lock", &path)(error.into())),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(LaunchError::file("open", &path)(error)),
        }
    }

    /// Closes the fence: true for the one call, ever, that may start the command.
    pub(super) fn close_fence(&self, fence: &Fence, durable: Durable) -> Result<bool, LaunchError> {
        let path = self.file("started");
        let mut file = match File::options().create_new(true).write(true).open(&path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => return Ok(false),
            Err(error) => return Err(LaunchError::file("create", &path)(error)),
        };
        write_line(&mut file, fence)
            .and_then(|()| match durable {
                Durable::Yes => file.sync_data(),
                Durable::No => Ok(()),
            })
            .map_err(LaunchError::file("write", &path))?;
        Ok(true)
    }

    /// Notes who was started.
    pub(super) fn note_worker(&self, worker: &Identity) -> io::Result<()> {
        let flags = plain_file::careful();
        let mut file =
            File::options().append(true).custom_flags(flags).open(self.file("started"))?;
        write_line(&mut file, worker)
    }

    /// Reads `started`. What is cut off in it is as if it had not been written.
    pub(super) fn started(&self) -> Result<Option<Started>, LaunchError> {
        let path = self.file("started");
        let text = match plain_file::read(&path, plain_file::DOCUMENT) {
            Ok(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) if error.kind() == io::ErrorKind::InvalidData => {
                return Err(LaunchError::Damaged { path, message: error.to_string() });
            }
            Err(error) => return Err(LaunchError::file("read", &path)(error)),
        };
        let mut lines = text.lines();
        let fence =
            lines.next().and_then(|line| serde_json::from_str(line).ok()).unwrap_or_else(|| {
                Fence { holder: None, token: String::new(), at: Timestamp::UNIX_EPOCH }
            });
        let worker = lines.next().and_then(|line| serde_json::from_str(line).ok());
        Ok(Some(Started { fence, worker }))
    }

    /// The state, from files and locks. A holder leaves the result before it lets go of the lock, so
    /// the lock is asked about first.
    pub(super) fn state(&self) -> Result<State, LaunchError> {
        let held = self.is_held()?;
        if let Some(outcome) = self.outcome()? {
            return Ok(State::Ended(outcome));
        }
        Ok(match (held, self.started()?) {
            (true, Some(started)) => State::Running(self.progress(&started)?),
            (true, None) => State::Waiting,
            (false, Some(_)) => State::Lost,
            (false, None) => State::NeverStarted,
        })
    }

    fn progress(&self, started: &Started) -> Result<Progress, LaunchError> {
        let last_output = self.spec()?.and_then(|file| {
            let tail = crate::process::limited_log::pieces(&file.spec.log);
            let newest = tail.iter().filter_map(|piece| fs::metadata(piece).ok());
            newest.filter(|m| m.len() > 0).filter_map(|m| m.modified().ok()).max()
        });
        Ok(Progress {
            pid: started.worker.as_ref().map(|worker| worker.pid),
            started_at: started.fence.at,
            last_output: last_output.and_then(|time| time.try_into().ok()),
        })
    }

    /// Leaves an order to stop and wakes the holder. KILL is never taken back by a later TERM.
    pub(super) fn order(&self, how: How) -> Result<(), LaunchError> {
        let path = self.file("cancel");
        if self.ordered() < Some(how) {
            let word = if how == How::Kill { "kill\n" } else { "term\n" };
            write_renamed(&path, word.as_bytes(), Durable::No)
                .map_err(LaunchError::file("write", &path))?;
        }
        // Without a reader there is nobody to wake: the holder reads `cancel` when it comes up.
        let opened =
            File::options().write(true).custom_flags(nonblocking()).open(self.file("control"));
        if let Ok(mut fifo) = opened {
            let _full_is_as_good = fifo.write(b"!");
        }
        Ok(())
    }

    /// The order that stands.
    pub(super) fn ordered(&self) -> Option<How> {
        match plain_file::read(&self.file("cancel"), plain_file::DOCUMENT).ok()?.as_slice() {
            b"kill\n" => Some(How::Kill),
            _ => Some(How::Term),
        }
    }
}

/// `O_NONBLOCK`, as `custom_flags` takes it.
pub(super) fn nonblocking() -> i32 {
    rustix::fs::OFlags::NONBLOCK.bits().cast_signed()
}
