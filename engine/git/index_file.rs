//! Git's index file, read only: which paths a checkout holds and the stat data each file had when git
//! wrote or last saw it. Versions 2 to 4; a split or sparse index is refused (callers let git expand it).

use std::ops::Range;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use bstr::{BStr, ByteSlice};

use crate::plain_file;

use super::error::GitError;
use super::objects::{Leaf, ObjectId};

/// The stat data that tells whether a file was touched. Fields are cut to 32 bits, as the index holds them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Stat {
    /// Seconds and nanoseconds of the last change of the inode; no user can set it.
    pub ctime: (u32, u32),
    /// Seconds and nanoseconds of the last change of the content.
    pub mtime: (u32, u32),
    /// Inode number.
    pub ino: u32,
    /// Length.
    pub size: u32,
}

impl Stat {
    /// Of a file on disk.
    #[must_use]
    #[allow(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "the index holds the low 32 bits"
    )]
    pub fn of(metadata: &std::fs::Metadata) -> Self {
        Self {
            ctime: (metadata.ctime() as u32, metadata.ctime_nsec() as u32),
            mtime: (metadata.mtime() as u32, metadata.mtime_nsec() as u32),
            ino: metadata.ino() as u32,
            size: metadata.size() as u32,
        }
    }
}

/// One path of an index.
#[derive(Debug, Clone)]
pub struct Entry {
    /// What the index says is there.
    pub leaf: Leaf,
    /// The file's stat data when git last saw it equal to `leaf`; zeroes when it never did.
    pub stat: Stat,
    /// `assume-unchanged` was set on it.
    pub assume_unchanged: bool,
    /// `skip-worktree` was set on it.
    pub skip_worktree: bool,
    /// 0, or the side of a conflict.
    pub stage: u8,
    name: Range<u32>,
}

/// An index in memory; entries are sorted by path.
#[derive(Debug, Default)]
pub struct Index {
    names: Vec<u8>,
    entries: Vec<Entry>,
}

impl Index {
    /// Reads an index file. `oid_len`: bytes in an object id (20 or 32).
    ///
    /// # Errors
    /// [`GitError::Io`], or [`GitError::Index`] when it is damaged, split or sparse.
    pub fn read(path: &Path, oid_len: usize) -> Result<Self, GitError> {
        let bytes = plain_file::read_own(path).map_err(GitError::io("read", path))?;
        Self::parse(&bytes, oid_len)
            .map_err(|what| GitError::Index { path: path.to_path_buf(), what: what.to_owned() })
    }

    /// An index of a list of paths sorted as git sorts them, without stat data: every file on disk will be looked into.
    pub(super) fn of_leaves(leaves: &[(bstr::BString, Leaf)]) -> Self {
        let mut index = Self::default();
        let stat = Stat { ctime: (0, 0), mtime: (0, 0), ino: 0, size: 0 };
        for (path, leaf) in leaves {
            let start = index.names.len();
            index.names.extend_from_slice(path);
            let name = narrow(start)..narrow(index.names.len());
            index.entries.push(Entry {
                leaf: *leaf,
                stat,
                assume_unchanged: false,
                skip_worktree: false,
                stage: 0,
                name,
            });
        }
        index
    }

    /// The entries, sorted by path as bytes.
    #[must_use]
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// The path of an entry.
    #[must_use]
    pub fn path(&self, entry: &Entry) -> &BStr {
        self.names[entry.name.start as usize..entry.name.end as usize].as_bstr()
    }

    /// What the index holds under a path, if it is not in conflict.
    #[must_use]
    pub fn find(&self, path: &BStr) -> Option<&Entry> {
        let at = self.entries.binary_search_by(|entry| self.path(entry).cmp(path)).ok()?;
        self.entries.get(at)
    }

    fn parse(bytes: &[u8], oid_len: usize) -> Result<Self, &'static str> {
        const SHORT: &str = "it ends too early";
        let word = |at: usize| -> Result<u32, &'static str> {
            bytes
                .get(at..)
                .and_then(|rest| rest.first_chunk())
                .map(|raw| u32::from_be_bytes(*raw))
                .ok_or(SHORT)
        };
        if !bytes.starts_with(b"DIRC") {
            return Err("it does not begin as an index does");
        }
        let (version, count) = (word(4)?, word(8)? as usize);
        if !(2..=4).contains(&version) {
            return Err("its version is not 2, 3 or 4");
        }
        if count > bytes.len() / 40 {
            return Err(SHORT);
        }
        let mut index =
            Self { names: Vec::with_capacity(bytes.len() / 2), entries: Vec::with_capacity(count) };
        let mut at = 12;
        let mut previous = 0..0_usize;
        for _ in 0..count {
            let begin = at;
            let stat = Stat {
                ctime: (word(at)?, word(at + 4)?),
                mtime: (word(at + 8)?, word(at + 12)?),
                ino: word(at + 20)?,
                size: word(at + 36)?,
            };
            let mode = word(at + 24)?;
            at += 40;
            let id = bytes.get(at..at + oid_len).and_then(ObjectId::from_bytes).ok_or(SHORT)?;
            at += oid_len;
            let half = |at: usize| {
                bytes
                    .get(at..at + 2)
                    .map(|raw| u16::from(raw[0]) << 8 | u16::from(raw[1]))
                    .ok_or(SHORT)
            };
            let flags = half(at)?;
            at += 2;
            let extended = if flags & 0x4000 == 0 { 0 } else { half(at)? };
            at += usize::from(flags & 0x4000 != 0) * 2;
            let start = index.names.len();
            if version == 4 {
                let strip = varint(bytes, &mut at).ok_or(SHORT)?;
                let kept = previous.len().checked_sub(strip).ok_or("a path is cut too short")?;
                index.names.extend_from_within(previous.start..previous.start + kept);
            }
            let rest = bytes.get(at..).ok_or(SHORT)?;
            let length = rest.find_byte(0).ok_or(SHORT)?;
            index.names.extend_from_slice(&rest[..length]);
            at += length + 1;
            if version < 4 {
                at = begin + (at - begin).next_multiple_of(8);
            }
            previous = start..index.names.len();
            index.entries.push(Entry {
                leaf: Leaf { mode, id },
                stat,
                assume_unchanged: flags & 0x8000 != 0,
                skip_worktree: extended & 0x4000 != 0,
                stage: u8::try_from(flags >> 12 & 3).unwrap_or(0),
                name: narrow(start)..narrow(index.names.len()),
            });
        }
        while at + 8 <= bytes.len().saturating_sub(oid_len) {
            match &bytes[at..at + 4] {
                b"link" => return Err("it is a split index"),
                b"sdir" => return Err("it is a sparse index"),
                _ => at += 8 + word(at + 4)? as usize,
            }
        }
        Ok(index)
    }
}

/// Paths of one index fit 4 GiB: git's own entry count does.
fn narrow(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX)
}

/// Git's variable-width number: big-endian groups of 7 bits, each but the last incremented by one.
fn varint(bytes: &[u8], at: &mut usize) -> Option<usize> {
    let mut value = 0_usize;
    loop {
        let byte = *bytes.get(*at)?;
        *at += 1;
        value = value.checked_shl(7)? | usize::from(byte & 0x7f);
        if byte & 0x80 == 0 {
            return Some(value);
        }
        value = value.checked_add(1)?;
    }
}
