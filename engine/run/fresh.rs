//! Places in the run directory for what is yet to begin. Workers can write there: what one of them left for
//! a session that has not begun, a verdict, a report, a word in the lead's name, must not be found in it.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::directory::{DirectoryError, RunDir};

/// Where it goes to be looked at, below the run's directory.
const REFUSED: &str = "refused";

impl RunDir {
    /// Makes the folder `name` anew, before it is recorded that something begins which has it. What lay
    /// there is moved to `refused/`: nobody's but that of a worker, or of an engine that died just here.
    ///
    /// # Errors
    /// When what lies there cannot be moved, or the folder cannot be made.
    pub fn fresh(&self, name: &str) -> Result<PathBuf, DirectoryError> {
        if let Some(parent) = Path::new(name).parent() {
            self.own(parent)?;
        }
        self.clear(name)?;
        let path = self.named(name);
        fs::create_dir(&path).map_err(failed("make", &path))?;
        Ok(path)
    }

    /// Moves what lies at `name` to `refused/`.
    ///
    /// # Errors
    /// When it cannot be moved.
    pub fn clear(&self, name: &str) -> Result<(), DirectoryError> {
        let path = self.named(name);
        if path.symlink_metadata().is_err() {
            return Ok(());
        }
        let refused = self.own(REFUSED)?;
        let flat = name.replace('/', "-");
        let free = (1u32..)
            .map(|n| refused.join(format!("{flat}.{n}")))
            .find(|place| place.symlink_metadata().is_err());
        let Some(free) = free else { return Ok(()) };
        tracing::warn!(?path, moved_to = ?free, "lay there before it was anybody's");
        fs::rename(&path, &free).map_err(failed("move away", &path))
    }

    /// The folder `name`, made where it is not there, and refused where a link, which leads elsewhere,
    /// stands for it or for one above it.
    ///
    /// # Errors
    /// When it cannot be made, or is no folder.
    pub fn own(&self, name: impl AsRef<Path>) -> Result<PathBuf, DirectoryError> {
        let mut path = self.path();
        fs::create_dir_all(&path).map_err(failed("make", &path))?;
        for part in name.as_ref() {
            path.push(part);
            match fs::create_dir(&path) {
                Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
                    return Err(failed("make", &path)(error));
                }
                _ => {}
            }
            let there = fs::symlink_metadata(&path).map_err(failed("look at", &path))?;
            if !there.is_dir() {
                let odd =
                    io::Error::other("something else stands in the folder's place; remove it");
                return Err(failed("use", &path)(odd));
            }
        }
        Ok(path)
    }
}

fn failed(what: &'static str, path: &Path) -> impl FnOnce(io::Error) -> DirectoryError {
    let path = path.to_owned();
    move |source| DirectoryError::Io { what, path, source }
}
