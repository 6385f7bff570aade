//! A run that was approved and that no engine has had yet, as it is taken up: maybe days later, maybe in another
//! clone of the repository on another machine, to which its directory was copied. Of all that is in it, only what
//! was taken down of the user's checkout is of one place and one time.

use std::fs;
use std::io;
use std::time::Duration;

use super::directory::{DirectoryError, RunDir, write_whole};
use super::error::RunError;
use crate::git::Repo;
use crate::ledger::Ledger;

/// How long git may take to tell how the checkout is.
const LIMIT: Duration = Duration::from_secs(60);

/// Makes the run one of `repo`, as that is now: what happened to a checkout while nobody worked is not to be
/// told of the run.
///
/// # Errors
/// The commit that it starts from is not here, or the checkout cannot be told or taken down.
pub fn here(repo: &Repo, dir: &RunDir, ledger: &Ledger) -> Result<(), RunError> {
    if repo.resolve(ledger.base.as_str()).ok().as_ref() != Some(&ledger.base) {
        return Err(RunError::NoBase { run: dir.run().clone(), base: ledger.base.clone() });
    }
    let path = dir.baseline();
    match repo.baseline(LIMIT)? {
        Some(kept) => Ok(write_whole(&path, &serde_json::to_vec(&kept).unwrap_or_default())?),
        None => match fs::remove_file(&path) {
            Err(source) if source.kind() != io::ErrorKind::NotFound => {
                Err(DirectoryError::Io { what: "remove", path, source }.into())
            }
            _ => Ok(()),
        },
    }
}
