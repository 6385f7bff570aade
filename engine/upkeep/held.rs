//! A lock that falls with its process, on a file that is there only as long as something is under way: what the file
//! says when nobody holds it is what a killed process was at.
//!
//! A record lock, which no child inherits. Its own process must not open the file elsewhere: closing that lets go of it.

use std::fs::{self, File};
use std::io::{self, Read, Seek as _, Write as _};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::fs::{FlockOperation, fcntl_lock};
use rustix::io::Errno;
use rustix::process::{Flock, FlockType, fcntl_getlk};

use crate::plain_file;

/// How often whoever waits looks again.
const LOOK: Duration = Duration::from_millis(10);

/// The lock, held.
#[derive(Debug)]
pub struct Held {
    file: File,
    path: PathBuf,
}

impl Held {
    /// Takes it; nothing where another process has it. The folder must be there.
    ///
    /// # Errors
    /// What the system said.
    pub fn take(path: &Path) -> io::Result<Option<Self>> {
        loop {
            let mut how = File::options();
            how.create(true).truncate(false).read(true).write(true).mode(0o600);
            let file = how.custom_flags(plain_file::careful()).open(path)?;
            match fcntl_lock(&file, FlockOperation::NonBlockingLockExclusive) {
                Ok(()) => {}
                Err(Errno::AGAIN | Errno::ACCESS) => return Ok(None),
                Err(error) => return Err(error.into()),
            }
            // Its last holder may have removed it while we opened it.
            let ours = file.metadata()?;
            if fs::symlink_metadata(path).is_ok_and(|there| there.ino() == ours.ino()) {
                return Ok(Some(Self { file, path: path.to_path_buf() }));
            }
        }
    }

    /// As [`Held::take`], once nobody else has it.
    ///
    /// # Errors
    /// What the system said.
    pub fn wait(path: &Path) -> io::Result<Self> {
        loop {
            match Self::take(path)? {
                Some(held) => return Ok(held),
                None => std::thread::sleep(LOOK),
            }
        }
    }

    /// Whether another process has it.
    #[must_use]
    pub fn is_taken(path: &Path) -> bool {
        let file = plain_file::open(path);
        file.is_ok_and(|file| {
            fcntl_getlk(&file, &Flock::from(FlockType::ReadLock)).is_ok_and(|lock| lock.is_some())
        })
    }

    /// What the file says.
    ///
    /// # Errors
    /// What the system said.
    pub fn said(&mut self) -> io::Result<Vec<u8>> {
        self.file.rewind()?;
        let mut said = Vec::new();
        Read::by_ref(&mut self.file).take(plain_file::DOCUMENT).read_to_end(&mut said)?;
        Ok(said)
    }

    /// Has the file say this.
    ///
    /// # Errors
    /// What the system said.
    pub fn say(&mut self, what: &[u8]) -> io::Result<()> {
        self.file.set_len(0)?;
        self.file.rewind()?;
        self.file.write_all(what)?;
        self.file.sync_data()
    }

    /// Removes the file and lets go.
    pub fn over(self) {
        // One that stays is taken by the next.
        let _ = fs::remove_file(&self.path);
    }
}
