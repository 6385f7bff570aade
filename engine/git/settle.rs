//! Brings a worktree's own git state in line with a commit, without touching a file in it.

use std::io::ErrorKind;

use crate::model::ids::CommitId;
use crate::plain_file;

use super::error::GitError;
use super::seed::write_whole;
use super::worktree::Worktree;

/// What an operation in progress leaves in a git directory; after a settle there is none.
const IN_PROGRESS: [&str; 9] = [
    "MERGE_HEAD",
    "MERGE_MODE",
    "MERGE_MSG",
    "AUTO_MERGE",
    "CHERRY_PICK_HEAD",
    "REVERT_HEAD",
    "SQUASH_MSG",
    "index.lock",
    "HEAD.lock",
];

impl Worktree {
    /// Sets the branch to `commit` if it stands at `expected_old` (`None`: it is gone), and HEAD and index with
    /// it. When the commit's tree is a snapshot's, the worktree is clean afterwards; when it is the base, what a
    /// worker committed or staged is folded back into plain changes on disk. Files stay as they are.
    ///
    /// # Errors
    /// [`GitError::RefMoved`] when the branch stands elsewhere, and then nothing was changed.
    pub fn settle(
        &self,
        commit: &CommitId,
        expected_old: Option<&CommitId>,
    ) -> Result<(), GitError> {
        let head = self.git_dir().join("HEAD");
        if let Some(branch) = self.branch() {
            self.repo().set_branch(branch, commit, expected_old)?;
            let wanted = format!("ref: refs/heads/{branch}\n");
            if !self.repo().in_process() {
                self.git().args(["symbolic-ref", "HEAD", wanted[5..].trim_end()]).run()?;
            } else if plain_file::read_own(&head).ok().as_deref() != Some(wanted.as_bytes()) {
                write_whole(&head, wanted.as_bytes())?;
            }
        } else if self.repo().in_process() {
            write_whole(&head, format!("{commit}\n").as_bytes())?;
        } else {
            self.git().args(["update-ref", "--no-deref", "HEAD", commit.as_str()]).run()?;
        }
        for left in IN_PROGRESS {
            let path = self.git_dir().join(left);
            match std::fs::remove_file(&path) {
                Err(error) if error.kind() != ErrorKind::NotFound => {
                    return Err(GitError::io("remove", &path)(error));
                }
                _ => {}
            }
        }
        for left in ["rebase-merge", "rebase-apply", "sequencer"] {
            let path = self.git_dir().join(left);
            match std::fs::remove_dir_all(&path) {
                Err(error) if error.kind() != ErrorKind::NotFound => {
                    return Err(GitError::io("remove", &path)(error));
                }
                _ => {}
            }
        }
        let link = self.path().join(".git");
        // A file of the worker's goes; a folder stays, since it may hold a history, and stays a finding.
        let folder = std::fs::symlink_metadata(&link).is_ok_and(|there| there.is_dir());
        if !folder && plain_file::read_own(&link).ok() != Some(self.link()) {
            write_whole(&link, &self.link())?;
        }
        // From the seed: no flag and no entry of the worker's own index survives.
        if self.seed_is_sound() {
            let seed =
                plain_file::read_own(self.seed()).map_err(GitError::io("read", self.seed()))?;
            write_whole(&self.git_dir().join("index"), &seed)?;
            if commit == self.base() {
                // It is the index of this very commit.
                return Ok(());
            }
        } else {
            self.git().args(["read-tree", self.base().as_str()]).run()?;
        }
        self.git()
            .args(["reset", "--quiet", "--mixed", "--no-recurse-submodules", commit.as_str()])
            .run()
            .map(drop)
    }
}
