//! A checkout brought forward to a commit that holds its own: the branch moves, and the files that differ between
//! the two, and nothing else. What is in the way is named, and then nothing is done at all.

use std::collections::BTreeSet;

use bstr::{BString, ByteSlice};

use crate::model::ids::CommitId;

use super::error::GitError;
use super::linked::condition::Condition;
use super::linked::{Head, Linked};
use super::repo::Repo;

/// How bringing a checkout forward went.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use]
pub enum Forward {
    /// It stands there already, or is ahead.
    Already,
    /// It was brought forward.
    Moved {
        /// From where.
        from: CommitId,
        /// To where.
        to: CommitId,
        /// The paths that differ between the two.
        paths: Vec<BString>,
    },
    /// It was left as it was.
    Refused(Standing),
}

/// Why a checkout cannot be brought forward.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Standing {
    /// Its HEAD is on no branch.
    Detached,
    /// Its branch has no commit yet.
    Unborn,
    /// Something was begun in it and not ended.
    UnderWay(Vec<&'static str>),
    /// Its index is locked.
    Locked,
    /// Each of the two has commits that the other lacks: so many here, so many there.
    Diverged(usize, usize),
    /// These files would be overwritten.
    InTheWay(Vec<BString>),
}

impl Repo {
    /// Brings the branch and the files of `tree`, whose [`Condition`] is `found`, forward to `to`.
    ///
    /// # Errors
    /// Git cannot compare the two, or could not do it.
    pub fn bring_forward(
        &self,
        tree: &Linked,
        found: &Condition,
        to: &CommitId,
    ) -> Result<Forward, GitError> {
        let from = match tree.head() {
            Head::Branch(_, Some(at)) => at.clone(),
            Head::Branch(_, None) => return Ok(Forward::Refused(Standing::Unborn)),
            Head::Detached(_) | Head::Unreadable => {
                return Ok(Forward::Refused(Standing::Detached));
            }
        };
        if self.is_ancestor(to, &from)? {
            return Ok(Forward::Already);
        }
        if !found.under_way.is_empty() {
            return Ok(Forward::Refused(Standing::UnderWay(found.under_way.clone())));
        }
        if found.index_locked {
            return Ok(Forward::Refused(Standing::Locked));
        }
        if !self.is_ancestor(&from, to)? {
            let count = |range: String| -> Result<usize, GitError> {
                let line = self.git().args(["rev-list", "--count", &range]).run_line()?;
                Ok(line.parse().unwrap_or(0))
            };
            let (here, there) = (count(format!("{to}..{from}"))?, count(format!("{from}..{to}"))?);
            return Ok(Forward::Refused(Standing::Diverged(here, there)));
        }
        let changes = self.diff_trees(&self.tree_of(&from)?, &self.tree_of(to)?)?;
        let in_the_way = in_the_way(tree, found, &changes);
        if !in_the_way.is_empty() {
            return Ok(Forward::Refused(Standing::InTheWay(in_the_way)));
        }
        let merge = ["merge", "--ff-only", "--no-autostash", "--no-stat", "--quiet"];
        tree.run_in(&merge, &["--no-overwrite-ignore", to.as_str()])?;
        let paths = changes.into_iter().map(|change| change.path).collect();
        Ok(Forward::Moved { from, to: to.clone(), paths })
    }
}

/// Files on disk that git would have to overwrite, or that something would have to take the place of.
fn in_the_way(tree: &Linked, found: &Condition, changes: &[super::Change]) -> Vec<BString> {
    let touched: BTreeSet<&BString> =
        found.modified.iter().chain(&found.staged).chain(&found.conflicts).collect();
    let mut named = BTreeSet::new();
    for change in changes {
        if touched.contains(&change.path) {
            named.insert(change.path.clone());
        }
        // A file of the user's below a path that becomes a file.
        let below = [change.path.as_slice(), b"/"].concat();
        let users = || touched.iter().copied().chain(&found.untracked).chain(&found.ignored);
        if change.new.is_some() {
            named.extend(users().filter(|path| path.starts_with(&below)).cloned());
        }
        if change.old.is_some() || change.new.is_none() {
            continue;
        }
        let Some(root) = tree.path() else { continue };
        let at = super::linked::on_disk(root, &change.path);
        // Not tracked before, and yet there. A folder there may be one of tracked files only, which go.
        if at.symlink_metadata().is_ok_and(|meta| !meta.is_dir()) {
            named.insert(change.path.clone());
        }
        // A file of the user's where a folder has to be.
        let mut folder = change.path.as_bstr();
        while let Some(end) = folder.rfind_byte(b'/') {
            folder = folder[..end].as_bstr();
            let there = super::linked::on_disk(root, folder).symlink_metadata();
            let goes = changes.iter().any(|it| it.path == folder && it.new.is_none());
            if there.is_ok_and(|meta| !meta.is_dir()) && !goes {
                named.insert(folder.to_owned());
            }
        }
    }
    named.into_iter().collect()
}
