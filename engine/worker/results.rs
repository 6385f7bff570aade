//! The files that a driver leaves. They lie where a worker can reach them, so they are read with
//! suspicion: no link is followed, nothing but a file is opened, and no more than a file's worth is read.

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use rustix::fs::OFlags;

use crate::model::turn::Turn;

/// Largest answer, in bytes. What is longer is cut.
pub const ANSWER: u64 = 1024 * 1024;
/// Largest file that can be a turn.
const TURN: u64 = 256 * 1024;

/// Why a turn cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum ResultError {
    /// The system's word.
    #[error("cannot read it: {0}")]
    Io(#[from] io::Error),
    /// A link, a folder, a FIFO, …
    #[error("it is not a plain file")]
    NotAFile,
    /// More than a turn can be.
    #[error("it has more than {TURN} bytes")]
    TooLong,
    /// Something else than a turn.
    #[error("it is no turn: {0}")]
    NoTurn(#[from] serde_json::Error),
}

/// The turn that a driver left, or nothing where it left none.
///
/// # Errors
/// When there is something that is no turn.
pub fn read_turn(path: &Path) -> Result<Option<Turn>, ResultError> {
    let Some(bytes) = read(path, TURN + 1)? else {
        return Ok(None);
    };
    if bytes.len() as u64 > TURN {
        return Err(ResultError::TooLong);
    }
    Ok(Some(serde_json::from_slice(&bytes)?))
}

/// The agent's last words, or nothing where the driver left none. Foreign bytes that are not UTF-8
/// are replaced.
///
/// # Errors
/// When there is something that is no file or cannot be read.
pub fn read_answer(path: &Path) -> Result<Option<String>, ResultError> {
    Ok(read(path, ANSWER)?.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()))
}

/// The first `most` bytes of a file.
pub(super) fn read(path: &Path, most: u64) -> Result<Option<Vec<u8>>, ResultError> {
    // Not waiting for the writer of a FIFO that somebody put there.
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = File::options().read(true).custom_flags(flags.bits().cast_signed()).open(path);
    let file = match file {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        // NOFOLLOW's answer to a link.
        Err(error) if error.raw_os_error() == Some(rustix::io::Errno::LOOP.raw_os_error()) => {
            return Err(ResultError::NotAFile);
        }
        Err(error) => return Err(error.into()),
    };
    if !file.metadata()?.is_file() {
        return Err(ResultError::NotAFile);
    }
    let mut bytes = Vec::new();
    file.take(most).read_to_end(&mut bytes)?;
    Ok(Some(bytes))
}

/// As much of an answer as is kept.
pub(super) fn cut(text: &str) -> &str {
    let most = usize::try_from(ANSWER).unwrap_or(usize::MAX).min(text.len());
    let end = (0..=most).rev().find(|at| text.is_char_boundary(*at));
    &text[..end.unwrap_or_default()]
}

/// Puts a file in place of whatever is at `path`, by rename.
pub(super) fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    file.write_all(bytes)?;
    file.as_file().sync_data()?;
    file.persist(path).map_err(|error| error.error)?;
    Ok(())
}
