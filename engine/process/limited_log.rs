//! A log that cannot fill the disk. Up to its limit it is a plain file. Past that it keeps the first
//! half and the end: what comes after the head goes to a side file that is rolled over, so that at
//! most two pieces of a quarter each exist, and [`LimitedLog::finish`] joins head and pieces with a
//! line between them that says how much is missing. Memory does not grow with the output.

use std::fs::{self, File};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use bstr::ByteSlice;

use crate::plain_file;

/// The smallest limit: below that a log would be all marker.
pub const MIN_LIMIT: u64 = 4096;
/// Set aside for the line that says how much was dropped.
const MARKER: u64 = 160;

/// What became of a log.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Written {
    /// Lines written to it, an unfinished last one included, dropped ones too.
    pub lines: u64,
    /// Bytes written to it, dropped ones included.
    pub bytes: u64,
    /// Bytes that are not in the file any more.
    pub dropped: u64,
    /// Why the file is not complete, other than by its limit (a full disk, say).
    pub error: Option<String>,
}

/// A log being written.
#[derive(Debug)]
pub struct LimitedLog {
    path: PathBuf,
    head: File,
    limit: u64,
    head_room: u64,
    tail: Option<Tail>,
    lines: u64,
    bytes: u64,
    open_line: bool,
    error: Option<io::Error>,
}

/// The pieces after the head: `<log>.tail` is written, `<log>.tail.old` is the one before it.
#[derive(Debug)]
struct Tail {
    current: File,
    length: u64,
    old_length: u64,
    piece: u64,
}

impl LimitedLog {
    /// Starts an empty log at `path` (an earlier file there is emptied) of at most `limit` bytes.
    ///
    /// # Errors
    /// If the file cannot be created.
    pub fn create(path: &Path, limit: u64) -> io::Result<Self> {
        File::create(path).map(|head| Self::on(head, path, limit))
    }

    /// The same, in a place where somebody else could have put something: nothing but a plain file is
    /// written to.
    ///
    /// # Errors
    /// If the file cannot be created, or is something else.
    pub fn create_plain(path: &Path, limit: u64) -> io::Result<Self> {
        plain_file::create(path).map(|head| Self::on(head, path, limit))
    }

    fn on(head: File, path: &Path, limit: u64) -> Self {
        let limit = limit.max(MIN_LIMIT);
        Self {
            path: path.to_owned(),
            head,
            limit,
            head_room: limit - limit / 2 - MARKER,
            tail: None,
            lines: 0,
            bytes: 0,
            open_line: false,
            error: None,
        }
    }

    /// Appends. A failure to write (a full disk) does not stop the one who prints: it is kept for
    /// [`Written::error`], and counting goes on.
    pub fn write(&mut self, bytes: &[u8]) {
        let Some(last) = bytes.last() else { return };
        self.bytes += bytes.len() as u64;
        self.lines += bytes.find_iter(b"\n").count() as u64;
        self.open_line = *last != b'\n';
        if self.error.is_none()
            && let Err(error) = self.store(bytes)
        {
            self.error = Some(error);
        }
    }

    fn store(&mut self, bytes: &[u8]) -> io::Result<()> {
        let fits = usize::try_from(self.head_room).unwrap_or(usize::MAX).min(bytes.len());
        let (head, rest) = bytes.split_at(fits);
        self.head.write_all(head)?;
        self.head_room -= head.len() as u64;
        if rest.is_empty() {
            return Ok(());
        }
        let tail = match &mut self.tail {
            Some(tail) => tail,
            None => self.tail.insert(Tail::open(&self.path, self.limit / 4)?),
        };
        tail.write(&self.path, rest)
    }

    /// Joins head and tail into the one file.
    pub fn finish(mut self) -> Written {
        let mut dropped = 0;
        if let Some(tail) = self.tail.take() {
            let kept = self.head.metadata().map_or(0, |m| m.len()) + tail.length + tail.old_length;
            dropped = self.bytes.saturating_sub(kept);
            let missing = (dropped > 0).then(|| format!("{dropped} bytes"));
            if let Err(error) = join(&self.path, missing.as_deref()) {
                self.error.get_or_insert(error);
            }
        }
        Written {
            lines: self.lines + u64::from(self.open_line),
            bytes: self.bytes,
            dropped,
            error: self.error.map(|error| error.to_string()),
        }
    }
}

impl Tail {
    fn open(log: &Path, piece: u64) -> io::Result<Self> {
        Ok(Self {
            current: plain_file::create(&side(log, ".tail"))?,
            length: 0,
            old_length: 0,
            piece,
        })
    }

    fn write(&mut self, log: &Path, mut bytes: &[u8]) -> io::Result<()> {
        // Of a burst longer than both pieces only its end can matter.
        let most = usize::try_from(self.piece).unwrap_or(usize::MAX).saturating_mul(2);
        bytes = &bytes[bytes.len().saturating_sub(most)..];
        while !bytes.is_empty() {
            if self.length == self.piece {
                fs::rename(side(log, ".tail"), side(log, ".tail.old"))?;
                self.current = plain_file::create(&side(log, ".tail"))?;
                self.old_length = std::mem::take(&mut self.length);
            }
            let room = usize::try_from(self.piece - self.length).unwrap_or(usize::MAX);
            let (now, later) = bytes.split_at(room.min(bytes.len()));
            self.current.write_all(now)?;
            self.length += now.len() as u64;
            bytes = later;
        }
        Ok(())
    }
}

/// Joins the pieces that a writer which was killed left beside its log, so that the log's end is not
/// lost with it. Does nothing where there are none.
///
/// # Errors
/// If the files cannot be read or written.
pub fn mend(log: &Path) -> io::Result<()> {
    if side(log, ".tail").exists() || side(log, ".tail.old").exists() {
        join(log, Some("an unknown number of bytes"))?;
    }
    Ok(())
}

/// The files that hold the log's bytes now, in order.
#[must_use]
pub fn pieces(log: &Path) -> [PathBuf; 3] {
    [log.to_owned(), side(log, ".tail.old"), side(log, ".tail")]
}

fn join(log: &Path, missing: Option<&str>) -> io::Result<()> {
    let mut head = File::options().append(true).custom_flags(plain_file::careful()).open(log)?;
    if let Some(missing) = missing {
        writeln!(head, "\n[sop: {missing} left out here, the log reached its limit]")?;
    }
    let [_, old, current] = pieces(log);
    for piece in [old, current] {
        match plain_file::open(&piece) {
            Ok(mut file) => {
                io::copy(&mut file, &mut head)?;
                fs::remove_file(&piece)?;
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

fn side(log: &Path, suffix: &str) -> PathBuf {
    let mut name = log.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

/// Counts the lines of a file as [`Written::lines`] does, and its bytes, in constant memory.
///
/// # Errors
/// If the file cannot be read.
pub fn count(path: &Path) -> io::Result<(u64, u64)> {
    use std::io::Read;
    let mut file = plain_file::open(path)?;
    let mut buffer = vec![0; 64 * 1024];
    let (mut lines, mut bytes, mut open) = (0, 0, false);
    loop {
        let n = file.read(&mut buffer)?;
        let Some(last) = buffer[..n].last() else {
            break;
        };
        open = *last != b'\n';
        bytes += n as u64;
        lines += buffer[..n].find_iter(b"\n").count() as u64;
    }
    Ok((lines + u64::from(open), bytes))
}
