//! Making a run: the plan is frozen, the base pinned, the yes recorded.

use std::collections::HashMap;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::deliver;
use super::directory::{RunDir, write_whole};
use super::error::RunError;
use super::freeze::{
    self, beside, freeze_classed, freeze_lessons, freeze_templates, frozen, sha256,
};
use super::naming::claim;
use crate::event::{After, ApprovedBy, Classed, Event, LevelShape, Record, VERSION, WpShape};
use crate::git::Repo;
use crate::graph::{Sealed, Waits};
use crate::journal::Journal;
use crate::model::approval::Covers;
use crate::model::baseline::Kept;
use crate::model::critic::Reading;
use crate::model::delivery::Destination;
use crate::model::ids::{CommitId, WpId};
use crate::model::lesson::Lesson;
use crate::model::plan::{Plan, Review};
use crate::model::time::Timestamp;

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
    /// What that covers.
    pub covers: Covers,
    /// Who approved it, for people.
    pub who: &'a str,
    /// The user's checkout as it is now.
    pub checkout: Option<&'a Kept>,
    /// DoD commands that were run on the base for the report that was approved, with their logs.
    pub classed: Vec<(Classed, PathBuf)>,
    /// What is kept as [`freeze::AUDIT`], for a run of scouts.
    pub audit: Option<Vec<u8>>,
    /// What a critic said of the plan and the lead answered: kept as [`freeze::CRITIC`].
    pub critic: Option<&'a Reading>,
    /// What earlier runs have learned of the repository.
    pub lessons: &'a [Lesson],
}

/// `approval.json`.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Approval {
    pub(super) by: ApprovedBy,
    pub(super) who: String,
    pub(super) at: Timestamp,
    pub(super) plan_sha256: String,
    #[serde(default)]
    pub(super) covers: Covers,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) to: Option<Destination>,
    pub(super) base: CommitId,
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
    if let Some(audit) = &new.audit {
        write_whole(&dir.named(freeze::AUDIT), audit)?;
    }
    if let Some(reading) = new.critic {
        let bytes = serde_json::to_vec_pretty(reading).unwrap_or_default();
        write_whole(&dir.named(freeze::CRITIC), &bytes)?;
    }
    freeze_lessons(&dir, new.lessons)?;
    let at = Timestamp(jiff::Timestamp::now());
    let to = deliver::destination(repo, plan, &new.covers)?;
    let approval = Approval {
        by: new.by,
        who: new.who.to_owned(),
        at,
        plan_sha256: sha.clone(),
        covers: new.covers.clone(),
        to: to.clone(),
        base: new.base.clone(),
    };
    if let Some(kept) = new.checkout {
        write_whole(&dir.baseline(), &serde_json::to_vec(kept).unwrap_or_default())?;
    }
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
        verify: plan.verify.is_some(),
        beside_sha256: Some(beside(&dir)?),
        delivery: deliver::shape(repo, plan)?,
    };
    let covers = new.covers.clone();
    let approved = Event::RunApproved { by: new.by, plan_sha256: sha, covers, to };
    let records = [Record { seq: 1, at, event: created }, Record { seq: 2, at, event: approved }];
    Journal::create(&dir.journal())?.append(&records)?;
    Ok(dir)
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
            findings: wp.findings.clone(),
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
