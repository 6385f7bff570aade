//! Which steps may be taken for ones that an engine started.
//!
//! The folder of a step lies where workers can write: one could leave a result for a step that is yet to
//! come, and it would be believed without the step having run. So the engine that has a run believes in
//! the steps that it started itself, and of those that were there when it took the run only in the few
//! that the journal leaves open: what the engine before it may have begun and not told of. A folder for
//! anything later was made by nobody who had a reason to.
//!
//! One that is open can still be forged, by a process that outlived its own step and ended the engine
//! within another. Against that only something would help that a worker cannot write, and the processes
//! of one user have no such place.

use std::collections::HashSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::{Key, LaunchError};

/// Where a refused folder is kept for whoever wants to look, below the run's.
const REFUSED: &str = "refused";

/// The step folders of one run that engines made.
#[derive(Debug)]
pub(super) struct Origin {
    run: PathBuf,
    folders: Mutex<Folders>,
}

#[derive(Debug, Default)]
struct Folders {
    /// There when the run was taken, of a step that may have been in flight.
    found: HashSet<PathBuf>,
    /// Made since.
    made: HashSet<PathBuf>,
}

impl Origin {
    /// Takes down the folders `<run>/steps/*/*` of steps that are `open`: told unit, step and attempt.
    pub(super) fn of(
        run: &Path,
        open: impl Fn(&str, &str, u32) -> bool,
    ) -> Result<Self, LaunchError> {
        let mut found = HashSet::new();
        for unit in folders(&run.join("steps"))? {
            let steps = folders(&unit)?;
            found.extend(steps.into_iter().filter(|dir| is_open(&unit, dir, &open)));
        }
        let folders = Mutex::new(Folders { found, made: HashSet::new() });
        Ok(Self { run: run.to_owned(), folders })
    }

    fn folders(&self) -> MutexGuard<'_, Folders> {
        self.folders.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether this engine made the folder.
    pub(super) fn made(&self, dir: &Path) -> bool {
        self.folders().made.contains(dir)
    }

    /// Refuses a folder that no engine made.
    pub(super) fn check(&self, key: &Key, dir: &Path) -> Result<(), LaunchError> {
        let folders = self.folders();
        if folders.knows(dir) || dir.symlink_metadata().is_err() {
            return Ok(());
        }
        Err(self.refuse(key, dir))
    }

    /// Makes the folder of a step that is about to be started, unless an engine made it before.
    pub(super) fn make(&self, key: &Key, dir: &Path) -> Result<(), LaunchError> {
        let mut folders = self.folders();
        if folders.knows(dir) {
            return Ok(());
        }
        if let Some(unit) = dir.parent() {
            fs::create_dir_all(unit).map_err(LaunchError::file("make the folder", unit))?;
        }
        match fs::create_dir(dir) {
            Ok(()) => {
                folders.made.insert(dir.to_owned());
                Ok(())
            }
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                Err(self.refuse(key, dir))
            }
            Err(error) => Err(LaunchError::file("make the folder", dir)(error)),
        }
    }

    /// Moves the folder out of the way, or the next engine would find it there and believe it.
    fn refuse(&self, key: &Key, dir: &Path) -> LaunchError {
        let name = format!("{}-{}-{}", key.unit(), key.step(), key.attempt());
        let places = self.run.join(REFUSED);
        let _ = fs::create_dir_all(&places);
        let free = (1..100)
            .map(|n| places.join(format!("{name}.{n}")))
            .find(|place| place.symlink_metadata().is_err());
        let moved_to = free.filter(|place| fs::rename(dir, place).is_ok());
        LaunchError::Foreign { path: dir.to_owned(), moved_to }
    }
}

impl Folders {
    fn knows(&self, dir: &Path) -> bool {
        self.found.contains(dir) || self.made.contains(dir)
    }
}

/// Whether the folder is that of an open step, by its name (see [`Key::folder`]).
fn is_open(unit: &Path, dir: &Path, open: impl Fn(&str, &str, u32) -> bool) -> bool {
    let name = |path: &Path| path.file_name().and_then(|name| name.to_str()).map(str::to_owned);
    let (Some(unit), Some(name)) = (name(unit), name(dir)) else { return false };
    let Some((step, attempt)) = name.rsplit_once('-') else { return false };
    attempt.parse().is_ok_and(|attempt| open(&unit, step, attempt))
}

/// The folders in a folder, which need not be there. Links are none.
pub(super) fn folders(path: &Path) -> Result<Vec<PathBuf>, LaunchError> {
    let entries = match fs::read_dir(path) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(LaunchError::file("list", path)(error)),
    };
    let mut found = Vec::new();
    for entry in entries {
        let entry = entry.map_err(LaunchError::file("list", path))?;
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            found.push(entry.path());
        }
    }
    Ok(found)
}
