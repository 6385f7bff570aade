//! The real codex, run against a scripted model: for each way in which a turn can go, what it is told
//! as. Skipped, and said so, where there is no codex.

use std::fs;

use sop::launch::EndedBy;
use sop::model::plan::Adapter;
use sop::model::turn::{FaultClass, Spent, Turn, Usage};
use sop::worker::read_turn;

use crate::support::driven::{Done, Driven, until};
use crate::support::model_server::{CONTENT, ModelServer, Scenario};
use crate::support::policy::{Action, BACKS_OFF, GIVES_WAY, LOOKS, SPENDS, action, outcome};
use crate::support::scratch::has_tool;
use crate::support::steps::Bench;

const GET_IT: &str = "npm install -g @openai/codex";

/// A codex that knows no provider but the scripted one.
fn codex(server: &ModelServer, scenario: Scenario) -> Driven {
    let mut driven = Driven::real(Adapter::Codex);
    let home = driven.path("codex");
    fs::create_dir(&home).unwrap();
    // Patient enough for two refusals, and for no more.
    let config = format!(
        "model_provider = \"scripted\"\n\
         [model_providers.scripted]\n\
         name = \"scripted\"\n\
         base_url = \"{}/v1\"\n\
         wire_api = \"responses\"\n\
         env_key = \"SCRIPTED_KEY\"\n\
         request_max_retries = 1\n\
         stream_max_retries = 2\n",
        server.url(scenario)
    );
    fs::write(home.join("config.toml"), config).unwrap();
    driven.env.insert("CODEX_HOME".to_owned(), home.to_str().unwrap().to_owned());
    driven.env.insert("SCRIPTED_KEY".to_owned(), "none".to_owned());
    driven.order.model = Some("scripted-model".to_owned());
    driven.prompt(&prompt(&driven, "new.txt"));
    driven
}

fn prompt(driven: &Driven, name: &str) -> String {
    let tree = driven.path("tree").canonicalize().unwrap();
    format!("Write the file. TARGET={}\n", tree.join(name).display())
}

/// A sandbox needs leave of the kernel, which a container may not have; what is tested here is not the
/// sandbox.
fn unconfined(driven: &mut Driven) {
    driven.order.args = vec!["--sandbox=danger-full-access".to_owned()];
}

fn class(turn: &Turn) -> Option<FaultClass> {
    turn.fault.as_ref().map(|fault| fault.class)
}

/// What the engine does about it.
fn does(done: &Done) -> Action {
    action(&outcome(done.code, EndedBy::Itself), done.turn.as_ref())
}

/// Runs one scenario that ends by itself.
fn cell(scenario: Scenario) -> Option<(Driven, Done)> {
    if !has_tool("codex", GET_IT) {
        return None;
    }
    let server = ModelServer::start();
    let mut driven = codex(&server, scenario);
    unconfined(&mut driven);
    let done = driven.run();
    assert!(!server.calls(scenario).is_empty(), "it never called: {done:?}");
    Some((driven, done))
}

#[test]
fn edit() {
    let Some((driven, done)) = cell(Scenario::Edit) else { return };
    let turn = done.turn();
    assert_eq!((done.code, class(turn)), (0, None), "{done:?}");
    assert_eq!(driven.read("tree/new.txt"), CONTENT);
    assert!(turn.answered && turn.session.is_some());
    assert_eq!(turn.usage, Usage { input: 2000, cached: 0, output: 40 });
    assert_eq!((turn.turns, turn.model.as_deref()), (2, Some("scripted-model")));
    assert_eq!(done.answer.as_deref(), Some("Done: the file is written."));
    assert!(done.out.contains("\nrun printf "), "{}", done.out);
    assert_eq!(does(&done), LOOKS);
}

#[test]
fn empty() {
    let Some((_, done)) = cell(Scenario::Empty) else { return };
    assert_eq!((done.code, class(done.turn())), (0, Some(FaultClass::EmptyTurn)), "{done:?}");
    assert!(!done.turn().answered);
    assert_eq!(does(&done), BACKS_OFF);
}

#[test]
fn out_of_credit() {
    let Some((_, done)) = cell(Scenario::Status(402)) else { return };
    assert_eq!((done.code, class(done.turn())), (1, Some(FaultClass::Credit)), "{done:?}");
    assert_eq!(does(&done), GIVES_WAY);
}

#[test]
fn not_logged_in() {
    let Some((_, done)) = cell(Scenario::Status(401)) else { return };
    assert_eq!((done.code, class(done.turn())), (1, Some(FaultClass::Auth)), "{done:?}");
    assert_eq!(does(&done), GIVES_WAY);
}

#[test]
fn no_such_model() {
    let Some((_, done)) = cell(Scenario::Status(404)) else { return };
    assert_eq!((done.code, class(done.turn())), (1, Some(FaultClass::ModelUnknown)), "{done:?}");
    assert_eq!(does(&done), GIVES_WAY);
}

#[test]
fn limited_for_good() {
    let Some((_, done)) = cell(Scenario::Status(429)) else { return };
    assert_eq!((done.code, class(done.turn())), (1, Some(FaultClass::RateLimit)), "{done:?}");
    assert_eq!(does(&done), BACKS_OFF);
}

#[test]
fn limited_twice_and_then_not() {
    let Some((driven, done)) = cell(Scenario::Limited) else { return };
    assert_eq!((done.code, class(done.turn())), (0, None), "{done:?}");
    assert_eq!(driven.read("tree/new.txt"), CONTENT);
    assert!(done.turn().answered);
    assert_eq!(does(&done), LOOKS);
}

#[test]
fn the_server_fails() {
    let Some((_, done)) = cell(Scenario::Status(500)) else { return };
    assert_eq!((done.code, class(done.turn())), (1, Some(FaultClass::Provider)), "{done:?}");
    assert_eq!(does(&done), BACKS_OFF);
}

#[test]
fn the_stream_is_cut() {
    let Some((_, done)) = cell(Scenario::Cut) else { return };
    assert_eq!((done.code, class(done.turn())), (1, Some(FaultClass::Provider)), "{done:?}");
    assert_eq!(does(&done), BACKS_OFF);
}

#[tokio::test]
async fn one_that_hangs_is_ended_by_the_wall_clock_and_can_be_gone_on_with() {
    if !has_tool("codex", GET_IT) {
        return;
    }
    let server = ModelServer::start();
    let driven = codex(&server, Scenario::Hang);
    let file = driven.path("drive.json");
    driven.order.write(&file).unwrap();
    let bench = Bench::new();
    let mut spec = bench.command([env!("CARGO_BIN_EXE_sop"), "__drive", file.to_str().unwrap()]);
    spec.cwd = driven.path("tree");
    spec.env = driven.env.iter().map(|(name, value)| (name.into(), value.into())).collect();
    spec.env.push(("HOME".into(), driven.path("home").into()));
    spec.timeout = Some(std::time::Duration::from_secs(8));
    let outcome = bench.run(&spec).await;
    assert_eq!((outcome.ended_by, outcome.left_behind), (EndedBy::Timeout, 0), "{outcome:?}");
    let turn = read_turn(&driven.order.turn).unwrap().expect("a turn");
    assert_eq!(class(&turn), Some(FaultClass::Interrupted), "{turn:?}");
    assert_eq!(action(&outcome, Some(&turn)), SPENDS, "a wall clock is work to look at");
    assert!(turn.session.is_some());
}

#[test]
fn a_session_is_gone_on_with_and_not_paid_twice() {
    if !has_tool("codex", GET_IT) {
        return;
    }
    let server = ModelServer::start();
    let mut driven = codex(&server, Scenario::Edit);
    unconfined(&mut driven);
    let first = driven.run();
    let session = first.turn().session.clone();
    driven.order.session.clone_from(&session);
    driven.prompt(&prompt(&driven, "second.txt"));
    let second = driven.run();
    assert_eq!(second.turn().session, session, "{second:?}");
    assert_eq!(driven.read("tree/second.txt"), CONTENT);
    // codex tells what the whole session used; this turn's share is in its own file.
    assert_eq!(second.turn().usage, Usage { input: 2000, cached: 0, output: 40 });
    assert_eq!(second.turn().turns, 2);
    let last = server.calls(Scenario::Edit).pop().expect("a call");
    assert!(last.said.contains("new.txt") && last.said.contains("second.txt"));
}

#[test]
fn its_turns_are_counted_while_it_works() {
    if !has_tool("codex", GET_IT) {
        return;
    }
    let server = ModelServer::start();
    let mut driven = codex(&server, Scenario::Slow);
    unconfined(&mut driven);
    driven.order.tokens = Some(500);
    let done = driven.run();
    // After the first call, and not when all is over.
    assert_eq!(done.turn().stopped_at, Some(Spent::Tokens { most: 500 }), "{done:?}");
    assert_eq!(server.calls(Scenario::Slow).len().min(2), server.calls(Scenario::Slow).len());
    assert!(!done.turn().answered);
}

#[test]
fn a_word_redirects_it_in_the_same_session() {
    if !has_tool("codex", GET_IT) {
        return;
    }
    let server = ModelServer::start();
    let mut driven = codex(&server, Scenario::Slow);
    unconfined(&mut driven);
    let running = driven.start();
    until("a call", || !server.calls(Scenario::Slow).is_empty());
    driven.say(1, &prompt(&driven, "other.txt"));
    let done = running.finish();
    assert_eq!((done.code, class(done.turn())), (0, None), "{done:?}");
    assert_eq!(driven.read("tree/other.txt"), CONTENT);
    let last = server.calls(Scenario::Slow).pop().expect("a call");
    assert!(last.said.contains("new.txt"), "the context is kept");
}
