//! A limit that several sessions have passed together, none of them alone: the engine, which sees all of
//! them, leaves it in the folder of each, and their drivers end them at it.

use std::io;
use std::path::{Path, PathBuf};

use super::results;
use crate::model::turn::Spent;

/// Largest file that can be a limit.
const LIMIT: u64 = 4096;

/// Where it is left, in the folder of a session.
#[must_use]
pub(super) fn file(folder: &Path) -> PathBuf {
    folder.join("spent.json")
}

/// Has the session whose folder this is ended at a limit. Said twice, the first time counts.
///
/// # Errors
/// When it cannot be written.
pub fn leave(folder: &Path, limit: Spent) -> io::Result<()> {
    let path = file(folder);
    match path.symlink_metadata() {
        Ok(_) => Ok(()),
        Err(_) => results::replace(&path, &serde_json::to_vec(&limit)?),
    }
}

/// The limit that was left, if one was.
pub(super) fn read(path: &Path) -> Option<Spent> {
    let bytes = results::read(path, LIMIT).ok().flatten()?;
    serde_json::from_slice(&bytes).ok()
}
