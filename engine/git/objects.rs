//! Commits, trees and blobs, read and written without a working tree.

use std::collections::BTreeMap;
use std::fmt;
use std::os::unix::ffi::OsStrExt;

use bstr::{BStr, BString, ByteSlice, ByteVec};

use crate::model::ids::{CommitId, TreeId};

use super::error::GitError;
use super::listing;
use super::repo::Repo;

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
    fn clean(&self) -> Self {
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

fn raw(id: ObjectId) -> Result<git2::Oid, git2::Error> {
    git2::Oid::from_bytes(id.as_bytes())
}

impl Repo {
    /// The commit that a revision names (`main`, `HEAD~2`, a tag, an id), as seen from the user's checkout.
    ///
    /// # Errors
    /// [`GitError::UnknownRevision`].
    pub fn resolve(&self, rev: &str) -> Result<CommitId, GitError> {
        let unknown = || GitError::UnknownRevision { rev: rev.to_owned() };
        let found = self.with(|repo| {
            repo.revparse_single(rev)?.peel_to_commit().map(|commit| commit_id(commit.id()))
        });
        if let Some(Ok(found)) = found {
            return Ok(found);
        }
        if rev.is_empty() || rev.contains('\0') {
            return Err(unknown());
        }
        let spec = format!("{rev}^{{commit}}");
        let asked = self
            .git()
            .args(["rev-parse", "--verify", "--quiet", "--end-of-options", &spec])
            .run_line();
        asked.map(CommitId).map_err(|_| unknown())
    }

    /// The tree of a commit.
    ///
    /// # Errors
    /// The commit is not in the repository.
    pub fn tree_of(&self, commit: &CommitId) -> Result<TreeId, GitError> {
        let found = self.with(|repo| {
            repo.find_commit(oid(commit)?).map(|commit| TreeId(commit.tree_id().to_string()))
        });
        match found {
            Some(found) => found.map_err(GitError::objects(format!("cannot read commit {commit}"))),
            None => {
                let spec = format!("{commit}^{{tree}}");
                self.git().args(["rev-parse", "--verify", "--quiet", &spec]).run_line().map(TreeId)
            }
        }
    }

    /// The parents of a commit, in order.
    ///
    /// # Errors
    /// The commit is not in the repository.
    pub fn parents_of(&self, commit: &CommitId) -> Result<Vec<CommitId>, GitError> {
        let found = self
            .with(|repo| Ok(repo.find_commit(oid(commit)?)?.parent_ids().map(commit_id).collect()));
        match found {
            Some(found) => found.map_err(GitError::objects(format!("cannot read commit {commit}"))),
            None => {
                let line = self
                    .git()
                    .args(["rev-list", "--parents", "-n", "1", commit.as_str()])
                    .run_line()?;
                Ok(line.split(' ').skip(1).map(|id| CommitId(id.to_owned())).collect())
            }
        }
    }

    /// The bytes of a file (or the target of a link) in a commit; `None` when it holds no such file.
    ///
    /// # Errors
    /// The commit is not in the repository.
    pub fn blob_at(&self, commit: &CommitId, path: &BStr) -> Result<Option<Vec<u8>>, GitError> {
        let found = self.leaf_at(commit, path)?;
        found.filter(|leaf| leaf.mode != GITLINK).map(|leaf| self.blob(leaf.id)).transpose()
    }

    /// What a commit holds under one path; `None` for nothing, or a folder.
    ///
    /// # Errors
    /// The commit is not in the repository.
    pub fn leaf_at(&self, commit: &CommitId, path: &BStr) -> Result<Option<Leaf>, GitError> {
        let found = self.with(|repo| {
            let mut tree = repo.find_commit(oid(commit)?)?.tree()?;
            let mut parts = path.split(|b| *b == b'/').peekable();
            while let Some(part) = parts.next() {
                let Some((mode, id)) =
                    tree.iter().find(|e| e.name_bytes() == part).map(|e| (e.filemode(), e.id()))
                else {
                    return Ok(None);
                };
                if parts.peek().is_some() && mode == 0o040_000 {
                    tree = repo.find_tree(id)?;
                } else if parts.peek().is_some() || mode == 0o040_000 {
                    return Ok(None);
                } else {
                    return Ok(leaf(mode, id));
                }
            }
            Ok(None)
        });
        if let Some(found) = found {
            return found.map_err(GitError::objects(format!("cannot read commit {commit}")));
        }
        if path.is_empty() {
            return Ok(None);
        }
        let path_arg = std::ffi::OsStr::from_bytes(path);
        let git = self.git().env("GIT_LITERAL_PATHSPECS", "1");
        let out = git
            .args(["ls-tree", "-z", "--full-tree", commit.as_str(), "--"])
            .arg(path_arg)
            .run()?;
        Ok(listing::parse(&out)?
            .into_iter()
            .find(|(found, leaf)| found == path && leaf.mode != 0o040_000)
            .map(|(_, leaf)| leaf))
    }

    /// The bytes of a blob.
    pub(super) fn blob(&self, id: ObjectId) -> Result<Vec<u8>, GitError> {
        let found = self.with(|repo| repo.find_blob(raw(id)?).map(|blob| blob.content().to_vec()));
        match found {
            Some(Ok(found)) => Ok(found),
            // The executable too: a partial clone fetches what is missing.
            _ => self.git().args(["cat-file", "blob", &id.to_string()]).run(),
        }
    }

    /// Stores a blob as it is, unfiltered.
    pub(super) fn write_blob(&self, bytes: &[u8]) -> Result<ObjectId, GitError> {
        if let Some(done) = self.with(|repo| repo.blob(bytes)) {
            let id = done.map_err(GitError::objects("cannot store an object"))?;
            return ObjectId::from_bytes(id.as_bytes())
                .ok_or(GitError::UnknownRevision { rev: id.to_string() });
        }
        let git =
            self.git().args(["hash-object", "-w", "--stdin", "--no-filters"]).feed(bytes.to_vec());
        let hex = git.run_line()?;
        ObjectId::from_hex(hex.as_bytes()).ok_or(GitError::UnknownRevision { rev: hex })
    }

    /// The paths that differ between two trees, sorted; no renames.
    ///
    /// # Errors
    /// One of them is not in the repository.
    pub fn diff_trees(&self, old: &TreeId, new: &TreeId) -> Result<Vec<Change>, GitError> {
        if old == new {
            return Ok(Vec::new());
        }
        let git = self.git().args([
            "diff-tree",
            "-r",
            "-z",
            "--raw",
            "--no-renames",
            "--no-abbrev",
            "--no-ext-diff",
        ]);
        let out = git.args(["--ignore-submodules=none", old.as_str(), new.as_str()]).run()?;
        let unreadable = || GitError::Answer {
            command: "git diff-tree".into(),
            what: "a record is malformed".into(),
        };
        let mut fields = out.split(|b| *b == 0);
        let mut changes = Vec::new();
        while let Some(head) = fields.next().filter(|head| !head.is_empty()) {
            let path = fields.next().ok_or_else(unreadable)?;
            let words: Vec<&[u8]> =
                head.strip_prefix(b":").unwrap_or(head).split(|b| *b == b' ').collect();
            let [old_mode, new_mode, old_id, new_id, _] = words[..] else {
                return Err(unreadable());
            };
            let side = |mode: &[u8], id: &[u8]| {
                Some(Leaf { mode: octal(mode)?, id: ObjectId::from_hex(id)? })
                    .filter(|l| l.mode != 0)
            };
            changes.extend(Change::between(
                path.into(),
                side(old_mode, old_id),
                side(new_mode, new_id),
            ));
        }
        changes.sort_by(|one, two| one.path.cmp(&two.path));
        Ok(changes)
    }

    /// The tree that `base` becomes when each path gets what is named (`None`: goes away).
    pub(super) fn edit_tree(
        &self,
        base: &TreeId,
        edits: &[(BString, Option<Leaf>)],
    ) -> Result<TreeId, GitError> {
        if edits.is_empty() {
            return Ok(base.clone());
        }
        let built = self.with(|repo| {
            let mut root = Node::default();
            for (path, leaf) in edits {
                let node = path
                    .split(|b| *b == b'/')
                    .fold(&mut root, |node, part| node.inside.entry(part).or_default());
                node.leaf = Some(*leaf);
            }
            let base = repo.find_tree(git2::Oid::from_str(base.as_str())?)?;
            match root.write(repo, Some(&base))? {
                Some(id) => Ok(id),
                None => repo.treebuilder(None)?.write(),
            }
        });
        match built {
            Some(built) => built
                .map(|id| TreeId(id.to_string()))
                .map_err(GitError::objects("cannot store a tree")),
            None => self.edit_tree_by_index(base, edits),
        }
    }

    fn edit_tree_by_index(
        &self,
        base: &TreeId,
        edits: &[(BString, Option<Leaf>)],
    ) -> Result<TreeId, GitError> {
        let scratch = tempfile::tempdir().map_err(GitError::io("create", &std::env::temp_dir()))?;
        let index = scratch.path().join("index");
        let git = || self.git().env("GIT_INDEX_FILE", &index);
        git().args(["read-tree", base.as_str()]).run()?;
        let mut feed = Vec::new();
        let zero = "0".repeat(self.oid_len() * 2);
        let (gone, there): (Vec<_>, Vec<_>) = edits.iter().partition(|(_, leaf)| leaf.is_none());
        for (path, leaf) in gone.into_iter().chain(there) {
            let head = leaf.map_or_else(
                || format!("0 {zero}\t"),
                |leaf| format!("{:o} {}\t", leaf.mode, leaf.id),
            );
            feed.extend(head.bytes().chain(path.bytes()).chain([0]));
        }
        git().args(["update-index", "-z", "--index-info"]).feed(feed).run()?;
        git().arg("write-tree").run_line().map(TreeId)
    }

    /// Makes a commit of a tree. The same input gives the same id; no hook runs, nothing is signed.
    /// `when` is in seconds since 1970, written as UTC.
    ///
    /// # Errors
    /// The tree or a parent is not in the repository, or it cannot be written to.
    pub fn commit_tree(
        &self,
        tree: &TreeId,
        parents: &[CommitId],
        message: &str,
        who: &Identity,
        when: i64,
    ) -> Result<CommitId, GitError> {
        let who = who.clean();
        let message = format!("{}\n", message.replace('\0', "").trim_end());
        let made = self.with(|repo| {
            let signature = git2::Signature::new(&who.name, &who.email, &git2::Time::new(when, 0))?;
            let tree = repo.find_tree(git2::Oid::from_str(tree.as_str())?)?;
            let parents: Result<Vec<_>, _> =
                parents.iter().map(|id| repo.find_commit(oid(id)?)).collect();
            let parents = parents?;
            repo.commit(
                None,
                &signature,
                &signature,
                &message,
                &tree,
                &parents.iter().collect::<Vec<_>>(),
            )
        });
        if let Some(made) = made {
            return made.map(commit_id).map_err(GitError::objects("cannot make a commit"));
        }
        let date = format!("@{when} +0000");
        let mut git = self.git().args(["commit-tree", "--no-gpg-sign", tree.as_str()]);
        for parent in parents {
            git = git.args(["-p", parent.as_str()]);
        }
        for role in ["AUTHOR", "COMMITTER"] {
            git = git
                .env(&format!("GIT_{role}_NAME"), &who.name)
                .env(&format!("GIT_{role}_EMAIL"), &who.email);
            git = git.env(&format!("GIT_{role}_DATE"), &date);
        }
        git.args(["-F", "-"]).feed(message.into_bytes()).run_line().map(CommitId)
    }
}

#[derive(Default)]
struct Node<'a> {
    leaf: Option<Option<Leaf>>,
    inside: BTreeMap<&'a [u8], Node<'a>>,
}

impl Node<'_> {
    /// Writes the folder that `base` becomes; `None` when nothing is left in it.
    fn write(
        &self,
        repo: &git2::Repository,
        base: Option<&git2::Tree<'_>>,
    ) -> Result<Option<git2::Oid>, git2::Error> {
        let mut builder = repo.treebuilder(base)?;
        for (name, node) in &self.inside {
            if let Some(Some(leaf)) = node.leaf {
                builder.insert(*name, raw(leaf.id)?, i32::try_from(leaf.mode).unwrap_or(0))?;
                continue;
            }
            let there = base.and_then(|tree| {
                tree.iter().find(|e| e.name_bytes() == *name).map(|e| (e.filemode(), e.id()))
            });
            let inner = match there {
                Some((0o040_000, id)) => Some(repo.find_tree(id)?),
                _ => None,
            };
            // A file that goes away where a folder stands in the base is no edit of that folder.
            if node.leaf.is_some() && node.inside.is_empty() && inner.is_some() {
                continue;
            }
            match node.write(repo, inner.as_ref())? {
                Some(id) => builder.insert(*name, id, 0o040_000).map(drop)?,
                None if there.is_some() => builder.remove(*name)?,
                None => {}
            }
        }
        if builder.is_empty() { Ok(None) } else { builder.write().map(Some) }
    }
}

pub(super) fn leaf(mode: i32, id: git2::Oid) -> Option<Leaf> {
    Some(Leaf { mode: normal(u32::try_from(mode).ok()?), id: ObjectId::from_bytes(id.as_bytes())? })
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

/// A path as git reads it from a list of lines: in C quotes, so that no byte in it can end the line.
pub(super) fn quote_c(path: &BStr, out: &mut Vec<u8>) {
    out.push(b'"');
    for &byte in path.iter() {
        match byte {
            b'"' | b'\\' => out.extend([b'\\', byte]),
            b' '..=b'~' => out.push(byte),
            _ => out.push_str(format!("\\{byte:03o}")),
        }
    }
    out.push(b'"');
}
