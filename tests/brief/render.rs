//! Rendering: contract first, facts of the package, data kept inside its fences.

use std::collections::BTreeMap;

use sop::brief::{Briefs, CONTRACT, Context, ScoutReport};
use sop::model::ids::{CommitId, RunId, WpId};
use sop::model::outcome::{Check, Problem};
use sop::model::plan::{Fork, Kind, Plan};

use super::briefs;
use crate::support::small_plan::staged;

fn one_wp() -> Plan {
    let mut plan = staged(&["features"], &[("client", "features", None)]);
    plan.stages[0].shared = vec!["package.json".to_owned()];
    plan
}

/// The brief of the plan's first WP.
fn render(briefs: &Briefs, plan: &Plan, problems: &[Problem], reports: &[ScoutReport]) -> String {
    let wp = &plan.wps[0];
    let context = Context {
        plan,
        wp,
        stage: &wp.stage,
        tier: &wp.tier,
        run: &RunId::new("settings-1").unwrap(),
        base: &CommitId("0123456789012345678901234567890123456789".to_owned()),
        round: if problems.is_empty() { 1 } else { 2 },
        problems,
        reports,
        report_file: "/run/reports/client.md",
    };
    briefs.render(&wp.template, &context).unwrap()
}

/// The brief without contract and the report's format, which are the same in each.
fn body(brief: &str) -> &str {
    let body = brief
        .strip_prefix(CONTRACT)
        .unwrap()
        .strip_prefix("\n---\n\n")
        .unwrap();
    body.split("\n## Your report").next().unwrap()
}

#[test]
fn a_first_round_has_what_the_worker_must_know_and_nothing_else() {
    let brief = render(&Briefs::built_in(), &one_wp(), &[], &[]);
    insta::assert_snapshot!(body(&brief), @"");
}

#[test]
fn a_later_round_carries_choices_reports_and_problems() {
    let mut plan = one_wp();
    plan.wps[0].forks = vec![Fork {
        question: "Keep the v1 endpoint?".to_owned(),
        default: "yes".to_owned(),
    }];
    let scout = WpId::new("survey").unwrap();
    let reports = [ScoutReport {
        wp: &scout,
        text: "The client is in `src/old.ts`.\n",
    }];
    let problems = [
        Problem::new(Check::Dod, "exit 1")
            .about("npm test")
            .logged("l", "12 passed\n1 failed\n"),
        Problem::new(Check::Review, "Two things:\n- a name\n- a test").about("src/a.ts:4"),
        Problem::new(Check::Worker, "nothing changed"),
    ];
    let brief = render(&Briefs::built_in(), &plan, &problems, &reports);
    let from = brief.find("## The task").unwrap();
    insta::assert_snapshot!(body(&brief)[from - (brief.len() - body(&brief).len())..].trim(), @"");
}
