//! From the document to the plan as resolved: defaults filled in, names looked up, and all checks of
//! meaning that need no repository. Nothing stops at the first fault.

mod brief;
mod budgets;
mod commands;
mod consolidation;
mod delivery;
mod names;
mod notes;
mod paths;
mod review;
mod tiers;
mod workers;
mod wps;

use std::collections::BTreeSet;
use std::path::Path;

use super::document::{Document, PlanTable, Provision};
use super::origins::Origins;
use super::scalar::{Filled, Whole};
use crate::model::ids::IdError;
use crate::model::plan::{self as model, Autonomy, Mode, Plan, Review};
use crate::model::time::Length;

use brief::Briefs;
use names::Names;
pub use notes::{Note, Notes, Spot};

/// Limit of a setup or DoD command that has none of its own.
const COMMAND_TIMEOUT: Length = Length::secs(10 * 60);
/// Limit of an attempt or a reviewer that has none of its own.
const WORK_TIMEOUT: Length = Length::secs(30 * 60);
/// How long a request that would merge by itself waits for its checks, where the plan does not say.
const WAIT_FOR_CHECKS: Length = Length::secs(10 * 60);
/// Log size of an attempt on a tier that has none of its own.
const LOG_LIMIT: u64 = 64_000_000;
/// How long a person has to answer before a default is taken, where the plan does not say.
const DECIDE_WITHIN: Length = Length::secs(30 * 60);
/// The stage that holds every WP of a plan without stages.
const ONLY_STAGE: &str = "all";

/// A plan as far as it can be resolved, and what is wrong with its meaning.
#[derive(Debug, Default)]
pub struct Lowered {
    /// The plan. With errors among the notes it is no more than a draft.
    pub plan: Option<Plan>,
    /// WPs of which it is not known in which order they run with others.
    pub unplaced: BTreeSet<usize>,
    /// The brief file of each WP, as the plan names it; `None` where the brief stands in the plan.
    pub brief_files: Vec<Option<String>>,
    /// Where its parts come from in the file.
    pub origins: Origins,
    /// What is wrong, by pointer into the file.
    pub notes: Vec<Note>,
}

/// Resolves `document`, whose briefs are files under `dir`.
#[must_use]
pub fn lower(document: Document, dir: &Path) -> Lowered {
    let mut notes = Notes::default();
    let Document {
        version: _,
        plan,
        provision,
        tiers,
        workers,
        review,
        verify,
        critic,
        delivery,
        stage,
        wp,
    } = document;
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
    let decide_within = decide_within(&plan, &mut notes);
    let reviewed = review.is_some();
    let worker = review.map(|table| review::table(table.0, &names, &mut notes));
    let at = || "/plan/review".to_owned();
    let judged = plan.review.map(|it| commands::review(it, at, worker.as_ref(), &mut notes));
    let defaults = wps::Defaults {
        tier: names.default_tier(plan.tier.as_deref(), &mut notes),
        rounds: plan.rounds.map_or(3, |Whole(rounds)| rounds as u32),
        review: judged,
        worker,
        template: plan.template.map(String::from),
    };
    let mut brief_files = wp.iter().map(|wp| wp.brief.clone().map(String::from)).collect();
    let mut briefs = Briefs::new(dir);
    let (mut wps, unplaced) = wps::lower(wp, &defaults, &names, &mut briefs, &mut notes);
    let (stages, origins) = match stage.is_empty() {
        true => (lower_no_stages(staged), Origins::of(wps.len())),
        false => {
            let all = (&mut wps, &mut brief_files);
            consolidation::lower(stage, all, &defaults, &names, &mut briefs, &mut notes)
        }
    };
    if reviewed && !wps.iter().any(|wp| matches!(wp.review, Review::Worker { .. })) {
        notes
            .warning("/review", "unused-review", "no work package is reviewed by this worker")
            .looked_in("/wp")
            .help("give one `review = \"worker\"`, or leave the table out");
    }
    let worker = defaults.worker.as_ref();
    let verify = verify.map(|table| review::verify(&table, staged, worker, &names, &mut notes));
    let critic = review::critic(critic, &tiers, &names, &mut notes);
    let delivery = delivery.map(|table| delivery::lower(table.0, &mut notes));
    let provision = lower_provision(provision.0, &mut notes);
    let workers = workers::lower(workers, &mut notes);
    let mut plan = Plan {
        name: id(plan.name.0),
        goal: plan.goal.0.trim().to_owned(),
        base: plan.base.0,
        instructions: texts(plan.instructions),
        max_parallel: plan.max_parallel.map_or(4, |Whole(most)| most as usize),
        approval: plan.approval.map(|word| word.0).unwrap_or_default(),
        checkout: plan.checkout.map(|word| word.0).unwrap_or_default(),
        provision,
        tiers: tiers::lower(tiers),
        workers,
        mode: if staged { Mode::Staged } else { Mode::Independent },
        stages,
        wps,
        autonomy: plan.autonomy.map(|word| word.0).unwrap_or_default(),
        decide_within,
        lead_may_fix: plan.lead_may_fix.map_or(model::LEAD_MAY_FIX, |Whole(files)| files as u32),
        session_split: plan.session_split.map(|word| word.0).unwrap_or_default(),
        budget: wps::budget(plan.budget_usd, plan.budget_tokens),
        verify,
        delivery,
        critic,
    };
    tiers::close(&mut plan);
    budgets::check(&plan, &origins, &mut notes);
    Lowered { plan: Some(plan), unplaced, brief_files, origins, notes: notes.into_inner() }
}

/// A name as the id that it is.
fn id<T: TryFrom<String, Error = IdError>>(name: String) -> T {
    name.try_into().expect("what is read as a name has been checked to be an id")
}

/// The stages of a plan that declares none.
fn lower_no_stages(staged: bool) -> Vec<model::Stage> {
    // With `needs` the graph cuts them.
    let only = || model::Stage { id: id(ONLY_STAGE.to_owned()), shared: Vec::new() };
    if staged { Vec::new() } else { vec![only()] }
}

/// How long a person has to answer, where something is done without an answer.
fn decide_within(plan: &PlanTable, notes: &mut Notes) -> Option<Length> {
    let said = plan.decide_within.map(|time| time.0);
    match plan.autonomy.map(|word| word.0).unwrap_or_default() {
        Autonomy::Defaults => Some(said.unwrap_or(DECIDE_WITHIN)),
        Autonomy::Ask => {
            if said.is_some() {
                let message =
                    "`decide_within` does nothing here: a person is asked, and waited for";
                notes
                    .warning("/plan/decide_within", "idle-key", message)
                    .key()
                    .help("leave it out, or add `autonomy = \"defaults\"`");
            }
            None
        }
    }
}

/// What a fresh worktree needs.
pub(super) fn lower_provision(provision: Provision, notes: &mut Notes) -> model::Provision {
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
