//! What is left at the end: what became of the plan's findings, and what was cleared away.

use std::path::Path;

use serde_json::json;
use sop::event::{Event, Record, WpShape};
use sop::ledger::Ledger;
use sop::model::approval::Covers;
use sop::model::delivery::DeliveryShape;
use sop::model::outcome::{Check, Problem};
use sop::model::plan::Mode;
use sop::report::summary::Summary;

use super::scene::{COLOURED, EVIL, PLAIN, harmless, text};
use crate::support::story::{Story, after, level, shape};

fn of(run: &Story) -> Summary {
    Summary::of(&run.ledger, Path::new("/repo/.git/sop-run/settings-1"))
}

/// The rows of the closing, without what is before and after.
fn rows(summary: &Summary) -> Vec<String> {
    let text = text(|out| summary.write(out, &PLAIN));
    let lines = text.lines().skip_while(|line| !line.starts_with("findings"));
    lines.take_while(|line| !line.is_empty()).map(str::to_owned).collect()
}

fn dealing(shape: WpShape, findings: &[&str]) -> WpShape {
    WpShape { findings: findings.iter().map(|it| (*it).to_owned()).collect(), ..shape }
}

#[test]
fn each_finding_is_dealt_with_deferred_or_open_with_the_reason() {
    let wps = vec![
        dealing(shape("a"), &["G1", "G2", "G6"]),
        dealing(shape("b"), &["G3", "G6", "G4"]),
        dealing(after("c", &["b"]), &["G5"]),
        dealing(shape("d"), &["G7"]),
        dealing(shape("e"), &["G8"]),
        dealing(shape("f"), &["G9"]),
        shape("g"),
    ];
    let mut run = Story::new(Mode::Independent, vec![level("all", wps)]);
    run.pass("a").escalate("b").deferred().cancelled("d").pass("f");
    run.started("e").blocked("e", Problem::new(Check::Worker, "there is no room"), false);
    let summary = of(&run);
    let left = |finding: &str, wp: &str, state: &str, why: &str| json!({ "finding": finding, "wp": wp, "state": state, "why": why });
    let failed = "cargo test exits 1";
    assert_eq!(
        serde_json::to_value(&summary.closing.findings).unwrap(),
        json!({
            "dealt_with": [
                { "finding": "G1", "wps": ["a"] },
                { "finding": "G2", "wps": ["a"] },
                { "finding": "G9", "wps": ["f"] },
            ],
            "deferred": [left("G5", "c", "deferred", "needs b")],
            "open": [
                // Half of what mends it is there, and half is not.
                left("G6", "b", "escalated", failed),
                left("G3", "b", "escalated", failed),
                left("G4", "b", "escalated", failed),
                left("G7", "d", "cancelled", "somebody cancelled it"),
                left("G8", "e", "blocked", "there is no room"),
            ],
        })
    );
    assert_eq!(
        rows(&summary)[..5],
        [
            "findings   3 of 9 dealt with: G1, G2 (a); G9 (f)",
            "           deferred: G5 (c): needs b",
            "           open: G6, G3, G4 (b escalated): cargo test exits 1",
            "           open: G7 (d cancelled): somebody cancelled it",
            "           open: G8 (e blocked): there is no room",
        ]
    );
}

#[test]
fn where_all_is_integrated_a_finding_is_dealt_with_once_it_is_in_the_result() {
    let mut run = Story::new(Mode::Staged, vec![level("one", vec![dealing(shape("a"), &["G1"])])]);
    run.pass("a");
    let why = "           open: G1 (a passed): its work is checked, and not integrated";
    assert_eq!(rows(&of(&run))[..2], ["findings   0 of 1 dealt with", why]);
    run.gate_through(0, &["a"]).finished();
    assert_eq!(rows(&of(&run))[0], "findings   all 1 dealt with: G1 (a)");
}

#[test]
fn a_plan_without_findings_says_nothing_of_them() {
    let mut run = Story::new(Mode::Independent, vec![level("all", vec![shape("a")])]);
    run.pass("a").finished();
    assert_eq!(of(&run).closing.findings, None);
    assert_eq!(rows(&of(&run)), Vec::<String>::new());
}

#[test]
fn a_journal_from_before_there_were_findings_is_read() {
    let mut run = Story::new(Mode::Independent, vec![level("all", vec![shape("a")])]);
    run.pass("a");
    let lines: Vec<String> =
        run.records.iter().map(|record| serde_json::to_string(record).unwrap()).collect();
    assert!(!lines[0].contains("findings"), "{}", lines[0]);
    let records: Vec<Record> =
        lines.iter().map(|line| serde_json::from_str(line).unwrap()).collect();
    let ledger = Ledger::fold(&records).unwrap();
    assert!(ledger.wps[0].findings.is_empty());
    let mut state = serde_json::to_value(&ledger.wps[0]).unwrap();
    state.as_object_mut().unwrap().remove("findings").unwrap();
    let state: sop::ledger::WpState = serde_json::from_value(state).unwrap();
    assert!(state.findings.is_empty());
}

#[test]
fn the_names_of_findings_do_nothing() {
    let mut run =
        Story::new(Mode::Independent, vec![level("all", vec![dealing(shape("a"), &[EVIL])])]);
    run.escalate("a");
    let summary = of(&run);
    harmless(&text(|out| summary.write(out, &COLOURED)));
}

#[test]
fn what_was_cleared_away_is_told() {
    let wps = vec![dealing(shape("a"), &["G1"]), shape("b"), shape("c")];
    let mut run = Story::created(Mode::Independent, vec![level("all", wps)]);
    if let Event::RunCreated { delivery, .. } = &mut run.records[0].event {
        *delivery = Some(DeliveryShape { remote: "origin".to_owned(), into: None, after: 0 });
    }
    run.ledger = Ledger::open(&run.records[0]).unwrap();
    let (by, plan_sha256) = (sop::event::ApprovedBy::Flag, "5f".repeat(32));
    run.say(Event::RunApproved { by, plan_sha256, covers: Covers::default(), to: None }).engine();
    run.pass("a").pass("b").escalate("c");
    for id in ["a", "b"] {
        let wp = crate::support::story::wp_id(id);
        run.say(Event::WorktreeRemoved { wp, salvage: None });
    }
    let cleaned = |summary: &Summary| {
        let row = rows(summary).into_iter().find(|row| row.starts_with("cleaned"));
        row.unwrap_or_default()
    };
    assert_eq!(cleaned(&of(&run)), "cleaned    2 worktrees (a, b)");
    run.say(Event::BranchRemoved { branch: "sop/settings-1/a".to_owned() });
    let wanted = "cleaned    2 worktrees (a, b); the landed branch sop/settings-1/a";
    assert_eq!(cleaned(&of(&run)), wanted);
    assert_eq!(of(&run).closing.branches_removed, ["sop/settings-1/a"]);
    run.finished();
    // What somebody has cleared since is told as just that.
    let since = of(&run).as_found(|_| false);
    assert_eq!(cleaned(&since), format!("{wanted}; gone since the run: c"));
    assert_eq!(since.closing.gone_since, [crate::support::story::wp_id("c")]);
    assert!(since.closing.remains.is_empty());
}
