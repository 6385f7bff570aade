//! How a worker asks what its brief leaves open: `ASKING.md` in the run directory tells it, and what it
//! asks is left in the folder of its session until it ends.

use std::ffi::OsString;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::directory::{DirectoryError, RunDir, write_whole};
use crate::model::plan::Worker;
use crate::model::question::{MOST_QUESTIONS, Question};
use crate::plain_file;
use crate::process::escape_path;

const TEXT: &str = include_str!("../../templates/asking.md");

/// Writes it, for the program that runs now: a run may be gone on with by another one.
///
/// # Errors
/// When it cannot be written.
pub fn write(dir: &RunDir) -> Result<(), DirectoryError> {
    let program = std::env::current_exe().unwrap_or_else(|_| "sop".into());
    let program = program.to_string_lossy();
    let program = shlex::try_quote(&program).unwrap_or(std::borrow::Cow::Borrowed("sop"));
    write_whole(&dir.asking(), TEXT.replace("{{ sop }}", &program).as_bytes())
}

/// The folder that this program lies in: a worker told to call `sop` finds it there, wherever it was built.
#[must_use]
pub fn folder_of_sop() -> Option<PathBuf> {
    Some(std::env::current_exe().ok()?.parent()?.to_owned())
}

/// The `PATH` of a session: the worker's own or the engine's, and `ours` last of all, so that they hide no
/// program. Nothing where neither has one, or it cannot be said.
#[must_use]
pub fn path_with(worker: &Worker, ours: impl IntoIterator<Item = PathBuf>) -> Option<OsString> {
    let path = worker.env.get("PATH").map(OsString::from).or_else(|| std::env::var_os("PATH"))?;
    std::env::join_paths(std::env::split_paths(&path).chain(ours)).ok()
}

/// Why a question cannot be left.
#[derive(Debug, thiserror::Error)]
pub enum PutError {
    /// There are as many as are taken.
    #[error("this session has asked {MOST_QUESTIONS} questions already")]
    Full,
    /// The system's word.
    #[error("cannot write to {}: {source}", escape_path(folder))]
    Unwritten {
        /// Where.
        folder: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}

/// Leaves a question in the folder of a session, whole and once: the same words are the same question.
///
/// # Errors
/// When it cannot be written, or there are too many.
pub fn put(folder: &Path, question: &Question) -> Result<(), PutError> {
    let failed = |source| PutError::Unwritten { folder: folder.to_owned(), source };
    let mut file = tempfile::NamedTempFile::new_in(folder).map_err(failed)?;
    let text = serde_json::to_vec(question).unwrap_or_default();
    file.write_all(&text).and_then(|()| file.as_file().sync_data()).map_err(failed)?;
    for n in 1..=MOST_QUESTIONS {
        let path = folder.join(format!("{n}.json"));
        if asked(&path).is_some_and(|asked| asked.is(&question.question)) {
            return Ok(());
        }
        match file.persist_noclobber(&path) {
            Ok(_) => return Ok(()),
            Err(error) if error.error.kind() == io::ErrorKind::AlreadyExists => file = error.file,
            Err(error) => return Err(failed(error.error)),
        }
    }
    Err(PutError::Full)
}

/// What was asked in this file.
fn asked(path: &Path) -> Option<Question> {
    serde_json::from_slice(&plain_file::read(path, plain_file::DOCUMENT).ok()?).ok()
}
