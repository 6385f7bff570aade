//! Making a run, and opening one again: the plan is frozen, the base pinned, the yes recorded.

use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::brief::{self, Briefs, LoadError};
use crate::event::{After, ApprovedBy, Classed, Event, LevelShape, Record, VERSION, WpShape};
use crate::git::{GitError, Repo};
use crate::graph::{Sealed, Waits};
use crate::journal::{Journal, JournalError};
use crate::launch::Local;
use crate::ledger::{Ledger, LedgerError};
use crate::model::ids::{CommitId, IdError, RunId, WpId};
use crate::model::plan::{Plan, Review};
use crate::model::time::Timestamp;
use crate::whitelist::Whitelist;

use super::directory::{DirectoryError, EngineLock, RunDir, write_whole};
use super::site::{Site, worktrees_root};

/// Why a run cannot be made or opened.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// Git said no.
    #[error(transparent)]
    Git(#[from] GitError),
    /// The run directory.
    #[error(transparent)]
    Directory(#[from] DirectoryError),
    /// The journal.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// The journal's records do not follow from each other.
    #[error("the journal of this run does not hold together: {0}")]
    Ledger(#[from] LedgerError),
    /// Templates.
    #[error(transparent)]
    Templates(#[from] LoadError),
    /// The plan's name is too long to be numbered.
    #[error("no run can be named after this plan: `{name}` {why}")]
    Name {
        /// What was tried.
        name: String,
        /// Why it is no id.
        why: IdError,
    },
    /// A file of the run.
    #[error("cannot read {}: {why}", path.display())]
    Frozen {
        /// Which.
        path: PathBuf,
        /// Why.
        why: String,
    },
    /// What was approved is not what is there.
    #[error("{} is not the plan that was approved (its SHA-256 is {found}, the approval says {approved}); a run's plan is never edited: start a new run", path.display())]
    Changed {
        /// The frozen plan.
        path: PathBuf,
        /// Its digest.
        found: String,
        /// The approved one.
        approved: String,
    },
    /// Nobody said yes to this plan.
    #[error("the run `{0}` was never approved; start a new one with `sop apply`")]
    Unapproved(RunId),
    /// No place for worktrees.
    #[error("there is no place for worktrees: set SOP_WORKTREES, or HOME")]
    NoHome,
    /// A branch that git lets no other stand below.
    #[error(
        "the branch `{0}` leaves no room for those of a run (`{0}/…`): rename it (`git branch -m {0} NAME`)"
    )]
    NoRoom(&'static str),
    /// A bare repository.
    #[error("{} is a bare repository; run sop from a checkout", .0.display())]
    Bare(PathBuf),
}

/// A run that is to be made.
pub struct NewRun<'a> {
    /// The plan.
    pub plan: &'a Plan,
    /// The same, as it was written.
    pub text: &'a str,
    /// The same, compiled.
    pub graph: &'a Sealed,
    /// What it starts from.
    pub base: CommitId,
    /// How it was approved.
    pub by: ApprovedBy,
    /// Who approved it, for people.
    pub who: &'a str,
    /// DoD commands that were run on the base for the report that was approved, with their logs.
    pub classed: Vec<(Classed, PathBuf)>,
}

/// `approval.json`.
#[derive(Debug, Serialize, Deserialize)]
struct Approval {
    by: ApprovedBy,
    who: String,
    at: Timestamp,
    plan_sha256: String,
    base: CommitId,
}

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

/// Makes a run: its directory, the frozen plan, and the journal's first records. When this returns,
/// `sop resume` can run it, whatever happens to this process.
///
/// # Errors
/// When something cannot be written; then no run exists, or one that has not begun.
pub fn create(repo: &Repo, new: &NewRun<'_>) -> Result<RunDir, RunError> {
    let dir = claim(repo, &new.plan.name)?;
    dir.make()?;
    let plan = new.plan;
    let resolved = frozen(plan);
    let sha = sha256(&resolved);
    write_whole(&dir.resolved(), &resolved)?;
    freeze_templates(repo, &dir)?;
    freeze_classed(&dir, &new.classed)?;
    let at = Timestamp(jiff::Timestamp::now());
    let approval = Approval {
        by: new.by,
        who: new.who.to_owned(),
        at,
        plan_sha256: sha.clone(),
        base: new.base.clone(),
    };
    let approval = serde_json::to_vec_pretty(&approval).unwrap_or_default();
    write_whole(&dir.approval(), &approval)?;
    write_whole(&dir.plan_file(), new.text.as_bytes())?;
    let created = Event::RunCreated {
        version: VERSION,
        run: dir.run().clone(),
        goal: plan.goal.clone(),
        plan_sha256: sha.clone(),
        base: new.base.clone(),
        mode: plan.mode,
        levels: levels(plan, new.graph),
    };
    let approved = Event::RunApproved { by: new.by, plan_sha256: sha };
    let records = [Record { seq: 1, at, event: created }, Record { seq: 2, at, event: approved }];
    Journal::create(&dir.journal())?.append(&records)?;
    Ok(dir)
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
    let briefs = Briefs::load(&dir.path())?;
    let known = known(&dir, &ledger);
    let site = site(repo, dir, plan, briefs, known)?;
    Ok(Open { site, lock, journal, ledger })
}

/// The record of an approval that was given, and whose engine died before it could record it.
fn approved_before(dir: &RunDir, ledger: &Ledger) -> Result<Record, RunError> {
    let unapproved = || RunError::Unapproved(dir.run().clone());
    let bytes = fs::read(dir.approval()).map_err(|_| unapproved())?;
    let given: Approval = serde_json::from_slice(&bytes).map_err(|_| unapproved())?;
    if given.plan_sha256 != ledger.plan_sha256 {
        return Err(unapproved());
    }
    let event = Event::RunApproved { by: given.by, plan_sha256: given.plan_sha256 };
    Ok(Record { seq: ledger.seq + 1, at: given.at, event })
}

/// What units share, for a plan in a run directory; `classed` are the DoD commands whose class on a
/// base is known.
///
/// # Errors
/// When there is no place for worktrees, or the whitelists are none.
pub fn site(
    repo: &Repo,
    dir: RunDir,
    plan: Plan,
    briefs: Briefs,
    classed: BTreeMap<(CommitId, String), Classed>,
) -> Result<Site, RunError> {
    let top = repo.top().ok_or_else(|| RunError::Bare(repo.common_dir().to_owned()))?.to_owned();
    let worktrees = worktrees_root(repo.common_dir(), &top).ok_or(RunError::NoHome)?;
    let whitelists = plan.wps.iter().map(|wp| whitelist(&dir, &wp.whitelist));
    Ok(Site {
        wps: plan.wps.iter().enumerate().map(|(n, wp)| (wp.id.clone(), n)).collect(),
        whitelists: whitelists.collect::<Result<_, _>>()?,
        repo: repo.clone(),
        top,
        launcher: Local::new(dir.root()),
        briefs,
        worktrees: worktrees.join(dir.run().as_str()),
        identity: repo.identity(),
        classed: std::sync::Mutex::new(classed),
        classing: tokio::sync::Mutex::new(()),
        plan,
        dir,
    })
}

/// A plan as a run freezes it: what its approval is bound to.
#[must_use]
pub fn frozen(plan: &Plan) -> Vec<u8> {
    serde_json::to_vec_pretty(plan).unwrap_or_default()
}

/// The frozen plan of a run, proven to be the one that was approved.
///
/// # Errors
/// When it cannot be read or is another.
pub fn thaw(dir: &RunDir, approved: &str) -> Result<Plan, RunError> {
    let path = dir.resolved();
    let unread = |why: String| RunError::Frozen { path: path.clone(), why };
    let bytes = fs::read(&path).map_err(|error| unread(error.to_string()))?;
    let found = sha256(&bytes);
    if found != approved {
        return Err(RunError::Changed { path, found, approved: approved.to_owned() });
    }
    serde_json::from_slice(&bytes).map_err(|error| unread(error.to_string()))
}

/// Takes the next free name.
fn claim(repo: &Repo, plan: &RunId) -> Result<RunDir, RunError> {
    let root = RunDir::root_in(repo.common_dir());
    fs::create_dir_all(&root).map_err(|source| DirectoryError::Io {
        what: "make",
        path: root.clone(),
        source,
    })?;
    loop {
        let dir = next(repo, plan)?;
        match fs::create_dir(dir.path()) {
            Ok(()) => return Ok(dir),
            // Another sop was quicker.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(source) => {
                return Err(DirectoryError::Io { what: "make", path: dir.path(), source }.into());
            }
        }
    }
}

/// The directory that the next run of a plan will have: the first number under which nothing of an
/// earlier run is left, be it a directory, a branch (here, or on a remote as far as it is known) or a
/// worktree.
///
/// # Errors
/// When git cannot answer, a branch leaves no room for those of runs, or the plan's name none for a
/// number.
pub fn next(repo: &Repo, plan: &RunId) -> Result<RunDir, RunError> {
    let root = RunDir::root_in(repo.common_dir());
    let top = repo.top().ok_or_else(|| RunError::Bare(repo.common_dir().to_owned()))?;
    let worktrees = worktrees_root(repo.common_dir(), top).ok_or(RunError::NoHome)?;
    for room in ["sop", "sop-stage"] {
        if repo.read_ref(&format!("refs/heads/{room}"))?.is_some() {
            return Err(RunError::NoRoom(room));
        }
    }
    for n in 1_u32.. {
        let name = format!("{plan}-{n}");
        let run = RunId::new(name.clone()).map_err(|why| RunError::Name { name, why })?;
        let dir = RunDir::new(root.clone(), run.clone());
        if dir.path().exists() || worktrees.join(run.as_str()).exists() {
            continue;
        }
        // The first two match what is below them as well, and a branch that leaves no room below it;
        // a pattern with `*` matches whole names only.
        let under = [
            format!("refs/heads/sop/{run}"),
            format!("refs/heads/sop-stage/{run}"),
            format!("refs/remotes/*/sop/{run}/**"),
            format!("refs/remotes/*/sop-stage/{run}/**"),
        ];
        if !repo.any_ref(&under)? {
            return Ok(dir);
        }
    }
    unreachable!("numbers do not run out")
}

fn freeze_templates(repo: &Repo, dir: &RunDir) -> Result<(), RunError> {
    let Some(own) = repo.top().map(|top| top.join(brief::FOLDER)) else { return Ok(()) };
    let entries = match fs::read_dir(&own) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        entries => entries,
    };
    let io = |what, path: &Path| {
        let path = path.to_owned();
        move |source| DirectoryError::Io { what, path, source }
    };
    let frozen = dir.path().join(brief::FOLDER);
    fs::create_dir_all(&frozen).map_err(io("make", &frozen))?;
    for entry in entries.map_err(io("read", &own))? {
        let entry = entry.map_err(io("read", &own))?;
        if entry.path().is_file() {
            let to = frozen.join(entry.file_name());
            fs::copy(entry.path(), &to).map_err(io("write", &to))?;
        }
    }
    Ok(())
}

/// What the checkpoint report learned about the DoDs, so that no command is run twice on one base.
fn freeze_classed(dir: &RunDir, classed: &[(Classed, PathBuf)]) -> Result<(), RunError> {
    let mut kept = Vec::with_capacity(classed.len());
    for (n, (classed, log)) in classed.iter().enumerate() {
        let name = RunDir::log_name("base", "dod", u32::try_from(n).unwrap_or(u32::MAX) + 1);
        let to = dir.named(&name);
        fs::copy(log, &to).map_err(|source| DirectoryError::Io {
            what: "write",
            path: to,
            source,
        })?;
        let mut classed = classed.clone();
        classed.ran.log = name;
        kept.push(classed);
    }
    let bytes = serde_json::to_vec(&kept).unwrap_or_default();
    write_whole(&dir.named("classed.json"), &bytes)?;
    Ok(())
}

/// DoD commands whose class on a base is known already.
fn known(dir: &RunDir, ledger: &Ledger) -> BTreeMap<(CommitId, String), Classed> {
    let frozen: Vec<Classed> = fs::read(dir.named("classed.json"))
        .ok()
        .and_then(|bytes| serde_json::from_slice(&bytes).ok())
        .unwrap_or_default();
    let at_base = frozen.into_iter().map(|classed| (ledger.base.clone(), classed));
    let in_run = ledger.wps.iter().filter_map(|wp| Some((wp.base.clone()?, &wp.classes)));
    let in_run =
        in_run.flat_map(|(base, classes)| classes.iter().map(move |c| (base.clone(), c.clone())));
    at_base
        .chain(in_run)
        .map(|(base, classed)| ((base, classed.ran.run.clone()), classed))
        .collect()
}

fn whitelist(dir: &RunDir, patterns: &[String]) -> Result<Whitelist, RunError> {
    let parsed = Whitelist::parse(patterns).map_err(|_| RunError::Frozen {
        path: dir.resolved(),
        why: format!("`{}` is no whitelist to this version of sop", patterns.join("`, `")),
    })?;
    Ok(parsed.whitelist)
}

fn levels(plan: &Plan, graph: &Sealed) -> Vec<LevelShape> {
    let stage_of: HashMap<usize, _> = graph
        .stages()
        .flat_map(|(stage, wps)| wps.iter().map(move |wp| (*wp, stage.clone())))
        .collect();
    let after = |wp: usize| match graph.waits(wp) {
        Waits::Nothing => After::Base,
        Waits::Wps(wps) => {
            After::Wps(wps.iter().map(|wp| plan.wps[*wp].id.clone()).collect::<Vec<WpId>>())
        }
        Waits::Stage(wps) => {
            wps.first().map_or(After::Base, |first| After::Stage(stage_of[first].clone()))
        }
    };
    let shape = |n: &usize| {
        let wp = &plan.wps[*n];
        WpShape {
            id: wp.id.clone(),
            title: wp.title.clone(),
            tier: wp.tier.clone(),
            risk: wp.risk,
            kind: wp.kind,
            rounds: wp.rounds,
            dods: u32::try_from(wp.dod.len()).unwrap_or(u32::MAX),
            reviewed: wp.review != Review::None,
            allow_empty: wp.allow_empty,
            after: after(*n),
        }
    };
    graph
        .levels()
        .iter()
        .map(|level| LevelShape {
            stage: level.stage.clone(),
            wps: level.wps.iter().map(shape).collect(),
        })
        .collect()
}

/// SHA-256 in hexadecimal.
#[must_use]
pub fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}
