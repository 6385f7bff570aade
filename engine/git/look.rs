//! A look at the user's own checkout that writes nothing: a fingerprint of every file that git would show.

use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};

use bstr::{BStr, BString};

use crate::plain_file;

use super::error::GitError;
use super::ignore::IgnoreRules;
use super::index_file::Index;
use super::objects::SYMLINK;
use super::repo::Repo;
use super::submodule;
use super::walk::Walk;

/// The user's checkout at one moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Look {
    /// Sorted by path.
    pub(super) files: Vec<(BString, u64)>,
    /// What is staged; a mere refresh of the index does not change it.
    pub(super) index: u64,
}

impl Look {
    /// `None` in a bare repository.
    pub(super) fn take(repo: &Repo) -> Result<Option<Self>, GitError> {
        let Some(top) = repo.top() else {
            return Ok(None);
        };
        let path = repo.git_dir().join("index");
        let index = match Index::read(&path, repo.oid_len()) {
            Ok(index) => index,
            Err(GitError::Io { source, .. }) if source.kind() == std::io::ErrorKind::NotFound => {
                Index::default()
            }
            Err(GitError::Index { .. }) => expanded(repo)?,
            Err(error) => return Err(error),
        };
        let mut hasher = DefaultHasher::new();
        let mut rules = IgnoreRules::default();
        let everywhere = [repo.settings().excludes(), Some(repo.common_dir().join("info/exclude"))];
        let mut at_top: Vec<u8> = Vec::new();
        for file in everywhere.into_iter().flatten() {
            at_top.extend(plain_file::read_own_linked(&file).unwrap_or_default());
            at_top.push(b'\n');
        }
        for entry in index.entries() {
            let path = index.path(entry);
            (path, entry.leaf, entry.stage).hash(&mut hasher);
            if submodule::is_ignore_file(path) && entry.leaf.mode != SYMLINK {
                let content = repo.blob(entry.leaf.id)?;
                match submodule::folder_of(path) {
                    top if top.is_empty() => at_top.extend(content),
                    folder => rules.add(folder, &content),
                }
            }
        }
        rules.add(BStr::new(""), &at_top);
        let keep_out = HashSet::new();
        let walked = Walk {
            root: top,
            index: &index,
            rules: &rules,
            keep_out: &keep_out,
            fingerprints: true,
        }
        .run()?;
        Ok(Some(Self { files: walked.fingerprints, index: hasher.finish() }))
    }

    /// The paths that appeared, vanished or were written to, and whether something was staged.
    pub(super) fn differs(&self, after: &Self) -> (Vec<BString>, bool) {
        let (mut old, mut new) = (self.files.iter().peekable(), after.files.iter().peekable());
        let mut paths = Vec::new();
        loop {
            match (old.peek(), new.peek()) {
                (None, None) => break,
                (Some(one), Some(two)) if one.0 == two.0 => {
                    if one.1 != two.1 {
                        paths.push(one.0.clone());
                    }
                    old.next();
                    new.next();
                }
                (Some(one), two) if two.is_none_or(|two| one.0 < two.0) => {
                    paths.extend(old.next().map(|one| one.0.clone()))
                }
                _ => paths.extend(new.next().map(|two| two.0.clone())),
            }
        }
        (paths, self.index != after.index)
    }
}

/// A split or sparse index of the user's, rewritten by git into a copy that can be read.
fn expanded(repo: &Repo) -> Result<Index, GitError> {
    let scratch = tempfile::tempdir().map_err(GitError::io("create", &std::env::temp_dir()))?;
    let copy = scratch.path().join("index");
    let index = repo.git_dir().join("index");
    std::fs::copy(&index, &copy).map_err(GitError::io("copy", &index))?;
    let git = repo.git().env("GIT_INDEX_FILE", &copy).reading();
    git.args(["update-index", "--no-split-index", "--force-write-index"]).run()?;
    Index::read(&copy, repo.oid_len())
}
