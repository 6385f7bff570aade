//! Which logs there are of a unit, which there were, and which of them are meant.

use std::collections::BTreeMap;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use crate::cli::failure::Failure;
use crate::model::ids::WpId;
use crate::process;
use crate::run::directory::RunDir;

/// The log of one start of one step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Log {
    /// Where it is.
    pub(super) path: PathBuf,
    /// Its name: `<unit>-<step>-<n>`.
    name: String,
    /// `work`, `dod.<round>.<pass>.<command>`, `review.<round>.<try>`, `base.<command>`, …
    step: String,
    n: u32,
    /// Whether the step ended and left one that is not there any more.
    gone: bool,
    when: SystemTime,
}

impl Log {
    /// Its name within the run directory.
    pub(super) fn shown(&self) -> String {
        process::escape(format!("logs/{}.log", self.name).as_bytes())
    }

    /// The error that there is nothing left to show.
    pub(super) fn removed(&self) -> Failure {
        let path = process::escape(self.path.as_os_str().as_bytes());
        Failure::infrastructure(format!("the log {path} is gone: somebody removed it"))
            .help("`sop status` and the journal still say how the command ended")
    }

    pub(super) fn is_gone(&self) -> bool {
        self.gone
    }
}

/// Logs of `unit`, oldest first, those that were removed among them.
///
/// # Errors
/// The folder of logs cannot be read.
pub(super) fn all(dir: &RunDir, unit: &WpId) -> Result<Vec<Log>, Failure> {
    let folder = dir.named("logs");
    let entries = std::fs::read_dir(&folder).map_err(|error| {
        Failure::infrastructure(format!(
            "could not read {}: {error}",
            process::escape_path(&folder)
        ))
    })?;
    let mut logs = BTreeMap::new();
    for entry in entries.filter_map(Result::ok) {
        let name = entry.file_name().to_string_lossy().into_owned();
        // `<unit>-<step>-<n>.log`, where neither step nor n has a dash.
        let Some((name, (rest, n))) = name.strip_suffix(".log").and_then(|n| Some((n, split(n)?)))
        else {
            continue;
        };
        let Some((of, step)) = rest.rsplit_once('-').filter(|(of, _)| *of == unit.as_str()) else {
            continue;
        };
        let log = log(&folder, of, step, n, &entry.path(), false);
        logs.insert(name.to_owned(), log);
    }
    // A step that ended had a log, whether or not that is still there.
    let steps = std::fs::read_dir(dir.named("steps").join(unit.as_str()));
    for entry in steps.into_iter().flatten().filter_map(Result::ok) {
        let name = entry.file_name().to_string_lossy().into_owned();
        let ended = entry.path().join("result.json");
        if let Some((step, n)) = split(&name)
            && ended.exists()
        {
            let log = log(&folder, unit.as_str(), step, n, &ended, true);
            logs.entry(log.name.clone()).or_insert(log);
        }
    }
    let mut logs: Vec<Log> = logs.into_values().collect();
    logs.sort_by(|a, b| (a.when, &a.name).cmp(&(b.when, &b.name)));
    Ok(logs)
}

fn split(name: &str) -> Option<(&str, u32)> {
    let (rest, n) = name.rsplit_once('-')?;
    Some((rest, n.parse().ok()?))
}

fn log(folder: &Path, unit: &str, step: &str, n: u32, dated: &Path, gone: bool) -> Log {
    let name = format!("{unit}-{step}-{n}");
    let when = dated.metadata().and_then(|meta| meta.modified()).unwrap_or(SystemTime::UNIX_EPOCH);
    Log { path: folder.join(format!("{name}.log")), name, step: step.to_owned(), n, gone, when }
}

/// The logs that `step` means, oldest first; not empty, unless there is none at all and none is named.
/// Of a worker that is the newest; of checks and reviews all of the newest round; of setup and the
/// dry run on the base all. Of a command that was run again it is the newest run. A number after the
/// step says which: `work-2`, `dod.1`.
pub(super) fn choose(logs: &[Log], step: Option<&str>) -> Vec<Log> {
    let Some(wanted) = step else {
        let work = logs.iter().rfind(|log| log.step == "work").or(logs.last());
        return work.cloned().into_iter().collect();
    };
    let name = wanted.strip_prefix("logs/").unwrap_or(wanted);
    let name = name.strip_suffix(".log").unwrap_or(name);
    let exact = |log: &&Log| log.name == name || format!("{}-{}", log.step, log.n) == name;
    if let Some(log) = logs.iter().find(exact) {
        return vec![log.clone()];
    }
    let of_step = |log: &&Log| {
        log.step.strip_prefix(wanted).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    };
    let found: Vec<&Log> = logs.iter().filter(of_step).collect();
    let Some(newest) = found.last() else {
        return Vec::new();
    };
    let round = round(newest);
    // The number of a step that has one of its own is the start; of another one it is all there is.
    let again = |log: &Log| {
        let numbered = log.step == "work" || log.step.contains('.');
        numbered && found.iter().any(|other| other.step == log.step && other.n > log.n)
    };
    let kept = found.iter().filter(|log| self::round(log) == round && !again(log));
    kept.map(|log| (*log).clone()).collect()
}

/// The round of a step that has several commands in each.
fn round(log: &Log) -> Option<&str> {
    let mut parts = log.step.split('.').skip(1);
    let round = parts.next()?;
    parts.next().map(|_| round)
}

/// The error that nothing is meant.
pub(super) fn none(logs: &[Log], id: &WpId, dir: &RunDir) -> Failure {
    let failure = Failure::usage(format!("`{id}` has no such log in `{}`", dir.run()));
    let names: Vec<String> = logs.iter().map(|log| process::escape(log.name.as_bytes())).collect();
    match names.is_empty() {
        true => failure.help("nothing has been run for it yet"),
        false => failure.help(format!("there are: {}", names.join(", "))),
    }
}
