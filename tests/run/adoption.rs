//! The engine, the driver or the holder dies while an agent works: what it did and what it used is
//! neither lost nor done, or paid for, twice.

use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use sop::event::Event;
use sop::ledger::{Phase, Role};
use sop::model::outcome::End;
use sop::model::turn::FaultClass;

use crate::support::codex_home::{UNCONFINED, codex_env};
use crate::support::model_server::{Act, INPUT, ModelServer, OUTPUT, Scenario};
use crate::support::pretender::Way;
use crate::support::rig::{Engine, Rig, until};
use crate::support::scratch::has_tool;
use crate::support::written::wp;

/// Works until the mark `go` is there.
const PATIENT: &str = "begin; says working; until [ -e $MARKS/go ]; do sleep 0.02; done\n\
                       done_well; says done; over; echo $SOP_ATTEMPT >> $MARKS/ends";

fn killed(engine: Engine) {
    engine.signal(Signal::KILL);
    assert_eq!(engine.wait(), 256);
}

/// A run whose engine was killed while its agent is in the middle of a turn.
fn orphaned(script: &str) -> Rig {
    let rig = Rig::new(
        &Way::Agent.plan("", "", &wp("a", "")),
        &[("worker.sh", &Way::Agent.script(script))],
    );
    let engine = rig.start(&["apply", "--yes"]);
    rig.until_lines("starts", 1);
    until_told(&rig, 1, "s-1");
    killed(engine);
    rig
}

/// Waits until the turn of `a`'s attempt, as the driver has noted it so far, holds this.
fn until_told(rig: &Rig, attempt: u32, text: &str) {
    let path = rig.run_dir().join(format!("turns/a-{attempt}/turn.json"));
    until(|| match fs::read_to_string(&path) {
        Ok(told) if told.contains(text) => Ok(()),
        told => Err(format!("{told:?}; {}", rig.engine_said())),
    });
}

fn until_engines(rig: &Rig, engines: usize) {
    until(|| match rig.count(|event| matches!(event, Event::EngineStarted { .. })) {
        n if n == engines => Ok(()),
        n => Err(format!("{n} engines; {}", rig.engine_said())),
    });
}

/// One attempt, whose turn was taken whole and counted once.
fn done_once(rig: &Rig) {
    rig.until_quiet();
    assert_eq!(
        (rig.lines("starts"), rig.lines("ends")),
        (vec!["a/1".to_owned()], vec!["1".to_owned()])
    );
    let a = rig.wp("a");
    assert_eq!((a.phase, a.attempt, a.rounds.len()), (Phase::Passed, 1, 1));
    let costs: Vec<_> = a.costs.iter().map(|cost| (cost.sessions, cost.usage.total())).collect();
    assert_eq!(costs, [(1, 12)]);
    assert_eq!(a.session.map(|session| session.id).as_deref(), Some("s-1"));
    assert_eq!(rig.of_run(&a.report.expect("a report")), "done");
}

#[test]
fn an_agent_at_work_is_adopted_and_so_is_its_turn() {
    let rig = orphaned(PATIENT);
    let engine = rig.start(&["resume"]);
    until_engines(&rig, 2);
    assert_eq!(rig.lines("ends"), Vec::<String>::new(), "it is in the middle of its turn");
    fs::write(rig.mark("go"), "").unwrap();
    assert_eq!(engine.wait(), 0, "{}", rig.engine_said());
    done_once(&rig);
}

#[test]
fn the_turn_of_one_that_ended_meanwhile_is_taken() {
    let rig = orphaned(PATIENT);
    fs::write(rig.mark("go"), "").unwrap();
    rig.until_quiet();
    rig.sop_ends(0, &["resume"]);
    done_once(&rig);
}

#[test]
fn a_reviewer_at_work_is_adopted_and_asked_once() {
    let script = "begin
        case ${SOP_LENS-} in
        '') done_well; says done ;;
        *) echo $SOP_LENS >> $MARKS/asked; until [ -e $MARKS/go ]; do sleep 0.02; done
           says '{\\\"verdict\\\": \\\"approve\\\", \\\"summary\\\": \\\"fine\\\"}' ;;
        esac; over";
    let rest = "[review]\ntier = \"standard\"\nlenses = [\"quality\", \"tests\"]\n".to_owned()
        + &wp("a", "");
    let rig =
        Rig::new(&Way::Agent.plan("", "", &rest), &[("worker.sh", &Way::Agent.script(script))]);
    let engine = rig.start(&["apply", "--yes"]);
    rig.until_lines("asked", 2);
    killed(engine);
    let engine = rig.start(&["resume"]);
    until_engines(&rig, 2);
    fs::write(rig.mark("go"), "").unwrap();
    assert_eq!(engine.wait(), 0, "{}", rig.engine_said());
    rig.until_quiet();
    let mut asked = rig.lines("asked");
    asked.sort();
    assert_eq!(asked, ["quality", "tests"]);
    let a = rig.wp("a");
    assert_eq!((a.phase, a.attempt), (Phase::Passed, 1));
    let reviews: Vec<_> = a.costs.iter().filter(|cost| cost.role == Role::Review).collect();
    assert_eq!((reviews.len(), reviews[0].sessions, reviews[0].usage.total()), (1, 2, 24));
}

/// At first it works until it is ended; in its session it does what is left.
const GOES_ON: &str = "begin; case \"$*\" in *resume*s-1*) done_well; says done; over; exit ;; esac
    leave_known; echo half > a.txt; says working; sleep 600 & wait";

fn ends(rig: &Rig) -> Vec<(End, Option<FaultClass>)> {
    let end = |record: sop::event::Record| match record.event {
        Event::AttemptEnded { ran, fault, .. } => Some((ran.end, fault.map(|fault| fault.class))),
        _ => None,
    };
    rig.records().into_iter().filter_map(end).collect()
}

/// The second attempt went on where the first one was cut off, and that cost no round.
fn went_on(rig: &Rig) {
    rig.until_quiet();
    let daemon = rig.lines("left")[0].parse().unwrap();
    assert!(!crate::support::steps::lives(daemon), "what the first one left lives");
    assert_eq!(rig.lines("starts"), ["a/1", "a/2"]);
    assert!(rig.lines("args")[1].contains("resume -- s-1"), "{:?}", rig.lines("args"));
    let a = rig.wp("a");
    assert_eq!((a.phase, a.rounds.len()), (Phase::Passed, 1));
    assert_eq!(rig.on("sop/o-1/a", "a.txt"), "good a\n");
}

fn cut_off() -> (Rig, Engine) {
    let rig = Rig::new(
        &Way::Agent.plan("", "grace = \"500ms\"", &wp("a", "")),
        &[("worker.sh", &Way::Agent.script(GOES_ON))],
    );
    let engine = rig.start(&["apply", "--yes"]);
    rig.until_lines("left", 1);
    until_told(&rig, 1, "s-1");
    (rig, engine)
}

#[test]
fn one_whose_holder_is_killed_is_lost_and_the_next_goes_on_with_its_session() {
    let (rig, engine) = cut_off();
    rig.signal_holder("a", Signal::KILL);
    assert_eq!(engine.wait(), 0, "{}", rig.engine_said());
    let ends = ends(&rig);
    assert_eq!(ends[0], (End::Lost, Some(FaultClass::Interrupted)), "{ends:?}");
    went_on(&rig);
}

#[test]
fn one_whose_holder_and_engine_are_killed_too() {
    let (rig, engine) = cut_off();
    killed(engine);
    rig.signal_holder("a", Signal::KILL);
    rig.sop_ends(0, &["resume"]);
    assert_eq!(ends(&rig)[0].0, End::Lost);
    went_on(&rig);
}

#[test]
fn one_whose_driver_is_killed_is_ended_and_the_next_goes_on_with_its_session() {
    let (rig, engine) = cut_off();
    let driver = rig.processes().into_iter().find(|(_, line)| line.contains(" __drive "));
    let driver = Pid::from_raw(driver.expect("a driver").0).unwrap();
    kill_process(driver, Signal::KILL).unwrap();
    assert_eq!(engine.wait(), 0, "{}", rig.engine_said());
    let ends = ends(&rig);
    assert_eq!(ends[0], (End::Signal { signal: 9 }, Some(FaultClass::Interrupted)), "{ends:?}");
    went_on(&rig);
}

#[test]
fn the_real_codex_is_adopted_and_its_model_is_called_no_more_than_it_needs() {
    if !has_tool("codex", "npm install -g @openai/codex") {
        return;
    }
    let resumed = Arc::new(AtomicBool::new(false));
    let go = Arc::clone(&resumed);
    // The engine dies while the first answer is waited for.
    let server = ModelServer::playing(move |call| {
        let began = Instant::now();
        while !go.load(Ordering::SeqCst) && began.elapsed() < Duration::from_secs(120) {
            std::thread::sleep(Duration::from_millis(20));
        }
        match call.tool_answers {
            0 => Act::Run("echo good > a.txt".to_owned()),
            _ => Act::Say("Done.".to_owned()),
        }
    });
    let text = format!(
        "version = 1\n[plan]\nname = \"o\"\ngoal = \"Try it.\"\nbase = \"main\"\n\
         [tiers.standard]\nworker = \"unconfined\"\nmodel = \"scripted-model\"\n{UNCONFINED}{}",
        wp("a", "")
    );
    let rig = Rig::new(&text, &[("README", "r\n")]);
    let env = codex_env(&rig, &server, Scenario::Play);
    let env: Vec<_> = env.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    let engine = rig.start_with(&env, &["apply", "--yes"]);
    until(|| match server.calls(Scenario::Play).len() {
        0 => Err(rig.engine_said()),
        _ => Ok(()),
    });
    killed(engine);
    let engine = rig.start_with(&env, &["resume"]);
    until_engines(&rig, 2);
    resumed.store(true, Ordering::SeqCst);
    assert_eq!(engine.wait(), 0, "{}", rig.engine_said());
    rig.until_quiet();
    assert_eq!(server.calls(Scenario::Play).len(), 2, "a tool call, and the answer");
    let a = rig.wp("a");
    assert_eq!((a.phase, a.attempt), (Phase::Passed, 1));
    assert_eq!(a.costs[0].usage.total(), 2 * (INPUT + OUTPUT));
    assert_eq!(rig.on("sop/o-1/a", "a.txt"), "good\n");
}
