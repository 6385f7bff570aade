//! The floor of `sop resume`: reading the journal of a run, every record of it.

use std::path::Path;
use std::process::ExitCode;

/// `__journal FILE`: the floor as a process of its own.
pub fn main(args: &[String]) -> ExitCode {
    match args {
        [file] => {
            assert!(read(Path::new(file)) > 0, "an empty journal");
            ExitCode::SUCCESS
        }
        _ => ExitCode::from(2),
    }
}

/// Reads the records and counts them.
pub fn read(file: &Path) -> usize {
    sop::journal::read(file).expect("the journal can be read").records.len()
}
