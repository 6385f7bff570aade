//! A diff for people and reviewers.

use crate::model::ids::{CommitId, TreeId};

use super::error::GitError;
use super::repo::Repo;

impl Repo {
    /// The unified diff from `from` to `to`, binary files included, renames shown as both their ends
    /// and independent of how the user has set up their own diffs.
    ///
    /// # Errors
    /// One of them is not in the repository.
    pub fn patch(&self, from: &CommitId, to: &TreeId) -> Result<Vec<u8>, GitError> {
        let git = self.git().config("core.quotePath=true").config("diff.noprefix=false");
        git.args(["diff-tree", "-r", "-p", "--binary", "--no-renames", "--no-ext-diff"])
            .args(["--no-textconv", "--no-color", from.as_str(), to.as_str()])
            .run()
    }
}
