//! The rest of the repository before and after somebody was let into a worktree, whether to work or to
//! read.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::event::MovedBranch;
use crate::git::pushes::Push;
use crate::git::scope::What;
use crate::git::{GuardSpec, Guarded, Worktree};
use crate::model::ids::CommitId;
use crate::model::outcome::{Check, Problem};
use crate::plain_file;
use crate::process::escape_path;

use super::directory::write_whole;
use super::freeze::sha256;
use super::meanwhile;
use super::site::{Halt, Site};

/// Takes down the rest of the repository, on disk at `path`: the engine that looks afterwards may be
/// another. Returns its SHA-256, which goes into the journal, so that what is compared later is what was
/// taken down.
///
/// # Errors
/// What git said, or that it cannot be written.
pub async fn take_down(site: &Arc<Site>, worktree: &Worktree, path: &Path) -> Result<String, Halt> {
    let worktree = worktree.clone();
    let guarded = site
        .blocking(Check::Scope, move |site| {
            site.repo.guard(GuardSpec {
                run: site.dir.run(),
                worktree: Some(&worktree),
                checkout: true,
            })
        })
        .await?;
    note_moved_before(site, path).await?;
    let (guard, look) = guarded.to_bytes();
    let look = look.map(|look| (site.dir.look(&look.name), look.bytes));
    look.filter(|(path, _)| !path.exists())
        .map_or(Ok(()), |(path, bytes)| write_whole(&path, &bytes))
        .and_then(|()| write_whole(path, &guard))
        .map(|()| sha256(&guard))
        .map_err(|error| Halt::blocked(Problem::new(Check::Scope, error.to_string())))
}

/// What was taken down at `path`, if it is still what the journal says.
///
/// # Errors
/// When it is gone or another.
pub fn kept(site: &Site, path: &Path, taken_down: Option<&str>) -> Result<Guarded, Halt> {
    let kept = plain_file::read_own(path).ok();
    let kept = kept.filter(|bytes| taken_down == Some(sha256(bytes).as_str()));
    let before = kept.and_then(|bytes| {
        Guarded::from_bytes(&bytes, |look| plain_file::read_own(&site.dir.look(look)).ok())
    });
    before.ok_or_else(|| {
        let text = format!(
            "{} is gone or not as it was written, and without it nothing can be compared",
            escape_path(path)
        );
        Halt::blocked(Problem::new(Check::Scope, text))
    })
}

/// What of the rest of the repository is not as it was taken down, and nobody's to touch. `taken_down`: its SHA-256, and
/// how often what became of the repository had been taken as it is before. `who` was let in meanwhile; what they
/// pushed of a branch that began at `began_at` comes beside it.
///
/// # Errors
/// What git said; [`kept`].
pub async fn touched(
    site: &Arc<Site>,
    worktree: &Worktree,
    path: &Path,
    taken_down: (Option<&str>, usize),
    began_at: Option<CommitId>,
    who: &str,
) -> Result<(Vec<Problem>, Vec<Push>), Halt> {
    let (before, taken_before) = (kept(site, path, taken_down.0)?, taken_down.1);
    let worktree = worktree.clone();
    let (diff, moved, pushed) = site
        .blocking(Check::Scope, move |site| {
            let before = meanwhile::brought_up(site, before, taken_before);
            let after = site.repo.guard(GuardSpec {
                run: site.dir.run(),
                worktree: Some(&worktree),
                checkout: true,
            })?;
            let moved = site.settled.moved(&site.repo, site.dir.run())?;
            let diff = site.compare(&before, &after)?;
            let pushed = match began_at {
                Some(began_at) => site.repo.pushed(&diff, &after, &worktree, &began_at)?,
                None => Vec::new(),
            };
            Ok((diff, moved, pushed))
        })
        .await?;
    let touched = diff.findings().map(|difference| {
        let text = What::Repository(difference.became).to_string();
        Problem::new(Check::Scope, text).about(difference.place.to_string())
    });
    Ok((touched.chain(judge_moved(&moved, path, who).0).collect(), pushed))
}

/// Settled branches that are elsewhere: what `who` is blamed for, and what was so before.
pub(super) fn judge_moved(
    moved: &[MovedBranch],
    guard: &Path,
    who: &str,
) -> (Vec<Problem>, Vec<String>) {
    let before: Vec<MovedBranch> = plain_file::read_own(&moved_before(guard))
        .ok()
        .and_then(|bytes| serde_json::from_slice(&bytes).ok())
        .unwrap_or_default();
    let (mut blamed, mut notes) = (Vec::new(), Vec::new());
    for moved in moved {
        let place = format!("refs/heads/{}", moved.branch);
        if before.contains(moved) {
            notes.push(format!("{place} {moved}; it was so before {who} began"));
            continue;
        }
        let text = format!("was moved while {who} ran, and is nobody's to touch: it {moved}");
        blamed.push(Problem::new(Check::Scope, text).about(place));
    }
    (blamed, notes)
}

/// Settled branches that are elsewhere before anybody is let in are not their doing. Seldom is there
/// one, and then it is kept beside the guard.
async fn note_moved_before(site: &Arc<Site>, guard: &Path) -> Result<(), Halt> {
    let moved =
        site.blocking(Check::Scope, |site| site.settled.moved(&site.repo, site.dir.run())).await?;
    let path = moved_before(guard);
    let written = match moved.is_empty() {
        true => std::fs::remove_file(&path)
            .or_else(|error| match error.kind() {
                std::io::ErrorKind::NotFound => Ok(()),
                _ => Err(error),
            })
            .map_err(|error| format!("cannot remove {}: {error}", escape_path(&path))),
        false => serde_json::to_vec(&moved)
            .map_err(|error| error.to_string())
            .and_then(|bytes| write_whole(&path, &bytes).map_err(|error| error.to_string())),
    };
    written.map_err(|error| Halt::blocked(Problem::new(Check::Scope, error)))
}

/// Where the settled branches are kept that were elsewhere, beside the guard.
fn moved_before(guard: &Path) -> PathBuf {
    guard.with_extension("moved.json")
}
