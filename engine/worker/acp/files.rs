//! `fs/read_text_file` and `fs/write_text_file`: the files of the worktree, read and written for the
//! agent. Links are followed only as far as they stay inside [`Bounds`]; the place that they lead to
//! is then walked once more, folder by folder, with no link in it, so that none can be slipped in.

use std::fs::File;
use std::io::{self, Read, Write};
use std::path::{Component, Path};

use rustix::fs::{CWD, Mode, OFlags, mkdirat, openat};
use rustix::io::Errno;
use serde_json::{Value, json};

use super::bounds::Bounds;

/// Largest file that is read for an agent.
const LARGEST: u64 = 16 * 1024 * 1024;

/// Why a file is not read or written.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    /// The request has no path, or no content.
    #[error("the request has no {0}")]
    Lacks(&'static str),
    /// Not in the worktree, or led out of it by a link.
    #[error("it is outside of the worktree")]
    Outside,
    /// The session may only read.
    #[error("this session may only read")]
    ReadOnly,
    /// A folder, a FIFO, …
    #[error("it is not a plain file")]
    NotAFile,
    /// More than is handed out in one answer.
    #[error("it has more than {LARGEST} bytes")]
    TooLarge,
    /// Not a text.
    #[error("it is not UTF-8")]
    NotText,
    /// The system's word.
    #[error("{0}")]
    Io(#[from] io::Error),
}

impl From<Errno> for FileError {
    fn from(errno: Errno) -> Self {
        Self::Io(errno.into())
    }
}

/// Reads as `fs/read_text_file` asks: the whole, or `limit` lines from `line` (which counts from 1).
///
/// # Errors
/// When it is not inside, not a text, or cannot be read.
pub fn read(bounds: &Bounds, params: &Value) -> Result<Value, FileError> {
    let real = bounds.inside(path(params)?).ok_or(FileError::Outside)?;
    // NONBLOCK: not waiting for whoever should write to a FIFO.
    let file = open(&real, OFlags::RDONLY | OFlags::NONBLOCK, false)?;
    let mut text = String::new();
    match file.take(LARGEST + 1).read_to_string(&mut text) {
        Ok(_) if text.len() as u64 > LARGEST => return Err(FileError::TooLarge),
        Ok(_) => {}
        Err(error) if error.kind() == io::ErrorKind::InvalidData => return Err(FileError::NotText),
        Err(error) => return Err(error.into()),
    }
    let number = |name: &str| params.get(name).and_then(Value::as_u64);
    if number("line").is_some() || number("limit").is_some() {
        let skip = number("line").unwrap_or(1).saturating_sub(1);
        let take = number("limit").unwrap_or(u64::MAX);
        let (skip, take) = (as_count(skip), as_count(take));
        text = text.split_inclusive('\n').skip(skip).take(take).collect();
    }
    Ok(json!({ "content": text }))
}

/// Writes as `fs/write_text_file` asks: the file is made if it is not there, and its folders.
///
/// # Errors
/// When it is not inside, or cannot be written.
pub fn write(bounds: &Bounds, params: &Value) -> Result<Value, FileError> {
    let content = params.get("content").and_then(Value::as_str);
    let content = content.ok_or(FileError::Lacks("content"))?;
    let real = bounds.changeable(path(params)?).ok_or(FileError::Outside)?;
    let mut file = open(&real, OFlags::WRONLY | OFlags::CREATE | OFlags::NONBLOCK, true)?;
    // Not at opening: what turns out to be no plain file is left as it is.
    file.set_len(0)?;
    file.write_all(content.as_bytes())?;
    Ok(json!({}))
}

fn path(params: &Value) -> Result<&Path, FileError> {
    params.get("path").and_then(Value::as_str).map(Path::new).ok_or(FileError::Lacks("path"))
}

/// Opens a plain file at a place that has no link in it.
fn open(real: &Path, flags: OFlags, make: bool) -> Result<File, FileError> {
    let name = real.file_name().ok_or(FileError::NotAFile)?;
    let parent = real.parent().unwrap_or(Path::new("/"));
    let step = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let mut folder = openat(CWD, "/", step, Mode::empty())?;
    for part in parent.components() {
        let Component::Normal(part) = part else { continue };
        folder = match openat(&folder, part, step, Mode::empty()) {
            Err(Errno::NOENT) if make => {
                mkdirat(&folder, part, Mode::from_raw_mode(0o777))?;
                openat(&folder, part, step, Mode::empty())?
            }
            opened => opened?,
        };
    }
    let flags = flags | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let file = match openat(&folder, name, flags, Mode::from_raw_mode(0o666)) {
        Ok(file) => File::from(file),
        // NOFOLLOW's answer to a link, a folder's to a writer, and a FIFO's that nobody reads.
        Err(Errno::LOOP | Errno::ISDIR | Errno::NXIO) => return Err(FileError::NotAFile),
        Err(error) => return Err(error.into()),
    };
    if file.metadata()?.is_file() { Ok(file) } else { Err(FileError::NotAFile) }
}

fn as_count(number: u64) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}
