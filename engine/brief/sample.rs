//! Stand-ins for a run that is not there yet, so that templates can be tried before anything runs.
//! They are made of the real types: a variable that a worker's brief has, a trial has too.

use std::collections::BTreeMap;
use std::sync::Arc;

use minijinja::Value;
use minijinja::value::Object;

use crate::model::ids::{CommitId, RunId, StageId, TierId, WorkerId, WpId};
use crate::model::outcome::{Check, End, Problem, Ran};
use crate::model::plan::{
    Approval, Autonomy, Budget, Checkout, Command, Continue, Dod, Fork, Kind, Mode, Plan,
    Provision, ReportForm, Review, Risk, SessionSplit, Stage, Tier, Wp, grace,
};
use crate::model::time::{Length, Timestamp};

use super::review::RanBefore;

/// The sample's task: found again in the rendered text, if the template prints it.
pub(super) const BRIEF: &str = "The sample task, told in no words that a template would use.";

/// One of the sample's problems, likewise.
pub(super) const PROBLEM: &str = "The sample problem, told in no words that a template would use.";

/// Everything about a run that a plan does not say.
pub(super) struct Run {
    pub(super) id: RunId,
    pub(super) base: CommitId,
    pub(super) problems: Vec<Problem>,
    pub(super) scout: WpId,
}

/// An instant in a run that never was.
pub(super) fn instant() -> Timestamp {
    Timestamp(jiff::Timestamp::UNIX_EPOCH)
}

pub(super) fn run() -> Run {
    Run {
        id: name(RunId::new("sample-1")),
        base: CommitId("0".repeat(40)),
        problems: vec![
            Problem::new(Check::Dod, "exit 1")
                .about("npm test")
                .logged("client-dod-1.log", "1 failed\n"),
            Problem::new(Check::Worker, PROBLEM),
        ],
        scout: name(WpId::new("survey")),
    }
}

/// A command that was run before a review that never was.
pub(super) fn ran_before() -> RanBefore {
    let ran = Ran {
        log_error: None,
        run: "true".to_owned(),
        end: End::Exit { code: 0 },
        lines: 1,
        log: "logs/sample-dod-1.log".to_owned(),
        took: Length::secs(1),
    };
    RanBefore { ran, log: "/run/logs/sample-dod-1.log".to_owned(), tail: "Sample.".to_owned() }
}

/// A plan of one WP in which every list has an item and every option a value.
pub(super) fn full() -> Plan {
    let tier = Tier {
        worker: name(WorkerId::new("sample")),
        model: Some("sample".to_owned()),
        effort: Some("high".to_owned()),
        escalate_to: None,
        fallback: Vec::new(),
        max_parallel: None,
        timeout: Length::secs(60),
        idle_timeout: None,
        log_limit: 1,
        grace: grace(),
        max_turns: None,
        continues: Continue::default(),
    };
    let wp = Wp {
        id: name(WpId::new("sample")),
        stage: name(StageId::new("sample")),
        title: "Sample".to_owned(),
        kind: Kind::Change,
        tier: name(TierId::new("sample")),
        risk: Risk::Medium,
        whitelist: vec!["src/**".to_owned()],
        dod: vec![Dod {
            text: "true".to_owned(),
            command: Command::Argv(vec!["true".to_owned()]),
            timeout: Length::secs(60),
            expect: None,
        }],
        brief: BRIEF.to_owned(),
        template: String::new(),
        needs: None,
        locks: vec!["sample".to_owned()],
        review: Review::None,
        rounds: 3,
        allow_empty: false,
        forks: vec![Fork { question: "Sample?".to_owned(), default: "Yes".to_owned() }],
        vars: BTreeMap::new(),
        budget: Budget::default(),
        consolidates: None,
        report: ReportForm::default(),
        findings: Vec::new(),
    };
    Plan {
        name: name(RunId::new("sample")),
        goal: "Sample.".to_owned(),
        base: "main".to_owned(),
        instructions: vec!["AGENTS.md".to_owned()],
        max_parallel: 1,
        approval: Approval::Ask,
        checkout: Checkout::Watched,
        provision: Provision::default(),
        tiers: BTreeMap::from([(wp.tier.clone(), tier)]),
        workers: BTreeMap::new(),
        mode: Mode::Staged,
        stages: vec![Stage { id: wp.stage.clone(), shared: vec!["Cargo.toml".to_owned()] }],
        wps: vec![wp],
        autonomy: Autonomy::default(),
        decide_within: None,
        lead_may_fix: 1,
        session_split: SessionSplit::Never,
        budget: Budget::default(),
        verify: None,
        delivery: None,
        critic: None,
    }
}

/// The same plan with every list empty and no option set; its WP is a scout.
pub(super) fn bare() -> Plan {
    let mut plan = full();
    plan.instructions.clear();
    for tier in plan.tiers.values_mut() {
        (tier.model, tier.effort) = (None, None);
    }
    for stage in &mut plan.stages {
        stage.shared.clear();
    }
    for wp in &mut plan.wps {
        wp.kind = Kind::Scout;
        wp.whitelist.clear();
        wp.dod.clear();
        wp.locks.clear();
        wp.forks.clear();
    }
    plan
}

/// Variables of which nobody knows yet which there are: each has a value.
pub(super) fn any_vars() -> Value {
    Value::from_object(AnyVars)
}

#[derive(Debug)]
struct AnyVars;

impl Object for AnyVars {
    fn get_value(self: &Arc<Self>, key: &Value) -> Option<Value> {
        key.as_str().map(|_| Value::from("sample"))
    }
}

/// The names above are valid: a test renders with each of them.
fn name<T, E: std::fmt::Debug>(made: Result<T, E>) -> T {
    made.expect("a sample name is a valid id")
}
