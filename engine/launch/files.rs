//! The step files' reading and writing: JSON, whole or not at all.

use std::fs::{self, File};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::LaunchError;
use crate::plain_file;

/// Whether a file must be on disk before what it says counts, so that not even a power failure takes
/// it back. That costs a sync: for workers, which are paid; a check is simply run again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Durable {
    Yes,
    No,
}

/// Appends one line of JSON.
pub(super) fn write_line(file: &mut File, value: &impl Serialize) -> io::Result<()> {
    let mut line = serde_json::to_vec(value)?;
    line.push(b'\n');
    file.write_all(&line)
}

/// Replaces a file by JSON.
pub(super) fn write_json(
    path: &Path,
    value: &impl Serialize,
    durable: Durable,
) -> Result<(), LaunchError> {
    let bytes = serde_json::to_vec(value).map_err(io::Error::from);
    bytes
        .and_then(|bytes| write_renamed(path, &bytes, durable))
        .map_err(LaunchError::file("write", path))
}

/// Writes beside and renames, so that no reader sees a half. The side name carries the process and a
/// count, since two engines, or two tasks of one, may write at once.
pub(super) fn write_renamed(path: &Path, bytes: &[u8], durable: Durable) -> io::Result<()> {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    let mut side = path.as_os_str().to_owned();
    side.push(format!(".{}.{count}", std::process::id()));
    let mut file = File::options()
        .create(true)
        .truncate(true)
        .write(true)
        .custom_flags(plain_file::careful())
        .open(&side)?;
    file.write_all(bytes)?;
    if durable == Durable::Yes {
        file.sync_all()?;
    }
    fs::rename(&side, path)
}

/// Reads a file of JSON, if it is there. One that ends too early is taken for one that is not: a
/// machine that lost its power can leave a new name with nothing, or half, behind it.
pub(super) fn read_json<T: DeserializeOwned>(path: &Path) -> Result<Option<T>, LaunchError> {
    match plain_file::read(path, plain_file::DOCUMENT) {
        Ok(bytes) => match serde_json::from_slice(&bytes) {
            Ok(value) => Ok(Some(value)),
            Err(error) if error.is_eof() => Ok(None),
            Err(error) => {
                Err(LaunchError::Damaged { path: path.to_owned(), message: error.to_string() })
            }
        },
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) if error.kind() == io::ErrorKind::InvalidData => {
            Err(LaunchError::Damaged { path: path.to_owned(), message: error.to_string() })
        }
        Err(error) => Err(LaunchError::file("read", path)(error)),
    }
}
