//! The checkpoint report: what a person says yes to.

use std::collections::BTreeMap;

use sop::model::approval::Covers;
use sop::model::checkpoint::{
    Checkpoint, Overlap, OverlapSort, PlannedDod, PlannedProvision, PlannedStage, PlannedTier,
    PlannedVerify, PlannedWp,
};
use sop::model::ids::{RunId, WorkerId};
use sop::model::outcome::{DodClass, End};
use sop::model::plan::{Approval, Budget, Kind, Mode, Risk};
use sop::model::time::Length;
use sop::model::turn::Usd;
use sop::model::verdict::ReviewSeverity;
use sop::report::checkpoint;
use sop::report::palette::Look;

use super::scene::{COLOURED, EVIL, PLAIN, harmless, text};
use crate::support::story::{FAILS, OK, commit, ran, stage_id, tier, wp_id};

fn wp(id: &str) -> PlannedWp {
    let limit = Length::secs(300);
    PlannedWp {
        id: wp_id(id),
        title: format!("Do {id}"),
        kind: Kind::Change,
        tier: tier("standard"),
        worker: WorkerId::new("codemod").unwrap(),
        risk: Risk::Medium,
        whitelist: vec![format!("src/{id}/**"), format!("!src/{id}/legacy/**")],
        files: 12,
        dod: vec![
            PlannedDod::new(
                "npm run -s typecheck",
                limit,
                None,
                Some((DodClass::Green, ran("x", OK))),
            ),
            PlannedDod::new(
                "npm test -- client",
                limit,
                Some(DodClass::Red),
                Some((DodClass::Red, ran("x", FAILS))),
            ),
        ],
        estimate: None,
        needs: Vec::new(),
        locks: Vec::new(),
        review: "none".to_owned(),
        rounds: 3,
        budget: Budget::default(),
        committed_on: Some(format!("sop/settings-1/{id}")),
        findings: Vec::new(),
    }
}

fn held(
    idle_timeout: Option<Length>,
    max_turns: Option<u32>,
    max_parallel: Option<usize>,
) -> PlannedTier {
    PlannedTier {
        worker: WorkerId::new("codemod").unwrap(),
        model: None,
        effort: None,
        max_parallel,
        timeout: Length::secs(1800),
        idle_timeout,
        max_turns,
        log_limit: if max_turns.is_some() { 1 << 28 } else { 64_000_000 },
        grace: Length::secs(10),
    }
}

fn plan() -> Checkpoint {
    let scout = PlannedWp {
        kind: Kind::Scout,
        whitelist: Vec::new(),
        files: 0,
        dod: Vec::new(),
        committed_on: None,
        ..wp("look")
    };
    let form = PlannedWp {
        risk: Risk::High,
        review: "human".to_owned(),
        budget: Budget { usd: Some(Usd::from(2.5)), tokens: None },
        needs: vec![wp_id("client")],
        locks: vec!["port-3000".to_owned()],
        findings: vec!["G1".to_owned(), "G4".to_owned()],
        files: 0,
        ..wp("form")
    };
    Checkpoint {
        run: RunId::new("settings-1").unwrap(),
        plan: "plan.toml".to_owned(),
        plan_sha256: "5f".repeat(32),
        goal: "Move the settings page to the new client.".to_owned(),
        base: "main".to_owned(),
        commit: commit("base"),
        mode: Mode::Staged,
        approval: Approval::Ask,
        max_parallel: 4,
        provision: PlannedProvision {
            copy: vec![".env.test".to_owned()],
            setup: vec!["npm ci --prefer-offline".to_owned()],
            expect: vec!["node_modules".to_owned()],
        },
        stages: vec![
            PlannedStage {
                stage: stage_id("foundation"),
                shared: Vec::new(),
                merged_on: Some("sop-stage/settings-1/1".to_owned()),
                wps: vec![scout, wp("client")],
            },
            PlannedStage {
                stage: stage_id("features"),
                shared: vec!["package.json".to_owned(), "src/extension.ts".to_owned()],
                merged_on: Some("sop-stage/settings-1/2".to_owned()),
                wps: vec![form, wp("list")],
            },
        ],
        tiers: BTreeMap::from([
            (tier("lead"), held(Some(Length::secs(300)), Some(60), Some(1))),
            (tier("standard"), held(None, None, None)),
        ]),
        budget: Budget { usd: Some(Usd::from(20.0)), tokens: Some(5_000_000) },
        verify: Some(PlannedVerify {
            review: None,
            block_from: None,
            live: vec!["npm run e2e".to_owned()],
        }),
        overlaps: vec![Overlap {
            left: wp_id("form"),
            right: wp_id("list"),
            sort: OverlapSort::Possible,
            paths: vec!["src/form/list/a.ts".to_owned()],
            total: 1,
        }],
        cleaned: vec!["client".to_owned(), "form".to_owned(), "list".to_owned()],
        covers: Covers::default(),
        approved: None,
        session_split: None,
        estimate: None,
        delivery: None,
        critic: None,
        warnings: vec!["briefs/form.md is 40 kB long".to_owned()],
        preflight: None,
    }
}

fn human(plan: &Checkpoint, look: Look) -> String {
    text(|out| checkpoint::write(plan, out, &look))
}

#[test]
fn what_would_happen_in_the_order_in_which_it_would() {
    insta::assert_snapshot!(human(&plan(), Look { width: Some(80), ..PLAIN }));
}

#[test]
fn what_would_stop_the_run_is_said_last() {
    let mut plan = plan();
    let limit = Length::secs(300);
    let missing = (DodClass::Broken, ran("nmp test", End::Exit { code: 127 }));
    plan.stages[0].wps[1].dod = vec![
        PlannedDod::new("nmp test", limit, None, Some(missing)).tailed("sh: nmp: not found"),
        PlannedDod::new(
            "npm test",
            limit,
            Some(DodClass::Red),
            Some((DodClass::Green, ran("npm test", OK))),
        ),
        PlannedDod::new("npm run later", limit, None, None),
    ];
    plan.overlaps[0] = Overlap {
        sort: OverlapSort::Overlap,
        paths: (0..9).map(|n| format!("src/{n}.ts")).collect(),
        total: 40,
        ..plan.overlaps[0].clone()
    };
    assert!(plan.would_stop());
    assert!(plan.stages[0].wps[1].dod[1].violated);
    insta::assert_snapshot!(human(&plan, PLAIN));
    let last = human(&plan, PLAIN);
    assert!(last.ends_with("This run would stop before any worker is paid: see above.\n"));
}

#[test]
fn independent_wps_have_no_stages_and_no_merges() {
    let mut plan = plan();
    plan.mode = Mode::Independent;
    plan.approval = Approval::Auto;
    plan.stages.truncate(1);
    plan.stages[0].merged_on = None;
    plan.overlaps.clear();
    let text = human(&plan, PLAIN);
    assert!(!text.contains("stage foundation") && !text.contains("sop-stage"), "{text}");
    assert!(text.contains("nobody will be asked"), "{text}");
    assert!(!plan.would_stop());
}

#[test]
fn limits_are_said_for_the_run_each_tier_and_the_packages_that_have_one() {
    let mut plan = plan();
    let text = human(&plan, PLAIN);
    for line in [
        "  limits     the run: at most $20.00 and 5,000,000 tokens\n",
        "  lead: 30m a session, 5m without output, 60 model calls, 256 MiB of log, at most 1 at once\n",
        "  standard: 30m a session, 64 MB of log\n",
        "    limits     at most $2.50\n",
    ] {
        assert_eq!(text.matches(line).count(), 1, "{line}: {text}");
    }
    plan.budget = Budget::default();
    plan.verify = Some(PlannedVerify {
        review: Some("lead (codemod)".to_owned()),
        block_from: Some(ReviewSeverity::Major),
        live: Vec::new(),
    });
    let text = human(&plan, PLAIN);
    assert!(text.contains("the run: no budget\n"), "{text}");
    assert!(text.contains("read by lead (codemod), findings block from `major` on"), "{text}");
}

#[test]
fn nothing_that_is_said_yes_to_is_cut() {
    let mut plan = plan();
    let long: Vec<String> = (0..30).map(|n| format!("src/a/long/path/to/module-{n}/**")).collect();
    plan.stages[1].wps[0].whitelist.clone_from(&long);
    plan.stages[1].wps[0].dod[0].run = format!("npm test -- {}", "x".repeat(300));
    for width in [20, 40, 80] {
        let text = human(&plan, Look { width: Some(width), ..PLAIN });
        for pattern in &long {
            assert!(text.contains(pattern.as_str()), "{pattern} is missing at {width}");
        }
        assert!(text.contains(&"x".repeat(300)));
        assert!(!text.contains('…'));
    }
}

#[test]
fn nothing_that_the_plan_wrote_acts() {
    let mut plan = plan();
    plan.goal = EVIL.to_owned();
    plan.plan = EVIL.to_owned();
    plan.warnings = vec![EVIL.to_owned()];
    plan.provision.setup = vec![EVIL.to_owned()];
    plan.overlaps[0].paths = vec![EVIL.to_owned()];
    let wp = &mut plan.stages[1].wps[0];
    wp.title = EVIL.to_owned();
    wp.whitelist = vec![EVIL.to_owned()];
    wp.review = EVIL.to_owned();
    let broken = (DodClass::Broken, ran(EVIL, End::Exit { code: 127 }));
    wp.dod = vec![PlannedDod::new(EVIL, Length::secs(1), None, Some(broken)).tailed(EVIL)];
    let plain = human(&plan, PLAIN);
    assert!(!plain.contains('\x1b'));
    harmless(&plain);
    harmless(&human(&plan, COLOURED));
}

#[test]
fn programs_get_the_same_report() {
    let plan = plan();
    let json = text(|out| checkpoint::json(&plan, out));
    assert_eq!(serde_json::from_str::<Checkpoint>(&json).unwrap(), plan);
}
