//! Who asks now: one after the other, so that of two only one is first.

use std::fs::File;
use std::time::{Duration, Instant};

use rustix::fs::{FlockOperation, fcntl_lock};
use rustix::io::Errno;

use crate::plain_file;
use crate::run::directory::{DirectoryError, RunDir};

/// How long the turn of another is waited for. Asking takes a moment.
const PATIENCE: Duration = Duration::from_secs(10);

/// The turn of one who asks: others wait for it, so that nobody asks for what was just asked for. Whoever has it
/// looks at what waits ([`waiting`](super::waiting)) first and folds the journal then: what an engine took meanwhile is in one
/// of the two, since it is recorded before its file goes.
#[derive(Debug)]
pub struct Turn(#[expect(dead_code, reason = "held, not read")] File);

impl Turn {
    /// Waits for it.
    ///
    /// # Errors
    /// Somebody has it for longer than asking takes, or there is no place for its lock.
    pub fn take(dir: &RunDir) -> Result<Self, DirectoryError> {
        let path = dir.requests().join("turn.lock");
        let fail = |source| DirectoryError::Io { what: "lock", path: path.clone(), source };
        let file = plain_file::create(&path).map_err(fail)?;
        let deadline = Instant::now() + PATIENCE;
        loop {
            match fcntl_lock(&file, FlockOperation::NonBlockingLockExclusive) {
                Ok(()) => return Ok(Self(file)),
                Err(Errno::AGAIN | Errno::ACCESS) if Instant::now() < deadline => {
                    std::thread::sleep(Duration::from_millis(5));
                }
                Err(error) => return Err(fail(error.into())),
            }
        }
    }
}
