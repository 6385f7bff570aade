//! Resolved plans made by hand, for rooms that stand above the plan file.

use std::collections::BTreeMap;

use sop::model::ids::{RunId, StageId, TierId, WorkerId, WpId};
use sop::model::plan::{
    Approval, Autonomy, BriefBy, Budget, Checkout, Command, Continue, Dod, Does, Kind, Mode, Plan,
    Provision, ReportForm, Review, Risk, SessionSplit, Stage, Tier, Worker, Wp, grace,
};
use sop::model::time::Length;

/// A staged plan of these stages and no WP.
pub fn plan(stages: &[&str]) -> Plan {
    let stage = |name: &&str| Stage { id: StageId::new(*name).unwrap(), shared: Vec::new() };
    let tier = Tier {
        worker: WorkerId::new("script").unwrap(),
        model: Some("small".to_owned()),
        effort: None,
        escalate_to: None,
        fallback: Vec::new(),
        max_parallel: None,
        timeout: Length::secs(600),
        idle_timeout: None,
        log_limit: 1 << 20,
        grace: grace(),
        max_turns: None,
        continues: Continue::default(),
    };
    let worker = Worker {
        does: Does::Command {
            command: vec!["scripts/work.sh".to_owned(), "{{ wp.id }}".to_owned()],
            brief: BriefBy::Stdin,
        },
        env: BTreeMap::new(),
    };
    Plan {
        name: RunId::new("settings").unwrap(),
        goal: "Move the settings page to the new client.".to_owned(),
        base: "main".to_owned(),
        instructions: vec!["AGENTS.md".to_owned()],
        max_parallel: 4,
        approval: Approval::Ask,
        checkout: Checkout::Watched,
        provision: Provision::default(),
        tiers: BTreeMap::from([(TierId::new("standard").unwrap(), tier)]),
        workers: BTreeMap::from([(WorkerId::new("script").unwrap(), worker)]),
        mode: Mode::Staged,
        stages: stages.iter().map(stage).collect(),
        wps: Vec::new(),
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

/// A WP of `stage`; `needs` as the plan file would have it.
pub fn wp(id: &str, stage: &str, needs: Option<&[&str]>) -> Wp {
    Wp {
        id: WpId::new(id).unwrap(),
        stage: StageId::new(stage).unwrap(),
        title: format!("The {id} package"),
        kind: Kind::Change,
        tier: TierId::new("standard").unwrap(),
        risk: Risk::Medium,
        whitelist: vec![format!("src/{id}/**")],
        dod: vec![Dod {
            text: "npm test".to_owned(),
            command: Command::Argv(vec!["npm".to_owned(), "test".to_owned()]),
            timeout: Length::secs(300),
            expect: None,
        }],
        brief: format!("Do what {id} needs."),
        template: "change".to_owned(),
        needs: needs.map(|ids| ids.iter().map(|id| WpId::new(*id).unwrap()).collect()),
        locks: Vec::new(),
        review: Review::None,
        rounds: 3,
        allow_empty: false,
        forks: Vec::new(),
        vars: BTreeMap::new(),
        budget: Budget::default(),
        consolidates: None,
        report: ReportForm::default(),
        findings: Vec::new(),
    }
}

/// A staged plan: WPs as `(id, stage, needs)`.
pub fn staged(stages: &[&str], wps: &[(&str, &str, Option<&[&str]>)]) -> Plan {
    let mut plan = plan(stages);
    plan.wps = wps.iter().map(|&(id, stage, needs)| wp(id, stage, needs)).collect();
    plan
}
