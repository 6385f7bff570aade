//! One step: made, undone, and told from the disk to be done.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, ErrorKind, Write as _};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Component, Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::git::layout::Edit;
use crate::plain_file;
use crate::process;
use crate::upkeep::error::UpkeepError;

/// A path as it is written down: its bytes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Place(Vec<u8>);

impl From<PathBuf> for Place {
    fn from(path: PathBuf) -> Self {
        Self(path.into_os_string().into_vec())
    }
}

impl Place {
    /// The path.
    #[must_use]
    pub fn path(&self) -> PathBuf {
        PathBuf::from(OsString::from_vec(self.0.clone()))
    }
}

/// One step of a migration.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Step {
    /// Make a folder.
    Folder(Place),
    /// Give something another place.
    Move {
        /// Where it is.
        from: Place,
        /// Where it goes.
        to: Place,
    },
    /// Write a small file.
    Write {
        /// Which.
        path: Place,
        /// What it held.
        was: Option<Vec<u8>>,
        /// What it holds then.
        now: Vec<u8>,
    },
}

impl From<Edit> for Step {
    fn from(edit: Edit) -> Self {
        match edit {
            Edit::Folder(path) => Self::Folder(path.into()),
            Edit::Move { from, to } => Self::Move { from: from.into(), to: to.into() },
            Edit::Write { path, was, now } => Self::Write { path: path.into(), was, now },
        }
    }
}

impl Step {
    /// Whether it is done, as the disk tells.
    #[must_use]
    pub fn is_done(&self) -> bool {
        match self {
            Self::Folder(path) => is_there(&path.path()),
            Self::Move { from, to } => is_there(&to.path()) && !is_there(&from.path()),
            Self::Write { path, now, .. } => held(&path.path()).as_ref() == Some(now),
        }
    }

    /// Makes it.
    ///
    /// # Errors
    /// The system's word, or that something else is in its place.
    pub fn make(&self) -> Result<(), UpkeepError> {
        match self {
            Self::Folder(path) => {
                let path = path.path();
                fs::create_dir(&path).map_err(UpkeepError::io("make", &path))
            }
            Self::Move { from, to } => rename(&from.path(), &to.path()),
            Self::Write { path, was, now } => {
                let path = path.path();
                if held(&path) != *was {
                    return Err(in_the_way(&path));
                }
                write(&path, now)
            }
        }
    }

    /// Undoes it, if it is done. `made`: that it was is known; else the disk tells.
    ///
    /// # Errors
    /// The system's word, or that something else is in its place.
    pub fn undo(&self, made: bool) -> Result<(), UpkeepError> {
        match self {
            Self::Folder(path) => match fs::remove_dir(path.path()) {
                Err(error) if error.kind() != ErrorKind::NotFound => {
                    Err(UpkeepError::io("remove", &path.path())(error))
                }
                _ => Ok(()),
            },
            // One that was made, and has something in its old place by now, is not passed over.
            Self::Move { to, .. } if !is_there(&to.path()) => Ok(()),
            Self::Move { .. } if !made && !self.is_done() => Ok(()),
            Self::Move { from, to } => rename(&to.path(), &from.path()),
            Self::Write { path, was, now } => {
                let path = path.path();
                if !path.parent().is_some_and(is_there) {
                    // The folder that it was written in has its old place again.
                    return Ok(());
                }
                let _ = fs::remove_file(fresh(&path));
                match (held(&path), was) {
                    (found, was) if found == *was => Ok(()),
                    (Some(found), Some(was)) if found == *now => write(&path, was),
                    (Some(found), None) if found == *now => {
                        fs::remove_file(&path).map_err(UpkeepError::io("remove", &path))
                    }
                    _ => Err(in_the_way(&path)),
                }
            }
        }
    }

    /// Whether it is about nothing but what is below `top`, by its words. The one thing elsewhere is the `.git` file by
    /// which another worktree is told where its repository is.
    #[must_use]
    pub fn is_below(&self, top: &Path) -> bool {
        let below = |path: &Place| {
            let path = path.path();
            let rest = path.strip_prefix(top).map(|rest| rest.components().collect::<Vec<_>>());
            rest.is_ok_and(|rest| {
                !rest.is_empty() && rest.iter().all(|part| matches!(part, Component::Normal(_)))
            })
        };
        match self {
            Self::Folder(path) => below(path),
            Self::Move { from, to } => below(from) && below(to),
            Self::Write { path, was, now } => {
                below(path)
                    || path.path().ends_with(".git")
                        && [was.as_ref(), Some(now)]
                            .iter()
                            .all(|text| text.is_some_and(|text| text.starts_with(b"gitdir: ")))
            }
        }
    }

    /// That no link leads it out of `top` as the disk is now.
    ///
    /// # Errors
    /// One does.
    pub fn stays_in(&self, top: &Path) -> Result<(), UpkeepError> {
        let places = match self {
            Self::Folder(path) | Self::Write { path, .. } => vec![path.path()],
            Self::Move { from, to } => vec![from.path(), to.path()],
        };
        for path in places.iter().filter(|path| path.starts_with(top)) {
            let above = path.ancestors().skip(1).find_map(|above| above.canonicalize().ok());
            if !above.is_some_and(|above| above.starts_with(top)) {
                let error = io::Error::other("a link leads out of the folder there");
                return Err(UpkeepError::io("go on at", path)(error));
            }
        }
        Ok(())
    }

    /// What it does, for people. Paths are told from `top`.
    #[must_use]
    pub fn told(&self, top: &Path) -> String {
        let short = |path: &Place| {
            let path = path.path();
            process::escape_path(path.strip_prefix(top).unwrap_or(&path))
        };
        match self {
            Self::Folder(path) => format!("make {}/", short(path)),
            Self::Move { from, to } => format!("move {} to {}", short(from), short(to)),
            Self::Write { path, now, .. } => match now.len() < 300
                && now.ends_with(b"\n")
                && now.iter().filter(|b| **b == b'\n').count() == 1
            {
                true => format!("write {}: {}", short(path), process::escape(now.trim_ascii_end())),
                false => format!("write {} anew", short(path)),
            },
        }
    }
}

fn is_there(path: &Path) -> bool {
    path.symlink_metadata().is_ok()
}

fn held(path: &Path) -> Option<Vec<u8>> {
    plain_file::read_own(path).ok()
}

/// Moves something to a place where nothing is.
fn rename(from: &Path, to: &Path) -> Result<(), UpkeepError> {
    if is_there(to) {
        return Err(in_the_way(to));
    }
    fs::rename(from, to).map_err(UpkeepError::io("move", from))
}

/// Writes a file whole or not at all, with the mode that it had.
fn write(path: &Path, bytes: &[u8]) -> Result<(), UpkeepError> {
    let fresh = fresh(path);
    let written = || -> io::Result<()> {
        let mut file = File::create(&fresh)?;
        file.write_all(bytes)?;
        if let Ok(meta) = path.metadata() {
            file.set_permissions(meta.permissions())?;
        }
        file.sync_all()?;
        fs::rename(&fresh, path)
    };
    written().map_err(UpkeepError::io("write", path))
}

fn fresh(path: &Path) -> PathBuf {
    let mut name = OsString::from(".sop-new-");
    name.push(OsString::from_vec(path.file_name().unwrap_or_default().as_bytes().to_vec()));
    path.with_file_name(name)
}

fn in_the_way(path: &Path) -> UpkeepError {
    let error = io::Error::other("something else is in its place; move it away and try again");
    UpkeepError::io("go on at", path)(error)
}
