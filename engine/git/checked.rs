//! The tree that was checked and is not committed yet: nothing but a ref keeps it from whoever cleans up
//! (`git gc --prune=now`), and it may wait a long time for a person's review.

use std::io::ErrorKind;
use std::time::{Duration, Instant};

use crate::model::ids::{RunId, TreeId, WpId};

use super::error::GitError;
use super::repo::Repo;

/// How long to try again while a sibling, whose own ref was the last in the folder, takes the folder away.
const PATIENCE: Duration = Duration::from_secs(2);

/// Where a run keeps such trees.
pub(super) fn folder(run: &RunId) -> String {
    format!("refs/sop/checked/{run}/")
}

impl Repo {
    /// Keeps the tree under `refs/sop/checked/<run>/<wp>`, in the place of the one kept before.
    ///
    /// # Errors
    /// It is not in the repository, or the ref cannot be written.
    pub fn keep_checked(&self, run: &RunId, wp: &WpId, tree: &TreeId) -> Result<(), GitError> {
        let name = format!("{}{wp}", folder(run));
        let deadline = Instant::now() + PATIENCE;
        loop {
            match self.unlocked(&name, || self.point_at(&name, tree)) {
                Err(_) if Instant::now() < deadline => std::thread::sleep(Duration::from_millis(2)),
                other => return other,
            }
        }
    }

    fn point_at(&self, name: &str, tree: &TreeId) -> Result<(), GitError> {
        let set = self.with(|repo| {
            let id = git2::Oid::from_str(tree.as_str())?;
            repo.reference(name, id, true, "sop").map(drop)
        });
        match set {
            Some(set) => set.map_err(GitError::objects(format!("cannot set `{name}`"))),
            None => {
                self.git().args(["update-ref", "--no-deref", name, tree.as_str()]).run().map(drop)
            }
        }
    }

    /// Takes away the folders of a run's kept trees as far as nothing is left in them, and the locks that
    /// killed engines left there: the one who calls is the run's only engine, and moves no ref meanwhile.
    pub fn tidy_checked(&self, run: &RunId) {
        let folder = self.common_dir().join(folder(run));
        for left in std::fs::read_dir(&folder).into_iter().flatten().flatten() {
            if left.path().extension().is_some_and(|ending| ending == "lock") {
                // One that cannot go is in nobody's way but a later run's of this name, which says so.
                let _ = std::fs::remove_file(left.path());
            }
        }
        let above = folder.ancestors().take_while(|above| !above.ends_with("refs"));
        for empty in above {
            if std::fs::remove_dir(empty).is_err_and(|error| error.kind() != ErrorKind::NotFound) {
                break;
            }
        }
    }

    /// Lets a WP's kept tree go: it is on a branch now, or nobody wants it any more. One that is gone
    /// already is fine.
    ///
    /// # Errors
    /// The ref cannot be removed.
    pub fn let_checked_go(&self, run: &RunId, wp: &WpId) -> Result<(), GitError> {
        let name = format!("{}{wp}", folder(run));
        if self.read_ref(&name)?.is_none() {
            return Ok(());
        }
        self.unlocked(&name, || {
            let gone = self.with(|repo| match repo.find_reference(&name) {
                Ok(mut found) => found.delete(),
                Err(error) if error.code() == git2::ErrorCode::NotFound => Ok(()),
                Err(error) => Err(error),
            });
            match gone {
                Some(gone) => gone.map_err(GitError::objects(format!("cannot remove `{name}`"))),
                None => self.git().args(["update-ref", "--no-deref", "-d", &name]).run().map(drop),
            }
        })
    }
}
