//! Opening a run again: everything an engine needs, proven to be what was approved.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use super::create::Approval;
use super::directory::{EngineLock, RunDir};
use super::due::Due;
use super::error::RunError;
use super::freeze::{known, thaw, unchanged_beside};
use super::in_flight::in_flight;
use super::leaving::Leaving;
use super::lessons;
use super::lookout::Lookout;
use super::seats::Seats;
use super::settled::Settled;
use super::site::{FORGE_TURNS, Site, worktrees_root};
use crate::brief::Briefs;
use crate::event::{Classed, Event, Record};
use crate::git::Repo;
use crate::journal::Journal;
use crate::launch::Local;
use crate::ledger::Ledger;
use crate::model::approval::Covers;
use crate::model::ids::CommitId;
use crate::model::plan::Plan;
use crate::plain_file;
use crate::whitelist::Whitelist;

/// A run that is open: everything an engine needs.
pub struct Open {
    /// What units share.
    pub site: Site,
    /// The hold on the run.
    pub lock: EngineLock,
    /// Its journal, at its end.
    pub journal: Journal,
    /// The fold of it.
    pub ledger: Ledger,
}

/// Takes a run for this process and reads it.
///
/// # Errors
/// When another engine has it, or something in it cannot be read or is not what was approved.
pub fn open(repo: &Repo, dir: RunDir) -> Result<Open, RunError> {
    let lock = dir.lock()?;
    let (mut journal, records) = Journal::resume(&dir.journal())?;
    let mut ledger = Ledger::fold(&records)?;
    if !ledger.approved {
        let record = approved_before(&dir, &ledger)?;
        ledger.apply(&record)?;
        journal.append(&[record])?;
    }
    let plan = thaw(&dir, &ledger.plan_sha256)?;
    unchanged_beside(&dir, &records)?;
    let briefs = Briefs::load(&dir.path())?;
    let known = known(&dir, &ledger);
    let launcher = Local::new(dir.root())
        .owning(dir.run(), |unit, step, attempt| in_flight(&ledger, &plan, unit, step, attempt))?;
    let site = site(repo, dir, plan, briefs, launcher, known)?;
    let site = Site { covers: ledger.covers.clone(), to: ledger.to.clone(), ..site };
    Ok(Open { site, lock, journal, ledger })
}

/// The record of an approval that was given, and whose engine died before it could record it.
fn approved_before(dir: &RunDir, ledger: &Ledger) -> Result<Record, RunError> {
    let unapproved = || RunError::Unapproved(dir.run().clone());
    let bytes =
        plain_file::read(&dir.approval(), plain_file::DOCUMENT).map_err(|_| unapproved())?;
    let given: Approval = serde_json::from_slice(&bytes).map_err(|_| unapproved())?;
    if given.plan_sha256 != ledger.plan_sha256 {
        return Err(unapproved());
    }
    let Approval { by, plan_sha256, covers, to, .. } = given;
    let event = Event::RunApproved { by, plan_sha256, covers, to };
    Ok(Record { seq: ledger.seq + 1, at: given.at, event })
}

/// What units share, for a plan in a run directory that this process has taken; `classed` are the DoD commands whose class on a
/// base is known.
///
/// # Errors
/// When there is no place for worktrees, or the whitelists are none.
pub fn site(
    repo: &Repo,
    dir: RunDir,
    plan: Plan,
    briefs: Briefs,
    launcher: Local,
    classed: BTreeMap<(CommitId, String), Classed>,
) -> Result<Site, RunError> {
    let top = repo.top().map(Path::to_path_buf);
    let worktrees = worktrees_root(repo.common_dir()).ok_or(RunError::NoHome)?;
    let whitelists = plan.wps.iter().map(|wp| whitelist(&dir, &wp.whitelist));
    Ok(Site {
        wps: plan.wps.iter().enumerate().map(|(n, wp)| (wp.id.clone(), n)).collect(),
        whitelists: whitelists.collect::<Result<_, _>>()?,
        repo: repo.clone(),
        top,
        launcher,
        briefs,
        worktrees: worktrees.join(dir.run().as_str()),
        lessons: lessons::kept(&dir),
        identity: repo.identity(),
        classed: std::sync::Mutex::new(classed),
        classing: tokio::sync::Mutex::new(()),
        settled: Settled::default(),
        leaving: Leaving::default(),
        lookout: Lookout::default(),
        due: Due::default(),
        covers: Covers::default(),
        to: None,
        forge_turns: tokio::sync::Semaphore::new(FORGE_TURNS),
        seats: Seats::new(&plan),
        plan: Arc::new(plan),
        dir,
    })
}

fn whitelist(dir: &RunDir, patterns: &[String]) -> Result<Whitelist, RunError> {
    let parsed = Whitelist::parse(patterns).map_err(|_| RunError::Frozen {
        path: dir.resolved(),
        why: format!("`{}` is no whitelist to this version of sop", patterns.join("`, `")),
    })?;
    Ok(parsed.whitelist)
}
