//! What of a commit an audit looks at.

use bstr::{BStr, BString, ByteSlice};

use crate::git::objects::{GITLINK, SYMLINK};
use crate::git::{GitError, Repo};
use crate::model::gap::LeftOut;
use crate::model::ids::CommitId;
use crate::process::escape;

/// Bytes at the beginning of a file in which a NUL says that it is no text: as git has it.
const SNIFFED: usize = 8000;

/// Paths from the repository's root, as bytes without a slash at the end. None means everything.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Scope(Vec<BString>);

impl Scope {
    /// These paths; the root among them means everything.
    #[must_use]
    pub fn new(paths: Vec<BString>) -> Self {
        if paths.iter().any(|path| path.is_empty()) {
            return Self::default();
        }
        Self(paths)
    }

    /// The paths.
    #[must_use]
    pub fn paths(&self) -> &[BString] {
        &self.0
    }

    /// Whether it takes in `path`.
    #[must_use]
    pub fn takes_in(&self, path: &BStr) -> bool {
        self.0.is_empty() || self.0.iter().any(|scope| is_below(path, scope.as_bstr()))
    }
}

/// Whether `path` is `folder`, or lies in it.
fn is_below(path: &BStr, folder: &BStr) -> bool {
    path.strip_prefix(folder.as_bytes())
        .is_some_and(|rest| rest.is_empty() || rest.starts_with(b"/"))
}

/// A text file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct File {
    /// The path.
    pub path: BString,
    /// Its size.
    pub bytes: u64,
    /// Its lines.
    pub lines: u32,
}

/// The files of a commit in a scope.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tree {
    /// Those that can be read, by path.
    pub files: Vec<File>,
    /// The others.
    pub left_out: Vec<LeftOut>,
    /// Paths of the scope under which the commit has nothing.
    pub missing: Vec<BString>,
}

impl Tree {
    /// What `commit` has in `scope`.
    ///
    /// # Errors
    /// The commit cannot be read.
    pub fn read(repo: &Repo, commit: &CommitId, scope: &Scope) -> Result<Self, GitError> {
        let mut tree = Self::default();
        let leaves = repo.leaves_at(commit)?;
        let has = |folder: &BString| {
            leaves.iter().any(|(path, _)| is_below(path.as_bstr(), folder.as_bstr()))
        };
        tree.missing = scope.paths().iter().filter(|path| !has(path)).cloned().collect();
        for (path, leaf) in leaves {
            if !scope.takes_in(path.as_bstr()) {
                continue;
            }
            let why = match leaf.mode {
                SYMLINK => Some("a link"),
                GITLINK => Some("a submodule: it has a history of its own"),
                _ => {
                    let content = repo.blob(leaf.id)?;
                    match content.get(..SNIFFED.min(content.len())) {
                        Some([]) | None => Some("empty"),
                        Some(head) if head.contains(&0) => Some("no text"),
                        Some(_) => {
                            let lines = u32::try_from(content.lines().count()).unwrap_or(u32::MAX);
                            let bytes = content.len() as u64;
                            tree.files.push(File { path: path.clone(), bytes, lines });
                            None
                        }
                    }
                }
            };
            tree.left_out
                .extend(why.map(|why| LeftOut { path: escape(&path), why: why.to_owned() }));
        }
        tree.files.sort_by(|a, b| a.path.cmp(&b.path));
        Ok(tree)
    }
}
