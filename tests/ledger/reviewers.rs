//! Reviews by workers: who may begin and end when, what an end means, and what counts in the end.

use std::collections::BTreeSet;

use sop::event::{Event, NextStep, WpShape};
use sop::ledger::{NextAttempt, Phase, Role, next_start};
use sop::model::outcome::{Check, End, Problem};
use sop::model::plan::Mode;
use sop::model::time::Length;
use sop::model::turn::{Fault, FaultClass, Spent, Turn, Usage, Usd};
use sop::model::verdict::{Judgment, ReviewFinding, ReviewSeverity, Verdict};

use crate::support::samples;
use crate::support::story::{FAILS, OK, Story, level, ran, shape, tier, worker_of, wp_id};

/// A run in which `a` is to be reviewed.
fn reviewing() -> Story {
    let mut run = Story::new(
        Mode::Independent,
        vec![level("one", vec![WpShape { reviewed: true, ..shape("a") }])],
    );
    run.briefed("a").work("a").ended("a", OK).scope("a", "t", Vec::new()).proven("a");
    assert_eq!(run.phase("a"), Phase::Reviewing);
    run
}

fn let_in(run: &mut Story, block_from: ReviewSeverity) {
    let wp = Some(wp_id("a"));
    run.say(Event::ReviewStarted { wp, round: 1, block_from, guard: "9c".repeat(32) });
}

fn begins(run: &Story, lens: &str, on: &str) -> Event {
    let review = &run.wp("a").review;
    Event::ReviewerStarted {
        wp: Some(wp_id("a")),
        round: run.wp("a").round,
        lens: lens.to_owned(),
        number: review.reviewer(lens).map_or(0, |known| known.sessions) + 1,
        tier: tier(on),
        worker: worker_of(&tier(on)),
        prompt: format!("verdicts/a-1.{lens}.md"),
        session: None,
    }
}

struct Ends {
    end: End,
    fault: Option<Fault>,
    verdict: Option<Verdict>,
    unread: Option<String>,
    touched: Vec<Problem>,
}

const NOTHING: Ends =
    Ends { end: OK, fault: None, verdict: None, unread: None, touched: Vec::new() };

fn ends(lens: &str, on: &str, ends: Ends) -> Event {
    let usage = Usage { input: 1000, cached: 0, output: 10 };
    let turn = Turn { usage, cost_usd: Some(Usd(20_000)), turns: 1, ..Turn::default() };
    Event::ReviewerEnded {
        wp: Some(wp_id("a")),
        round: 1,
        lens: lens.to_owned(),
        tier: tier(on),
        worker: worker_of(&tier(on)),
        ran: ran("agent", ends.end),
        turn: Some(turn),
        fault: ends.fault,
        verdict: ends.verdict,
        unread: ends.unread,
        touched: ends.touched,
    }
}

fn says(verdict: Judgment, findings: &[(&str, ReviewSeverity)]) -> Verdict {
    let finding = |(message, severity): &(&str, ReviewSeverity)| ReviewFinding {
        file: Some("a.rs".to_owned()),
        line: Some(3),
        severity: *severity,
        message: (*message).to_owned(),
    };
    Verdict { verdict, summary: "so".to_owned(), findings: findings.iter().map(finding).collect() }
}

fn answers(lens: &str) -> Event {
    let verdict = Some(says(Judgment::Approve, &[]));
    ends(lens, "standard", Ends { verdict, ..NOTHING })
}

/// Sorts of events that the run takes now.
fn taken(run: &Story) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for event in samples::of_wp(run, "a") {
        let (name, mut after) = (event.name(), run.clone());
        match after.try_say(event) {
            Ok(()) => drop(names.insert(name)),
            Err(error) => {
                assert!(error.to_string().contains("while it is reviewing"), "{error}");
                assert_eq!(after.ledger, run.ledger, "a refusal changes nothing");
            }
        }
    }
    names.retain(|name| !["wp_cancelled", "wp_blocked", "wp_taken"].contains(&name.as_str()));
    names
}

#[test]
fn a_reviewer_begins_when_the_rest_was_taken_down_and_nobody_is_judged_over_its_head() {
    let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
    let mut run = reviewing();
    let idle: BTreeSet<String> =
        names(&["review_started", "review_requested", "reviewed", "budget_spent"]);
    assert_eq!(taken(&run), idle);
    let_in(&mut run, ReviewSeverity::Minor);
    let mut ready = idle.clone();
    ready.insert("reviewer_started".to_owned());
    assert_eq!(taken(&run), ready);
    run.say(begins(&run, "quality", "standard"));
    // What is at work ends first; another lens may begin beside it.
    assert_eq!(taken(&run), names(&["reviewer_ended"]));
    run.say(begins(&run, "tests", "standard"));
    for wrong in
        [begins(&run, "quality", "standard"), ends("quality", "lead", NOTHING), answers("other")]
    {
        run.try_say(wrong).unwrap_err();
    }
    run.say(answers("quality"));
    assert!(run.wp("a").review.guard.is_some(), "somebody is still in there");
    run.try_say(begins(&run, "quality", "standard")).expect_err("it has answered");
    run.say(answers("tests"));
    assert_eq!(run.wp("a").review.guard, None);
    assert!(run.wp("a").review.verdict("tests").is_some());
    let cost = run.wp("a").costs.iter().find(|cost| cost.role == Role::Review).cloned();
    let cost = cost.expect("reviews cost");
    assert_eq!((cost.sessions, cost.spoilt, cost.usage.input), (2, 0, 2000));
    assert_eq!(cost.cost_usd, Some(Usd(40_000)));
}

#[test]
fn what_a_session_comes_to() {
    let fault = |class| Some(Fault { class, message: "no".to_owned(), resets_at: None });
    let unread = || Some("no JSON".to_owned());
    let touched = || vec![Problem::new(Check::Scope, "was changed").about("a.rs")];
    let verdict = || Some(says(Judgment::Approve, &[]));
    // What ended; whether there is a verdict, spoilt starts, unread answers.
    for (case, wanted) in [
        (Ends { verdict: verdict(), ..NOTHING }, (true, 0, 0)),
        (Ends { verdict: verdict(), touched: touched(), ..NOTHING }, (false, 0, 0)),
        (Ends { unread: unread(), ..NOTHING }, (false, 0, 1)),
        (Ends { fault: fault(FaultClass::RateLimit), ..NOTHING }, (false, 1, 0)),
        (Ends { end: FAILS, ..NOTHING }, (false, 1, 0)),
        (Ends { end: End::Exit { code: 127 }, ..NOTHING }, (false, 1, 0)),
        (Ends { end: End::Timeout { limit: Length::secs(1) }, ..NOTHING }, (false, 1, 0)),
        (Ends { end: End::Lost, ..NOTHING }, (false, 1, 0)),
        (Ends { end: End::Cancelled, ..NOTHING }, (false, 0, 0)),
    ] {
        let mut run = reviewing();
        let_in(&mut run, ReviewSeverity::Minor);
        run.say(begins(&run, "quality", "standard"));
        let said = format!("{:?} {:?} {:?}", case.end, case.fault, case.unread);
        run.say(ends("quality", "standard", case));
        let reviewer = run.wp("a").review.reviewer("quality").cloned().expect("it was asked");
        let found = (reviewer.verdict.is_some(), reviewer.spoilt.len(), reviewer.unread);
        assert_eq!(found, wanted, "{said}");
        assert_eq!(run.phase("a"), Phase::Reviewing, "no round is spent: {said}");
    }
}

#[test]
fn one_that_cannot_answer_gives_way_to_the_fallback_and_is_begun_anew_by_a_person() {
    let mut run = reviewing();
    let (standard, light) = (tier("standard"), tier("light"));
    let (one, other) = (worker_of(&standard), worker_of(&light));
    let next = |run: &Story, tiers: &[&str]| {
        let both = [("standard", (&standard, &one)), ("light", (&light, &other))];
        let candidates: Vec<_> = both
            .iter()
            .filter(|(name, _)| tiers.contains(name))
            .map(|(_, (tier, worker))| sop::ledger::Candidate { tier, worker })
            .collect();
        let wp = run.wp("a");
        next_start(wp.review.starts("quality", wp.since), &candidates, &run.ledger.outages)
    };
    let on = |next| match next {
        NextAttempt::Start { tier, not_before } => (tier.as_str().to_owned(), not_before.is_some()),
        NextAttempt::GiveUp(what) => (what, false),
    };
    for _ in 0..2 {
        assert_eq!(on(next(&run, &["standard", "light"])), ("standard".to_owned(), false));
        let_in(&mut run, ReviewSeverity::Minor);
        run.say(begins(&run, "quality", "standard"));
        run.say(ends(
            "quality",
            "standard",
            Ends { unread: Some("no JSON".to_owned()), ..NOTHING },
        ));
    }
    assert_eq!(on(next(&run, &["standard", "light"])), ("light".to_owned(), false));
    let given_up = on(next(&run, &["standard"]));
    let told = "it gave no verdict that can be read: no JSON; expected is JSON with \"verdict\": \"approve\" or \
                \"request_changes\", as `sop schema verdict` says; see ";
    assert!(given_up.0.starts_with(told) && given_up.0.ends_with(".log"), "{}", given_up.0);
    run.blocked("a", Problem::new(Check::Review, given_up.0), false).retried("a");
    assert_eq!(run.phase("a"), Phase::Reviewing);
    assert_eq!(on(next(&run, &["standard"])), ("standard".to_owned(), false));
    assert!(matches!(
        begins(&run, "quality", "standard"),
        Event::ReviewerStarted { number: 3, .. }
    ));
}

#[test]
fn nobody_can_say_which_of_two_it_was() {
    let mut run = reviewing();
    let_in(&mut run, ReviewSeverity::Minor);
    for lens in ["first", "quality", "tests"] {
        run.say(begins(&run, lens, "standard"));
    }
    run.say(answers("first"));
    let touched = vec![Problem::new(Check::Scope, "was changed").about("a.rs")];
    let verdict = Some(says(Judgment::Approve, &[]));
    run.say(ends("quality", "standard", Ends { verdict, touched, ..NOTHING }));
    // By the time it ends, everything looks as it did.
    run.say(answers("tests"));
    let review = &run.wp("a").review;
    let heard = |lens| review.verdict(lens).is_some();
    assert_eq!((heard("first"), heard("quality"), heard("tests")), (true, false, false));
}

#[test]
fn what_is_less_severe_is_told_and_does_not_block() {
    use ReviewSeverity::{Major, Minor, Note};
    let reviewed = |block_from, verdict| {
        let mut run = reviewing();
        if let Some(block_from) = block_from {
            let_in(&mut run, block_from);
        }
        run.say(Event::Reviewed { wp: wp_id("a"), round: 1, by: "x".to_owned(), verdict });
        run
    };
    let both = [("bad", Major), ("meh", Note)];
    let run = reviewed(Some(Minor), says(Judgment::RequestChanges, &both));
    let messages: Vec<_> = run.wp("a").problems.iter().map(|p| p.message.as_str()).collect();
    assert_eq!(messages, ["bad"]);
    // A person who asks for changes means all of it.
    let run = reviewed(None, says(Judgment::RequestChanges, &both));
    assert_eq!(run.wp("a").problems.len(), 2);
    let run = reviewed(Some(Major), says(Judgment::Approve, &[("meh", Minor)]));
    assert_eq!(run.wp("a").problems, []);
    assert_eq!(run.wp("a").notes, ["review, minor: a.rs:3: meh"]);
}

#[test]
fn a_review_that_cannot_be_paid_is_a_persons_to_decide_and_goes_on_where_it_was() {
    let mut run = reviewing();
    let_in(&mut run, ReviewSeverity::Minor);
    run.say(begins(&run, "quality", "standard")).say(answers("quality"));
    let limit = Spent::Usd { most: Usd(10_000) };
    run.say(Event::BudgetSpent { wp: wp_id("a"), limit, of_run: false, reviewer: None });
    assert_eq!(run.phase("a"), Phase::Escalated);
    let problem = run.wp("a").carried()[0].clone();
    assert_eq!(problem.check, Check::Review);
    assert!(problem.message.contains("has used up its budget of"), "{}", problem.message);
    run.retried("a");
    let wp = run.wp("a");
    assert_eq!((wp.phase, wp.rounds.len(), wp.round), (Phase::Reviewing, 0, 1));
    assert!(wp.review.verdict("quality").is_some(), "what was answered stands");
    assert_eq!(wp.spent(), (0, Usd(0)), "the budget is given anew");
    let verdict = says(Judgment::Approve, &[]);
    run.say(Event::Reviewed { wp: wp_id("a"), round: 1, by: "x".to_owned(), verdict });
    run.say(Event::RoundEnded {
        wp: wp_id("a"),
        round: 1,
        class: None,
        problems: Vec::new(),
        next: NextStep::Commit,
    });
    assert_eq!(run.phase("a"), Phase::Committing);
}
