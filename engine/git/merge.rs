//! Merging on objects alone, and proof that something was merged.

use bstr::{BString, ByteSlice};

use super::command::failed;
use super::error::GitError;
use super::objects::Identity;
use super::repo::Repo;
use crate::model::ids::{CommitId, TreeId};
use crate::process;

/// How a merge ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MergeOutcome {
    /// It is made.
    Merged(Merged),
    /// It needs a person; nothing was made.
    Conflict {
        /// The paths that conflict, sorted.
        paths: Vec<BString>,
        /// What git says about them, a line each.
        messages: Vec<String>,
    },
}

/// A merge that was made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Merged {
    /// The merge commit; `onto` itself when it had the other one already.
    pub commit: CommitId,
    /// Its tree.
    pub tree: TreeId,
}

impl Repo {
    /// Merges `commit` into `onto` with a merge commit of two parents, in this order. The same input gives the same
    /// commit. No working tree, index or branch is touched. Several are merged one after the other.
    ///
    /// # Errors
    /// A commit is missing, or git cannot merge them at all (unrelated histories).
    pub fn merge(
        &self,
        onto: &CommitId,
        commit: &CommitId,
        message: &str,
        who: &Identity,
        when: i64,
    ) -> Result<MergeOutcome, GitError> {
        if self.is_ancestor(commit, onto)? {
            return Ok(MergeOutcome::Merged(Merged {
                commit: onto.clone(),
                tree: self.tree_of(onto)?,
            }));
        }
        let tree = if self.is_ancestor(onto, commit)? {
            self.tree_of(commit)?
        } else {
            match self.merged_tree(onto, commit)? {
                Ok(tree) => tree,
                Err((paths, messages)) => return Ok(MergeOutcome::Conflict { paths, messages }),
            }
        };
        let made = self.commit_tree(&tree, &[onto.clone(), commit.clone()], message, who, when)?;
        Ok(MergeOutcome::Merged(Merged { commit: made, tree }))
    }

    /// The tree of a merge, or the conflicting paths and git's messages.
    #[allow(clippy::type_complexity, reason = "the two ways a merge can end")]
    fn merged_tree(
        &self,
        onto: &CommitId,
        commit: &CommitId,
    ) -> Result<Result<TreeId, (Vec<BString>, Vec<String>)>, GitError> {
        let git = self.git().config("merge.renames=true").config("merge.directoryRenames=conflict");
        let git = git.config("merge.renameLimit=10000").config("merge.conflictStyle=merge");
        let git = git.args(["merge-tree", "--write-tree", "-z", "--name-only", "--messages"]);
        let (output, line) = git.args([onto.as_str(), commit.as_str()]).output()?;
        let mut fields = output.stdout.split(|b| *b == 0);
        let tree = fields.next().unwrap_or_default().to_str_lossy().into_owned();
        match output.status.code() {
            Some(0) => Ok(Ok(TreeId(tree))),
            Some(1) => {
                let mut paths: Vec<BString> = fields
                    .by_ref()
                    .take_while(|f| !f.is_empty())
                    .map(|path| BString::from(as_written(path, [onto, commit])))
                    .collect();
                paths.sort();
                paths.dedup();
                let mut messages = Vec::new();
                // Each message: how many paths, the paths, its kind, its text.
                while let Some(count) = fields
                    .next()
                    .and_then(|f| f.to_str().ok())
                    .and_then(|f| f.parse::<usize>().ok())
                {
                    let Some(text) = fields.by_ref().nth(count + 1) else {
                        break;
                    };
                    messages.extend(text.lines().map(process::plain));
                }
                Ok(Err((paths, messages)))
            }
            _ => Err(failed(&output, line)),
        }
    }

    /// Whether all that `commit` did is in `into`: by ancestry; or because every one of its commits has its twin there
    /// (the same patch, as after a rebase or cherry-pick); or because merging it would change nothing (as after a
    /// squash). Never by name.
    ///
    /// # Errors
    /// A commit is missing.
    pub fn is_merged(&self, commit: &CommitId, into: &CommitId) -> Result<bool, GitError> {
        if self.is_ancestor(commit, into)? {
            return Ok(true);
        }
        if self.merge_base(commit, into)?.is_none() {
            return Ok(false);
        }
        // A merge commit can hold changes of its own, which have no patch to compare.
        let range = format!("{into}..{commit}");
        let merges = self.git().args(["rev-list", "--merges", "--max-count=1", &range]).run()?;
        if merges.is_empty() {
            let listed = self.git().args(["cherry", into.as_str(), commit.as_str()]).run()?;
            if listed.lines().all(|line| line.starts_with(b"-")) {
                return Ok(true);
            }
        }
        let here = self.tree_of(into)?;
        Ok(self.merged_tree(into, commit)?.is_ok_and(|tree| tree == here))
    }
}

/// A path that conflicts, as whoever wrote the file calls it: where the other side has a folder in its
/// place, git puts the file aside as `PATH~COMMIT`, with a number behind it if that is taken.
fn as_written<'a>(path: &'a [u8], sides: [&CommitId; 2]) -> &'a [u8] {
    let aside = |side: &CommitId| {
        let mark = [b"~", side.as_str().as_bytes()].concat();
        let at = path.rfind(&mark)?;
        let behind = &path[at + mark.len()..];
        let number = behind.strip_prefix(b"_").unwrap_or(behind);
        number.iter().all(u8::is_ascii_digit).then(|| &path[..at])
    };
    sides.into_iter().find_map(aside).unwrap_or(path)
}
