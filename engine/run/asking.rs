//! `ASKING.md` in the run directory: how a worker asks what its brief leaves open.

use super::directory::{DirectoryError, RunDir, write_whole};

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
