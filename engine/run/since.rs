//! The repository since the run began. It is taken down once before the first worker, and compared when an engine
//! lets the run go: what somebody did to it does not become right because a round, a retry or a crash came
//! in between.
//!
//! Files of git's own are nobody's to touch while a run is at work, whoever does it. Of refs a person may make some of
//! their own meanwhile: those count that were found when a worker had been there. What changes while nothing is at
//! work, or is accepted by name, moves what is compared with ([`super::meanwhile`]).

use std::path::PathBuf;
use std::sync::Arc;

use crate::event::{Standing, Taken};
use crate::git::guard::Became;
use crate::git::{GitError, GuardSpec, Guarded, Place};
use crate::launch;
use crate::ledger::{Ledger, Seen};
use crate::model::ids::WpId;
use crate::model::outcome::{Check, Problem};

use super::beside::kept;
use super::directory::write_whole;
use super::freeze::sha256;
use super::site::{Halt, Site};

/// The repository as an engine that lets go finds it.
pub(super) struct Look {
    /// What is not as it was taken down and has to be answered for. What cannot be compared is among it.
    pub standing: Vec<Standing>,
    /// SHA-256 of what it is now, which is on disk; nothing where something is at work, or it could not be looked at.
    pub left: Option<String>,
}

/// Takes down the repository, on disk. Returns the SHA-256 for the journal.
///
/// # Errors
/// What git said, or that it cannot be written.
pub(super) async fn take_down(site: &Arc<Site>) -> Result<String, Halt> {
    let guarded = site.blocking(Check::Scope, |site| site.repo.guard(spec(site))).await?;
    let (guard, _) = guarded.to_bytes();
    keep_copies(site, &guarded).map_err(blocked)?;
    write_whole(&begin(site), &guard).map_err(blocked)?;
    Ok(sha256(&guard))
}

/// Looks at the repository when an engine lets go.
pub(super) async fn look(site: &Arc<Site>, ledger: &Ledger) -> Look {
    // A run that an older sop has begun has nothing to compare with.
    let Some(taken_down) = ledger.guard.clone() else {
        return Look { standing: Vec::new(), left: None };
    };
    let seen = ledger.seen.clone();
    let looked = site.blocking(Check::Scope, move |site| {
        // First, so that whatever is at work now had its say in what is found.
        let quiet = launch::at_work(&site.dir.path()).is_empty();
        let now = site.repo.guard(spec(site))?;
        let standing = match taken_down_as(site, &taken_down) {
            Ok(before) => {
                let differ = differ(site, &before, &now, Some(&seen))?;
                differ.into_iter().map(Differs::standing).collect()
            }
            Err(why) => vec![not_compared(&why)],
        };
        // Without what is left, what changes from here on is held against the run as before.
        let left = quiet.then(|| keep(site, &now)).and_then(Result::ok);
        Ok(Look { standing, left })
    });
    match looked.await {
        Ok(look) => look,
        Err(Halt::Stopped) => Look { standing: ledger.tampering.clone(), left: None },
        Err(Halt::Blocked { problem, .. }) => {
            Look { standing: vec![not_compared(&problem.message)], left: None }
        }
    }
}

/// A place that is not as it was taken down, and has to be answered for.
pub(super) struct Differs {
    place: String,
    became: &'static str,
    settings: Vec<String>,
    seen_with: Vec<WpId>,
    put_back: Option<String>,
}

impl Differs {
    fn standing(self) -> Standing {
        let settings = match self.settings.is_empty() {
            true => String::new(),
            false => format!(" ({})", self.settings.join(", ")),
        };
        Standing {
            what: format!(
                "{} since the run began{settings}, and is nobody's to touch meanwhile",
                self.became
            ),
            place: self.place,
            seen_with: self.seen_with,
            put_back: self.put_back,
        }
    }

    /// The same as something that is taken as it is.
    pub fn taken(self) -> Taken {
        Taken { place: self.place, became: self.became.to_owned(), settings: self.settings }
    }
}

/// The places that are not as in `before` and count: files of git's own, and of refs those that were `seen` when a
/// worker had been there, or all where nothing says which.
///
/// # Errors
/// What git said.
pub(super) fn differ(
    site: &Site,
    before: &Guarded,
    now: &Guarded,
    seen: Option<&[Seen]>,
) -> Result<Vec<Differs>, GitError> {
    let diff = site.compare(before, now)?;
    let mut differ = Vec::new();
    for difference in diff.findings() {
        let place = difference.place.to_string();
        let with: Vec<&Seen> =
            seen.unwrap_or_default().iter().filter(|seen| seen.place == place).collect();
        if seen.is_some() && matches!(difference.place, Place::Ref(_)) && with.is_empty() {
            continue;
        }
        let back = site.repo.put_back(before, difference, &site.dir.named(COPIES))?;
        let steps = back.steps.iter().map(|step| shlex::try_join(step.iter().map(String::as_str)));
        let steps = steps.collect::<Result<Vec<_>, _>>().unwrap_or_default();
        differ.push(Differs {
            seen_with: with.into_iter().filter_map(|seen| seen.wp.clone()).collect(),
            place,
            became: match difference.became {
                Became::Added => "was added",
                Became::Removed => "was removed",
                Became::Changed => "was changed",
            },
            settings: back.settings,
            put_back: (!steps.is_empty()).then(|| steps.join(" && ")),
        });
    }
    Ok(differ)
}

/// The repository as it is now.
///
/// # Errors
/// What git said.
pub(super) fn now(site: &Site) -> Result<Guarded, GitError> {
    site.repo.guard(spec(site))
}

/// What was taken down and has this SHA-256.
///
/// # Errors
/// Why nothing can be compared with it.
pub(super) fn taken_down_as(site: &Site, guard: &str) -> Result<Guarded, String> {
    let later = later(site, guard);
    let path = if later.symlink_metadata().is_ok() { later } else { begin(site) };
    kept(site, &path, Some(guard)).map_err(|halt| match halt {
        Halt::Blocked { problem, .. } => problem.message,
        Halt::Stopped => String::new(),
    })
}

/// Takes down what is found after the run began, under its SHA-256, which is returned. What is there already is not
/// written again.
///
/// # Errors
/// It cannot be written.
pub(super) fn keep(site: &Site, guarded: &Guarded) -> Result<String, String> {
    let (bytes, _) = guarded.to_bytes();
    let guard = sha256(&bytes);
    if taken_down_as(site, &guard).is_err() {
        write_whole(&later(site, &guard), &bytes).map_err(|error| error.to_string())?;
    }
    Ok(guard)
}

/// Keeps copies of what could be put back one day.
///
/// # Errors
/// There is no folder for them.
pub(super) fn keep_copies(site: &Site, guarded: &Guarded) -> Result<(), String> {
    let copies = site.dir.own(COPIES).map_err(|error| error.to_string())?;
    guarded.keep_copies(&copies);
    Ok(())
}

/// The place of a standing difference that stands for all that cannot be compared.
pub(super) const REPOSITORY: &str = "the repository";

fn not_compared(why: &str) -> Standing {
    Standing {
        place: REPOSITORY.to_owned(),
        what: format!("cannot be compared with what it was when the run began: {why}"),
        seen_with: Vec::new(),
        put_back: None,
    }
}

/// Copies of what could be put back, within the run directory.
const COPIES: &str = "guard/was";

/// What was taken down before the first worker.
fn begin(site: &Site) -> PathBuf {
    site.dir.named("guard/run.json")
}

/// What was taken down since.
fn later(site: &Site, guard: &str) -> PathBuf {
    site.dir.named(&format!("guard/run-{guard}.json"))
}

/// The user's checkout is theirs, and no worker's.
fn spec(site: &Site) -> GuardSpec<'_> {
    GuardSpec { run: site.dir.run(), worktree: None, checkout: false }
}

fn blocked(error: impl std::fmt::Display) -> Halt {
    Halt::blocked(Problem::new(Check::Scope, error.to_string()))
}
