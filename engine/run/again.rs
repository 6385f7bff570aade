//! A WP that begins anew because its worktree is gone: cleared away, archived, or removed by hand. Whoever asks for
//! another try gets a fresh one; what the old one left (a registration, a branch with commits) is kept and out of the way.

use std::path::Path;
use std::time::Duration;

use crate::event::Event;
use crate::git::{GitError, Repo, Worktree};
use crate::ledger::WpState;
use crate::model::ids::{CommitId, WpId};

use super::site::Site;

/// How long git may take to list refs.
const LIMIT: Duration = Duration::from_secs(20);

/// That the worktree of `wp` is gone, as it is recorded before the WP begins anew; nothing when it stands.
#[must_use]
pub fn gone(site: &Site, wp: &WpState) -> Option<Event> {
    let worktree = wp.worktree.as_deref()?;
    let gone = wp.phase.settled() && !Path::new(worktree).is_dir();
    let salvage = || salvaged(&site.repo, &room(site, &wp.id));
    gone.then(|| Event::WorktreeRemoved { wp: wp.id.clone(), salvage: salvage() })
}

/// What to say of a WP whose worktree is not where it was.
#[must_use]
pub fn told(site: &Site, wp: &WpState) -> String {
    let id = &wp.id;
    let place = wp.worktree.as_deref().unwrap_or_default();
    if Path::new(place).is_dir() {
        let branch = wp.branch.as_deref().unwrap_or_default();
        return format!(
            "it is not its worktree on `{branch}` that is there; put that back and resume, or move it away, and `sop \
             retry {id}` begins anew in a fresh one"
        );
    }
    match salvaged(&site.repo, &room(site, id)) {
        Some(kept) => format!(
            "its worktree is gone; what was not committed is in `{kept}`; `sop retry {id}` begins anew in a fresh one, or \
             put it back and resume"
        ),
        None => format!(
            "its worktree is gone, and with it what was not committed; `sop retry {id}` begins anew in a fresh one, or \
             put it back and resume"
        ),
    }
}

/// The part of a salvage ref that says whose it is.
fn room(site: &Site, wp: &WpId) -> String {
    format!("{}/{wp}", site.dir.run())
}

/// The newest ref that keeps what an archived worktree held.
fn salvaged(repo: &Repo, room: &str) -> Option<String> {
    let names = repo.refs_below(&[&format!("refs/sop/salvage/{room}/")], LIMIT).ok()?;
    names.last().map(ToString::to_string)
}

impl Site {
    /// The worktree of a WP that stands, or that somebody put back by hand.
    ///
    /// # Errors
    /// What git said.
    pub fn standing(
        &self,
        unit: &str,
        branch: Option<&str>,
        base: &CommitId,
    ) -> Result<Option<Worktree>, GitError> {
        let spec = self.worktree_spec(unit, branch, base);
        match self.repo.find_worktree(&spec)?.filter(|worktree| worktree.path().is_dir()) {
            Some(found) => Ok(Some(found)),
            None => self.repo.adopt_worktree(&spec),
        }
    }

    /// Moves what an earlier worktree of a WP left out of the way of the next: its registration, when its folder is
    /// gone, and its branch. What only they hold gets a salvage ref.
    ///
    /// # Errors
    /// What git said; nothing is lost by it.
    pub fn make_way(&self, wp: &WpId, branch: &str, base: &CommitId) -> Result<(), GitError> {
        let path = self.worktree_path(wp.as_str());
        if path.is_dir() {
            return Ok(());
        }
        let (room, now) = (room(self, wp), jiff::Timestamp::now());
        let stamp = now.strftime("%Y%m%dT%H%M%SZ").to_string();
        if let Some(left) = self.repo.worktree_at(&path)?.filter(|left| left.locked().is_none()) {
            if !left.condition(&[])?.is_clean() {
                left.keep(left.trees(&[], false)?, &room, &stamp, now.as_second())?;
            }
            left.take_away()?;
        }
        let Some(at) = self.repo.branch(branch)? else { return Ok(()) };
        let all = self.repo.all_worktrees()?;
        if all.iter().any(|tree| tree.head().branch() == Some(branch)) {
            return Ok(());
        }
        if !self.repo.is_ancestor(&at, base)? && self.repo.salvaged_in(&at)?.is_none() {
            self.repo.hold(&at, &room, &stamp)?;
        }
        self.repo.delete_branch(branch, &at)
    }
}
