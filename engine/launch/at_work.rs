//! Which steps of a run still have a holder.

use std::fs;
use std::path::Path;

use super::step::Step;

/// The steps below the run directory `run` that a holder has at this moment: unit and step of each, sorted.
#[must_use]
pub fn at_work(run: &Path) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let below = |folder: &Path| fs::read_dir(folder).into_iter().flatten().flatten();
    for unit in below(&run.join("steps")) {
        for step in below(&unit.path()) {
            if Step::at(step.path()).is_held().unwrap_or(false) {
                let name = |entry: &fs::DirEntry| entry.file_name().to_string_lossy().into_owned();
                found.push((name(&unit), name(&step)));
            }
        }
    }
    found.sort();
    found
}
