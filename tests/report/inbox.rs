//! What waits for a person.

use clap::Parser;
use sop::event::{Asked, Event, StopReason, WpShape};
use sop::model::approval::{Cover, Covers};
use sop::model::outcome::{Check, Problem};
use sop::model::plan::{Autonomy, Mode, Plan};
use sop::model::time::Length;
use sop::report::inbox::{self, Item, Kind, Waiting};
use sop::report::palette::Look;

use super::scene::{COLOURED, EVIL, PLAIN, harmless, mixed, text};
use crate::support::small_plan;
use crate::support::story::{OK, Story, level, shape, tree, wp_id};

fn waiting<'a>(run: &'a Story, plan: Option<&'a Plan>) -> Waiting<'a> {
    let ledger = &run.ledger;
    Waiting { ledger, plan, answered: &[], decided: &[], requests: 0, held: false }
}

fn drawn(items: &[Item], run: &Story, look: Look) -> String {
    text(|out| inbox::write(items, run.now.after(Length::secs(5)), out, &look))
}

fn asked(question: &str, default: Option<&str>) -> Asked {
    let default = default.map(str::to_owned);
    Asked { question: question.to_owned(), default, answer: None }
}

/// A question with a default and one without, a review, one that is blocked, one that is escalated.
fn busy() -> Story {
    let reviewed = WpShape { reviewed: true, ..shape("b") };
    let wps = vec![shape("a"), reviewed, shape("c"), shape("d")];
    let mut run = Story::new(Mode::Independent, vec![level("all", wps)]);
    run.briefed("a").work("a");
    run.asks("a", vec![asked("Keep it?\nA: yes\nB: no", Some("A")), asked("Which name?", None)]);
    run.briefed("b").work("b").ended("b", OK).scope("b", "t", Vec::new()).proven("b");
    run.say(Event::ReviewRequested { wp: wp_id("b"), round: 1, tree: tree("t") });
    run.started("c").blocked("c", Problem::new(Check::Provision, "disk full"), false);
    run.escalate("d");
    run
}

#[test]
fn everything_that_waits_with_the_command_to_type() {
    let run = busy();
    let items = waiting(&run, None).items();
    let kinds: Vec<Kind> = items.iter().map(|item| item.kind).collect();
    let expected = [Kind::Question, Kind::Question, Kind::Review, Kind::Blocked, Kind::Escalation];
    assert_eq!(kinds, expected);
    let commands: Vec<&str> = items.iter().map(|item| item.command.as_str()).collect();
    assert_eq!(
        commands,
        [
            "sop answer q1 --take-default --run settings-1",
            "sop answer q2 'TEXT' --run settings-1",
            "sop review b --approve --run settings-1",
            "sop resume settings-1",
            "sop retry d --run settings-1",
        ]
    );
    for command in items.iter().flat_map(|item| std::iter::once(&item.command).chain(&item.or)) {
        let words = shlex::split(command).expect("one command line");
        let parsed = sop::cli::Cli::try_parse_from(&words);
        assert!(parsed.is_ok(), "{command}: {}", parsed.unwrap_err());
    }
    insta::assert_snapshot!(drawn(&items, &run, PLAIN));
}

#[test]
fn what_is_decided_already_waits_for_an_engine_alone() {
    let run = busy();
    let (b, d) = (wp_id("b"), wp_id("d"));
    let decided = [b, d];
    let seen = Waiting { answered: &[1, 2], decided: &decided, requests: 4, ..waiting(&run, None) };
    let kinds: Vec<Kind> = seen.items().iter().map(|item| item.kind).collect();
    assert_eq!(kinds, [Kind::Blocked, Kind::Resume]);
    let seen = Waiting { held: true, ..seen };
    assert_eq!(seen.items().len(), 1, "the engine takes them by itself");
    assert!(waiting(&mixed(), None).items().iter().all(|item| item.kind == Kind::Escalation));
}

/// A run that goes on as soon as an engine takes it waits for whoever starts one.
#[test]
fn a_run_that_no_engine_has_waits_for_one() {
    let created = || {
        let mut run = Story::created(Mode::Independent, vec![level("all", vec![shape("a")])]);
        let (by, plan_sha256) = (sop::event::ApprovedBy::Flag, "5f".repeat(32));
        run.say(Event::RunApproved {
            by,
            plan_sha256,
            covers: Covers::of([Cover::Commits]),
            to: None,
        });
        run
    };
    let only = |run: &Story| {
        let items = waiting(run, None).items();
        assert_eq!(items.len(), 1, "{items:#?}");
        (items[0].kind, items[0].text.clone(), items[0].command.clone())
    };
    let resume = "sop resume settings-1".to_owned();
    let mut run = created();
    let text = "it is approved, and nothing has begun".to_owned();
    assert_eq!(only(&run), (Kind::Resume, text, resume.clone()));
    run.engine().briefed("a").work("a");
    let text = "0 of 1 WP through, and no engine has the run".to_owned();
    assert_eq!(only(&run), (Kind::Resume, text, resume));
    let held = Waiting { held: true, ..waiting(&run, None) };
    assert!(held.items().is_empty());
}

/// Work that is ready, and that only another yes lets be merged.
#[test]
fn a_stage_that_the_approval_does_not_cover_waits_for_one() {
    let mut run = Story::created(Mode::Staged, vec![level("one", vec![shape("a")])]);
    let (by, plan_sha256) = (sop::event::ApprovedBy::Flag, "5f".repeat(32));
    run.say(Event::RunApproved { by, plan_sha256, covers: Covers::of([Cover::Commits]), to: None });
    run.engine().pass("a").stop(StopReason::Waiting);
    let items = waiting(&run, None).items();
    let told: Vec<_> = items.iter().map(|item| (item.kind, item.command.as_str())).collect();
    assert_eq!(told, [(Kind::Approval, "sop resume settings-1 --approve integration")]);
}

#[test]
fn it_says_when_a_default_is_taken() {
    let mut run = Story::new(Mode::Independent, vec![level("all", vec![shape("a")])]);
    run.briefed("a").work("a").asks("a", vec![asked("Keep it?", Some("A"))]);
    let mut plan = small_plan::plan(&["all"]);
    plan.autonomy = Autonomy::Defaults;
    plan.decide_within = Some(Length::secs(60));
    let items = waiting(&run, Some(&plan)).items();
    assert_eq!(items[0].default_at, Some(run.now.after(Length::secs(60))));
    assert!(drawn(&items, &run, PLAIN).contains("default: A (taken in 55s)"));
    plan.autonomy = Autonomy::Ask;
    assert_eq!(waiting(&run, Some(&plan)).items()[0].default_at, None);
}

#[test]
fn nothing_that_a_worker_asks_acts() {
    let mut run = Story::new(Mode::Independent, vec![level("all", vec![shape("a")])]);
    run.briefed("a").work("a").asks("a", vec![asked(EVIL, Some(EVIL))]);
    let items = waiting(&run, None).items();
    harmless(&drawn(&items, &run, PLAIN));
    harmless(&drawn(&items, &run, COLOURED));
    assert_eq!(drawn(&[], &run, PLAIN), "Nothing waits for you.\n");
}

/// On a narrow terminal nothing is torn within a word: text goes on below, and each command has a line of its own.
#[test]
fn what_does_not_fit_goes_on_in_the_next_line() {
    let run = busy();
    let text = drawn(&waiting(&run, None).items(), &run, Look { width: Some(80), ..PLAIN });
    let long = text.lines().filter(|line| unicode_width::UnicodeWidthStr::width(*line) > 80);
    assert_eq!(long.collect::<Vec<_>>(), [""; 0], "{text}");
    let or = "    # or: sop review b --request-changes FILE --run settings-1\n";
    assert!(text.contains("    sop review b --approve --run settings-1\n"), "{text}");
    assert!(text.contains(or), "{text}");
}
