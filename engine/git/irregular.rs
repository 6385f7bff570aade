//! Things on disk that no commit can hold. Git passes over most of them in silence.

use std::fmt;

use bstr::BString;

/// Something on disk that no commit can hold.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Irregular {
    /// Where.
    pub path: BString,
    /// What it is.
    pub kind: IrregularKind,
}

/// Kinds of things no commit can hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum IrregularKind {
    /// A named pipe.
    Pipe,
    /// A socket.
    Socket,
    /// A device.
    Device,
    /// A repository inside the worktree. Its files are counted as well.
    NestedRepository,
    /// A change inside a submodule that its checked-out commit does not have.
    InsideSubmodule,
    /// A name that git stores in no tree (`.GIT`).
    Unstorable,
    /// A file or folder that may not be read.
    Unreadable,
}

impl fmt::Display for IrregularKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Pipe => "a named pipe",
            Self::Socket => "a socket",
            Self::Device => "a device",
            Self::NestedRepository => "a repository of its own",
            Self::InsideSubmodule => "a change inside a submodule",
            Self::Unstorable => "a name that git cannot store",
            Self::Unreadable => "a file or folder that cannot be read",
        })
    }
}

/// Names that git takes for its own folder on some file system, and so stores in no tree.
#[must_use]
pub fn names_git(name: &[u8]) -> bool {
    let lower = name.to_ascii_lowercase();
    let rest = lower.strip_prefix(b".git").or_else(|| lower.strip_prefix(b"git~1"));
    rest.is_some_and(|rest| {
        let end = rest.iter().position(|b| matches!(b, b':' | b'\\')).unwrap_or(rest.len());
        rest[..end].iter().all(|b| matches!(b, b' ' | b'.'))
    })
}
