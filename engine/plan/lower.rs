//! From the document to the plan as resolved: defaults filled in, names looked up, and all checks of
//! meaning that need no repository. Nothing stops at the first fault.

mod brief;
mod commands;
mod names;
mod notes;
mod paths;
mod tiers;
mod wps;

use std::path::Path;

use super::document::{Document, Provision};
use super::scalar::{Filled, Whole};
use crate::model::ids::{RunId, StageId};
use crate::model::plan::{self as model, Mode, Plan};
use crate::model::time::Length;

use brief::Briefs;
use names::Names;
pub use notes::{Note, Notes, Spot};

/// Limit of a setup or DoD command that has none of its own.
const COMMAND_TIMEOUT: Length = Length::secs(10 * 60);
/// Limit of an attempt or a reviewer that has none of its own.
const WORK_TIMEOUT: Length = Length::secs(30 * 60);
/// Log size of an attempt on a tier that has none of its own.
const LOG_LIMIT: u64 = 64_000_000;
/// The stage that holds every WP of a plan without stages.
const ONLY_STAGE: &str = "all";

/// A plan as far as it can be resolved, and what is wrong with its meaning.
#[derive(Debug)]
pub struct Lowered {
    /// The plan. With errors among the notes it is no more than a draft.
    pub plan: Option<Plan>,
    /// The brief file of each WP, as the plan names it; `None` where the brief stands in the plan.
    pub brief_files: Vec<Option<String>>,
    /// What is wrong, by pointer into the file.
    pub notes: Vec<Note>,
}

/// Resolves `document`, whose briefs are files under `dir`.
#[must_use]
pub fn lower(document: Document, dir: &Path) -> Lowered {
    let mut notes = Notes::default();
    let Document { version: _, plan, provision, tiers, workers, stage, wp } = document;
    let plan = plan.0;
    let names = Names::gather(&tiers, &workers, &stage, &wp, &mut notes);
    tiers::check(&tiers, &names, &mut notes);
    if wp.is_empty() {
        notes
            .error("/wp", "no-work", "the plan has no work package")
            .help("add a `[[wp]]` table with at least `id`, `whitelist`, `dod` and `brief`");
    }
    paths::check("/plan/instructions", &plan.instructions, "the repository", &mut notes);
    let staged = !stage.is_empty() || wp.iter().any(|wp| wp.needs.is_some());
    let defaults = wps::Defaults {
        tier: names.default_tier(plan.tier.as_deref(), &mut notes),
        rounds: plan.rounds.map_or(3, |Whole(rounds)| rounds as u32),
        review: plan.review.map(|review| commands::review(review, "/plan/review", &mut notes)),
        template: plan.template.map(String::from),
    };
    let brief_files = wp.iter().map(|wp| wp.brief.clone().map(String::from)).collect();
    let mut briefs = Briefs::new(dir);
    let wps = wps::lower(wp, &defaults, &names, &mut briefs, &mut notes);
    let provision = lower_provision(provision.0, &mut notes);
    let workers = tiers::lower_workers(workers, &mut notes);
    let resolved = || {
        Some(Plan {
            name: RunId::new(plan.name).ok()?,
            goal: plan.goal.0.trim().to_owned(),
            base: plan.base.0,
            instructions: texts(plan.instructions),
            max_parallel: plan.max_parallel.0 as usize,
            approval: plan.approval.0,
            checkout: plan.checkout.0,
            provision,
            tiers: tiers::lower_tiers(tiers)?,
            workers: workers?,
            mode: if staged { Mode::Staged } else { Mode::Independent },
            stages: lower_stages(stage, staged)?,
            wps: wps?,
            autonomy: model::Autonomy::default(),
            decide_within: None,
            budget: model::Budget::default(),
            verify: None,
        })
    };
    let mut plan = resolved();
    if let Some(plan) = &mut plan {
        tiers::close(plan);
    }
    Lowered { plan, brief_files, notes: notes.into_inner() }
}

fn lower_stages(
    stages: Vec<super::shape::Table<super::document::Stage>>,
    staged: bool,
) -> Option<Vec<model::Stage>> {
    let lower = |id: String, shared| Some(model::Stage { id: StageId::new(id).ok()?, shared });
    match (stages.is_empty(), staged) {
        (true, false) => return Some(vec![lower(ONLY_STAGE.to_owned(), Vec::new())?]),
        // `needs` and no stages: the graph cuts them.
        (true, true) => return Some(Vec::new()),
        (false, _) => {}
    }
    stages.into_iter().map(|stage| lower(stage.0.name.0, texts(stage.0.shared))).collect()
}

fn lower_provision(provision: Provision, notes: &mut Notes) -> model::Provision {
    paths::check("/provision/copy", &provision.copy, "your checkout", notes);
    paths::check("/provision/expect", &provision.expect, "the worktree", notes);
    let setup = provision.setup.into_iter().enumerate();
    model::Provision {
        setup: setup
            .filter_map(|(i, run)| commands::run(run, || format!("/provision/setup/{i}"), notes))
            .map(|(_, command)| command)
            .collect(),
        copy: texts(provision.copy),
        expect: texts(provision.expect),
        timeout: provision.timeout.map_or(COMMAND_TIMEOUT, |time| time.0),
    }
}

fn texts(texts: Vec<Filled>) -> Vec<String> {
    texts.into_iter().map(String::from).collect()
}
