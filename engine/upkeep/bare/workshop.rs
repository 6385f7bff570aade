//! The folder that a migration works from: `.sop-migrating/` beside the checkout, with the journal in `.git/` below it.
//!
//! What the journal says is carried out, so nothing counts that somebody else could have put there. Git neither stores
//! nor checks out anything below a folder called `.git`: no clone brings a journal along. And the folders are of the
//! user who asks, and written to by nobody else: what lies in a folder above, `/tmp` say, is another's. One migration at
//! a time works there: a kernel lock, which falls with its process.

use std::ffi::OsStr;
use std::fs::{self, DirBuilder};
use std::io::{self, ErrorKind};
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};

use crate::process;
use crate::upkeep::error::UpkeepError;
use crate::upkeep::held::Held;

/// Beside the checkout while it is being moved: the journal, and the files on their way.
pub const WORKSHOP: &str = ".sop-migrating";
/// In it: the steps.
pub(super) const JOURNAL: &str = "journal.json";
/// The steps, while they are being written down.
pub(super) const FRESH: &str = "journal.new";
/// How many of the steps are done.
pub(super) const DONE: &str = "done";
/// The same, once it could not be noted any more while they were being undone.
pub(super) const UNDOING: &str = "undoing";
/// Room on the disk that is put aside for undoing.
pub(super) const SPARE: &str = "spare";
const LOCK: &str = "lock";

/// How often it is tried anew when another takes the folder away in between.
const TRIES: usize = 20;

/// Where the journal of a migration in `top` is.
#[must_use]
pub fn desk(top: &Path) -> PathBuf {
    top.join(WORKSHOP).join(".git")
}

/// Whether the folders that lead to the journal are the user's own, and nobody else writes to them.
pub(super) fn is_own(top: &Path) -> bool {
    is_mine(top, 0) && is_mine(&top.join(WORKSHOP), 0o022) && is_mine(&desk(top), 0o022)
}

/// Whether it is a folder of the user's own whose mode has none of these bits.
fn is_mine(path: &Path, mask: u32) -> bool {
    let own = rustix::process::geteuid().as_raw();
    path.symlink_metadata()
        .is_ok_and(|meta| meta.is_dir() && meta.uid() == own && meta.mode() & mask == 0)
}

/// Whether a process is at work there.
#[must_use]
pub fn is_busy(top: &Path) -> bool {
    Held::is_taken(&desk(top).join(LOCK))
}

/// The workshop of one migration, locked. Once it is dropped nothing of it is left, unless a journal is there.
#[derive(Debug)]
pub struct Workshop {
    top: PathBuf,
    _held: Held,
}

impl Workshop {
    /// Makes it, if need be, and locks it.
    ///
    /// # Errors
    /// [`UpkeepError::Stays`] when another process has it, or something that is not `sop`'s is in its place.
    pub fn enter(top: &Path) -> Result<Self, UpkeepError> {
        let path = desk(top).join(LOCK);
        for _ in 0..TRIES {
            match make_folders(top).and_then(|()| Held::take(&path)) {
                Ok(Some(held)) => return Ok(Self { top: top.to_path_buf(), _held: held }),
                Ok(None) => break,
                // Its last holder took the folder away.
                Err(error) if error.kind() == ErrorKind::NotFound => {}
                Err(error) => {
                    let _ = remove_folders(top);
                    return Err(UpkeepError::io("make", &path)(error));
                }
            }
        }
        Err(busy(top))
    }
}

impl Drop for Workshop {
    fn drop(&mut self) {
        if desk(&self.top).join(JOURNAL).symlink_metadata().is_err() {
            // What else is in it is named by the next look.
            let _ = clear(&self.top);
        }
    }
}

/// That another is at work there.
#[must_use]
pub fn busy(top: &Path) -> UpkeepError {
    stays(top, "another `sop migrate-to-bare` is at work in it".to_owned())
}

fn stays(top: &Path, why: String) -> UpkeepError {
    UpkeepError::Stays { what: process::escape_path(top), why: vec![why], help: None }
}

/// Takes away what a migration without a journal leaves.
pub(super) fn clear(top: &Path) -> io::Result<()> {
    for name in [FRESH, DONE, UNDOING, SPARE, LOCK] {
        match fs::remove_file(desk(top).join(name)) {
            Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
            _ => {}
        }
    }
    remove_folders(top)
}

/// Makes the folders. What is there already must be the user's own.
pub(super) fn make_folders(top: &Path) -> io::Result<()> {
    for folder in [top.join(WORKSHOP), desk(top)] {
        match DirBuilder::new().mode(0o700).create(&folder) {
            Err(error) if error.kind() != ErrorKind::AlreadyExists => return Err(error),
            _ if is_mine(&folder, 0o022) => {}
            _ if folder.symlink_metadata().is_err() => return Err(ErrorKind::NotFound.into()),
            _ => {
                return Err(io::Error::other("something else is there, or others may write to it"));
            }
        }
    }
    Ok(())
}

fn remove_folders(top: &Path) -> io::Result<()> {
    for folder in [desk(top), top.join(WORKSHOP)] {
        match fs::remove_dir(folder) {
            Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
            _ => {}
        }
    }
    Ok(())
}

/// Whether all that is in the workshop is what a migration leaves that was killed before it wrote its steps down.
pub(super) fn is_only_begun(top: &Path) -> bool {
    let names = |folder: &Path| -> Vec<std::ffi::OsString> {
        let listing = fs::read_dir(folder).into_iter().flatten().flatten();
        listing.map(|entry| entry.file_name()).collect()
    };
    let known = [FRESH, DONE, UNDOING, SPARE, LOCK].map(OsStr::new);
    is_own(top)
        && names(&top.join(WORKSHOP)) == [".git"]
        && names(&desk(top)).iter().all(|name| known.contains(&name.as_os_str()))
}
