//! The steps of a migration, on disk before the first of them is made.

use std::fs::{self, File};
use std::io::{self, ErrorKind, Read as _, Write as _};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::step::{Place, Step};
use super::workshop::{self, DONE, FRESH, JOURNAL, SPARE, UNDOING, desk};
use crate::plain_file;
use crate::process;
use crate::upkeep::error::UpkeepError;

/// The least room that is put aside for undoing: for a folder's growth and a small file.
const ROOM: usize = 64 << 10;

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
    /// The journal of a migration that was cut short, in `from` or a folder above it, as far as the repository that
    /// `from` is in.
    ///
    /// # Errors
    /// There is one, and it cannot be read or is none that could have been written here.
    pub fn left_in(from: &Path) -> Result<Option<Self>, UpkeepError> {
        let from = from.canonicalize().unwrap_or_else(|_| from.to_path_buf());
        for folder in from.ancestors() {
            if let Some(journal) = Self::at(folder)? {
                return Ok(Some(journal));
            }
            if folder.join(".git").is_dir() && !folder.ends_with(workshop::WORKSHOP) {
                break;
            }
        }
        Ok(None)
    }

    /// The journal of a migration that was cut short in `top`. One that lies there and is another user's is none.
    ///
    /// # Errors
    /// As [`Journal::left_in`].
    pub fn at(top: &Path) -> Result<Option<Self>, UpkeepError> {
        if !workshop::is_own(top) {
            return Ok(None);
        }
        let path = desk(top).join(JOURNAL);
        let file = match plain_file::open(&path) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            file => file.map_err(UpkeepError::io("read", &path))?,
        };
        let read = || -> io::Result<Self> {
            let meta = file.metadata()?;
            if meta.uid() != rustix::process::geteuid().as_raw() {
                return Err(io::Error::other("it is another user's; remove it"));
            }
            let mut bytes = Vec::new();
            file.take(plain_file::OWN).read_to_end(&mut bytes)?;
            let journal: Self = serde_json::from_slice(&bytes)?;
            match journal.top.path() == top {
                true => Ok(journal),
                false => Err(io::Error::other(format!(
                    "it is about {}; if that was moved here, move it back",
                    process::escape_path(&journal.top.path())
                ))),
            }
        };
        let journal = read().map_err(UpkeepError::io("go by", &path))?;
        journal.keeps_below()?;
        Ok(Some(journal))
    }

    /// That no step is about anything but what is below the folder.
    fn keeps_below(&self) -> Result<(), UpkeepError> {
        let top = self.top.path();
        match self.steps.iter().find(|step| !step.is_below(&top)) {
            None => Ok(()),
            Some(step) => Err(UpkeepError::Stays {
                what: process::escape_path(&top),
                why: vec![format!("a step leads out of it: {}", step.told(&top))],
                help: None,
            }),
        }
    }

    fn noted(&self) -> PathBuf {
        desk(&self.top.path()).join(DONE)
    }

    fn given_up(&self) -> PathBuf {
        desk(&self.top.path()).join(UNDOING)
    }

    /// Writes it down, with room for every note about it and for undoing it: on a full disk neither could be made.
    ///
    /// # Errors
    /// It cannot be written, and then it is not there.
    pub fn begin(&self) -> Result<(), UpkeepError> {
        self.keeps_below()?;
        let top = self.top.path();
        let (fresh, path) = (desk(&top).join(FRESH), desk(&top).join(JOURNAL));
        let written = || {
            workshop::make_folders(&top)?;
            put(&desk(&top).join(SPARE), &vec![1; self.room()])?;
            put(&self.noted(), &note(0))?;
            put(&fresh, &serde_json::to_vec(self)?)?;
            fs::rename(&fresh, &path)?;
            File::open(desk(&top))?.sync_all()
        };
        written().map_err(UpkeepError::io("write", &path))
    }

    /// How many bytes undoing may need at once: the longest file that is written anew.
    fn room(&self) -> usize {
        let held = |step: &Step| match step {
            Step::Write { was: Some(was), .. } => was.len(),
            _ => 0,
        };
        self.steps.iter().map(held).max().unwrap_or(0) + ROOM
    }

    /// How many of its steps are done: as many as were noted, and one more if the disk tells so.
    #[must_use]
    pub fn done(&self) -> usize {
        let noted = [self.noted(), self.given_up()];
        let noted = noted.iter().find_map(|path| plain_file::read_own(path).ok());
        let noted = noted.unwrap_or_default();
        let noted = std::str::from_utf8(&noted).ok().and_then(|text| text.trim().parse().ok());
        let noted = noted.unwrap_or(0).min(self.steps.len());
        noted + usize::from(self.steps.get(noted).is_some_and(Step::is_done))
    }

    /// Notes that `done` steps are done, in place: that needs no room.
    fn note(&self, done: usize) -> io::Result<()> {
        let mut how = File::options();
        let mut file = how.write(true).custom_flags(plain_file::careful()).open(self.noted())?;
        file.write_all(&note(done))
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
        let noting = |error| UpkeepError::io("write", &self.noted())(error);
        if self.given_up().symlink_metadata().is_ok() {
            let why = "it was being undone, and how far that came could not be noted".to_owned();
            let what = process::escape_path(&self.top.path());
            let help = Some("`sop migrate-to-bare --undo` goes on with that".to_owned());
            return Err(UpkeepError::Stays { what, why: vec![why], help });
        }
        for at in self.done()..many {
            self.note(at).map_err(noting)?;
            self.steps[at].stays_in(&self.top.path())?;
            self.steps[at].make()?;
        }
        self.note(many).map_err(noting)
    }

    /// Undoes what is done, the last first, and forgets about it. That goes on when it cannot be noted any more: the
    /// next call begins further up then, and finds undone what is.
    ///
    /// # Errors
    /// One of them cannot be undone; the journal stays.
    pub fn undo(&self) -> Result<(), UpkeepError> {
        let _ = fs::remove_file(desk(&self.top.path()).join(SPARE));
        // A file whose writing was cut short is beside the step after.
        let done = self.done();
        let begun = self.steps.len().min(done + 1);
        for at in (0..begun).rev() {
            // First: of one that is noted as not done, the disk tells whether it still is.
            if self.note(at).is_err() {
                let _ = fs::rename(self.noted(), self.given_up());
            }
            self.steps[at].stays_in(&self.top.path())?;
            self.steps[at].undo(at < done)?;
        }
        self.close()
    }

    /// Forgets about it: all is done, or undone.
    ///
    /// # Errors
    /// Something is left in its folder.
    pub fn close(&self) -> Result<(), UpkeepError> {
        let top = self.top.path();
        let path = desk(&top).join(JOURNAL);
        // First: what is left without it is nothing to go by.
        fs::remove_file(&path).map_err(UpkeepError::io("remove", &path))?;
        workshop::clear(&top).map_err(UpkeepError::io("remove", &top.join(workshop::WORKSHOP)))
    }
}

/// A note, as long as any other.
fn note(done: usize) -> Vec<u8> {
    format!("{done:>12}\n").into_bytes()
}

/// Writes a file of our own, to the disk.
fn put(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut how = File::options();
    how.create(true).truncate(true).write(true).mode(0o600);
    let mut file = how.custom_flags(plain_file::careful()).open(path)?;
    file.write_all(bytes)?;
    file.sync_all()
}
