//! A copy of a worktree's index in which no flag hides a change. The index itself is never written.

use std::path::{Path, PathBuf};

use bstr::{BString, ByteSlice};

use crate::git::command::Git;
use crate::git::error::GitError;
use crate::git::index_file::{Entry, Index};
use crate::git::objects::{GITLINK, Leaf};

use super::{Linked, on_disk};

/// The copy, gone when it is dropped.
pub(super) struct ScratchIndex {
    _folder: tempfile::TempDir,
    path: PathBuf,
    /// What it held before its flags were cleared.
    pub(super) index: Index,
}

impl ScratchIndex {
    /// Copies the index of `tree`. Flags (`assume-unchanged`, and `skip-worktree` where the file is there) are
    /// cleared in it, so that git looks at every file.
    pub(super) fn of(tree: &Linked) -> Result<Self, GitError> {
        let (folder, path) = empty()?;
        let from = tree.admin().join("index");
        match std::fs::copy(&from, &path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            Err(error) => return Err(GitError::io("copy", &from)(error)),
            Ok(_) => {
                // Git trusts a file's time stamp only if it is older than the index: the copy keeps that age.
                let kept = std::fs::metadata(&from).and_then(|meta| meta.modified());
                let times = |at| std::fs::FileTimes::new().set_modified(at);
                kept.and_then(|at| {
                    std::fs::File::options().write(true).open(&path)?.set_times(times(at))
                })
                .map_err(GitError::io("copy", &from))?;
            }
        }
        let git = || tree.git().env("GIT_INDEX_FILE", &path);
        let oid_len = tree.repo.oid_len();
        let index = match Index::read(&path, oid_len) {
            Err(GitError::Io { source, .. }) if source.kind() == std::io::ErrorKind::NotFound => {
                Index::default()
            }
            Err(GitError::Index { .. }) => {
                let whole = ["update-index", "--no-split-index", "--force-write-index"];
                git().args(whole).run()?;
                Index::read(&path, oid_len)?
            }
            other => other?,
        };
        let there = |entry: &&Entry| {
            let at = tree.path().map(|root| on_disk(root, index.path(entry)));
            at.is_some_and(|at| at.symlink_metadata().is_ok())
        };
        let list = |wanted: &dyn Fn(&&Entry) -> bool| {
            let mut feed = Vec::new();
            for entry in index.entries().iter().filter(wanted) {
                feed.extend_from_slice(index.path(entry));
                feed.push(0);
            }
            feed
        };
        let assumed = list(&|entry| entry.assume_unchanged);
        let skipped = list(&|entry| entry.skip_worktree && there(entry));
        for (flag, feed) in [("--no-assume-unchanged", assumed), ("--no-skip-worktree", skipped)] {
            if !feed.is_empty() {
                git().args(["update-index", flag, "-z", "--stdin"]).feed(feed).run()?;
            }
        }
        Ok(Self { _folder: folder, path, index })
    }

    /// An index of nothing.
    pub(super) fn empty() -> Result<Self, GitError> {
        let (folder, path) = empty()?;
        Ok(Self { _folder: folder, path, index: Index::default() })
    }

    /// A command of `tree` on this index.
    pub(super) fn git(&self, tree: &Linked) -> Git {
        tree.git().env("GIT_INDEX_FILE", &self.path)
    }

    /// Whether the index holds the sides of a conflict.
    pub(super) fn in_conflict(&self) -> bool {
        self.index.entries().iter().any(|entry| entry.stage > 0)
    }

    /// What one side of the conflicts holds: 1 the common ancestor, 2 ours, 3 theirs.
    pub(super) fn side(&self, stage: u8) -> Vec<(BString, Leaf)> {
        let of_side = self.index.entries().iter().filter(|entry| entry.stage == stage);
        of_side.map(|entry| (self.index.path(entry).to_owned(), entry.leaf)).collect()
    }

    /// The submodules that the index names.
    pub(super) fn submodules(&self) -> Vec<BString> {
        let links = self.index.entries().iter().filter(|entry| entry.leaf.mode == GITLINK);
        links.map(|entry| self.index.path(entry).to_owned()).collect()
    }

    /// Puts one side of each conflict in the place of all: ours, else theirs, else the ancestor's.
    pub(super) fn settle(&self, tree: &Linked) -> Result<(), GitError> {
        let mut sides: std::collections::BTreeMap<BString, (u8, Leaf)> = Default::default();
        for stage in [1, 3, 2] {
            sides.extend(self.side(stage).into_iter().map(|(path, leaf)| (path, (stage, leaf))));
        }
        let zero = "0".repeat(tree.repo.oid_len() * 2);
        let mut feed = Vec::new();
        for (path, (_, leaf)) in &sides {
            for head in [format!("0 {zero}\t"), format!("{:o} {}\t", leaf.mode, leaf.id)] {
                feed.extend(head.bytes().chain(path.as_bytes().iter().copied()).chain([0]));
            }
        }
        self.git(tree).args(["update-index", "-z", "--index-info"]).feed(feed).run().map(drop)
    }
}

fn empty() -> Result<(tempfile::TempDir, PathBuf), GitError> {
    let folder = tempfile::tempdir().map_err(GitError::io("create", &std::env::temp_dir()))?;
    let path = Path::new(folder.path()).join("index");
    Ok((folder, path))
}
