//! Words that reach an agent while it works. `sop interrupt` leaves `<n>.txt` in the folder, by
//! rename. What the agent got becomes `<n>.taken`; beside what it cannot get stands `<n>.no`, which
//! says why.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::process::escape_path;
use crate::worker::results;

/// Longest word, in bytes.
const WORD: u64 = 256 * 1024;

/// A word that waits.
pub(super) struct Word {
    n: u64,
    pub(super) text: String,
}

/// The folder.
pub(super) struct Say {
    folder: PathBuf,
}

impl Say {
    pub(super) fn new(folder: &Path) -> Self {
        Self { folder: folder.to_owned() }
    }

    /// The first word that has neither been taken nor refused.
    pub(super) fn next(&self) -> Option<Word> {
        let mut waiting: Vec<u64> = fs::read_dir(&self.folder)
            .ok()?
            .filter_map(|entry| {
                entry.ok()?.file_name().to_str()?.strip_suffix(".txt")?.parse().ok()
            })
            .filter(|n| !self.file(*n, "no").exists())
            .collect();
        waiting.sort_unstable();
        let n = *waiting.first()?;
        match results::read(&self.file(n, "txt"), WORD) {
            Ok(Some(bytes)) => Some(Word { n, text: String::from_utf8_lossy(&bytes).into_owned() }),
            Ok(None) => None,
            Err(error) => {
                self.refuse(&Word { n, text: String::new() }, &error.to_string());
                None
            }
        }
    }

    /// Marks a word as given to the agent. Gives the file's new place.
    pub(super) fn take(&self, word: &Word) -> io::Result<PathBuf> {
        let taken = self.file(word.n, "taken");
        fs::rename(self.file(word.n, "txt"), &taken)?;
        Ok(taken)
    }

    /// Says why a word cannot be given.
    pub(super) fn refuse(&self, word: &Word, why: &str) {
        let note = self.file(word.n, "no");
        if let Err(error) = results::replace(&note, why.as_bytes()) {
            super::complain(&format!("cannot write {}: {error}", escape_path(&note)));
        }
    }

    fn file(&self, n: u64, ending: &str) -> PathBuf {
        self.folder.join(format!("{n}.{ending}"))
    }
}
