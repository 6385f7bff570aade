//! Whether what a result needs is really on disk. libgit2 answers from its caches, and a worker can remove
//! objects of the repository (`rm -rf`, a repair gone wrong) behind them: so this looks afresh.

use std::collections::{BTreeMap, HashSet};

use bstr::{BStr, BString, ByteSlice};
use git2::{ErrorCode, ObjectType, Oid};

use crate::model::ids::CommitId;

use super::error::GitError;
use super::objects::{GITLINK, oid};
use super::repo::Repo;
use super::scope::Place;

/// So many lost objects are named; nobody reads more.
const NAMED: usize = 5;
const TREE: i32 = 0o040_000;

impl Repo {
    /// Looks for all that a commit adds to its parent: the commit, the folders and files that differ, and
    /// that the parent itself and its top folder are there. The cost is that of the paths that differ.
    ///
    /// # Errors
    /// [`GitError::Lost`] names what is not there.
    pub fn is_whole_since(&self, commit: &CommitId, parent: &CommitId) -> Result<(), GitError> {
        if !self.in_process() {
            return self.objects_of(&["--objects", commit.as_str(), "--not", parent.as_str()], &[]);
        }
        // A handle of its own: those in the pool remember objects.
        let repo = git2::Repository::open(self.git_dir())
            .map_err(GitError::objects("cannot open the repository again"))?;
        let mut look = Look { repo: &repo, lost: Vec::new() };
        let trees = [commit, parent].map(|commit| look.commit(commit));
        if let [Some(new), Some(old)] = trees {
            look.tree(new, Some(old), BStr::new(b""));
        }
        lost(look.lost)
    }

    /// Looks for all that these commits are made of, every file included, in a process of its own. Not for
    /// what came before them, and not whether the files hold what they say ([`Repo::hold_what_they_say`]).
    ///
    /// # Errors
    /// [`GitError::Lost`] names the first of what is not there.
    pub fn are_whole(&self, commits: &[CommitId]) -> Result<(), GitError> {
        let unique: HashSet<&CommitId> = commits.iter().collect();
        let list: Vec<u8> =
            unique.iter().flat_map(|commit| [commit.as_str().as_bytes(), b"\n"].concat()).collect();
        self.objects_of(&["--objects", "--no-walk", "--stdin"], &list)
    }

    fn objects_of(&self, args: &[&str], list: &[u8]) -> Result<(), GitError> {
        // What a partial clone never fetched is not lost.
        let git = self.git().args(["rev-list", "--quiet", "--missing=allow-promisor"]).args(args);
        match git.feed(list.to_vec()).run() {
            Ok(_) => Ok(()),
            Err(GitError::Failed { code: Some(_), stderr, .. }) => lost(vec![stderr]),
            Err(error) => Err(error),
        }
    }
}

pub(super) fn lost(mut what: Vec<String>) -> Result<(), GitError> {
    if what.is_empty() {
        return Ok(());
    }
    let more = what.len().saturating_sub(NAMED);
    what.truncate(NAMED);
    if more > 0 {
        what.push(format!("{more} more"));
    }
    Err(GitError::Lost { what: what.join(", ") })
}

struct Look<'a> {
    repo: &'a git2::Repository,
    lost: Vec<String>,
}

impl Look<'_> {
    /// The tree of a commit, if both are there.
    fn commit(&mut self, commit: &CommitId) -> Option<Oid> {
        let found = oid(commit).and_then(|id| self.repo.find_commit(id));
        let Ok(found) = found else {
            self.lost.push(format!("commit {}", commit.short()));
            return None;
        };
        let tree = found.tree_id();
        if self.repo.find_tree(tree).is_err() {
            self.miss("tree", tree, BStr::new(b""));
            return None;
        }
        Some(tree)
    }

    /// What the tree `new` has under `path`, beside what `old` has there.
    fn tree(&mut self, new: Oid, old: Option<Oid>, path: &BStr) {
        if Some(new) == old {
            return;
        }
        let Ok(tree) = self.repo.find_tree(new) else { return self.miss("tree", new, path) };
        let before = old.and_then(|old| self.repo.find_tree(old).ok());
        let before: BTreeMap<Vec<u8>, (i32, Oid)> = before
            .iter()
            .flat_map(|tree| tree.iter())
            .map(|entry| (entry.name_bytes().to_vec(), (entry.filemode(), entry.id())))
            .collect();
        for entry in &tree {
            let (mode, id) = (entry.filemode(), entry.id());
            let old = before.get(entry.name_bytes());
            let is_link_elsewhere = u32::try_from(mode) == Ok(GITLINK);
            if old.is_some_and(|(_, old)| *old == id) || is_link_elsewhere {
                continue;
            }
            let mut below = BString::from(path);
            if !below.is_empty() {
                below.push(b'/');
            }
            below.extend_from_slice(entry.name_bytes());
            if mode == TREE {
                let old = old.filter(|(mode, _)| *mode == TREE).map(|(_, id)| *id);
                self.tree(id, old, below.as_bstr());
            } else {
                self.blob(id, below.as_bstr());
            }
        }
    }

    fn blob(&mut self, id: Oid, path: &BStr) {
        // Read, not only looked up: libgit2 hashes what it reads, and so sees one that was overwritten.
        let kind = self.repo.odb().and_then(|odb| odb.read(id).map(|object| object.kind()));
        match kind {
            Ok(ObjectType::Blob) => {}
            Err(error) if error.code() != ErrorCode::NotFound => {
                self.miss("unreadable file", id, path);
            }
            _ => self.miss("file", id, path),
        }
    }

    fn miss(&mut self, kind: &str, id: Oid, path: &BStr) {
        let place = match path.is_empty() {
            true => "the top".to_owned(),
            false => Place::Path(path.to_owned()).to_string(),
        };
        self.lost.push(format!("{kind} {:.12} ({place})", id.to_string()));
    }
}
