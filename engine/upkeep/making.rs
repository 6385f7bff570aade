//! A lead's worktree while it is being made: one process does so for a name, and what it is at is on disk before the
//! first of it is made. So a worktree whose making was cut short is known as what it is, and the same words go on
//! with it.

use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::error::UpkeepError;
use super::held::Held;
use super::survey::Note;
use crate::git::Repo;
use crate::git::linked::Linked;
use crate::plain_file;
use crate::run::directory::RunDir;

/// What is being made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Begun {
    /// What will be noted about it.
    pub note: Note,
    /// What it was asked to start from.
    pub asked: Option<String>,
    path: Vec<u8>,
}

impl Begun {
    /// A worktree at `path`, asked to start from `asked`.
    #[must_use]
    pub fn new(note: Note, asked: Option<String>, path: &Path) -> Self {
        Self { note, asked, path: path.as_os_str().as_bytes().to_vec() }
    }

    /// Its folder.
    #[must_use]
    pub fn path(&self) -> PathBuf {
        PathBuf::from(OsString::from_vec(self.path.clone()))
    }
}

/// The making of one worktree. Once it is dropped it is over, well or not; only a killed process leaves what it was at.
#[derive(Debug)]
pub struct Making {
    held: Option<Held>,
    path: PathBuf,
}

impl Making {
    /// Takes the name; nothing where another process is making a worktree of that name.
    ///
    /// # Errors
    /// There is no place for the lock.
    pub fn take(repo: &Repo, name: &str) -> Result<Option<Self>, UpkeepError> {
        let folder = folder(repo.common_dir());
        std::fs::create_dir_all(&folder).map_err(UpkeepError::io("make", &folder))?;
        let path = folder.join(name);
        let held = Held::take(&path).map_err(UpkeepError::io("lock", &path))?;
        Ok(held.map(|held| Self { held: Some(held), path }))
    }

    /// What a process that was killed was making here.
    ///
    /// # Errors
    /// It cannot be read.
    pub fn left(&mut self) -> Result<Option<Begun>, UpkeepError> {
        let said = self.held.as_mut().map_or_else(|| Ok(Vec::new()), Held::said);
        let said = said.map_err(UpkeepError::io("read", &self.path))?;
        Ok(serde_json::from_slice(&said).ok())
    }

    /// Says what is being made.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn begin(&mut self, begun: &Begun) -> Result<(), UpkeepError> {
        let text = serde_json::to_vec(begun).unwrap_or_default();
        let said = self.held.as_mut().map_or(Ok(()), |held| held.say(&text));
        said.map_err(UpkeepError::io("write", &self.path))
    }

    /// Leaves what was left before as it is.
    pub fn let_be(mut self) {
        drop(self.held.take());
    }
}

impl Drop for Making {
    fn drop(&mut self) {
        if let Some(held) = self.held.take() {
            held.over();
        }
    }
}

/// What is noted of a worktree that is being made, or whose making was cut short.
#[must_use]
pub fn note_of(tree: &Linked) -> Option<Note> {
    let path = tree.path()?;
    let common_dir = tree.admin().parent()?.parent()?;
    let listing = std::fs::read_dir(folder(common_dir)).ok()?;
    let begun = listing.flatten().filter_map(|entry| {
        let said = plain_file::read(&entry.path(), plain_file::DOCUMENT).ok()?;
        serde_json::from_slice::<Begun>(&said).ok()
    });
    let here = |begun: &Begun| {
        let its = begun.path();
        its == path || its.canonicalize().is_ok_and(|its| its == path)
    };
    begun.into_iter().find(here).map(|begun| begun.note)
}

fn folder(common_dir: &Path) -> PathBuf {
    RunDir::root_in(common_dir).join(".lead").join(".making")
}
