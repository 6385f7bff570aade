//! The repository since the run began. It is taken down once before the first worker, and compared when an engine
//! lets the run go: what somebody did to it does not become right because a round, a retry or a crash came
//! in between.
//!
//! Files of git's own are nobody's to touch while a run goes on, whoever does it. Of refs a person may make some of
//! their own meanwhile: those count that were found when a worker had been there.

use std::path::PathBuf;
use std::sync::Arc;

use crate::event::Standing;
use crate::git::guard::Became;
use crate::git::{GuardSpec, Place};
use crate::ledger::{Ledger, Seen};
use crate::model::outcome::{Check, Problem};

use super::beside::kept;
use super::directory::write_whole;
use super::freeze::sha256;
use super::site::{Halt, Site};

/// Takes down the repository, on disk. Returns the SHA-256 for the journal.
///
/// # Errors
/// What git said, or that it cannot be written.
pub(super) async fn take_down(site: &Arc<Site>) -> Result<String, Halt> {
    let guarded = site.blocking(Check::Scope, |site| site.repo.guard(spec(site))).await?;
    let (guard, _) = guarded.to_bytes();
    let blocked = |error: String| Halt::blocked(Problem::new(Check::Scope, error));
    let copies = site.dir.own(COPIES).map_err(|error| blocked(error.to_string()))?;
    guarded.keep_copies(&copies);
    write_whole(&path(site), &guard).map_err(|error| blocked(error.to_string()))?;
    Ok(sha256(&guard))
}

/// What is not as it was taken down and has to be answered for. What cannot be compared is among it.
pub(super) async fn left(site: &Arc<Site>, ledger: &Ledger) -> Vec<Standing> {
    // A run that an older sop has begun has none.
    let Some(taken_down) = ledger.guard.as_deref() else { return Vec::new() };
    match compare(site, taken_down, &ledger.seen).await {
        Ok(standing) => standing,
        Err(Halt::Stopped) => ledger.tampering.clone(),
        Err(Halt::Blocked { problem, .. }) => vec![Standing {
            place: "the repository".to_owned(),
            what: format!(
                "cannot be compared with what it was when the run began: {}",
                problem.message
            ),
            seen_with: Vec::new(),
            put_back: None,
        }],
    }
}

/// Copies of what could be put back, within the run directory.
const COPIES: &str = "guard/was";

fn path(site: &Site) -> PathBuf {
    site.dir.named("guard/run.json")
}

/// The user's checkout is theirs, and no worker's.
fn spec(site: &Site) -> GuardSpec<'_> {
    GuardSpec { run: site.dir.run(), worktree: None, checkout: false }
}

async fn compare(site: &Arc<Site>, taken_down: &str, seen: &[Seen]) -> Result<Vec<Standing>, Halt> {
    let before = kept(site, &path(site), Some(taken_down))?;
    let seen = seen.to_vec();
    site.blocking(Check::Scope, move |site| {
        let after = site.repo.guard(spec(site))?;
        let diff = site.compare(&before, &after)?;
        let mut standing = Vec::new();
        for difference in diff.findings() {
            let place = difference.place.to_string();
            let with = seen.iter().filter(|seen| seen.place == place);
            let seen_with: Vec<_> = with.clone().filter_map(|seen| seen.wp.clone()).collect();
            if matches!(difference.place, Place::Ref(_)) && with.count() == 0 {
                continue;
            }
            let back = site.repo.put_back(&before, difference, &site.dir.named(COPIES))?;
            let became = match difference.became {
                Became::Added => "was added",
                Became::Removed => "was removed",
                Became::Changed => "was changed",
            };
            let settings = match back.settings.is_empty() {
                true => String::new(),
                false => format!(" ({})", back.settings.join(", ")),
            };
            let steps =
                back.steps.iter().map(|step| shlex::try_join(step.iter().map(String::as_str)));
            let steps = steps.collect::<Result<Vec<_>, _>>().unwrap_or_default();
            standing.push(Standing {
                place,
                what: format!(
                    "{became} since the run began{settings}, and is nobody's to touch meanwhile"
                ),
                seen_with,
                put_back: (!steps.is_empty()).then(|| steps.join(" && ")),
            });
        }
        Ok(standing)
    })
    .await
}
