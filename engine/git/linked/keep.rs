//! Everything in a worktree as commits, in the shape of a stash, so that plain git brings it back:
//! `git stash apply --index REF`. The worktree is not touched.
//!
//! | parent | what it holds |
//! | --- | --- |
//! | the commit itself | tracked files as they are on disk |
//! | 1 | the commit that HEAD was at |
//! | 2 | the index; in a conflict our side of it |
//! | 3 | untracked files, and ignored ones where that was asked for |
//! | 4 … | bytes that a filter would not give back, the other sides of a conflict, and commits that only the worktree named |

use std::collections::HashSet;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use bstr::{BStr, BString, ByteSlice};

use crate::git::error::GitError;
use crate::git::hashing::hash_files;
use crate::git::objects::{EXECUTABLE, FILE, Leaf};
use crate::model::ids::{CommitId, TreeId};

use super::condition::paths;
use super::scratch_index::ScratchIndex;
use super::{Linked, on_disk};

/// A worktree in trees.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trees {
    /// HEAD's commit; `None` on a branch that has none yet.
    pub head: Option<CommitId>,
    /// Tracked files as they are on disk.
    pub work: TreeId,
    /// The index.
    pub index: TreeId,
    /// Untracked files; `None` when there are none.
    pub untracked: Option<TreeId>,
    /// Files whose filter does not give their bytes back, as they are.
    pub raw: Option<TreeId>,
    /// The other sides of conflicts: the ancestor's, theirs.
    pub sides: Vec<TreeId>,
    /// Commits that only its own refs, its log and what is under way name; held by nothing else so far.
    pub others: Vec<CommitId>,
}

/// What was kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Kept {
    /// The ref that holds it.
    pub name: String,
    /// The commit.
    pub commit: CommitId,
    /// What it is made of, to be held against the worktree once more before that goes.
    pub trees: Trees,
}

impl Linked {
    /// The worktree as trees, stored in the repository. `brought` is left out; `ignored`: keep what is ignored too.
    ///
    /// # Errors
    /// A file could not be read, or git could not store it.
    pub fn trees(&self, brought: &[BString], ignored: bool) -> Result<Trees, GitError> {
        let index = ScratchIndex::of(self)?;
        let mut sides = Vec::new();
        if index.in_conflict() {
            for stage in [1, 3] {
                sides.push(self.repo.tree_of_leaves(&index.side(stage))?);
            }
            index.settle(self)?;
        }
        let write = |index: &ScratchIndex| index.git(self).arg("write-tree").run_line().map(TreeId);
        let staged = write(&index)?;
        let (mut work, mut untracked, mut raw) = (staged.clone(), None, None);
        if let Some(root) = self.path().filter(|path| path.is_dir()) {
            let others = self.untracked(&index, brought, ignored)?;
            let touched = self.touched(&index, root)?;
            index.git(self).args(["add", "--update", "--sparse", "--", ":/"]).run()?;
            work = write(&index)?;
            if !others.is_empty() {
                let scratch = ScratchIndex::empty()?;
                let feed: Vec<u8> =
                    others.iter().flat_map(|p| [p.as_slice(), b"\0"].concat()).collect();
                scratch
                    .git(self)
                    .args(["update-index", "--add", "-z", "--stdin"])
                    .feed(feed)
                    .run()?;
                untracked = Some(write(&scratch)?);
            }
            let mut bytes = self.bytes_beside(&touched, &work)?;
            if let Some(tree) = &untracked {
                bytes.extend(self.bytes_beside(&others, tree)?);
            }
            if !bytes.is_empty() {
                raw = Some(self.repo.tree_of_leaves(&bytes)?);
            }
        }
        let (head, index) = (self.head.commit().cloned(), staged);
        let own = self.repo.own_of(&self.admin, head.as_ref())?;
        Ok(Trees {
            others: [own.refs, own.logged].concat(),
            head,
            work,
            index,
            untracked,
            raw,
            sides,
        })
    }

    /// Stores `trees` as commits and sets a ref to them, `<name>/<stamp>` below `refs/sop/salvage/`, or one numbered
    /// after it. `when`: seconds since 1970.
    ///
    /// # Errors
    /// They cannot be stored, or the ref cannot be set.
    pub fn keep(&self, trees: Trees, name: &str, stamp: &str, when: i64) -> Result<Kept, GitError> {
        let repo = &self.repo;
        let who = repo.identity();
        let commit = |tree: &TreeId, parents: &[CommitId], what: &str| {
            repo.commit_tree(tree, parents, what, &who, when)
        };
        let head = match &trees.head {
            Some(head) => head.clone(),
            None => commit(&repo.tree_of_leaves(&[])?, &[], "No commit yet")?,
        };
        let mut parents = vec![head.clone()];
        parents.push(commit(
            &trees.index,
            std::slice::from_ref(&head),
            &format!("Index of {name}"),
        )?);
        let more = trees.raw.is_some() || !trees.sides.is_empty() || !trees.others.is_empty();
        match &trees.untracked {
            Some(tree) => parents.push(commit(tree, &[], &format!("Untracked files of {name}"))?),
            None if more => {
                parents.push(commit(&repo.tree_of_leaves(&[])?, &[], "No untracked files")?);
            }
            None => {}
        }
        if let Some(raw) = &trees.raw {
            parents.push(commit(raw, &[], &format!("Bytes of {name} that filters change"))?);
        }
        for side in &trees.sides {
            parents.push(commit(side, &[], &format!("A side of conflicts of {name}"))?);
        }
        parents.extend(trees.others.iter().cloned());
        let standing = match self.head.branch() {
            Some(branch) => format!("On branch {branch}"),
            None => "On no branch".to_owned(),
        };
        let place =
            self.path().map(|path| format!("{}", path.as_os_str().as_bytes().escape_ascii()));
        let text = format!("Worktree {name}\n\n{standing}, in {}.", place.unwrap_or_default());
        let made = commit(&trees.work, &parents, &text)?;
        let name = repo.hold(&made, name, stamp)?;
        Ok(Kept { name, commit: made, trees })
    }

    /// Keeps commits that no ref holds, as the parents of an empty one, and says by which ref. As [`Linked::keep`].
    ///
    /// # Errors
    /// The commit cannot be stored, or the ref cannot be set.
    pub fn keep_commits(
        &self,
        commits: &[CommitId],
        name: &str,
        stamp: &str,
        when: i64,
    ) -> Result<String, GitError> {
        let repo = &self.repo;
        let (nothing, who) = (repo.tree_of_leaves(&[])?, repo.identity());
        let text = format!("Commits that only the log of {name} named");
        let made = repo.commit_tree(&nothing, commits, &text, &who, when)?;
        repo.hold(&made, name, stamp)
    }

    /// Untracked files, folders gone through; repositories inside are none of them.
    fn untracked(
        &self,
        index: &ScratchIndex,
        brought: &[BString],
        ignored: bool,
    ) -> Result<Vec<BString>, GitError> {
        let list = |more: &[&str]| {
            let git = index.git(self).args(["ls-files", "--others", "-z", "--full-name"]);
            git.args(more).args(["--", ":/"]).run()
        };
        let mut found = list(&["--exclude-standard"])?;
        if ignored {
            found.extend(list(&["--ignored", "--exclude-standard"])?);
        }
        let mut found = paths(&found);
        found.retain(|path| {
            let lies = |entry: &BString| super::condition::lies_at(entry.as_bstr(), path.as_bstr());
            !path.ends_with(b"/") && !brought.iter().any(lies)
        });
        // Pipes and sockets are listed, and can be in no tree.
        let root = self.path().unwrap_or(Path::new("/"));
        found.retain(|path| {
            on_disk(root, path)
                .symlink_metadata()
                .is_ok_and(|meta| meta.is_file() || meta.is_symlink())
        });
        Ok(found)
    }

    /// Tracked files that are not as they were when the index was written. Git would say that one has not changed if its
    /// filter makes the same of it: here that counts.
    fn touched(&self, index: &ScratchIndex, root: &Path) -> Result<Vec<BString>, GitError> {
        let git = index.git(self).args(["diff-files", "-z", "--name-status", "--no-renames"]);
        let out = git.arg("--ignore-submodules=all").run()?;
        let mut fields = out.split(|b| *b == 0);
        let mut found = Vec::new();
        while let (Some(status), Some(path)) = (fields.next(), fields.next()) {
            let is_file = |meta: std::fs::Metadata| meta.is_file() || meta.is_symlink();
            if status != b"D" && on_disk(root, path).symlink_metadata().is_ok_and(is_file) {
                found.push(BString::from(path));
            }
        }
        Ok(found)
    }

    /// The files at `paths` as they are, where the tree that is to keep them has other bytes.
    ///
    /// # Errors
    /// The tree lacks one: git passes over a name that it refuses. Or one cannot be read or stored.
    fn bytes_beside(
        &self,
        paths: &[BString],
        tree: &TreeId,
    ) -> Result<Vec<(BString, Leaf)>, GitError> {
        if paths.is_empty() {
            return Ok(Vec::new());
        }
        let wanted: HashSet<&BString> = paths.iter().collect();
        let mut held = self.repo.leaves_of(tree.as_str())?;
        held.retain(|(path, _)| wanted.contains(path));
        if held.len() < wanted.len() {
            let there: HashSet<&BString> = held.iter().map(|(path, _)| path).collect();
            let paths = paths.iter().filter(|path| !there.contains(path)).cloned().collect();
            return Err(GitError::Unstorable { paths });
        }
        held.retain(|(_, leaf)| matches!(leaf.mode, FILE | EXECUTABLE));
        let files: Vec<&BStr> = held.iter().map(|(path, _)| path.as_bstr()).collect();
        let hash = self.git().args(["hash-object", "-w", "--no-filters"]);
        let ids = hash_files(hash, &files)?;
        let kept = held.into_iter().zip(ids).filter(|((_, leaf), id)| leaf.id != *id);
        Ok(kept.map(|((path, leaf), id)| (path, Leaf { id, ..leaf })).collect())
    }
}

impl crate::git::Repo {
    /// Sets a salvage ref of that name and time, or one numbered after it, and says which.
    ///
    /// # Errors
    /// It cannot be set.
    pub fn hold(&self, commit: &CommitId, name: &str, stamp: &str) -> Result<String, GitError> {
        for n in 1.. {
            let ending = if n == 1 { String::new() } else { format!("-{n}") };
            let full = format!("refs/sop/salvage/{name}/{stamp}{ending}");
            if self.read_ref(&full)?.is_none() {
                self.set_ref(&full, commit, None)?;
                return Ok(full);
            }
        }
        unreachable!("numbers do not run out")
    }

    /// A tree of exactly these paths.
    fn tree_of_leaves(&self, leaves: &[(BString, Leaf)]) -> Result<TreeId, GitError> {
        let nothing = self.git().args(["mktree", "-z"]).run_line().map(TreeId)?;
        let edits: Vec<_> = leaves.iter().map(|(path, leaf)| (path.clone(), Some(*leaf))).collect();
        self.edit_tree(&nothing, &edits)
    }
}
