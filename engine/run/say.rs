//! Words that reach a worker while it works: files in the folder of its session, which the driver of a
//! coding agent looks at (`worker::Drive::say`). `<n>.txt` waits; the driver makes `<n>.taken` of it, or
//! leaves `<n>.no` beside it, which says why not.

use std::fs;
use std::path::{Path, PathBuf};

use super::directory::{DirectoryError, RunDir, write_whole};
use crate::model::ids::WpId;
use crate::plain_file;

/// Longest reason that is read, in bytes.
const REASON: u64 = 16 * 1024;

/// A word to a worker.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Word {
    /// The WP.
    pub wp: WpId,
    /// The attempt at work.
    pub attempt: u32,
    /// Which word to it, from 1.
    pub n: u32,
    /// What it says.
    pub text: String,
}

/// What became of a word.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Became {
    /// The agent has it.
    Taken,
    /// It could not be given.
    Refused(String),
}

/// Leaves a word for the driver, once: whoever does so again after a crash changes nothing.
///
/// # Errors
/// When it cannot be written, or something else stands in the folder's place.
pub fn leave(dir: &RunDir, word: &Word) -> Result<(), DirectoryError> {
    let folder = dir.own(Path::new(&RunDir::turn_name(&word.wp, word.attempt)).join("say"))?;
    let was_left = ["txt", "taken", "no"]
        .iter()
        .any(|ending| fs::symlink_metadata(folder.join(format!("{}.{ending}", word.n))).is_ok());
    if was_left {
        return Ok(());
    }
    write_whole(&folder.join(format!("{}.txt", word.n)), word.text.as_bytes())
}

/// What became of a word, if the driver has said so.
#[must_use]
pub fn became(dir: &RunDir, wp: &WpId, attempt: u32, n: u32) -> Option<Became> {
    let folder = folder(dir, wp, attempt);
    if folder.join(format!("{n}.taken")).exists() {
        return Some(Became::Taken);
    }
    let why = plain_file::read(&folder.join(format!("{n}.no")), REASON).ok()?;
    Some(Became::Refused(String::from_utf8_lossy(&why).trim().to_owned()))
}

fn folder(dir: &RunDir, wp: &WpId, attempt: u32) -> PathBuf {
    dir.named(&RunDir::turn_name(wp, attempt)).join("say")
}
