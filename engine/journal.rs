//! The truth on disk: one JSON record a line, appended, flushed and synced before anything that
//! follows from it is done.
//!
//! A crash can leave a torn last line: it announced nothing yet, so it is dropped. Anything else that
//! does not parse means that somebody else wrote here, and reading stops with the line's number.

use std::fs::{File, OpenOptions};
use std::io::{self, BufRead, BufReader, Read as _, Seek as _, SeekFrom, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use crate::event::{Event, Outcome, Record, VERSION};
use crate::plain_file;
use crate::process::escape_path;

/// Why a journal cannot be read or written.
#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    /// The file system's word.
    #[error("{}: {source}", escape_path(path))]
    Io {
        /// The journal.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A line that is not a record.
    #[error(
        "{}:{line}: not a record of this journal ({why}); nothing after it was read",
        escape_path(path)
    )]
    Line {
        /// The journal.
        path: PathBuf,
        /// From 1.
        line: usize,
        /// The parser's word.
        why: String,
    },
    /// Not as its writer left it.
    #[error(
        "{} was changed by somebody else while the run went on; its first {known} bytes were right, and \
         nothing was recorded after them",
        escape_path(path)
    )]
    Touched {
        /// The journal.
        path: PathBuf,
        /// Bytes that were known.
        known: u64,
    },
    /// Written by another version of `sop`.
    #[error(
        "{}: record format {found}, but this sop reads {VERSION}; use the sop that made the run",
        escape_path(path)
    )]
    Version {
        /// The journal.
        path: PathBuf,
        /// The version it names.
        found: u32,
    },
}

/// Everything a journal holds, and where its last whole line ends.
#[derive(Debug)]
pub struct Contents {
    /// Records in order.
    pub records: Vec<Record>,
    /// Bytes up to the end of the last whole line.
    pub good: u64,
}

/// Reads the journal at `path`. Takes no lock: a reader sees a whole prefix, whoever writes.
///
/// # Errors
/// When the file cannot be read, a line other than a torn last one does not parse, or the format is
/// of another version.
pub fn read(path: &Path) -> Result<Contents, JournalError> {
    let bytes = plain_file::read_own(path)
        .map_err(|source| JournalError::Io { path: path.into(), source })?;
    let mut records = Vec::new();
    let mut good = 0;
    for (n, line) in bytes.split_inclusive(|b| *b == b'\n').enumerate() {
        if line.last() != Some(&b'\n') {
            break;
        }
        let record: Record = serde_json::from_slice(line).map_err(|error| JournalError::Line {
            path: path.into(),
            line: n + 1,
            why: error.to_string(),
        })?;
        if let Event::RunCreated { version, .. } = &record.event
            && *version != VERSION
        {
            return Err(JournalError::Version { path: path.into(), found: *version });
        }
        records.push(record);
        good += line.len() as u64;
    }
    Ok(Contents { records, good })
}

/// Whether the journal at `path` holds at least one whole record.
#[must_use]
pub fn has_begun(path: &Path) -> bool {
    let mut line = Vec::new();
    let read =
        plain_file::open(path).and_then(|file| BufReader::new(file).read_until(b'\n', &mut line));
    read.is_ok() && line.last() == Some(&b'\n')
}

/// Bytes at a journal's end among which its last record is looked for.
const END: u64 = 256 << 10;

/// Whether the last whole record of the journal at `path` says that nothing is left to do. What cannot be read
/// is not over. Only the end is looked at, however long the run was.
#[must_use]
pub fn is_over(path: &Path) -> bool {
    let last = || -> io::Result<Option<Record>> {
        let mut file = plain_file::open(path)?;
        let from = file.metadata()?.len().saturating_sub(END);
        file.seek(SeekFrom::Start(from))?;
        let mut end = Vec::new();
        file.take(END).read_to_end(&mut end)?;
        let whole = end.iter().rposition(|byte| *byte == b'\n').unwrap_or(0);
        let start = end[..whole].iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        Ok(serde_json::from_slice(&end[start..whole]).ok())
    };
    let is_end = |record: Record| matches!(record.event, Event::RunFinished { outcome } if outcome != Outcome::Waiting);
    last().ok().flatten().is_some_and(is_end)
}

/// The journal's one writer.
#[derive(Debug)]
pub struct Journal {
    path: PathBuf,
    file: File,
    /// Bytes that this writer knows of.
    end: u64,
    fault: Option<Fault>,
}

impl Journal {
    /// Makes a new journal; there must be none.
    ///
    /// # Errors
    /// When there is one, or the file cannot be made.
    pub fn create(path: &Path) -> Result<Self, JournalError> {
        let file = OpenOptions::new().append(true).create_new(true).open(path);
        let file = file.map_err(|source| JournalError::Io { path: path.into(), source })?;
        Ok(Self { path: path.into(), file, end: 0, fault: Fault::from_env() })
    }

    /// Opens a journal to go on with it: reads it, and cuts off a torn last line.
    ///
    /// # Errors
    /// As [`read`].
    pub fn resume(path: &Path) -> Result<(Self, Vec<Record>), JournalError> {
        let contents = read(path)?;
        let io = |source| JournalError::Io { path: path.into(), source };
        let file = OpenOptions::new()
            .append(true)
            .custom_flags(plain_file::careful())
            .open(path)
            .map_err(io)?;
        file.set_len(contents.good).map_err(io)?;
        let journal =
            Self { path: path.into(), file, end: contents.good, fault: Fault::from_env() };
        Ok((journal, contents.records))
    }

    /// Appends records and returns when they are on the disk. Several at once share one sync.
    ///
    /// # Errors
    /// When the file cannot be written or synced; what became of the records is then unknown until
    /// the journal is read again.
    pub fn append(&mut self, records: &[Record]) -> Result<(), JournalError> {
        if let Some(fault) = self.fault {
            for record in records {
                self.write(std::slice::from_ref(record))?;
                fault.after(record.seq);
            }
            return Ok(());
        }
        self.write(records)
    }

    fn write(&mut self, records: &[Record]) -> Result<(), JournalError> {
        let io = |source| JournalError::Io { path: self.path.clone(), source };
        let mut lines = Vec::with_capacity(records.len() * 256);
        for record in records {
            serde_json::to_writer(&mut lines, record).map_err(|error| io(error.into()))?;
            lines.push(b'\n');
        }
        self.untouched()?;
        self.file.write_all(&lines).map_err(io)?;
        self.file.sync_data().map_err(io)?;
        self.end += lines.len() as u64;
        Ok(())
    }

    /// The journal is the truth only while its one writer is the only one: whatever somebody else wrote,
    /// cut or put in its place ends the run here, where it is known, and not at some later reading.
    fn untouched(&self) -> Result<(), JournalError> {
        let io = |source| JournalError::Io { path: self.path.clone(), source };
        let ours = self.file.metadata().map_err(io)?;
        let there = std::fs::symlink_metadata(&self.path).ok();
        let same =
            there.is_some_and(|there| (there.dev(), there.ino()) == (ours.dev(), ours.ino()));
        if same && ours.len() == self.end {
            return Ok(());
        }
        Err(JournalError::Touched { path: self.path.clone(), known: self.end })
    }
}

/// A fault that a test asks for, to prove that a crash at this very point is survived:
/// `SOP_FAULT=kill:N` or `term:N` ends this process right after record N. Only debug builds listen.
#[derive(Debug, Clone, Copy)]
struct Fault {
    signal: rustix::process::Signal,
    seq: u64,
}

impl Fault {
    fn from_env() -> Option<Self> {
        if !cfg!(debug_assertions) {
            return None;
        }
        let text = std::env::var("SOP_FAULT").ok()?;
        let (kind, seq) = text.split_once(':')?;
        let signal = match kind {
            "kill" => rustix::process::Signal::KILL,
            "term" => rustix::process::Signal::TERM,
            _ => return None,
        };
        Some(Self { signal, seq: seq.parse().ok()? })
    }

    fn after(self, seq: u64) {
        if seq == self.seq {
            let _ = rustix::process::kill_process(rustix::process::getpid(), self.signal);
        }
    }
}
