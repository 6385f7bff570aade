//! Files in places where somebody else could have put something else: a worker's worktree, the run
//! directory, git's own folders. They are read only if they are plain files, never through a link, never
//! waited for (a FIFO without another end blocks whoever opens it), and never without a bound.

use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use rustix::fs::OFlags;

/// Most bytes of a document that one program leaves for another: a verdict, a request, a step's result.
pub const DOCUMENT: u64 = 2 << 20;
/// Most bytes of what `sop` itself writes and must be able to read again whatever its size: a frozen plan, a
/// look at a large checkout. Far more than any of them has, and less than what would hurt the machine.
pub const OWN: u64 = 1 << 30;

/// Flags for opening such a file: a FIFO without another end fails or opens at once, and a link is not
/// followed.
#[must_use]
pub fn careful() -> i32 {
    (OFlags::NONBLOCK | OFlags::NOFOLLOW).bits().cast_signed()
}

/// A plain file, open for reading.
///
/// # Errors
/// What the system said; [`io::ErrorKind::InvalidData`] for what is no plain file.
pub fn open(path: &Path) -> io::Result<File> {
    let file = match File::options().read(true).custom_flags(careful()).open(path) {
        Ok(file) => file,
        Err(error) if is_odd(path) => return Err(odd(format!("it is no plain file ({error})"))),
        Err(error) => return Err(error),
    };
    is_plain(file)
}

/// The contents of a plain file of at most `most` bytes.
///
/// # Errors
/// As [`open`]; [`io::ErrorKind::InvalidData`] for one that is longer too.
pub fn read(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    bounded(open(path)?, most)
}

/// As [`read`], but where a link is the user's own way to say which file is meant. What it leads to must
/// be a plain file.
///
/// # Errors
/// As [`read`].
pub fn read_linked(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let flags = OFlags::NONBLOCK.bits().cast_signed();
    bounded(is_plain(File::options().read(true).custom_flags(flags).open(path)?)?, most)
}

/// The contents of a plain file that `sop` or git wrote, if they did: [`read`] of at most [`OWN`] bytes.
///
/// # Errors
/// As [`read`].
pub fn read_own(path: &Path) -> io::Result<Vec<u8>> {
    read(path, OWN)
}

/// The same, where a link may be meant: git's own files in the folder that all worktrees share.
///
/// # Errors
/// As [`read`].
pub fn read_own_linked(path: &Path) -> io::Result<Vec<u8>> {
    read_linked(path, OWN)
}

/// Opens a file for writing, made if it is not there and emptied if it is.
///
/// # Errors
/// As [`open`].
pub fn create(path: &Path) -> io::Result<File> {
    let opened = File::options().create(true).write(true).custom_flags(careful()).open(path);
    let file = match opened {
        Ok(file) => is_plain(file)?,
        Err(error) if is_odd(path) => return Err(odd(format!("it is no plain file ({error})"))),
        Err(error) => return Err(error),
    };
    file.set_len(0)?;
    Ok(file)
}

fn is_plain(file: File) -> io::Result<File> {
    match file.metadata()?.is_file() {
        true => Ok(file),
        false => Err(odd("it is no plain file".to_owned())),
    }
}

fn bounded(file: File, most: u64) -> io::Result<Vec<u8>> {
    let length = file.metadata()?.len().min(most);
    let room = usize::try_from(length).unwrap_or(0).saturating_add(1);
    take(file, most, Vec::with_capacity(room))
}

/// All that a stream has, of at most `most` bytes.
///
/// # Errors
/// As [`read`].
pub fn read_stream(stream: impl Read, most: u64) -> io::Result<Vec<u8>> {
    take(stream, most, Vec::new())
}

fn take(stream: impl Read, most: u64, mut bytes: Vec<u8>) -> io::Result<Vec<u8>> {
    // One that grows while it is read is too long as well.
    stream.take(most.saturating_add(1)).read_to_end(&mut bytes)?;
    match bytes.len() as u64 > most {
        true => Err(odd(format!("it is longer than {most} bytes"))),
        false => Ok(bytes),
    }
}

/// Whether there is something, a link or a socket say, that cannot even be opened as a file is.
fn is_odd(path: &Path) -> bool {
    path.symlink_metadata().is_ok_and(|found| !found.is_file())
}

fn odd(what: String) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what)
}
