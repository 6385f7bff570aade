//! The checkpoint report: what a run of a plan would do, found out without doing any of it. Each DoD
//! command is run once on the base, in a worktree of its own that is gone afterwards.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use tempfile::TempDir;

use super::clean::{discard, kept_out};
use super::compile::{Base, Compiled};
use super::deliver;
use super::directory::{EngineLock, RunDir, write_whole};
use super::error::RunError;
use super::freeze;
use super::open;
use super::provision;
use super::site::{Halt, Site, argv};
use super::step::Orders;
use super::unit::prove::class_one;
use crate::brief::Briefs;
use crate::event::Classed;
use crate::git::{Removal, Repo, WorktreeSpec};
use crate::graph::Waits;
use crate::launch::Local;
use crate::model::approval::Covers;
use crate::model::checkpoint::{
    Checkpoint, Overlap, OverlapSort, PlannedDod, PlannedProvision, PlannedStage, PlannedTier,
    PlannedVerify, PlannedWp,
};
use crate::model::ids::{CommitId, RunId, TierId};
use crate::model::outcome::{Check, DodClass};
use crate::model::plan::{Dod, Kind, Mode, Plan, Review};
use crate::plain_file;
use crate::process;
use crate::whitelist::OverlapKind;

/// Lines of a command's output that the report shows when the command stands in the way.
const TAIL: usize = 40;

/// How folders of dry runs are called, among the runs.
const SCRATCH: &str = ".checkpoint-";
/// In such a folder: what is being made, so that another process can take it away.
const MADE: &str = "made.json";
/// Whose worktree it is.
const UNIT: &str = "base";
/// When a folder without [`MADE`] is no longer that of a dry run which is just beginning.
const OLD: Duration = Duration::from_secs(3600);

/// The contents of [`MADE`].
#[derive(Serialize, Deserialize)]
struct Made {
    base: CommitId,
    copied: Vec<String>,
}

/// DoD commands by their text, each with its class on the base and its log.
pub type Classes = BTreeMap<String, (Classed, PathBuf)>;

/// What the dry run found. Its logs live as long as it does.
#[derive(Debug, Default)]
pub struct DryRun {
    /// The classes.
    pub classes: Classes,
    /// Paths that the commands changed and the base does not ignore, where such [traces](Traces) are told.
    pub left_behind: Option<String>,
    /// Where the logs are.
    _scratch: Option<TempDir>,
    _lock: Option<EngineLock>,
}

/// What it means that a command changes files which the base does not ignore.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Traces {
    /// There is no dry run: a worker would be blamed for them.
    Refused,
    /// They are named: nobody works there afterwards.
    Told,
}

/// A check that a dry run is about to run.
#[derive(Debug, Clone, Copy)]
pub struct Checking<'a> {
    /// Which one it is, from 1.
    pub number: usize,
    /// How many there are.
    pub of: usize,
    /// The command, as the plan has it.
    pub text: &'a str,
}

/// Why there is no dry run.
#[derive(Debug)]
pub enum DryRunError {
    /// No worktree, no scratch folder, …
    Run(RunError),
    /// It was stopped, or provisioning failed.
    Halt(Halt),
}

impl From<RunError> for DryRunError {
    fn from(error: RunError) -> Self {
        Self::Run(error)
    }
}

impl From<Halt> for DryRunError {
    fn from(halt: Halt) -> Self {
        Self::Halt(halt)
    }
}

/// Runs each DoD command of the plan once on the base. Nothing of it lasts: worktree and logs go when
/// the result does. `tell` hears of each before it starts.
///
/// # Errors
/// When the base cannot be provisioned, or it was stopped.
pub async fn dry_run(
    repo: &Repo,
    plan: &Plan,
    base: &Base,
    traces: Traces,
    mut orders: Orders,
    tell: fn(Checking<'_>),
) -> Result<DryRun, DryRunError> {
    let root = RunDir::root_in(repo.common_dir());
    std::fs::create_dir_all(&root).map_err(|error| scratch_failed(&error))?;
    let scratch = tempfile::Builder::new()
        .prefix(SCRATCH)
        .tempdir_in(&root)
        .map_err(|error| scratch_failed(&error))?;
    let dir = scratch_run(scratch.path())?;
    dir.make().map_err(RunError::from)?;
    // Held as long as the result is: what is left of one that was killed is known by the lock being free.
    let lock = dir.lock().map_err(RunError::from)?;
    let made = Made { base: base.commit.clone(), copied: plan.provision.copy.clone() };
    let made = serde_json::to_vec(&made).unwrap_or_default();
    write_whole(&dir.named(MADE), &made).map_err(RunError::from)?;
    let launcher = Local::new(dir.root()).owning(dir.run(), |_, _, _| false);
    let launcher = launcher.map_err(RunError::from)?;
    let site = open::site(repo, dir, plan.clone(), Briefs::built_in(), launcher, BTreeMap::new())?;
    let site = Arc::new(site);
    site.blocking(Check::Provision, move |site| {
        sweep(site, &root);
        Ok(())
    })
    .await?;
    let result = class_all(&site, base, traces, &mut orders, tell).await;
    let commit = base.commit.clone();
    let gone = site.blocking(Check::Provision, move |site| site.discard(UNIT, &commit)).await;
    tracing::debug!(?gone, "the checkpoint's worktree");
    let _ = std::fs::remove_dir(&site.worktrees);
    let scratch = match gone {
        Ok(Removal::Gone) => Some(scratch),
        _ => {
            // A later dry run tries again, and has to know of it.
            let _ = scratch.keep();
            None
        }
    };
    let (classes, left_behind) = result?;
    Ok(DryRun { classes, left_behind, _scratch: scratch, _lock: Some(lock) })
}

/// The run that stands in a scratch folder: a name of its own, so that dry runs made at the same time do
/// not meet in one worktree.
fn scratch_run(scratch: &Path) -> Result<RunDir, RunError> {
    let mark = scratch.file_name().unwrap_or_default().to_string_lossy();
    let mark = mark.trim_start_matches(SCRATCH).to_ascii_lowercase();
    let name = format!("checkpoint-{mark}");
    let run = RunId::new(name.clone()).map_err(|why| RunError::Name { name, why })?;
    Ok(RunDir::new(scratch.to_owned(), run))
}

/// Takes away what dry runs left that were killed: the worktree first, then the folder that tells of it.
fn sweep(site: &Site, root: &Path) {
    for entry in std::fs::read_dir(root).into_iter().flatten().flatten() {
        let folder = entry.path();
        // To look at our own lock would be to let go of it.
        if folder == site.dir.root()
            || !entry.file_name().as_encoded_bytes().starts_with(SCRATCH.as_bytes())
        {
            continue;
        }
        let Ok(dir) = scratch_run(&folder) else { continue };
        let made = plain_file::read(&dir.named(MADE), plain_file::DOCUMENT).ok();
        let Some(made) = made.and_then(|bytes| serde_json::from_slice::<Made>(&bytes).ok()) else {
            // It has made no worktree. Unless it is old it may be about to take its lock.
            if is_old(&folder) {
                let _ = std::fs::remove_dir_all(&folder);
            }
            continue;
        };
        let Ok(_lock) = dir.lock() else { continue };
        let Some(root) = site.worktrees.parent() else { continue };
        let worktrees = root.join(dir.run().as_str());
        let spec = WorktreeSpec {
            path: worktrees.join(UNIT),
            branch: None,
            base: made.base,
            seed: dir.seed(UNIT),
        };
        // One that was cut off in the making can only be finished, and then it can be removed.
        let whole = site.repo.add_worktree(&spec);
        let gone = whole.and_then(|_| discard(&site.repo, &spec, &kept_out(&made.copied)));
        if matches!(gone, Ok(Removal::Gone)) {
            let _ = std::fs::remove_dir(&worktrees);
            let _ = std::fs::remove_dir_all(&folder);
        }
    }
}

fn is_old(folder: &Path) -> bool {
    let made = std::fs::metadata(folder).and_then(|meta| meta.modified());
    made.is_ok_and(|at| at.elapsed().is_ok_and(|age| age > OLD))
}

async fn class_all(
    site: &Arc<Site>,
    base: &Base,
    traces: Traces,
    orders: &mut Orders,
    tell: fn(Checking<'_>),
) -> Result<(Classes, Option<String>), DryRunError> {
    let commit = base.commit.clone();
    let worktree =
        site.blocking(Check::Provision, move |site| site.worktree(UNIT, None, &commit)).await?;
    provision::provision(site, (UNIT, 1), &worktree, orders).await?;
    let mut classes = Classes::new();
    let all: BTreeSet<&str> =
        site.plan.wps.iter().flat_map(|wp| &wp.dod).map(|dod| dod.text.as_str()).collect();
    for dod in site.plan.wps.iter().flat_map(|wp| &wp.dod) {
        if classes.contains_key(&dod.text) {
            continue;
        }
        let number = classes.len() + 1;
        tell(Checking { number, of: all.len(), text: &dod.text });
        let step = format!("base.{number}");
        let classed = class_one(site, UNIT, &step, dod, orders).await?;
        let log = site.dir.named(&classed.ran.log);
        classes.insert(dod.text.clone(), (classed, log));
    }
    if classes.is_empty() {
        return Ok((classes, None));
    }
    match provision::leaves_nothing(site, &worktree, "the Definition of Done").await {
        Err(Halt::Blocked { problem, .. }) if traces == Traces::Told => {
            Ok((classes, problem.subject))
        }
        left => left.map(|()| (classes, None)).map_err(DryRunError::from),
    }
}

fn scratch_failed(error: &std::io::Error) -> RunError {
    RunError::Frozen { path: PathBuf::from("a scratch folder"), why: error.to_string() }
}

/// Writes the report of `compiled`, whose file the user calls `file`, for a run named `run`.
#[must_use]
pub fn report(
    repo: &Repo,
    compiled: &Compiled,
    base: &Base,
    file: &str,
    run: &RunId,
    dry: &DryRun,
    warnings: Vec<String>,
) -> Checkpoint {
    let plan = &compiled.plan;
    let mut gate = 0;
    let mut stages: Vec<PlannedStage> = Vec::new();
    for level in compiled.graph.levels() {
        let merges = plan.mode == Mode::Staged
            && level.wps.iter().any(|wp| plan.wps[*wp].kind == Kind::Change);
        gate += u32::from(merges);
        let merged_on = merges.then(|| format!("sop-stage/{run}/{gate}"));
        let wps = level.wps.iter().map(|wp| planned(compiled, base, run, *wp, dry));
        let shared = plan.stages.iter().find(|stage| stage.id == level.stage);
        match stages.last_mut().filter(|stage| stage.stage == level.stage) {
            Some(stage) => {
                stage.wps.extend(wps);
                stage.merged_on = merged_on.or(stage.merged_on.take());
            }
            None => stages.push(PlannedStage {
                stage: level.stage.clone(),
                shared: shared.map(|stage| stage.shared.clone()).unwrap_or_default(),
                merged_on,
                wps: wps.collect(),
            }),
        }
    }
    let delivery = deliver::outlook(repo, plan, &compiled.graph, run, &base.commit, true);
    Checkpoint {
        run: run.clone(),
        plan: file.to_owned(),
        plan_sha256: freeze::sha256(&freeze::frozen(plan)),
        goal: plan.goal.clone(),
        base: plan.base.clone(),
        commit: base.commit.clone(),
        mode: plan.mode,
        approval: plan.approval,
        max_parallel: plan.max_parallel,
        provision: PlannedProvision {
            copy: plan.provision.copy.clone(),
            setup: plan.provision.setup.iter().map(|command| argv(command).join(" ")).collect(),
            expect: plan.provision.expect.clone(),
        },
        stages,
        tiers: plan.tiers_in_use().into_iter().map(|name| planned_tier(plan, name)).collect(),
        budget: plan.budget,
        estimate: None,
        verify: planned_verify(plan),
        overlaps: compiled.possible.iter().map(|overlap| overlap_of(plan, overlap)).collect(),
        covers: Covers::asked_by(plan),
        approved: None,
        session_split: plan.splits(),
        critic: None,
        delivery,
        cleaned: plan.wps.iter().map(|wp| wp.id.to_string()).collect(),
        warnings,
        preflight: None,
    }
}

fn planned(compiled: &Compiled, base: &Base, run: &RunId, n: usize, dry: &DryRun) -> PlannedWp {
    let plan = &compiled.plan;
    let (wp, whitelist) = (&plan.wps[n], &compiled.whitelists[n]);
    let files = base.paths.iter().filter(|path| whitelist.matches(path)).count();
    let needs = match compiled.graph.waits(n) {
        Waits::Wps(wps) => wps.iter().map(|wp| plan.wps[*wp].id.clone()).collect(),
        Waits::Nothing | Waits::Stage(_) => Vec::new(),
    };
    PlannedWp {
        id: wp.id.clone(),
        title: wp.title.clone(),
        kind: wp.kind,
        tier: wp.tier.clone(),
        worker: plan.tiers[&wp.tier].worker.clone(),
        risk: wp.risk,
        whitelist: wp.whitelist.clone(),
        files: files as u64,
        dod: wp.dod.iter().map(|dod| planned_dod(dod, dry)).collect(),
        needs,
        locks: wp.locks.clone(),
        review: match &wp.review {
            Review::None => "none".to_owned(),
            Review::Human => "human".to_owned(),
            Review::Command { command, .. } => command.join(" "),
            Review::Worker { tier, lenses, .. } => format!("{tier}: {}", lenses.join(", ")),
        },
        rounds: wp.rounds,
        budget: wp.budget,
        estimate: None,
        committed_on: (wp.kind == Kind::Change).then(|| format!("sop/{run}/{}", wp.id)),
        findings: wp.findings.clone(),
    }
}

fn planned_tier(plan: &Plan, name: &TierId) -> (TierId, PlannedTier) {
    let tier = &plan.tiers[name];
    let planned = PlannedTier {
        worker: tier.worker.clone(),
        model: tier.model.clone(),
        effort: tier.effort.clone(),
        max_parallel: tier.max_parallel,
        timeout: tier.timeout,
        idle_timeout: tier.idle_timeout,
        max_turns: tier.max_turns,
        log_limit: tier.log_limit,
        grace: tier.grace,
    };
    (name.clone(), planned)
}

fn planned_verify(plan: &Plan) -> Option<PlannedVerify> {
    let integrated = plan.mode == Mode::Staged;
    let wanted = plan.verify.clone().unwrap_or_default();
    let who = |tier: &TierId| format!("{tier} ({})", plan.tiers[tier].worker);
    integrated.then(|| PlannedVerify {
        block_from: wanted.review_tier.is_some().then_some(wanted.block_from),
        review: wanted.review_tier.as_ref().map(who),
        live: wanted.live.iter().map(|dod| dod.text.clone()).collect(),
    })
}

fn planned_dod(dod: &Dod, dry: &DryRun) -> PlannedDod {
    let found = dry.classes.get(&dod.text);
    let pair = found.map(|(classed, _)| (classed.class, classed.ran.clone()));
    let planned = PlannedDod::new(&dod.text, dod.timeout, dod.expect, pair);
    match found {
        Some((classed, log)) if planned.violated || classed.class == DodClass::Broken => {
            planned.tailed(process::tail(log, TAIL).unwrap_or_default().join("\n"))
        }
        _ => planned,
    }
}

fn overlap_of(plan: &Plan, overlap: &crate::whitelist::Overlap) -> Overlap {
    let (sort, paths, total) = match &overlap.kind {
        OverlapKind::Overlap { paths, count } => {
            let paths = paths.iter().map(|path| process::escape(path)).collect();
            (OverlapSort::Overlap, paths, *count as u64)
        }
        OverlapKind::Possible { witness } => {
            let paths: Vec<_> = witness.iter().map(|path| process::escape(path)).collect();
            let total = paths.len() as u64;
            (OverlapSort::Possible, paths, total)
        }
        OverlapKind::Clash { path, within, .. } => {
            let paths: Vec<_> = [Some(path), within.as_ref()]
                .into_iter()
                .flatten()
                .map(|p| process::escape(p))
                .collect();
            let total = paths.len() as u64;
            (OverlapSort::Clash, paths, total)
        }
    };
    let id = |n: usize| plan.wps[n].id.clone();
    Overlap { left: id(overlap.a), right: id(overlap.b), sort, paths, total }
}
