//! The files that a driver leaves. They lie where a worker can reach them, so they are read as such
//! ([`plain_file`]).

use std::io::{self, Write};
use std::path::Path;

use crate::model::turn::Turn;
use crate::plain_file;

/// Largest answer, in bytes. What an agent says beyond that is cut.
pub const ANSWER: u64 = 1024 * 1024;
/// Largest file that can be a turn.
const TURN: u64 = 256 * 1024;

/// Why a turn cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum ResultError {
    /// The system's word, or what is wrong with the file: a link, a FIFO, too long.
    #[error("cannot read it: {0}")]
    Io(#[from] io::Error),
    /// Something else than a turn.
    #[error("it is no turn: {0}")]
    NoTurn(#[from] serde_json::Error),
}

/// The turn that a driver left, or nothing where it left none.
///
/// # Errors
/// When there is something that is no turn.
pub fn read_turn(path: &Path) -> Result<Option<Turn>, ResultError> {
    let bytes = read(path, TURN)?;
    Ok(bytes.map(|bytes| serde_json::from_slice(&bytes)).transpose()?)
}

/// The agent's last words, or nothing where the driver left none. Foreign bytes that are not UTF-8
/// are replaced.
///
/// # Errors
/// When there is something that is no file or cannot be read.
pub fn read_answer(path: &Path) -> Result<Option<String>, ResultError> {
    Ok(read(path, ANSWER)?.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()))
}

/// What a file has, if there is one.
pub(super) fn read(path: &Path, most: u64) -> io::Result<Option<Vec<u8>>> {
    match plain_file::read(path, most) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        read => read.map(Some),
    }
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
