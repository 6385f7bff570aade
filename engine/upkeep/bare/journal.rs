//! The steps of a migration, on disk before the first of them is made.

use std::fs::{self, File};
use std::io::{ErrorKind, Write as _};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::WORKSHOP;
use super::step::{Place, Step};
use crate::plain_file;
use crate::upkeep::error::UpkeepError;

/// Beside the journal: how many of its steps are done.
const NOTED: &str = "done";

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

    /// How many of its steps are done: as many as were noted, and one more if the disk tells so.
    #[must_use]
    pub fn done(&self) -> usize {
        let noted = plain_file::read_own(&self.workshop().join(NOTED)).unwrap_or_default();
        let noted = std::str::from_utf8(&noted).ok().and_then(|text| text.trim().parse().ok());
        let noted = noted.unwrap_or(0).min(self.steps.len());
        noted + usize::from(self.steps.get(noted).is_some_and(Step::is_done))
    }

    fn note(&self, done: usize) -> Result<(), UpkeepError> {
        let (fresh, path) = (self.workshop().join("done.new"), self.workshop().join(NOTED));
        let written = fs::write(&fresh, done.to_string()).and_then(|()| fs::rename(&fresh, &path));
        written.map_err(UpkeepError::io("write", &path))
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
        for at in self.done()..many {
            self.note(at)?;
            self.steps[at].make()?;
        }
        self.note(many)
    }

    /// Undoes what is done, the last first, and forgets about it.
    ///
    /// # Errors
    /// One of them cannot be undone; the journal stays.
    pub fn undo(&self) -> Result<(), UpkeepError> {
        // A file whose writing was cut short is beside the step after.
        let begun = self.steps.len().min(self.done() + 1);
        for at in (0..begun).rev() {
            self.steps[at].undo()?;
            self.note(at)?;
        }
        self.close()
    }

    /// Forgets about it: all is done, or undone.
    ///
    /// # Errors
    /// Something is left in its folder.
    pub fn close(&self) -> Result<(), UpkeepError> {
        let folder = self.workshop();
        for name in ["journal.new", "done.new", NOTED, "journal.json"] {
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
