//! The user's checkout once more, when a run is over: it must be as it was when the run was made. What is not
//! is told exactly, blamed on no one, and left alone.

use std::time::Duration;

use super::directory::{RunDir, write_whole};
use super::site::Site;
use crate::git::Repo;
use crate::model::baseline::{Compared, Kept};
use crate::plain_file;

/// How long git may take for it.
const LIMIT: Duration = Duration::from_secs(60);

/// Writes a file of `sop`'s own where its user asked for it, which may be in the checkout: what that makes of it is
/// not held against anybody. Gives back what `write` does.
pub fn own<T>(repo: &Repo, dir: &RunDir, write: impl FnOnce() -> T) -> T {
    let path = dir.baseline();
    let kept = plain_file::read_own(&path).ok();
    let kept = kept.and_then(|bytes| serde_json::from_slice::<Kept>(&bytes).ok());
    let look = || repo.baseline(LIMIT).ok().flatten();
    let Some((mut kept, before)) = kept.and_then(|kept| Some((kept, look()?))) else {
        return write();
    };
    let written = write();
    if look().is_some_and(|after| kept.take_over(&before, &after)) {
        // Where it cannot be kept, the file is named at the end, and no more.
        let _ = write_whole(&path, &serde_json::to_vec(&kept).unwrap_or_default());
    }
    written
}

/// Compares the checkout with what was taken down when the run was made. Nothing where nothing was.
#[must_use]
pub fn compare(site: &Site) -> Option<Compared> {
    let bytes = plain_file::read_own(&site.dir.baseline()).ok()?;
    let before: Kept = serde_json::from_slice(&bytes).ok()?;
    // The run may have been taken up in another checkout of the repository.
    let after = match site.repo.baseline(LIMIT) {
        Ok(Some(after)) if after.baseline.worktree == before.baseline.worktree => Ok(after),
        Ok(_) => Err(format!("the run was made in {}", before.baseline.worktree)),
        Err(error) => Err(error.to_string()),
    };
    Some(match after {
        Ok(after) => before.compare(after),
        Err(problem) => Compared {
            before: before.baseline,
            after: None,
            problem: Some(problem),
            paths: Vec::new(),
            cut: false,
        },
    })
}
