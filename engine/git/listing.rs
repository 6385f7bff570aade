//! Every path that a commit or a tree holds.
//!
//! Read in-process where that can be done: starting `git` takes longer than listing a repository of usual
//! size. Where a tree is not at hand (a clone that fetches trees on demand), `git` is asked.

use bstr::{BString, ByteSlice};

use crate::model::ids::CommitId;

use super::command::Git;
use super::error::GitError;
use super::objects::{Leaf, ObjectId, leaf, normal, octal};
use super::repo::Repo;

/// Mode of a folder.
const FOLDER: i32 = 0o040_000;

impl Repo {
    /// Every path in a commit, files, links and submodules, in git's order.
    ///
    /// # Errors
    /// The commit is not in the repository.
    pub fn paths_at(&self, commit: &CommitId) -> Result<Vec<BString>, GitError> {
        Ok(self.leaves_of(commit.as_str())?.into_iter().map(|(path, _)| path).collect())
    }

    /// Every path in a commit with what is there, in git's order.
    ///
    /// # Errors
    /// The commit is not in the repository.
    pub fn leaves_at(&self, commit: &CommitId) -> Result<Vec<(BString, Leaf)>, GitError> {
        self.leaves_of(commit.as_str())
    }

    /// Every path of a commit or tree with what is there, in git's order.
    pub(super) fn leaves_of(&self, treeish: &str) -> Result<Vec<(BString, Leaf)>, GitError> {
        match self.with(|repo| listed(repo, treeish)) {
            Some(Ok(leaves)) => Ok(leaves),
            _ => leaves(self.git(), treeish),
        }
    }
}

/// As [`leaves`], in-process. `treeish` is an id.
fn listed(repo: &git2::Repository, treeish: &str) -> Result<Vec<(BString, Leaf)>, git2::Error> {
    let object = repo.find_object(git2::Oid::from_str(treeish)?, None)?;
    let mut found = Vec::new();
    descend(repo, &object.peel_to_tree()?, &mut BString::default(), &mut found)?;
    Ok(found)
}

fn descend(
    repo: &git2::Repository,
    tree: &git2::Tree<'_>,
    path: &mut BString,
    found: &mut Vec<(BString, Leaf)>,
) -> Result<(), git2::Error> {
    let folder = path.len();
    for entry in tree {
        path.extend_from_slice(entry.name_bytes());
        if entry.filemode() == FOLDER {
            path.push(b'/');
            descend(repo, &repo.find_tree(entry.id())?, path, found)?;
        } else {
            let unknown = || git2::Error::from_str("an entry is of no known kind");
            let leaf = leaf(entry.filemode_raw(), entry.id()).ok_or_else(unknown)?;
            found.push((path.clone(), leaf));
        }
        path.truncate(folder);
    }
    Ok(())
}

/// `git ls-tree -r` through a command that knows its repository.
pub(super) fn leaves(git: Git, treeish: &str) -> Result<Vec<(BString, Leaf)>, GitError> {
    parse(&git.args(["ls-tree", "-r", "-z", "--full-tree", treeish]).run()?)
}

/// What `git ls-tree -z` printed.
pub(super) fn parse(out: &[u8]) -> Result<Vec<(BString, Leaf)>, GitError> {
    let unreadable =
        || GitError::Answer { command: "git ls-tree".into(), what: "a record is malformed".into() };
    let records = out.split(|b| *b == 0).filter(|record| !record.is_empty());
    let parse = |record: &[u8]| {
        let (head, path) = record.split_once_str("\t")?;
        let words: Vec<&[u8]> = head.split(|b| *b == b' ').collect();
        let [mode, _, id] = words[..] else {
            return None;
        };
        Some((
            BString::from(path),
            Leaf { mode: normal(octal(mode)?), id: ObjectId::from_hex(id)? },
        ))
    };
    records.map(|record| parse(record).ok_or_else(unreadable)).collect()
}
