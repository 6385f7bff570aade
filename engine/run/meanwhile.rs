//! What became of the repository while nothing was at work is the doing of whoever owns it, and no worker's: the next
//! engine takes it as it is and says so. What would be held against the run, because something was at work or may
//! have been, is taken so only when somebody accepts it by name.

use std::sync::Arc;
use std::time::SystemTime;

use crate::event::{Event, Taken};
use crate::git::Guarded;
use crate::journal;
use crate::launch;
use crate::ledger::Ledger;
use crate::model::outcome::{Check, Problem};
use crate::model::time::Timestamp;

use super::directory::RunDir;
use super::past;
use super::since::{self, Differs};
use super::site::{Halt, Site};

/// By how much clocks that tell of one moment may be apart.
const CLOCKS: jiff::SignedDuration = jiff::SignedDuration::from_secs(2);

/// What changed since an engine let go with nothing at work, if nothing was at work since, in this run or another.
/// Nothing where nothing changed, or where that cannot be known: what changed is compared as before then.
pub(super) async fn taken_as_yours(site: &Arc<Site>, ledger: &Ledger) -> Option<Event> {
    let (guard, left) = (ledger.guard.clone()?, ledger.left.clone()?);
    let looked = site.blocking(Check::Scope, move |site| {
        let (Ok(before), Ok(at_left)) =
            (since::taken_down_as(site, &guard), since::taken_down_as(site, &left.guard))
        else {
            return Ok(None);
        };
        let now = since::now(site)?;
        let after = before.clone().following(&at_left, &now);
        if after.to_bytes().0 == before.to_bytes().0 || worked_since(site, left.at) {
            return Ok(None);
        }
        let changed = since::differ(site, &before, &after, None)?;
        let changed = changed.into_iter().map(Differs::taken).collect();
        let kept = since::keep_copies(site, &now).and_then(|()| since::keep(site, &after));
        Ok(kept.ok().map(|guard| Event::RepositoryAccepted { guard, changed, by: None }))
    });
    looked.await.ok().flatten()
}

/// What is held against the run, accepted by `by`. Nothing where nothing is.
///
/// # Errors
/// Something is at work, or git said no.
pub(super) async fn accepted(
    site: &Arc<Site>,
    ledger: &Ledger,
    by: &str,
) -> Result<Option<Event>, Halt> {
    let Some(guard) = ledger.guard.clone() else { return Ok(None) };
    let (seen, by) = (ledger.seen.clone(), by.to_owned());
    let accepted = site.blocking(Check::Scope, move |site| {
        let at_work = launch::at_work(&site.dir.path());
        if !at_work.is_empty() {
            let steps = at_work.iter().map(|(unit, step)| format!("{unit}/{step}"));
            return Ok(Err(format!(
                "{} is still at work, and what it does would be accepted with the rest: resume without \
                 accepting anything, and accept what stands when the run has stopped",
                steps.collect::<Vec<_>>().join(", ")
            )));
        }
        let now = since::now(site)?;
        let changed: Vec<Taken> = match since::taken_down_as(site, &guard) {
            Ok(before) => {
                let differ = since::differ(site, &before, &now, Some(&seen))?;
                differ.into_iter().map(Differs::taken).collect()
            }
            Err(_) => vec![Taken {
                place: since::REPOSITORY.to_owned(),
                became: "cannot be compared with what it was".to_owned(),
                settings: Vec::new(),
            }],
        };
        if changed.is_empty() {
            return Ok(Ok(None));
        }
        let kept = since::keep_copies(site, &now).and_then(|()| since::keep(site, &now));
        Ok(kept.map(|guard| Some(Event::RepositoryAccepted { guard, changed, by: Some(by) })))
    });
    let refused = |why| Halt::blocked(Problem::new(Check::Scope, why));
    accepted.await?.map_err(refused)
}

/// What was taken down before somebody was let in, with all that was taken as it is since, which is not their doing;
/// that had happened `taken_before` times then.
pub(super) fn brought_up(site: &Site, before: Guarded, taken_before: usize) -> Guarded {
    site.lookout.accepted_since(taken_before).iter().fold(before, |before, it| {
        match (since::taken_down_as(site, &it.from), since::taken_down_as(site, &it.guard)) {
            (Ok(from), Ok(to)) => before.following(&from, &to),
            _ => before,
        }
    })
}

/// Whether something was at work in the repository since then, or may have been: a step of this run that is so still,
/// or an engine or a step of another.
fn worked_since(site: &Site, since: Timestamp) -> bool {
    let since = Timestamp(since.0.saturating_sub(CLOCKS).unwrap_or(since.0));
    if !launch::at_work(&site.dir.path()).is_empty() {
        return true;
    }
    let Ok(all) = past::dirs(&site.repo) else { return true };
    all.iter().filter(|dir| dir.path() != site.dir.path()).any(|dir| other_worked(dir, since))
}

fn other_worked(dir: &RunDir, since: Timestamp) -> bool {
    if dir.held() || !launch::at_work(&dir.path()).is_empty() {
        return true;
    }
    let Ok(contents) = journal::read(&dir.journal()) else { return true };
    let mut had = false;
    for record in &contents.records {
        let before = had;
        match record.event {
            Event::EngineStarted { .. } => had = true,
            Event::EngineStopped { .. } | Event::RunFinished { .. } => had = false,
            _ => {}
        }
        if (before || had) && record.at >= since {
            return true;
        }
    }
    // Its engine was cut off: what that left at work ended some time.
    let length = since.since(Timestamp(jiff::Timestamp::UNIX_EPOCH));
    had && launch::worked_since(&dir.path(), SystemTime::UNIX_EPOCH + length.0)
}
