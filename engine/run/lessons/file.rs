//! The file that the notes are in: the user's, in their checkout. It is only ever replaced whole, and by one
//! process at a time; what people wrote in it stays as it is.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, fcntl_lock};

use super::NOTES;
use super::grammar::{self, line, wellformed};
use crate::git::Repo;
use crate::model::lesson::Lesson;
use crate::plain_file;
use crate::run::directory::RunDir;

/// Most bytes of the notes that are read.
const MOST: u64 = 256 << 10;

const HEAD: &str = "# What runs have taught\n\n\
    Each item is a lesson for whoever works here next; `sop lesson add` appends one, and briefs carry those that meet\n\
    their paths. Edit it as you like: `- DATE: TEXT`, or `- DATE for `PATTERN`: TEXT`.\n\n";

/// Why the notes cannot be read or added to.
#[derive(Debug, thiserror::Error)]
pub enum NotesError {
    /// The file system's word.
    #[error("cannot {what} {}: {source}", crate::process::escape_path(path))]
    Io {
        /// What was tried.
        what: &'static str,
        /// Where.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// There is no checkout that the notes could be in.
    #[error("a bare repository has no checkout that notes could be in")]
    Bare,
    /// It is no lesson.
    #[error("{0}")]
    Wrong(String, String),
}

/// What became of a lesson.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Added {
    /// It is there now.
    Now,
    /// It was there before.
    Before,
}

fn fail<'a>(what: &'static str, path: &'a Path) -> impl FnOnce(io::Error) -> NotesError + 'a {
    move |source| NotesError::Io { what, path: path.to_owned(), source }
}

/// The text of the notes in the checkout at `top`; nothing where there are none.
pub(super) fn read(top: &Path) -> Result<Option<String>, NotesError> {
    let path = top.join(NOTES);
    if !path.symlink_metadata().is_ok_and(|_| true) {
        return Ok(None);
    }
    let bytes = plain_file::read(&path, MOST).map_err(fail("read", &path))?;
    let text = String::from_utf8(bytes).map_err(io::Error::other).map_err(fail("read", &path))?;
    Ok(Some(text))
}

/// Appends a lesson to the notes of the user's checkout. Nothing else is touched, the index neither.
///
/// # Errors
/// It is no lesson, or the file cannot be written.
pub fn add(repo: &Repo, lesson: &Lesson) -> Result<Added, NotesError> {
    wellformed(lesson).map_err(|(message, help)| NotesError::Wrong(message, help))?;
    let top = repo.top().ok_or(NotesError::Bare)?;
    let _turn = turn(repo)?;
    let path = top.join(NOTES);
    let folder = path.parent().unwrap_or(top);
    // A link would lead the file elsewhere.
    match folder.symlink_metadata() {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            fs::create_dir(folder).map_err(fail("make", folder))?;
        }
        Ok(there) if there.is_dir() => {}
        Ok(_) => return Err(fail("use", folder)(io::Error::other("it is no folder"))),
        Err(error) => return Err(fail("look at", folder)(error)),
    }
    let before = read(top)?;
    let written = line(lesson);
    if let Some(text) = &before {
        let same = |known: &Lesson| known.text == lesson.text && known.paths == lesson.paths;
        if grammar::parse(text).lessons.iter().any(|(_, known)| same(known)) {
            return Ok(Added::Before);
        }
    }
    let mut text = before.clone().unwrap_or_else(|| HEAD.to_owned());
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    text.push_str(&written);
    if text.len() as u64 > MOST {
        let message = format!("{NOTES} would be longer than {MOST} bytes");
        return Err(NotesError::Wrong(message, "take out what is no news any more".to_owned()));
    }
    let mut file = tempfile::NamedTempFile::new_in(folder).map_err(fail("write", &path))?;
    let mode = match fs::metadata(&path) {
        Ok(meta) => meta.permissions(),
        Err(_) => std::os::unix::fs::PermissionsExt::from_mode(0o644),
    };
    file.write_all(text.as_bytes())
        .and_then(|()| file.as_file().set_permissions(mode))
        .and_then(|()| file.as_file().sync_data())
        .map_err(fail("write", &path))?;
    file.persist(&path).map_err(|error| fail("write", &path)(error.error))?;
    Ok(Added::Now)
}

/// Of two who add at once, one waits.
fn turn(repo: &Repo) -> Result<File, NotesError> {
    let root = RunDir::root_in(repo.common_dir());
    fs::create_dir_all(&root).map_err(fail("make", &root))?;
    let path = root.join("notes.lock");
    let file = plain_file::create(&path).map_err(fail("lock", &path))?;
    fcntl_lock(&file, FlockOperation::LockExclusive)
        .map_err(|error| fail("lock", &path)(error.into()))?;
    Ok(file)
}
