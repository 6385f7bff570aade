//! Orders to stop, and what must not survive them (CASES 18).

use std::fs::File;
use std::time::Duration;

use rustix::process::Signal;
use sop::launch::{EndedBy, Exit, How, Launcher, State};

use crate::support::scratch::has_tool;
use crate::support::steps::{Bench, holder_of, key, line_of, lives, pid_in, send, until, within};

#[tokio::test]
async fn term_leaves_time_to_clean_up() {
    let bench = Bench::new();
    let script = "trap 'echo cleaning; sleep 0.2; echo cleaned; exit 7' TERM
                  echo hello; echo $$ > ready; while :; do sleep 0.05; done";
    let handle = bench.local.submit(&key("worker"), &bench.shell(script)).unwrap();
    line_of(&bench.tree().join("ready")).await;
    let printed = || match bench.local.status(&key("worker")).unwrap() {
        State::Running(progress) => progress.last_output.map(|at| (progress, at)),
        other => panic!("{other:?}"),
    };
    let (progress, printed_at) = until("its first output", printed).await;
    assert_eq!(progress.pid, Some(pid_in(&bench.tree().join("ready")).await));
    assert!((jiff::Timestamp::now() - printed_at).as_hours() == 0, "{printed_at}");
    assert!(bench.local.cancel(&key("worker"), How::Term).unwrap());
    let outcome = within(handle.wait()).await.unwrap();
    assert_eq!((outcome.exit, outcome.ended_by), (Exit::Code(7), EndedBy::Cancel));
    assert!(bench.log().ends_with("cleaning\ncleaned\n"), "{}", bench.log());
}

#[tokio::test]
async fn what_a_dying_command_leaves_is_asked_too() {
    let bench = Bench::new();
    std::fs::write(
        bench.tree().join("late"),
        "trap 'echo asked; exit' TERM; echo up > up; while :; do sleep 0.02; done",
    )
    .unwrap();
    let script = "trap 'sh late & while [ ! -s up ]; do sleep 0.01; done; exit 0' TERM
                  echo ready > ready; while :; do sleep 0.02; done";
    let mut spec = bench.shell(script);
    spec.grace = Duration::from_secs(3600);
    let handle = bench.local.submit(&key("worker"), &spec).unwrap();
    line_of(&bench.tree().join("ready")).await;
    bench.local.cancel(&key("worker"), How::Term).unwrap();
    let outcome = within(handle.wait()).await.unwrap();
    assert_eq!((outcome.exit, outcome.ended_by), (Exit::Code(0), EndedBy::Cancel));
    // The shell may also tell of its own sleep.
    assert!(bench.log().lines().any(|line| line == "asked"), "{}", bench.log());
}

#[tokio::test]
async fn kill_ends_the_grace() {
    let bench = Bench::new();
    let mut spec = bench.shell("trap '' TERM; echo ready > ready; while :; do sleep 0.05; done");
    spec.grace = Duration::from_secs(3600);
    let handle = bench.local.submit(&key("worker"), &spec).unwrap();
    line_of(&bench.tree().join("ready")).await;
    bench.local.cancel(&key("worker"), How::Term).unwrap();
    bench.local.cancel(&key("worker"), How::Kill).unwrap();
    let outcome = within(handle.wait()).await.unwrap();
    assert_eq!((outcome.exit, outcome.ended_by), (Exit::Signal(9), EndedBy::Cancel));
}

#[tokio::test]
async fn a_lock_holder_in_a_session_of_its_own_is_gone_after_cancel() {
    let bench = Bench::new();
    if !["setsid", "flock"].iter().all(|tool| has_tool(tool, "util-linux")) {
        return;
    }
    // It leaves session, group, parent, environment and standard files behind, and ignores TERM.
    let daemon = "trap \"\" TERM HUP INT; exec 9>held </dev/null >/dev/null 2>&1; flock 9
                  echo $$ > pid; while :; do sleep 0.05; done";
    let script =
        format!("(env -i PATH=\"$PATH\" setsid sh -c '{daemon}' &) ; while :; do sleep 0.05; done");
    let mut spec = bench.shell(&script);
    spec.grace = Duration::from_millis(200);
    let handle = bench.local.submit(&key("worker"), &spec).unwrap();
    let daemon = pid_in(&bench.tree().join("pid")).await;
    let held = File::open(bench.tree().join("held")).unwrap();
    assert!(
        lives(daemon) && held.try_lock().is_err(),
        "the daemon must stand for this test to mean anything"
    );
    bench.local.cancel(&key("worker"), How::Term).unwrap();
    let outcome = within(handle.wait()).await.unwrap();
    assert_eq!(outcome.ended_by, EndedBy::Cancel);
    assert!(!lives(daemon));
    held.try_lock().expect("nobody is left to hold the lock");
}

#[tokio::test]
async fn what_a_command_leaves_behind_is_ended_and_counted() {
    let bench = Bench::new();
    let script =
        "sh -c 'echo $$ > one; exec sleep 1000' & (sh -c 'echo $$ > two; exec sleep 1000' &)
                  while [ ! -s one ] || [ ! -s two ]; do sleep 0.01; done; exit 0";
    let outcome = bench.run(&bench.shell(script)).await;
    assert!(outcome.succeeded(), "{outcome:?}");
    assert_eq!(outcome.left_behind, 2);
    for file in ["one", "two"] {
        assert!(!lives(pid_in(&bench.tree().join(file)).await));
    }
    // One that follows at once is not left behind.
    let outcome = bench.run_as(&key("dod"), &bench.shell("sleep 0.01 & exit 0")).await;
    assert!(outcome.succeeded());
    assert_eq!(outcome.left_behind, 0);
}

#[tokio::test]
async fn an_order_is_heard_at_any_moment() {
    let bench = Bench::new();
    for n in 0..20 {
        let key = key(&format!("worker-{n}"));
        let handle = bench.local.submit(&key, &bench.shell("exec sleep 1000")).unwrap();
        tokio::time::sleep(Duration::from_micros(200 * n)).await;
        assert!(bench.local.cancel(&key, How::Term).unwrap());
        let outcome = within(handle.wait()).await.unwrap();
        assert_eq!(outcome.ended_by, EndedBy::Cancel);
        assert!(matches!(outcome.exit, Exit::NeverStarted | Exit::Signal(15)), "{outcome:?}");
    }
    assert!(!bench.local.cancel(&key("unheard-of"), How::Kill).unwrap());
}

#[tokio::test]
async fn term_to_the_holder_is_an_order_and_terminal_signals_are_not() {
    let bench = Bench::new();
    let script =
        "echo ready > ready; while [ ! -e go ]; do sleep 0.01; done; echo on > on; exec sleep 1000";
    let handle = bench.local.submit(&key("worker"), &bench.shell(script)).unwrap();
    line_of(&bench.tree().join("ready")).await;
    let holder = holder_of(&bench, &key("worker")).await;
    send(holder, Signal::INT);
    send(holder, Signal::HUP);
    std::fs::write(bench.tree().join("go"), "").unwrap();
    line_of(&bench.tree().join("on")).await;
    send(holder, Signal::TERM);
    let outcome = within(handle.wait()).await.unwrap();
    assert_eq!((outcome.exit, outcome.ended_by), (Exit::Signal(15), EndedBy::Cancel));
    until("the holder collected", || (!lives(holder)).then_some(())).await;
    assert_eq!(sop::process::Identity::of(holder), None, "no zombie either");
}

#[tokio::test]
async fn a_dropped_handle_stops_nothing() {
    let bench = Bench::new();
    for outlives in [true, false] {
        let key = key(&format!("worker-{outlives}"));
        let script = format!(
            "echo $$ > pid-{outlives}; while [ ! -e go ]; do sleep 0.01; done; echo finished"
        );
        let mut spec = bench.shell(&script);
        spec.outlives = outlives;
        spec.log = bench.path(&format!("log-{outlives}"));
        let handle = bench.local.submit(&key, &spec).unwrap();
        let waiting = tokio::spawn(async move { handle.wait().await });
        let pid = pid_in(&bench.tree().join(format!("pid-{outlives}"))).await;
        waiting.abort();
        assert!(waiting.await.unwrap_err().is_cancelled());
        assert!(lives(pid));
    }
    std::fs::write(bench.tree().join("go"), "").unwrap();
    for outlives in [true, false] {
        let outcome =
            bench.run_as(&key(&format!("worker-{outlives}")), &bench.shell("exit 9")).await;
        assert!(outcome.succeeded(), "{outcome:?}");
    }
}

#[tokio::test]
async fn a_second_term_to_the_holder_ends_the_grace() {
    let bench = Bench::new();
    let script = "trap 'echo heard > heard' TERM; echo ready > ready; while :; do sleep 0.05; done";
    let mut spec = bench.shell(script);
    spec.grace = Duration::from_secs(3600);
    let handle = bench.local.submit(&key("worker"), &spec).unwrap();
    line_of(&bench.tree().join("ready")).await;
    let holder = holder_of(&bench, &key("worker")).await;
    send(holder, Signal::TERM);
    // Two that are pending at once are one, so the first must have arrived.
    line_of(&bench.tree().join("heard")).await;
    send(holder, Signal::TERM);
    let outcome = within(handle.wait()).await.unwrap();
    assert_eq!((outcome.exit, outcome.ended_by), (Exit::Signal(9), EndedBy::Cancel));
}
