//! `sop status`.

use sop::model::time::Length;
use sop::model::turn::{Fault, FaultClass};
use sop::report::palette::Look;
use sop::report::standing::Standing;
use sop::report::status::{self, AtWork};

use super::scene::{COLOURED, PLAIN, evil, harmless, interrupted, mixed, text};
use crate::support::story::{FAILS, OK, Story, level, shape, tier, worker_of};
use sop::model::plan::Mode;

fn table(run: &Story, held: bool, look: Look) -> String {
    table_with(run, AtWork { engine: held, steps: &[] }, look)
}

fn table_with(run: &Story, at_work: AtWork<'_>, look: Look) -> String {
    let now = run.now.after(Length::secs(5));
    text(|out| status::write(&run.ledger, None, now, at_work, &[], out, &look))
}

#[test]
fn the_table_of_a_run() {
    insta::assert_snapshot!(table(&mixed(), false, Look { width: Some(100), ..PLAIN }));
}

#[test]
fn a_run_that_nobody_holds_is_not_called_running() {
    let run = interrupted();
    assert!(table(&run, false, PLAIN).starts_with("? settings-1 · interrupted · 1 of 2"));
    assert!(table(&run, true, PLAIN).starts_with("● settings-1 · running · 1 of 2"));
}

#[test]
fn rounds_of_a_retry_are_counted_from_it() {
    let mut run = Story::new(Mode::Independent, vec![level("all", vec![shape("a")])]);
    let round = |run: &Story| {
        let text = table(run, true, PLAIN);
        let row = text.lines().find(|line| line.contains(" a  ")).expect("a row").to_owned();
        let title = text.lines().find(|line| line.contains("ROUND")).expect("a title").to_owned();
        let (from, to) = (title.find("ROUND").unwrap(), title.find("TIER").unwrap());
        row.chars().skip(from).take(to - from).collect::<String>().trim().to_owned()
    };
    run.briefed("a").work("a");
    assert_eq!(round(&run), "1/3");
    run.ended("a", OK)
        .scope("a", "t", Vec::new())
        .dod("a", FAILS)
        .dod("a", FAILS)
        .judged("a", None);
    run.failing_round("a", "u", None).failing_round("a", "v", None);
    assert_eq!(round(&run), "3", "that many it took");
    run.retried("a");
    assert_eq!(round(&run), "3, 3 more");
    run.work("a");
    assert_eq!(round(&run), "1/3 again");
}

#[test]
fn a_fault_stays_with_the_worker_whose_it_was() {
    let mut run = Story::new(Mode::Independent, vec![level("all", vec![shape("a")])]);
    let message = "402: the account is out of credit".to_owned();
    let fault = Fault { class: FaultClass::Credit, message, resets_at: None };
    run.briefed("a").round("a").attempt_on("a", &tier("standard")).faulted("a", fault);
    let first = format!("a start 1  {} on standard: 402", worker_of(&tier("standard")));
    assert!(table(&run, true, PLAIN).contains(&first), "{}", table(&run, true, PLAIN));
    // The next tier is at work: it has done nothing wrong.
    run.attempt_on("a", &tier("light"));
    let text = table(&run, true, PLAIN);
    assert!(text.contains(&first) && !text.contains("on light:"), "{text}");
    // It got through: what went before it is no news.
    run.ended("a", OK);
    assert!(!table(&run, true, PLAIN).contains("start 1"));
}

#[test]
fn nothing_that_others_wrote_acts_and_lines_keep_to_the_terminal() {
    harmless(&table(&evil(), false, COLOURED));
    let narrow = table(&evil(), false, Look { width: Some(50), ..PLAIN });
    harmless(&narrow);
    let wide = |line: &&str| unicode_width::UnicodeWidthStr::width(*line) > 50;
    assert_eq!(narrow.lines().find(wide), None);
}

#[test]
fn programs_get_the_state_itself() {
    let run = mixed();
    let standing = Standing {
        state: run.ledger.clone(),
        held: true,
        waits: Vec::new(),
        troubles: Vec::new(),
        noted: Vec::new(),
    };
    let json = text(|out| standing.json(out));
    let back: sop::ledger::Ledger = serde_json::from_str(&json).unwrap();
    assert_eq!(serde_json::to_value(&back).unwrap(), serde_json::to_value(&run.ledger).unwrap());
    let value: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!((&value["held"], &value["waits"]), (&true.into(), &serde_json::json!([])));
}

/// What an engine or a worker was busy with is not said to be going on when nobody is there any more.
#[test]
fn what_nobody_is_at_work_on_is_interrupted() {
    let mut run = Story::new(Mode::Independent, vec![level("all", vec![shape("a"), shape("b")])]);
    run.briefed("a").work("a").briefed("b");
    let rows = |at_work: AtWork<'_>| {
        let text = table_with(&run, at_work, PLAIN);
        let row = |id: &str| {
            let mut rows = text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
            let row = rows.find(|row| row.get(1) == Some(&id)).expect("a row");
            row[3].to_owned()
        };
        [row("a"), row("b")]
    };
    assert_eq!(rows(AtWork { engine: true, steps: &[] }), ["working", "briefing"]);
    assert_eq!(rows(AtWork::default()), ["interrupted", "interrupted"]);
    let steps = [("a".to_owned(), "work-1".to_owned())];
    assert_eq!(rows(AtWork { engine: false, steps: &steps }), ["working", "interrupted"]);
}
