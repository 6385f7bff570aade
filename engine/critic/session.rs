//! The run in which a critic reads: one scout, on the critic's tier, with the plan as its task.

use crate::brief;
use crate::event::ApprovedBy;
use crate::git::Repo;
use crate::graph::{Sealed, seal};
use crate::ledger::Ledger;
use crate::model::approval::Covers;
use crate::model::baseline::Kept;
use crate::model::checkpoint::Checkpoint;
use crate::model::critic::{Answered, Reading, Remarks};
use crate::model::ids::{RunId, StageId, TierId, WpId};
use crate::model::lesson::Lesson;
use crate::model::plan::{
    Approval, Budget, Kind, Mode, Plan, Provision, ReportForm, Review, Risk, SessionSplit, Stage,
    Wp,
};
use crate::model::time::Timestamp;
use crate::plan::write::Writer;
use crate::run::create::{self, NewRun};
use crate::run::directory::RunDir;
use crate::run::error::RunError;
use crate::run::handed_in;

use super::page;

/// Name of the plan: runs are called `critic-1`, `critic-2`, …
pub const NAME: &str = "critic";

/// Answers that a critic is asked for: one that no program can read is asked for once more.
const ANSWERS: u32 = 2;

/// What is read.
pub struct Subject<'a> {
    /// The plan.
    pub plan: &'a Plan,
    /// What a run of it would do.
    pub report: &'a Checkpoint,
    /// Who reads.
    pub tier: &'a TierId,
    /// The user's checkout as it is now.
    pub checkout: Option<&'a Kept>,
    /// What earlier runs have learned of the repository.
    pub lessons: &'a [Lesson],
}

/// Makes the run in which the plan is read.
///
/// # Errors
/// As [`create::create`].
pub fn begin(repo: &Repo, subject: &Subject<'_>) -> Result<(RunDir, Reading), RunError> {
    let (plan, graph) = reading_plan(subject);
    let who = repo.identity().name;
    let new = NewRun {
        plan: &plan,
        text: &written(&plan),
        graph: &graph,
        base: subject.report.commit.clone(),
        // To apply the plan is to say yes to it: it changes nothing.
        by: ApprovedBy::Flag,
        covers: Covers::asked_by(&plan),
        checkout: subject.checkout,
        who: &who,
        classed: Vec::new(),
        audit: None,
        critic: None,
        lessons: subject.lessons,
    };
    let dir = create::create(repo, &new)?;
    let reading = Reading {
        version: Reading::VERSION,
        plan: subject.plan.name.clone(),
        plan_sha256: subject.report.plan_sha256.clone(),
        run: dir.run().clone(),
        tier: subject.tier.clone(),
        worker: subject.plan.tiers[subject.tier].worker.clone(),
        at: Timestamp(jiff::Timestamp::now()),
        remarks: None,
        approved_sha256: None,
    };
    Ok((dir, reading))
}

/// What the critic whose run stands as `ledger` says has to say.
///
/// # Errors
/// Why it said nothing, in words for a person.
pub fn heard(ledger: &Ledger, dir: &RunDir) -> Result<Vec<Answered>, String> {
    let wp = WpId::new(NAME).expect("a valid id");
    let remarks = Remarks::in_answer(&handed_in::report(&wp, ledger, dir)?)?;
    let numbered = (1..).zip(remarks);
    Ok(numbered.map(|(number, remark)| Answered { number, remark, answer: None }).collect())
}

/// The plan of the reading, and its graph. Tiers and workers are the plan's own.
fn reading_plan(subject: &Subject<'_>) -> (Plan, Sealed) {
    let read = subject.plan;
    let stage = StageId::new("all").expect("a valid id");
    let wp = Wp {
        id: WpId::new(NAME).expect("a valid id"),
        stage: stage.clone(),
        title: format!("Read the plan {}", read.name),
        kind: Kind::Scout,
        tier: subject.tier.clone(),
        risk: Risk::Low,
        whitelist: Vec::new(),
        dod: Vec::new(),
        brief: page::text(read, subject.report),
        template: brief::CRITIC.to_owned(),
        needs: None,
        locks: Vec::new(),
        review: Review::None,
        rounds: ANSWERS,
        allow_empty: true,
        forks: Vec::new(),
        vars: Default::default(),
        budget: Budget::default(),
        consolidates: None,
        report: ReportForm::Remarks,
        findings: Vec::new(),
    };
    let plan = Plan {
        name: RunId::new(NAME).expect("a valid id"),
        goal: format!("Say what is wrong with the plan {} before it is approved.", read.name),
        base: subject.report.commit.as_str().to_owned(),
        max_parallel: 1,
        approval: Approval::Auto,
        // It reads: what a worker would need to build is not needed.
        provision: Provision { timeout: read.provision.timeout, ..Provision::default() },
        mode: Mode::Independent,
        stages: vec![Stage { id: stage, shared: Vec::new() }],
        wps: vec![wp],
        session_split: SessionSplit::Never,
        budget: Budget::default(),
        verify: None,
        delivery: None,
        critic: None,
        ..read.clone()
    };
    let graph = seal(&plan).unwrap_or_else(|_| unreachable!("one work package waits for nothing"));
    (plan, graph)
}

/// The same for people who look into the run's directory.
fn written(plan: &Plan) -> String {
    let mut text = Writer::new();
    text.comment("Written by `sop`: a critic reads a plan. Tiers and workers are those of the plan that it reads.");
    text.number("version", 1);
    text.blank();
    text.table(&["plan"]);
    text.text("name", plan.name.as_str());
    text.text("goal", &plan.goal);
    text.text("base", &plan.base);
    for wp in &plan.wps {
        text.blank();
        text.one_more("wp");
        text.text("id", wp.id.as_str());
        text.text("title", &wp.title);
        text.text("kind", "scout");
        text.text("report", "remarks");
        text.text("tier", wp.tier.as_str());
        text.text("template", &wp.template);
        text.number("rounds", u64::from(wp.rounds));
        text.long("brief_text", &wp.brief);
    }
    text.finish()
}
