//! A later yes to a run that stands: what it covers is added to what is covered already.

use super::create::Approval;
use super::deliver;
use super::directory::{RunDir, write_whole};
use super::error::RunError;
use super::freeze::thaw;
use crate::event::{ApprovedBy, Event, Record};
use crate::git::Repo;
use crate::journal::Journal;
use crate::ledger::Ledger;
use crate::model::approval::Covers;
use crate::model::time::Timestamp;

/// Says yes to `covers` as well, in the name of `who`; with a push among it, to where the remote is now. Nothing is
/// recorded where all of it is covered, but for a yes `again`, to a remote that is elsewhere by now.
///
/// # Errors
/// An engine has the run, or its plan is not the one that was approved: then no yes to it counts.
pub fn approve(
    repo: &Repo,
    dir: &RunDir,
    covers: &Covers,
    again: bool,
    by: ApprovedBy,
    who: &str,
) -> Result<(), RunError> {
    let _lock = dir.lock()?;
    let (mut journal, records) = Journal::resume(&dir.journal())?;
    let mut ledger = Ledger::fold(&records)?;
    if !ledger.approved {
        return Err(RunError::Unapproved(dir.run().clone()));
    }
    let plan = thaw(dir, &ledger.plan_sha256)?;
    let to = deliver::destination(repo, &plan, covers)?;
    let elsewhere = to.is_some() && to != ledger.to;
    if covers.without(&ledger.covers).is_empty() && !(again && elsewhere) {
        return Ok(());
    }
    let at = Timestamp(jiff::Timestamp::now());
    let all = ledger.covers.with(covers);
    let approval = Approval {
        by,
        who: who.to_owned(),
        at,
        plan_sha256: ledger.plan_sha256.clone(),
        covers: all.clone(),
        to: to.clone(),
        base: ledger.base.clone(),
    };
    let bytes = serde_json::to_vec_pretty(&approval).unwrap_or_default();
    write_whole(&dir.approval(), &bytes)?;
    let event = Event::RunApproved { by, plan_sha256: ledger.plan_sha256.clone(), covers: all, to };
    let record = Record { seq: ledger.seq + 1, at, event };
    ledger.apply(&record)?;
    journal.append(&[record])?;
    Ok(())
}
