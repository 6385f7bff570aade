//! Questions, faults, pauses, budgets, corrections and costs, as people see them: in lines, in the live view,
//! in the status and in the summary.

use std::path::Path;
use std::sync::Arc;

use sop::event::{Asked, Event, StopReason};
use sop::ledger::Ledger;
use sop::model::ids::WorkerId;
use sop::model::outcome::{Check, Problem};
use sop::model::plan::{Mode, Plan};
use sop::model::time::Length;
use sop::model::turn::{Fault, FaultClass, Spent, Turn, Usage, Usd};
use sop::report::live::{Live, Size};
use sop::report::narrate::narrate;
use sop::report::palette::Look;
use sop::report::plain::Plain;
use sop::report::summary::Summary;
use sop::report::{Reporter, stats::Stats, status};

use super::scene::{COLOURED, EVIL, PLAIN, harmless, replay, text};
use crate::support::samples;
use crate::support::small_plan;
use crate::support::story::{OK, Story, attempt_ended, level, ran, shape, tier, worker_of, wp_id};
use crate::support::terminal::Terminal;

fn fault(class: FaultClass, message: &str) -> Fault {
    Fault { class, message: message.to_owned(), resets_at: None }
}

fn asked(question: &str, default: Option<&str>) -> Asked {
    Asked { question: question.to_owned(), default: default.map(str::to_owned), answer: None }
}

/// `a` asks, is answered and told something; `b` meets a provider that is busy; `c` spends its budget.
fn told() -> Story {
    let wps = vec![shape("a"), shape("b"), shape("c")];
    let mut run = Story::new(Mode::Independent, vec![level("all", wps)]);
    run.briefed("a").work("a");
    run.asks("a", vec![asked("Keep it?", Some("yes")), asked("Which name?", None)]);
    let answered = |number, answer: &str, by: &str| Event::Answered {
        wp: wp_id("a"),
        number,
        answer: answer.to_owned(),
        by: by.to_owned(),
    };
    run.say(answered(1, "yes", "default")).say(answered(2, "settings", "anna"));
    run.say(Event::NoteAdded { text: "It is v2.".to_owned(), by: "anna".to_owned() });
    run.attempt("a");
    let (say, by) = ("leave the tests".to_owned(), "anna".to_owned());
    run.say(Event::Redirected { wp: wp_id("a"), attempt: 2, say, by });
    run.briefed("c").work("c");
    let mut ended = attempt_ended(wp_id("c"), 1, ran("agent", OK));
    if let Event::AttemptEnded { turn, .. } = &mut ended {
        let usage = Usage { input: 120_000, cached: 20_000, output: 3400 };
        let cost_usd = Some(Usd(1_250_000));
        *turn = Some(Turn { usage, cost_usd, turns: 7, answered: true, ..Turn::default() });
    }
    run.say(ended).scope("c", "t", vec![Problem::new(Check::Worker, "no")]).judged("c", None);
    let limit = Spent::Usd { most: Usd(1_000_000) };
    run.say(Event::BudgetSpent { wp: wp_id("c"), limit, of_run: false, reviewer: None });
    run.briefed("b").work("b").faulted("b", fault(FaultClass::Provider, "529 overloaded"));
    run
}

/// The plan behind it, with the workers that its stories have.
fn plan() -> Plan {
    let mut plan = small_plan::plan(&["all"]);
    let mut standard = plan.tiers[&tier("standard")].clone();
    standard.worker = worker_of(&tier("standard"));
    let light =
        sop::model::plan::Tier { worker: WorkerId::new("light").unwrap(), ..standard.clone() };
    plan.tiers.insert(tier("standard"), standard);
    plan.tiers.insert(tier("light"), light);
    plan
}

fn lines(run: &Story, look: Look) -> String {
    let mut out = Vec::new();
    replay(run, &mut Plain::new(&mut out, look).with_plan(Arc::new(plan())));
    String::from_utf8(out).unwrap()
}

fn table(run: &Story, look: Look) -> String {
    text(|out| {
        status::write(
            &run.ledger,
            Some(&plan()),
            run.now,
            status::AtWork::default(),
            &[],
            out,
            &look,
        )
    })
}

fn summary(run: &Story, look: Look) -> String {
    text(|out| Summary::of(&run.ledger, Path::new("/run")).write(out, &look))
}

#[test]
fn in_lines() {
    insta::assert_snapshot!(lines(&told(), PLAIN));
}

#[test]
fn in_the_status() {
    // The clock on the wall is another one elsewhere.
    let run = told();
    let noted = format!("at {}", sop::report::words::instant(run.ledger.notes[0].at, run.now));
    insta::assert_snapshot!(table(&run, PLAIN).replace(&noted, "at HH:MM"));
}

#[test]
fn in_the_summary() {
    let mut run = told();
    run.ended("a", OK).scope("a", "t", Vec::new()).proven("a").judged("a", None).committed("a");
    run.attempt("b").asks("b", vec![asked("What now?", Some("wait"))]).stop(StopReason::Waiting);
    insta::assert_snapshot!(summary(&run, PLAIN));
}

#[test]
fn in_the_live_view() {
    let (run, terminal) = (told(), Terminal::new(12, 100));
    let size = || Some(Size { rows: 12, columns: 100 });
    let mut live = Live::new(terminal.clone(), size, PLAIN, Path::new("/nowhere"));
    live = live.with_plan(Arc::new(plan()));
    live.tick(&run.ledger, run.now);
    let shown = terminal.screen().join("\n");
    assert!(shown.contains("waits 1s for standard-agent on standard: 529 overloaded"), "{shown}");
    let mut asks = Story::new(Mode::Independent, vec![level("all", vec![shape("a")])]);
    asks.briefed("a").work("a").asks("a", vec![asked("Keep it?", Some("yes"))]);
    live.tick(&asks.ledger, asks.now);
    let shown = terminal.screen().join("\n");
    assert!(
        shown.contains("awaits answer") && shown.contains("q1 Keep it? (default: yes)"),
        "{shown}"
    );
    assert!(shown.contains("1 waiting for you"), "{shown}");
}

#[test]
fn no_event_that_a_person_should_hear_of_is_silent() {
    let quiet = [
        "wp_started",
        "wp_provisioned",
        "dod_classed",
        "round_started",
        "review_started",
        "scope_checked",
        "dod_ran",
        "worktree_removed",
        "engine_started",
        "run_approved",
        "gate_merged",
        "gate_dod_ran",
        "round_ended",
        "review_started",
        "branches_moved",
        "wp_handed_over",
        "recheck_ended",
        "wp_given_back",
    ];
    let run = told();
    for event in samples::of_wp(&run, "a") {
        let record = run.next(event);
        let said = narrate(&record, &run.ledger, &PLAIN);
        let name = record.event.name();
        assert!(said.is_some() || quiet.contains(&name.as_str()), "{name} is not told");
    }
}

#[test]
fn nothing_that_an_agent_says_acts() {
    let mut run = Story::new(Mode::Independent, vec![level("all", vec![shape("a"), shape("b")])]);
    run.briefed("a").work("a").faulted("a", fault(FaultClass::Credit, EVIL));
    run.say(Event::NoteAdded { text: EVIL.to_owned(), by: EVIL.to_owned() });
    run.briefed("b").work("b");
    let (say, by) = (EVIL.to_owned(), EVIL.to_owned());
    run.say(Event::Redirected { wp: wp_id("b"), attempt: 1, say, by });
    run.asks("b", vec![asked(EVIL, Some(EVIL))]);
    for look in [PLAIN, COLOURED] {
        harmless(&lines(&run, look));
        harmless(&table(&run, look));
        harmless(&summary(&run, look));
    }
    assert!(table(&run, PLAIN).contains("(credit)"));
}

#[test]
fn a_last_look_is_never_passed_over_in_silence() {
    let mut run = super::scene::good();
    for (verify, word) in [(None, "last look not reached"), (Some(true), "the whole holds")] {
        run.ledger.to_verify = true;
        if verify.is_some() {
            run.engine();
            let (commit, reviewer, live) = (run.ledger.trunk.clone(), None, 1);
            run.say(Event::VerifyStarted { commit, reviewer, live });
            let ran = ran("sh e2e.sh", OK);
            run.say(Event::VerifyRan { wp: None, ran, tail: None });
            assert!(
                summary(&run, PLAIN)
                    .contains("last look open · live 1/1 · no review leg in this plan")
            );
            run.say(Event::VerifyEnded { problems: Vec::new() });
        }
        assert!(summary(&run, PLAIN).contains(word), "{}", summary(&run, PLAIN));
        assert!(table(&run, PLAIN).contains(word));
    }
    let mut run = super::scene::good();
    run.ledger.to_verify = true;
    let none = "last look not in this plan: no review leg and no live leg";
    assert!(summary(&super::scene::good(), PLAIN).contains(none));
    run.engine();
    let (commit, reviewer, live) = (run.ledger.trunk.clone(), None, 1);
    run.say(Event::VerifyStarted { commit, reviewer, live });
    run.say(Event::VerifyEnded { problems: vec![Problem::new(Check::Dod, "exits 1").about("x")] });
    let text = summary(&run, PLAIN);
    assert!(text.contains("the whole does not hold") && text.contains("x exits 1"), "{text}");
}

#[test]
fn all_runs_together() {
    let mut stats = Stats::default();
    for run in [told(), super::scene::mixed()] {
        stats.add(&run.records, &Ledger::fold(&run.records).unwrap());
    }
    insta::assert_snapshot!(text(|out| stats.write(out, &PLAIN)));
    let value = serde_json::to_value(&stats).unwrap();
    assert_eq!(value["workers"][0]["spoilt"]["provider"], 1);
    let schema = serde_json::to_value(schemars::schema_for!(Stats)).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let wrong: Vec<String> = validator.iter_errors(&value).map(|e| e.to_string()).collect();
    assert!(wrong.is_empty(), "{wrong:?}");
}

#[test]
fn an_instant_is_told_as_a_person_would() {
    use sop::report::words::{about, due, instant};
    let now = told().now;
    assert_eq!(due(now.after(Length::secs(42)), now), "in 42s");
    let later = due(now.after(Length::secs(600)), now);
    assert!(later.starts_with("at ") && later.len() >= "at 12:30".len(), "{later}");
    assert_eq!(instant(now.after(Length::secs(86_400 * 2)), now).len(), "2026-03-06 05:06".len());
    assert_eq!([about(950), about(12_345), about(4_560_000)], ["950", "12.3k", "4.5M"]);
}

/// Neither the figures of past runs nor the agents that are here are torn within a word by a narrow terminal.
#[test]
fn on_a_narrow_terminal_what_does_not_fit_goes_on_below() {
    use sop::report::adapters::{self, Adapters, Known, LoginState};
    let narrow = Look { width: Some(80), ..PLAIN };
    let mut stats = Stats::default();
    let mut run = Story::new(Mode::Independent, vec![level("all", vec![shape("a")])]);
    run.pass("a").finished();
    stats.add(&run.records, &run.ledger);
    let known = Known {
        worker: "claude".to_owned(),
        adapter: "claude",
        program: "claude".to_owned(),
        path: Some("/home/somebody/.local/share/tools/bin/claude".to_owned()),
        version: Some("2.1.0 (Claude Code)".to_owned()),
        login: LoginState::No("run `claude` once and log in, or set ANTHROPIC_API_KEY".to_owned()),
        install: "npm install -g @anthropic-ai/claude-code",
        abilities: sop::worker::Abilities::default(),
    };
    let adapters = Adapters { adapters: vec![known], tiers: Vec::new() };
    for text in
        [text(|out| stats.write(out, &narrow)), text(|out| adapters::draw(&adapters, &narrow, out))]
    {
        assert!(text.lines().count() > 1, "{text}");
        let long = text.lines().filter(|line| unicode_width::UnicodeWidthStr::width(*line) > 80);
        assert_eq!(long.collect::<Vec<_>>(), [""; 0], "{text}");
    }
}
