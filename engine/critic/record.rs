//! Where it is kept what critics said of plans that no run was made of yet: one file a plan, by its name.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::git::Repo;
use crate::model::critic::Reading;
use crate::model::ids::RunId;
use crate::plain_file;
use crate::process::escape_path;
use crate::run::directory::{DirectoryError, RunDir, write_whole};

/// What is kept of a reading cannot be read.
#[derive(Debug, thiserror::Error)]
#[error("what a critic said of this plan cannot be read: {}: {why}", escape_path(path))]
pub struct RecordError {
    /// The file.
    pub path: PathBuf,
    /// Why.
    pub why: String,
}

/// What is kept of the plan called `plan`.
///
/// # Errors
/// It is there, and cannot be read.
pub fn find(repo: &Repo, plan: &RunId) -> Result<Option<Reading>, RecordError> {
    let path = path(repo.common_dir(), plan);
    let fail = |why: String| RecordError { path: path.clone(), why };
    let bytes = match plain_file::read_own(&path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        bytes => bytes.map_err(|error| fail(error.to_string()))?,
    };
    let reading: Reading =
        serde_json::from_slice(&bytes).map_err(|error| fail(error.to_string()))?;
    match reading.version {
        Reading::VERSION => Ok(Some(reading)),
        other => {
            let known = Reading::VERSION;
            Err(fail(format!("it is of version {other}, and this sop knows {known}")))
        }
    }
}

/// Keeps `reading` in the place of what is kept of its plan.
///
/// # Errors
/// It cannot be written.
pub fn keep(repo: &Repo, reading: &Reading) -> Result<(), DirectoryError> {
    let path = path(repo.common_dir(), &reading.plan);
    let folder = RunDir::readings_in(repo.common_dir());
    fs::create_dir_all(&folder).map_err(|source| DirectoryError::Io {
        what: "make",
        path: folder,
        source,
    })?;
    write_whole(&path, &serde_json::to_vec_pretty(reading).unwrap_or_default())
}

fn path(common_dir: &Path, plan: &RunId) -> PathBuf {
    RunDir::readings_in(common_dir).join(format!("{plan}.json"))
}
