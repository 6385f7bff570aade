//! Which steps of a run still have a holder, or had one until lately.

use std::fs;
use std::path::Path;
use std::time::SystemTime;

use super::step::Step;

/// The steps below the run directory `run` that a holder has at this moment: unit and step of each, sorted.
#[must_use]
pub fn at_work(run: &Path) -> Vec<(String, String)> {
    let held = steps(run).filter(|(.., step)| step.is_held().unwrap_or(false));
    let mut found: Vec<_> = held.map(|(unit, name, _)| (unit, name)).collect();
    found.sort();
    found
}

/// Whether a step below the run directory `run` ended at `since` or later, or nobody has seen it end. For a run that no
/// step of is at work now.
#[must_use]
pub fn worked_since(run: &Path, since: SystemTime) -> bool {
    steps(run).any(|(.., step)| {
        let ended = fs::symlink_metadata(step.file("result.json")).and_then(|stat| stat.modified());
        match ended {
            Ok(at) => at >= since,
            Err(_) => step.file("started").symlink_metadata().is_ok(),
        }
    })
}

/// All steps below a run directory, each with its unit's name and its own.
fn steps(run: &Path) -> impl Iterator<Item = (String, String, Step)> {
    let below = |folder: &Path| fs::read_dir(folder).into_iter().flatten().flatten();
    let name = |entry: &fs::DirEntry| entry.file_name().to_string_lossy().into_owned();
    below(&run.join("steps")).flat_map(move |unit| {
        let of = name(&unit);
        below(&unit.path()).map(move |step| (of.clone(), name(&step), Step::at(step.path())))
    })
}
