//! The steps of a migration, on disk before the first of them is made.

use std::fs::{self, File};
use std::io::{ErrorKind, Write as _};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::WORKSHOP;
use super::step::{Place, Step};
use crate::plain_file;
use crate::upkeep::error::UpkeepError;

/// All steps of a migration.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Journal {
    /// The folder around everything.
    pub top: Place,
    /// Where the checkout goes.
    pub folder: Place,
    /// The steps, in order.
    pub steps: Vec<Step>,
}

impl Journal {
    /// The journal of a migration that was cut short, in `from` or a folder above it.
    ///
    /// # Errors
    /// There is one, and it cannot be read.
    pub fn left_in(from: &Path) -> Result<Option<Self>, UpkeepError> {
        let from = from.canonicalize().unwrap_or_else(|_| from.to_path_buf());
        for folder in from.ancestors() {
            let path = folder.join(WORKSHOP).join("journal.json");
            match plain_file::read_own(&path) {
                Err(error) if error.kind() == ErrorKind::NotFound => {}
                Err(error) if error.kind() == ErrorKind::NotADirectory => {}
                Err(error) => return Err(UpkeepError::io("read", &path)(error)),
                Ok(bytes) => {
                    let journal = serde_json::from_slice(&bytes).map_err(std::io::Error::other);
                    return journal.map(Some).map_err(UpkeepError::io("read", &path));
                }
            }
        }
        Ok(None)
    }

    fn workshop(&self) -> PathBuf {
        self.top.path().join(WORKSHOP)
    }

    /// Writes it down.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn begin(&self) -> Result<(), UpkeepError> {
        let folder = self.workshop();
        fs::create_dir_all(&folder).map_err(UpkeepError::io("make", &folder))?;
        let (fresh, path) = (folder.join("journal.new"), folder.join("journal.json"));
        let written = || {
            let mut file = File::create(&fresh)?;
            file.write_all(&serde_json::to_vec(self)?)?;
            file.sync_all()?;
            fs::rename(&fresh, &path)?;
            File::open(&folder)?.sync_all()
        };
        written().map_err(UpkeepError::io("write", &path))
    }

    /// How many of its steps are done. They are made one after the other: the last one that is done tells.
    #[must_use]
    pub fn done(&self) -> usize {
        self.steps.iter().rposition(Step::is_done).map_or(0, |at| at + 1)
    }

    /// Makes the steps that are not made yet.
    ///
    /// # Errors
    /// One of them cannot be made.
    pub fn finish(&self) -> Result<(), UpkeepError> {
        self.make_up_to(self.steps.len())
    }

    /// The same, for the first `many` of them.
    ///
    /// # Errors
    /// As [`Journal::finish`].
    pub fn make_up_to(&self, many: usize) -> Result<(), UpkeepError> {
        self.steps[..many].iter().skip(self.done()).try_for_each(Step::make)
    }

    /// Undoes what is done, the last first, and forgets about it.
    ///
    /// # Errors
    /// One of them cannot be undone; the journal stays.
    pub fn undo(&self) -> Result<(), UpkeepError> {
        let done = self.done();
        // A file whose writing was cut short is beside the step after.
        let begun = self.steps.len().min(done + 1);
        self.steps[..begun].iter().rev().try_for_each(Step::undo)?;
        self.close()
    }

    /// Forgets about it: all is done, or undone.
    ///
    /// # Errors
    /// Something is left in its folder.
    pub fn close(&self) -> Result<(), UpkeepError> {
        let folder = self.workshop();
        for name in ["journal.new", "journal.json"] {
            match fs::remove_file(folder.join(name)) {
                Err(error) if error.kind() != ErrorKind::NotFound => {
                    return Err(UpkeepError::io("remove", &folder.join(name))(error));
                }
                _ => {}
            }
        }
        fs::remove_dir(&folder).map_err(UpkeepError::io("remove", &folder))
    }
}
