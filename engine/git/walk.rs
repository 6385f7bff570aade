//! One pass over a working tree: which files may differ from an index, told by their stat data alone.
//!
//! Links are never followed. Folders that the rules ignore are not entered unless the index has something
//! in them. Several threads share the folders of a large tree.

use std::ffi::OsStr;
use std::fs::{DirEntry, Metadata};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::ErrorKind;
use std::ops::Range;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};

use bstr::{BStr, BString, ByteSlice};

use crate::plain_file;

use super::error::GitError;
use super::ignore::IgnoreRules;
use super::index_file::{Entry, Index, Stat};
use super::irregular::{Irregular, IrregularKind, names_git};
use super::objects::{EXECUTABLE, FILE, GITLINK, SYMLINK};

/// Below this many paths one thread is faster than two.
const WORTH_THREADS: usize = 2_000;
/// More threads than this gain nothing on one file system.
const MOST_THREADS: usize = 8;

/// What to walk, and against what.
pub(super) struct Walk<'a> {
    pub(super) root: &'a Path,
    pub(super) index: &'a Index,
    pub(super) rules: &'a IgnoreRules,
    /// Paths (files or folders) that are passed over.
    pub(super) keep_out: &'a std::collections::HashSet<BString>,
    /// Also report a fingerprint of every file, and leave nested repositories alone.
    pub(super) fingerprints: bool,
}

/// A file or link that may differ from what the index has for it.
pub(super) struct Suspect {
    pub(super) path: BString,
    /// Its entry in the index, if it has one.
    pub(super) entry: Option<usize>,
    /// [`FILE`], [`EXECUTABLE`] or [`SYMLINK`].
    pub(super) mode: u32,
}

/// What a walk found; every list is sorted by path.
#[derive(Default)]
pub(super) struct Walked {
    pub(super) suspects: Vec<Suspect>,
    /// Entries whose file is not there.
    pub(super) gone: Vec<usize>,
    /// Submodule entries whose folder is there.
    pub(super) submodules: Vec<usize>,
    pub(super) irregular: Vec<Irregular>,
    /// With [`Walk::fingerprints`]: each file and a hash of its stat data.
    pub(super) fingerprints: Vec<(BString, u64)>,
}

/// As many as there are cores, within reason. Asking reads files of the kernel's.
fn threads() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from).min(MOST_THREADS)
}

impl Walked {
    /// Takes files that may not be read out of the suspects: what is in them cannot be told, and no commit
    /// could hold it. Whether there were any.
    pub(super) fn set_aside_unreadable(&mut self, root: &Path) -> bool {
        let readable = |suspect: &Suspect| {
            let denied = |error: std::io::Error| error.kind() == ErrorKind::PermissionDenied;
            suspect.mode == SYMLINK
                || !plain_file::open(&root.join(OsStr::from_bytes(&suspect.path)))
                    .is_err_and(denied)
        };
        let (suspects, unreadable): (Vec<_>, Vec<_>) =
            std::mem::take(&mut self.suspects).into_iter().partition(readable);
        self.suspects = suspects;
        let any = !unreadable.is_empty();
        self.irregular.extend(
            unreadable
                .into_iter()
                .map(|suspect| Irregular { path: suspect.path, kind: IrregularKind::Unreadable }),
        );
        any
    }
}

/// A folder still to be read.
struct Job {
    /// Empty, or ending in `/`.
    folder: BString,
    /// The entries under it.
    entries: Range<usize>,
    ignored: bool,
}

struct Queue {
    jobs: Vec<Job>,
    /// Jobs taken and not finished; when none is left and `jobs` is empty, the walk is over.
    running: usize,
}

impl Walk<'_> {
    pub(super) fn run(&self) -> Result<Walked, GitError> {
        let entries = self.index.entries();
        let seen: Vec<AtomicBool> = entries.iter().map(|_| AtomicBool::new(false)).collect();
        let first = Job { folder: BString::default(), entries: 0..entries.len(), ignored: false };
        let queue = (Mutex::new(Queue { jobs: vec![first], running: 0 }), Condvar::new());
        let threads = if entries.len() < WORTH_THREADS { 1 } else { threads() };
        let mut found = std::thread::scope(|scope| -> Result<Walked, GitError> {
            let others: Vec<_> =
                (1..threads).map(|_| scope.spawn(|| self.work(&queue, &seen))).collect();
            let mut all = self.work(&queue, &seen)?;
            for other in others {
                let part = other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))?;
                all.suspects.extend(part.suspects);
                all.submodules.extend(part.submodules);
                all.irregular.extend(part.irregular);
                all.fingerprints.extend(part.fingerprints);
            }
            Ok(all)
        })?;
        found.gone = (0..entries.len()).filter(|at| !seen[*at].load(Ordering::Relaxed)).collect();
        found.suspects.sort_unstable_by(|one, two| one.path.cmp(&two.path));
        found.submodules.sort_unstable();
        found.irregular.sort_unstable_by(|one, two| one.path.cmp(&two.path));
        found.irregular.dedup();
        found.fingerprints.sort_unstable();
        Ok(found)
    }

    /// One thread: takes folders until none is left, or one could not be read for a reason worth stopping.
    fn work(
        &self,
        queue: &(Mutex<Queue>, Condvar),
        seen: &[AtomicBool],
    ) -> Result<Walked, GitError> {
        let (state, changed) = queue;
        let mut found = Walked::default();
        let mut outcome = Ok(());
        loop {
            let mut held = state.lock().unwrap_or_else(PoisonError::into_inner);
            while held.jobs.is_empty() && held.running > 0 {
                held = changed.wait(held).unwrap_or_else(PoisonError::into_inner);
            }
            let Some(job) = held.jobs.pop() else { break };
            held.running += 1;
            drop(held);
            let mut deeper = Vec::new();
            if outcome.is_ok() {
                outcome = self.folder(&job, seen, &mut found, &mut deeper);
            }
            let mut held = state.lock().unwrap_or_else(PoisonError::into_inner);
            held.running -= 1;
            held.jobs.append(&mut deeper);
            drop(held);
            changed.notify_all();
        }
        outcome.map(|()| found)
    }

    fn folder(
        &self,
        job: &Job,
        seen: &[AtomicBool],
        found: &mut Walked,
        deeper: &mut Vec<Job>,
    ) -> Result<(), GitError> {
        let on_disk = self.root.join(OsStr::from_bytes(&job.folder));
        let listing = match std::fs::read_dir(&on_disk) {
            Ok(listing) => listing,
            Err(error)
                if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory)
                    && !job.folder.is_empty() =>
            {
                return Ok(());
            }
            Err(error) if error.kind() == ErrorKind::PermissionDenied && !job.folder.is_empty() => {
                // Whether what the index has in it still is there cannot be told.
                job.entries.clone().for_each(|at| seen[at].store(true, Ordering::Relaxed));
                let path = job.folder.trim_end_with(|c| c == '/').into();
                found.irregular.push(Irregular { path, kind: IrregularKind::Unreadable });
                return Ok(());
            }
            Err(error) => return Err(GitError::io("list", &on_disk)(error)),
        };
        let mut path = job.folder.clone();
        for item in listing {
            let item = item.map_err(GitError::io("list", &on_disk))?;
            path.truncate(job.folder.len());
            path.extend_from_slice(item.file_name().as_bytes());
            self.item(job, &item, &path, seen, found, deeper)?;
        }
        Ok(())
    }

    fn item(
        &self,
        job: &Job,
        item: &DirEntry,
        path: &BString,
        seen: &[AtomicBool],
        found: &mut Walked,
        deeper: &mut Vec<Job>,
    ) -> Result<(), GitError> {
        let name = &path[job.folder.len()..];
        if name == b".git" && job.folder.is_empty() {
            return Ok(());
        }
        let Ok(kind) = item.file_type() else {
            return Ok(());
        };
        if self.keep_out.contains(path) {
            let inside = if kind.is_dir() { self.under(job, name) } else { 0..0 };
            inside
                .chain(self.exact(job, name))
                .for_each(|at| seen[at].store(true, Ordering::Relaxed));
            return Ok(());
        }
        let entry = self.exact(job, name);
        if names_git(name) {
            if !job.ignored && !self.fingerprints {
                let nested = name == b".git";
                let (place, kind) = if nested {
                    (job.folder.trim_end_with(|c| c == '/').into(), IrregularKind::NestedRepository)
                } else {
                    (path.clone(), IrregularKind::Unstorable)
                };
                found.irregular.push(Irregular { path: place, kind });
            }
            return Ok(());
        }
        let ignored = |is_folder| job.ignored || self.rules.ignores_here(path.as_bstr(), is_folder);
        if kind.is_dir() {
            if let Some(at) = entry.filter(|at| self.entry(*at).leaf.mode == GITLINK) {
                seen[at].store(true, Ordering::Relaxed);
                found.submodules.push(at);
                return Ok(());
            }
            let entries = self.under(job, name);
            let ignored = ignored(true);
            let foreign = self.fingerprints
                && entries.is_empty()
                && item.path().join(".git").symlink_metadata().is_ok();
            if !(foreign || ignored && entries.is_empty()) {
                let mut folder = path.clone();
                folder.push(b'/');
                deeper.push(Job { folder, entries, ignored });
            }
            return Ok(());
        }
        if entry.is_none() && ignored(false) {
            return Ok(());
        }
        if !(kind.is_file() || kind.is_symlink()) {
            let kind = if kind.is_fifo() {
                IrregularKind::Pipe
            } else if kind.is_socket() {
                IrregularKind::Socket
            } else {
                IrregularKind::Device
            };
            found.irregular.push(Irregular { path: path.clone(), kind });
            return Ok(());
        }
        if entry.is_none() && !self.fingerprints {
            let mode = if kind.is_symlink() {
                SYMLINK
            } else {
                item.metadata().map_or(FILE, |stat| mode_of(&stat))
            };
            found.suspects.push(Suspect { path: path.clone(), entry, mode });
            return Ok(());
        }
        let metadata = match item.metadata() {
            Ok(metadata) => metadata,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
            Err(error) if error.kind() == ErrorKind::PermissionDenied => {
                // Its folder can be listed and not be entered.
                entry.into_iter().for_each(|at| seen[at].store(true, Ordering::Relaxed));
                found
                    .irregular
                    .push(Irregular { path: path.clone(), kind: IrregularKind::Unreadable });
                return Ok(());
            }
            Err(error) => return Err(GitError::io("look at", &item.path())(error)),
        };
        let mode = mode_of(&metadata);
        if self.fingerprints {
            let mut hasher = DefaultHasher::new();
            (Stat::of(&metadata), mode).hash(&mut hasher);
            found.fingerprints.push((path.clone(), hasher.finish()));
            return Ok(());
        }
        if let Some(at) = entry {
            seen[at].store(true, Ordering::Relaxed);
            let known = self.entry(at);
            if known.stat == Stat::of(&metadata) && known.leaf.mode == mode {
                return Ok(());
            }
        }
        found.suspects.push(Suspect { path: path.clone(), entry, mode });
        Ok(())
    }

    fn entry(&self, at: usize) -> &Entry {
        &self.index.entries()[at]
    }

    /// The rest of an entry's path after the folder of the job.
    fn rest(&self, job: &Job, at: usize) -> &BStr {
        self.index.path(self.entry(at))[job.folder.len()..].as_bstr()
    }

    /// The entry for a name in the job's folder.
    fn exact(&self, job: &Job, name: &[u8]) -> Option<usize> {
        let at = self.first_from(job, job.entries.start, |rest| rest < name);
        (at < job.entries.end && self.rest(job, at) == name).then_some(at)
    }

    /// The entries under a folder in the job's folder.
    fn under(&self, job: &Job, name: &[u8]) -> Range<usize> {
        let below = |rest: &[u8], end: u8| {
            let common = rest.len().min(name.len());
            match rest[..common].cmp(&name[..common]) {
                std::cmp::Ordering::Equal => rest.get(name.len()).is_none_or(|byte| *byte < end),
                order => order.is_lt(),
            }
        };
        let start = self.first_from(job, job.entries.start, |rest| below(rest, b'/'));
        start..self.first_from(job, start, |rest| below(rest, b'/' + 1))
    }

    fn first_from(&self, job: &Job, from: usize, before: impl Fn(&[u8]) -> bool) -> usize {
        let (mut low, mut high) = (from, job.entries.end);
        while low < high {
            let middle = low + (high - low) / 2;
            if before(self.rest(job, middle)) { low = middle + 1 } else { high = middle }
        }
        low
    }
}

/// The mode git would give a file or link.
pub(super) fn mode_of(metadata: &Metadata) -> u32 {
    match metadata.is_symlink() {
        true => SYMLINK,
        false if metadata.mode() & 0o100 != 0 => EXECUTABLE,
        false => FILE,
    }
}
