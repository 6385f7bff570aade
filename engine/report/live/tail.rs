//! The last line that each worker or check has printed, read from the end of its log, and only when
//! the log has grown.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use crate::ledger::{Ledger, Phase, WpState};
use crate::model::time::{Length, Timestamp};
use crate::plain_file;
use crate::report::cells::output_line;

/// Bytes at the end of a log that are looked at; a longer line is shown from the middle.
const WINDOW: u64 = 4096;

/// Pause between two looks at which logs there are: a worker's log is known by name, a check's is not.
const LOOK_AGAIN: Length = Length::secs(1);

/// Logs of a run, `<wp>-<step>-<n>.log`.
#[derive(Debug)]
pub struct Tails {
    logs: PathBuf,
    ids: HashSet<String>,
    newest: HashMap<String, PathBuf>,
    looked: Option<Timestamp>,
    read: HashMap<PathBuf, (u64, Option<String>)>,
}

impl Tails {
    /// Of the logs in the folder `logs`.
    #[must_use]
    pub fn new(logs: &Path) -> Self {
        Self {
            logs: logs.into(),
            ids: HashSet::new(),
            newest: HashMap::new(),
            looked: None,
            read: HashMap::new(),
        }
    }

    /// The last line printed for `wp` in the state it is in, escaped; `None` when there is none yet.
    pub fn line(&mut self, wp: &WpState, ledger: &Ledger, now: Timestamp) -> Option<String> {
        let path = match wp.phase {
            Phase::Working => self.logs.join(format!("{}-work-{}.log", wp.id, wp.attempt)),
            Phase::Provisioning | Phase::Classing | Phase::Proving | Phase::Reviewing => {
                self.look(ledger, now);
                let path = self.newest.get(wp.id.as_str())?;
                let modified = modified(path)?;
                // What an earlier step printed is not what this one is doing.
                if wp.since.is_some_and(|since| modified < since) {
                    return None;
                }
                path.clone()
            }
            _ => return None,
        };
        let length = fs::metadata(&path).ok()?.len();
        match self.read.get(&path) {
            Some((seen, line)) if *seen == length => line.clone(),
            _ => {
                let line = last_line(&path);
                self.read.insert(path, (length, line.clone()));
                line
            }
        }
    }

    fn look(&mut self, ledger: &Ledger, now: Timestamp) {
        if self.looked.is_some_and(|looked| now.since(looked) < LOOK_AGAIN && now >= looked) {
            return;
        }
        self.looked = Some(now);
        if self.ids.is_empty() {
            self.ids = ledger.wps.iter().map(|wp| wp.id.to_string()).collect();
        }
        let Ok(entries) = fs::read_dir(&self.logs) else { return };
        let mut newest: HashMap<&str, (Timestamp, PathBuf)> = HashMap::new();
        for path in entries.flatten().map(|entry| entry.path()) {
            let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            let (Some(wp), Some(at)) = (owner(name, &self.ids), modified(&path)) else { continue };
            if newest.get(wp).is_none_or(|(seen, _)| *seen <= at) {
                newest.insert(wp, (at, path));
            }
        }
        self.newest = newest.into_iter().map(|(wp, (_, path))| (wp.to_owned(), path)).collect();
    }
}

/// Whose log `name` is: the longest id before a `-` that a step's name can follow. Ids and steps may
/// both hold dashes; a step starts with a letter.
fn owner<'a>(name: &str, ids: &'a HashSet<String>) -> Option<&'a str> {
    let dashes = name.match_indices('-').map(|(at, _)| at).collect::<Vec<_>>();
    let step = |at: usize| name[at + 1..].starts_with(|c: char| c.is_ascii_alphabetic());
    let starts = dashes.into_iter().rev().filter(|at| step(*at)).map(|at| &name[..at]);
    starts.into_iter().find_map(|id| ids.get(id)).map(String::as_str)
}

fn modified(path: &Path) -> Option<Timestamp> {
    let at = fs::metadata(path).ok()?.modified().ok()?;
    jiff::Timestamp::try_from(at).ok().map(Timestamp)
}

/// The last line of the file at `path` that is not blank.
fn last_line(path: &Path) -> Option<String> {
    let text = last_bytes(path, WINDOW)?;
    let lines = text.lines().rev().map(output_line);
    lines.map(|line| line.trim().to_owned()).find(|line| !line.is_empty())
}

/// The last `window` bytes of the file at `path`; what is not UTF-8 in them is replaced.
#[must_use]
pub fn last_bytes(path: &Path, window: u64) -> Option<String> {
    let mut file = plain_file::open(path).ok()?;
    let length = file.metadata().ok()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(window))).ok()?;
    let mut bytes = Vec::new();
    file.take(window).read_to_end(&mut bytes).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}
