//! Whole turns: the driver, and an agent that speaks the protocol.

use std::fs;
use std::os::unix::fs::symlink;

use sop::model::plan::Adapter;
use sop::model::time::Length;
use sop::model::turn::{FaultClass, Spent, Turn};

use super::fake::{self, SCRIPT};
use crate::support::driven::{Driven, until};

/// A turn of the agent that plays this script.
fn driven(script: &str) -> Driven {
    let mut driven = Driven::real(Adapter::Acp);
    driven.order.program = fake::program();
    driven.env.insert(SCRIPT.to_owned(), script.to_owned());
    driven.prompt("begin");
    driven
}

fn class(turn: &Turn) -> Option<FaultClass> {
    turn.fault.as_ref().map(|fault| fault.class)
}

#[test]
fn a_permission_inside_is_given_and_the_file_written() {
    let driven = driven("edit");
    let done = driven.run();
    assert_eq!(done.code, 0, "{done:?}");
    assert_eq!(driven.read("tree/hello.txt"), "edited\n");
    assert_eq!(done.answer.as_deref(), Some("Done: wrote the file."));
    let turn = done.turn();
    assert_eq!(turn.session.as_deref(), Some("sess-1"));
    assert_eq!(turn.model.as_deref(), Some("small"));
    assert_eq!((turn.turns, turn.usage.input), (2, 1000));
    assert_eq!(turn.cost_usd.map(f64::from), Some(0.25));
    assert!(turn.answered && turn.fault.is_none() && turn.denials.is_empty(), "{turn:?}");
    assert!(done.out.contains("edit hello.txt"), "{}", done.out);
    assert!(driven.read("stream.jsonl").contains("session/request_permission"));
}

#[test]
fn a_reading_session_may_not_write() {
    let mut driven = driven("edit");
    driven.order.read_only = true;
    let done = driven.run();
    let tree = driven.path("tree").canonicalize().unwrap();
    assert!(!tree.join("hello.txt").exists());
    let denied = ["Edit hello.txt", tree.join("hello.txt").to_str().unwrap()].map(str::to_owned);
    assert_eq!(done.turn().denials, denied);
    assert!(done.out.contains("denied, this session may only read"), "{}", done.out);
}

#[test]
fn nothing_is_written_outside_the_worktree() {
    let driven = driven("outside");
    let outside = driven.path("elsewhere");
    fs::create_dir(&outside).unwrap();
    fs::create_dir(driven.path("tree/.git")).unwrap();
    symlink(&outside, driven.path("tree/out")).unwrap();
    let done = driven.run();
    assert_eq!(done.turn().denials.len(), 3, "{done:?}");
    assert!(!driven.path("outside.txt").exists());
    assert!(!driven.path("tree/.git/config").exists());
    assert_eq!(fs::read_dir(&outside).unwrap().count(), 0);
    assert!(done.turn().answered);
}

#[test]
fn a_folder_that_the_order_names_may_be_written_to() {
    let mut driven = driven("outside");
    driven.order.writable = vec![driven.path("")];
    let done = driven.run();
    assert_eq!(driven.read("outside.txt"), "edited\n");
    // `.git` is nobody's, and here there is no link in the way.
    assert_eq!(done.turn().denials.len(), 1, "{done:?}");
    assert_eq!(driven.read("tree/out/through-a-link.txt"), "edited\n");
}

#[test]
fn files_are_read_for_the_agent_inside_only() {
    let driven = driven("reads");
    fs::write(driven.path("tree/a.txt"), "inside").unwrap();
    fs::write(driven.path("secret.txt"), "secret").unwrap();
    symlink(driven.path(""), driven.path("tree/out")).unwrap();
    assert_eq!(driven.run().answer.as_deref(), Some("inside|refused|refused"));
}

#[test]
fn a_new_word_cancels_and_goes_on_in_the_same_session() {
    let driven = driven("waits");
    let running = driven.start();
    // The tool is in the stream when the prompt was heard.
    until("the tool", || driven.read("stream.jsonl").contains("in_progress"));
    driven.say(1, "rather do this");
    let done = running.finish();
    assert_eq!(done.code, 0, "{done:?}");
    assert!(driven.path("say/1.taken").exists());
    assert_eq!(done.answer.as_deref(), Some("heard: rather do this"));
    assert_eq!(done.turn().session.as_deref(), Some("sess-1"));
    assert_eq!(class(done.turn()), None, "{done:?}");
    assert_eq!(driven.read("stream.jsonl").matches("\"cancelled\"").count(), 1);
}

#[test]
fn a_session_is_gone_on_with_and_its_history_is_not_the_answer() {
    let mut driven = driven("echo");
    driven.order.session = Some("sess-1".to_owned());
    let done = driven.run();
    assert_eq!(done.answer.as_deref(), Some("heard: begin"));
    assert_eq!(done.turn().turns, 1);
    assert!(!done.out.contains("turn before"), "{}", done.out);
}

#[test]
fn an_agent_that_cannot_go_on_with_a_session_is_not_asked_to() {
    let mut driven = driven("forgets");
    driven.order.session = Some("sess-1".to_owned());
    let done = driven.run();
    let fault = done.turn().fault.as_ref().expect("a fault");
    assert_eq!(fault.class, FaultClass::Crash);
    assert_eq!(fault.message, "the agent cannot go on with a session");
}

#[test]
fn the_model_is_set_or_the_turn_is_not_begun() {
    let mut known = driven("echo");
    known.order.model = Some("large".to_owned());
    let done = known.run();
    assert_eq!(done.turn().model.as_deref(), Some("large"));
    assert!(done.turn().answered);

    let mut unknown = driven("echo");
    unknown.order.model = Some("huge".to_owned());
    let done = unknown.run();
    let fault = done.turn().fault.as_ref().expect("a fault");
    assert_eq!(fault.class, FaultClass::ModelUnknown);
    assert!(fault.message.contains("huge") && fault.message.contains("small, large"), "{fault:?}");
    assert!(!done.turn().answered);
}

#[test]
fn each_failure_has_its_class() {
    let table = [
        ("empty", FaultClass::EmptyTurn),
        ("cancels", FaultClass::Interrupted),
        ("cut", FaultClass::Crash),
        ("auth", FaultClass::Auth),
        ("old", FaultClass::Crash),
        ("402", FaultClass::Credit),
        ("500", FaultClass::Provider),
        ("round", FaultClass::Provider),
    ];
    for (script, expected) in table {
        let done = driven(script).run();
        assert_eq!(class(done.turn()), Some(expected), "{script}: {done:?}");
    }
}

#[test]
fn an_agent_that_dies_leaves_its_last_line() {
    let done = driven("dies").run();
    assert_eq!((done.code, class(done.turn())), (3, Some(FaultClass::Crash)), "{done:?}");
    let message = &done.turn().fault.as_ref().expect("a fault").message;
    assert!(message.contains("out of cheese"), "{message}");
    assert_eq!(done.answer.as_deref(), Some("I was about to"));
}

#[test]
fn a_rate_limit_tells_when_it_ends() {
    let done = driven("429").run();
    assert_eq!(class(done.turn()), Some(FaultClass::RateLimit), "{done:?}");
    assert!(done.turn().fault.as_ref().expect("a fault").resets_at.is_some());
}

#[test]
fn garbage_and_huge_lines_are_passed_over() {
    let done = driven("garbage").run();
    assert_eq!(done.answer.as_deref(), Some("In spite of it all."), "{:?}", done.turn);
    assert_eq!(class(done.turn()), None);
}

#[test]
fn limits_end_an_agent_that_works_without_end() {
    let mut turns = driven("endless");
    turns.order.max_turns = Some(3);
    assert_eq!(turns.run().turn().stopped_at, Some(Spent::Turns { most: 3 }));

    let mut tokens = driven("endless");
    tokens.order.tokens = Some(5000);
    let done = tokens.run();
    assert_eq!(done.turn().stopped_at, Some(Spent::Tokens { most: 5000 }));
    assert!(done.turn().usage.input >= 5000);
    assert_eq!(class(done.turn()), None, "{done:?}");
}

#[test]
fn an_agent_that_does_not_leave_is_ended_and_its_turn_stands() {
    let mut driven = driven("stays");
    driven.order.grace = Length::secs(1);
    let done = driven.run();
    assert_eq!(done.code, 0, "{done:?}");
    assert!(done.turn().answered && done.turn().fault.is_none(), "{done:?}");
}
