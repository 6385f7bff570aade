//! Names for what git stores: ids, modes, leaves of a tree and how they differ.

use std::fmt;

use bstr::{BString, ByteSlice};

use crate::model::ids::CommitId;

/// Mode of a file.
pub const FILE: u32 = 0o100_644;
/// Mode of an executable file.
pub const EXECUTABLE: u32 = 0o100_755;
/// Mode of a symbolic link.
pub const SYMLINK: u32 = 0o120_000;
/// Mode of a commit of another repository (a submodule).
pub const GITLINK: u32 = 0o160_000;

/// An object id in binary, of either hash.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct ObjectId {
    bytes: [u8; 32],
    len: u8,
}

impl ObjectId {
    /// Takes 20 or 32 bytes; `None` for any other length.
    #[must_use]
    pub fn from_bytes(raw: &[u8]) -> Option<Self> {
        let len = u8::try_from(raw.len()).ok().filter(|len| matches!(len, 20 | 32))?;
        let mut bytes = [0; 32];
        bytes[..raw.len()].copy_from_slice(raw);
        Some(Self { bytes, len })
    }

    /// Takes 40 or 64 hexadecimal digits.
    #[must_use]
    pub fn from_hex(hex: &[u8]) -> Option<Self> {
        let digit = |b: u8| char::from(b).to_digit(16).and_then(|d| u8::try_from(d).ok());
        let (pairs, []) = hex.as_chunks::<2>() else {
            return None;
        };
        let raw: Option<Vec<u8>> =
            pairs.iter().map(|[high, low]| Some(digit(*high)? << 4 | digit(*low)?)).collect();
        Self::from_bytes(&raw?)
    }

    /// The 20 or 32 bytes.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes[..usize::from(self.len)]
    }
}

impl fmt::Display for ObjectId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.as_bytes().iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for ObjectId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// What a tree holds under one path: never a folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Leaf {
    /// [`FILE`], [`EXECUTABLE`], [`SYMLINK`] or [`GITLINK`].
    pub mode: u32,
    /// The blob, or the commit of a submodule.
    pub id: ObjectId,
}

/// How a path differs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ChangeKind {
    /// It was not there.
    Added,
    /// It is gone.
    Deleted,
    /// Other bytes (or another target, or another submodule commit).
    Modified,
    /// The same bytes, executable or no longer so.
    Mode,
    /// A file became a link, a submodule a file, …
    Type,
}

/// One path that differs between two trees. There are no renames: both ends of a move are changes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// Relative to the top, with `/`, as bytes.
    pub path: BString,
    /// How it differs.
    pub kind: ChangeKind,
    /// What was there.
    pub old: Option<Leaf>,
    /// What is there now.
    pub new: Option<Leaf>,
}

impl Change {
    /// The difference of two leaves; `None` when there is none.
    #[must_use]
    pub fn between(path: BString, old: Option<Leaf>, new: Option<Leaf>) -> Option<Self> {
        let kind = match (&old, &new) {
            (None, None) => return None,
            (None, Some(_)) => ChangeKind::Added,
            (Some(_), None) => ChangeKind::Deleted,
            (Some(old), Some(new)) if old == new => return None,
            (Some(old), Some(new)) if old.mode >> 12 != new.mode >> 12 => ChangeKind::Type,
            (Some(old), Some(new)) if old.id == new.id => ChangeKind::Mode,
            _ => ChangeKind::Modified,
        };
        Some(Self { path, kind, old, new })
    }

    /// Whether a gitlink (a commit of another repository) is on either side.
    #[must_use]
    pub fn is_gitlink(&self) -> bool {
        self.old.iter().chain(&self.new).any(|leaf| leaf.mode == GITLINK)
    }
}

/// Author and committer of what `sop` commits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Identity {
    /// A person's or a program's name.
    pub name: String,
    /// Address.
    pub email: String,
}

impl Identity {
    /// Without the characters that end a field inside a commit object.
    pub(super) fn clean(&self) -> Self {
        let strip = |text: &str, fallback: &str| {
            let kept: String =
                text.chars().filter(|c| !c.is_control() && !"<>".contains(*c)).collect();
            let kept = kept.trim().to_owned();
            if kept.is_empty() { fallback.to_owned() } else { kept }
        };
        Self { name: strip(&self.name, "sop"), email: strip(&self.email, "sop@localhost") }
    }
}

pub(super) fn oid(id: &CommitId) -> Result<git2::Oid, git2::Error> {
    git2::Oid::from_str(id.as_str())
}

pub(super) fn commit_id(id: git2::Oid) -> CommitId {
    CommitId(id.to_string())
}

pub(super) fn raw(id: ObjectId) -> Result<git2::Oid, git2::Error> {
    git2::Oid::from_bytes(id.as_bytes())
}

/// Old trees hold modes such as 100664, which git reads as 100644.
pub(super) fn normal(mode: u32) -> u32 {
    match mode >> 12 {
        0o10 if mode & 0o100 != 0 => EXECUTABLE,
        0o10 => FILE,
        _ => mode,
    }
}

pub(super) fn octal(digits: &[u8]) -> Option<u32> {
    u32::from_str_radix(digits.to_str().ok()?, 8).ok()
}
