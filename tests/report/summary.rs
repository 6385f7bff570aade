//! The summary: what was verified, what to type, and what failed first.

use std::fs;
use std::path::Path;

use sop::event::{Event, MovedBranch, Outcome, WpShape};
use sop::model::outcome::{Check, Class, End, Problem};
use sop::model::plan::Mode;
use sop::report::palette::Look;
use sop::report::summary::Summary;

use super::scene::{COLOURED, PLAIN, evil, good, harmless, interrupted, mixed, text};
use crate::support::story::{FAILS, OK, Story, after, commit, level, ran, shape, tree, wp_id};

fn of(run: &Story) -> Summary {
    Summary::of(&run.ledger, Path::new("/repo/.git/sop-run/settings-1"))
}

fn human(run: &Story, look: Look) -> String {
    text(|out| of(run).write(out, &look))
}

fn commands(run: &Story) -> Vec<String> {
    of(run).next.into_iter().map(|next| next.command).collect()
}

#[test]
fn a_run_that_failed_in_part() {
    insta::assert_snapshot!(human(&mixed(), PLAIN));
}

#[test]
fn a_run_that_went_well_ends_with_what_to_type() {
    insta::assert_snapshot!(human(&good(), PLAIN));
}

/// The text as one line of words.
fn words(text: &str) -> Vec<&str> {
    text.split_whitespace().filter(|word| *word != "│").collect()
}

#[test]
fn facts_are_not_cut_to_the_terminal_and_break_between_words() {
    let mut run = Story::new(Mode::Independent, vec![level("all", vec![shape("a"), shape("b")])]);
    let problem = Problem::new(
        Check::Dod,
        "exits with 1, which is ".to_owned() + &"very ".repeat(40) + "bad",
    );
    run.pass("a").started("b").blocked("b", problem.about("cargo test"), false);
    for run in [mixed(), good(), evil(), run] {
        let whole = human(&run, PLAIN);
        for columns in [40, 80, 100, 120] {
            let text = human(&run, Look { width: Some(columns), ..PLAIN });
            let facts = |text: &str| {
                // Reasons stand beside a command where there is room, and above it where there is none.
                let mut words: Vec<String> = words(text).into_iter().map(str::to_owned).collect();
                words.sort();
                words
            };
            assert_eq!(facts(&text), facts(&whole), "{columns}");
            let long =
                text.lines().filter(|line| unicode_width::UnicodeWidthStr::width(*line) > columns);
            for line in long {
                // A word that is longer by itself, a command, or output: whole, as it is to be copied.
                let body = line.trim_start_matches(['│', '└', ' ']);
                let whole_line = whole.lines().any(|other| other.contains(body));
                assert!(!body.contains(' ') || whole_line, "{columns}: {line}");
            }
        }
    }
    let narrow = human(&mixed(), Look { width: Some(60), ..PLAIN });
    let below = narrow.lines().find(|line| line.trim_start().starts_with('·'));
    assert_eq!(below, None, "no line begins with what stands between two facts");
    let torn = narrow.lines().find(|line| line.trim_start().starts_with("at "));
    assert_eq!(torn, None, "a fact that fits into a line is not torn");
}

#[test]
fn a_wp_without_a_title_is_named_once() {
    let mut run = Story::new(
        Mode::Independent,
        vec![level("all", vec![WpShape { title: "a".to_owned(), ..shape("a") }, shape("b")])],
    );
    run.pass("a").pass("b").finished();
    let whys: Vec<String> = of(&run).next.into_iter().map(|next| next.why).collect();
    assert_eq!(whys[0], "take its work");
    assert_eq!(whys[1], run.wp("b").title);
}

#[test]
fn a_log_that_is_not_complete_is_said_to_be_where_it_is_named() {
    let mut run = Story::new(Mode::Independent, vec![level("all", vec![shape("a")])]);
    run.briefed("a").work("a").ended("a", OK).scope("a", "t", Vec::new());
    let ran = sop::model::outcome::Ran {
        log_error: Some("no space left".to_owned()),
        ..ran("cargo check", FAILS)
    };
    let log = ran.log.clone();
    let (wp, tail) = (wp_id("a"), Some("boom".to_owned()));
    run.say(Event::DodRan { wp, round: 1, pass: 1, index: 0, ran, tail });
    let problem = Problem::new(Check::Dod, "exit 1").logged(&log, "boom");
    run.blocked("a", problem, false).stop(sop::event::StopReason::Halted);
    let text = human(&run, PLAIN);
    assert!(text.contains(&format!("seen     {log} is incomplete: no space left")), "{text}");
    assert!(text.ends_with(&format!("{log} (incomplete: no space left)\n")), "{text}");
}

#[test]
fn nothing_that_others_wrote_acts() {
    let plain = human(&evil(), PLAIN);
    assert!(!plain.contains('\x1b'));
    harmless(&plain);
    harmless(&human(&evil(), COLOURED));
    for command in commands(&evil()) {
        harmless(&command);
    }
}

#[test]
fn the_result_of_a_staged_run_is_the_last_stage_that_holds() {
    assert_eq!(commands(&good()), ["git merge sop-stage/settings-1/2"]);
    assert_eq!(
        commands(&mixed()),
        [
            "sop retry docs --run settings-1",
            "sop take docs --run settings-1",
            "sop resume settings-1",
            "git merge sop-stage/settings-1/2"
        ]
    );
}

#[test]
fn an_independent_run_has_a_branch_for_each_wp() {
    let mut run = Story::new(
        Mode::Independent,
        vec![level(
            "all",
            vec![shape("a"), shape("b"), WpShape { allow_empty: true, ..shape("c") }],
        )],
    );
    run.pass("a").pass("b").briefed("c").work("c").ended("c", OK).scope("c", "t", Vec::new());
    run.proven("c").judged("c", None);
    // Nothing was changed: the commit is the base, and there is nothing to merge.
    run.say(Event::WpCommitted { wp: wp_id("c"), commit: commit("base"), tree: tree("t") });
    run.finished();
    assert_eq!(commands(&run), ["git merge sop/settings-1/a", "git merge sop/settings-1/b"]);
}

#[test]
fn a_branch_that_was_moved_is_not_offered_until_it_is_set_right() {
    let mut run = Story::new(Mode::Independent, vec![level("all", vec![shape("a"), shape("b")])]);
    run.pass("a").pass("b");
    let checked = run.wp("a").commit.clone().expect("a commit");
    let moved = MovedBranch {
        branch: "sop/settings-1/a".to_owned(),
        checked: checked.clone(),
        stands: None,
    };
    run.say(Event::BranchesMoved { moved: vec![moved] });
    assert_eq!(
        commands(&run),
        [
            "sop resume settings-1".into(),
            format!("git merge {checked}"),
            "git merge sop/settings-1/b".into()
        ]
    );
    let text = human(run.clone().finished(), PLAIN);
    assert!(text.contains("failed (what is nobody's to touch was changed)"), "{text}");
    let mend = format!("git update-ref --no-deref refs/heads/sop/settings-1/a {checked}");
    assert!(text.contains(&mend) && !text.contains("sop/settings-1/a at"), "{text}");
    run.say(Event::BranchesMoved { moved: Vec::new() }).finished();
    assert_eq!(commands(&run), ["git merge sop/settings-1/a", "git merge sop/settings-1/b"]);
}

#[test]
fn an_interrupted_run_is_resumed_first() {
    let run = interrupted();
    assert_eq!(commands(&run), ["sop resume settings-1", "git merge sop/settings-1/a"]);
    let text = human(&run, PLAIN);
    assert!(text.starts_with("? settings-1 · interrupted · 1 of 2 WPs through"), "{text}");
    assert!(of(&run).failure.is_none(), "a cancelled attempt is no failure");
}

#[test]
fn work_that_waits_for_a_person_says_how_to_look_and_how_to_answer() {
    let mut run = Story::new(
        Mode::Independent,
        vec![level("all", vec![WpShape { reviewed: true, ..shape("a") }])],
    );
    run.briefed("a").work("a").ended("a", OK).scope("a", "t", Vec::new()).proven("a");
    run.say(Event::ReviewRequested { wp: wp_id("a"), round: 1, tree: tree("t") });
    run.stop(sop::event::StopReason::Waiting);
    assert_eq!(
        commands(&run),
        [
            "git diff 6261736500 7400000000",
            "sop review a --approve --run settings-1",
            "sop resume settings-1"
        ]
    );
    assert_eq!(of(&run).outcome, Outcome::Waiting);
}

#[test]
fn a_stage_that_does_not_hold_together_names_whom_to_retry() {
    let mut run = Story::new(Mode::Staged, vec![level("one", vec![shape("a"), shape("b")])]);
    run.pass("a").pass("b").gate_started(0, &["a", "b"]).gate_merged();
    let problem = Problem::new(Check::Merge, "on the merged tree: exit 1")
        .about("cargo test")
        .logged("logs/gate-1-dod.1-1.log", "boom");
    run.gate_failed(&["b"], vec![problem]).finished();
    assert_eq!(commands(&run), ["sop retry b --run settings-1", "sop resume settings-1"]);
    let failure = of(&run).failure.unwrap();
    assert_eq!(failure.what, "stage one");
    assert_eq!(failure.tail, ["boom"]);
    assert!(human(&run, PLAIN).contains("✗ stage one does not hold together"));
}

#[test]
fn a_gate_that_infrastructure_halts_is_resumed() {
    let mut run = Story::new(Mode::Staged, vec![level("one", vec![shape("a")])]);
    run.pass("a").gate_started(0, &["a"]);
    run.say(Event::GateHalted { gate: 1, problem: Problem::new(Check::Merge, "disk full") });
    run.stop(sop::event::StopReason::Halted);
    assert_eq!(commands(&run), ["sop resume settings-1"]);
    assert_eq!(of(&run).failure.unwrap().class, Class::Infrastructure);
}

#[test]
fn the_first_cause_is_what_failed_first_not_what_stands_first() {
    let mut run = Story::new(
        Mode::Staged,
        vec![
            level("one", vec![shape("a"), shape("b"), shape("c")]),
            level("two", vec![after("d", &["c"])]),
        ],
    );
    run.cancelled("a").started("c");
    let problem = Problem::new(Check::Provision, "setup exits 2").about("npm ci");
    run.blocked("c", problem.logged("logs/c-setup.1-1.log", "npm ERR!\nlast line"), false);
    run.escalate("b").deferred().finished();
    let failure = of(&run).failure.unwrap();
    assert_eq!((failure.what.as_str(), failure.class), ("c", Class::Infrastructure));
    assert_eq!(failure.tail, ["npm ERR!", "last line"]);
    assert_eq!(failure.log.as_deref(), Some("/repo/.git/sop-run/settings-1/logs/c-setup.1-1.log"));
}

#[test]
fn the_failure_comes_last_with_its_log_at_the_very_end() {
    let text = human(&mixed(), PLAIN);
    let block: Vec<&str> = text.lines().skip_while(|line| !line.starts_with('┌')).collect();
    assert!(block[0].contains("First failure: docs"), "{text}");
    assert!(block.last().unwrap().ends_with("/logs/docs-dod-2-3.log"), "{text}");
    assert!(text.ends_with("/logs/docs-dod-2-3.log\n"));
}

#[test]
fn the_log_is_read_where_the_event_says_nothing_of_it() {
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir(dir.path().join("logs")).unwrap();
    let log: String = (0..100).map(|n| format!("line {n} \x1b[31mred\x1b[0m\n")).collect();
    fs::write(dir.path().join("logs/a-work-1.log"), log).unwrap();
    let mut run = Story::new(Mode::Independent, vec![level("all", vec![shape("a")])]);
    run.briefed("a").work("a");
    let limit = sop::model::time::Length::secs(60);
    run.ended("a", End::Timeout { limit }).scope("a", "t", Vec::new());
    run.round_ended("a", Some(Class::Decision), sop::event::NextStep::Escalate);
    let failure = Summary::of(&run.ledger, dir.path()).failure.unwrap();
    assert_eq!(failure.tail.len(), 40);
    assert_eq!(failure.tail[39], "line 99 red", "its colours are dropped");
    assert_eq!(failure.message, "the worker was ended at its timeout of 1m");
}

#[test]
fn programs_get_the_same_facts() {
    let run = mixed();
    let value = serde_json::to_value(of(&run)).unwrap();
    assert_eq!(value["outcome"], "failed");
    assert_eq!(value["wps"][0]["tiers"], serde_json::json!(["light", "standard"]));
    assert_eq!(value["wps"][0]["verified"]["dod"][1]["end"]["code"], 0);
    assert_eq!(value["wps"][1]["verified"]["review"]["by"], "anna");
    assert_eq!(value["wps"][2]["problems"][0]["check"], "dod");
    assert_eq!(value["stages"][0]["branch"], "sop-stage/settings-1/1");
    assert_eq!(value["failure"]["what"], "docs");
    assert_eq!(value["next"][0]["command"], "sop retry docs --run settings-1");
    let schema = serde_json::to_value(schemars::schema_for!(Summary)).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let wrong: Vec<String> = validator.iter_errors(&value).map(|e| e.to_string()).collect();
    assert!(wrong.is_empty(), "{wrong:?}");
}

#[test]
fn what_is_to_be_typed_can_be_typed() {
    use clap::Parser;
    let mut review = Story::new(
        Mode::Independent,
        vec![level("all", vec![WpShape { reviewed: true, ..shape("a") }])],
    );
    review.briefed("a").work("a").ended("a", OK).scope("a", "t", Vec::new()).proven("a");
    review.say(Event::ReviewRequested { wp: wp_id("a"), round: 1, tree: tree("t") });
    let mut nothing = Story::new(Mode::Independent, vec![level("all", vec![shape("a")])]);
    nothing.briefed("a").work("a").ended("a", OK).scope("a", "t", Vec::new()).proven("a");
    nothing.judged("a", None);
    nothing.say(Event::WpCommitted { wp: wp_id("a"), commit: commit("base"), tree: tree("t") });
    nothing.finished();
    for run in [mixed(), good(), interrupted(), evil(), review, nothing] {
        for command in commands(&run) {
            let words = shlex::split(&command).expect("one command line");
            match words[0].as_str() {
                "git" => {}
                "sop" => {
                    let parsed = sop::cli::Cli::try_parse_from(&words);
                    assert!(parsed.is_ok(), "{command}: {}", parsed.unwrap_err());
                }
                other => panic!("{other}"),
            }
        }
    }
}

#[test]
fn there_is_always_something_to_type() {
    let mut fresh = Story::new(Mode::Independent, vec![level("all", vec![shape("a")])]);
    assert_eq!(commands(&fresh), ["sop resume settings-1"]);
    fresh.briefed("a").work("a").ended("a", FAILS);
    assert!(!commands(&fresh).is_empty());
}
