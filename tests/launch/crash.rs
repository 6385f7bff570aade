//! The engine is killed with KILL, and comes back (CASES 17).

use rustix::process::Signal;
use sop::launch::{EndedBy, Found, Launcher};

use crate::support::steps::{Bench, PATIENCE, key, lives, pid_in, send, stand_in, until, within};

const SCRIPT: &str = "echo $$ > NAME.pid; echo x >> NAME.starts
    (setsid sh -c 'trap \"\" TERM; echo $$ > NAME.below; while :; do sleep 0.05; done' &)
    while [ ! -e go ] || [ ! -s NAME.below ]; do sleep 0.01; done; echo NAME is through";

fn submit(bench: &Bench, name: &str, outlives: bool) -> sop::launch::Handle {
    let mut spec = bench.shell(&SCRIPT.replace("NAME", name));
    spec.grace = std::time::Duration::from_millis(50);
    spec.log = bench.path(&format!("{name}.log"));
    spec.outlives = outlives;
    bench.local.submit(&key(name), &spec).unwrap()
}

#[tokio::test]
#[ignore = "the engine that is killed; other tests start it"]
async fn engine() {
    let bench = Bench::standing_in();
    let handles = [submit(&bench, "worker", true), submit(&bench, "dod", false)];
    for handle in handles {
        let _killed_before = tokio::time::timeout(PATIENCE, handle.wait()).await;
    }
}

#[tokio::test]
async fn a_worker_outlives_its_engine_and_a_check_does_not() {
    let bench = Bench::new();
    let mut engine = stand_in("launch::crash::engine", &bench.path("")).spawn().unwrap();
    let mut pids = Vec::new();
    for name in ["worker", "dod"] {
        for file in ["pid", "below"] {
            pids.push(pid_in(&bench.tree().join(format!("{name}.{file}"))).await);
        }
    }
    assert!(pids.iter().all(|pid| lives(*pid)));
    send(engine.id().cast_signed(), Signal::KILL);
    engine.wait().unwrap();

    until("the check dead", || (!lives(pids[2]) && !lives(pids[3])).then_some(())).await;
    let found = match bench.local.find(&key("dod")).await.unwrap() {
        Found::Ended(outcome) => outcome,
        Found::Running(handle) => within(handle.wait()).await.unwrap(),
        Found::NeverStarted => panic!("it was started"),
    };
    assert_eq!(found.ended_by, EndedBy::Interrupted);

    assert!(lives(pids[0]) && lives(pids[1]), "the worker goes on");
    let Found::Running(adopted) = bench.local.find(&key("worker")).await.unwrap() else {
        panic!("it runs")
    };
    let resubmitted = submit(&bench, "worker", true);
    std::fs::write(bench.tree().join("go"), "").unwrap();
    let outcome = within(adopted.wait()).await.unwrap();
    assert!(outcome.succeeded(), "{outcome:?}");
    assert_eq!(within(resubmitted.wait()).await.unwrap(), outcome);
    assert_eq!(std::fs::read_to_string(bench.path("worker.log")).unwrap(), "worker is through\n");
    assert_eq!(std::fs::read_to_string(bench.tree().join("worker.starts")).unwrap(), "x\n");
    assert!(!lives(pids[1]));
}

#[tokio::test]
async fn a_worker_that_ended_meanwhile_left_its_result() {
    let bench = Bench::new();
    let mut engine = stand_in("launch::crash::engine", &bench.path("")).spawn().unwrap();
    let worker = pid_in(&bench.tree().join("worker.pid")).await;
    send(engine.id().cast_signed(), Signal::KILL);
    engine.wait().unwrap();
    std::fs::write(bench.tree().join("go"), "").unwrap();
    until("the worker's end", || (!lives(worker)).then_some(())).await;
    let ended = || bench.local.step_dir(&key("worker")).join("result.json").exists().then_some(());
    until("the result, with no engine around", ended).await;
    let Found::Ended(outcome) = bench.local.find(&key("worker")).await.unwrap() else {
        panic!("it ended")
    };
    assert!(outcome.succeeded());
}

#[tokio::test]
async fn a_check_whose_engine_died_before_its_start_is_still_to_be_started() {
    let bench = Bench::new();
    let spec = bench.shell("echo x >> starts");
    assert!(bench.hold(&key("dod"), &spec).await.wait().unwrap().success());
    assert!(matches!(bench.local.find(&key("dod")).await.unwrap(), Found::NeverStarted));
    assert!(bench.run_as(&key("dod"), &spec).await.succeeded());
    assert_eq!(std::fs::read_to_string(bench.tree().join("starts")).unwrap(), "x\n");
}

#[tokio::test]
async fn a_result_that_a_power_failure_cut_off_is_none() {
    let bench = Bench::new();
    bench.run_as(&key("dod"), &bench.command(["true"])).await;
    let result = bench.local.step_dir(&key("dod")).join("result.json");
    let whole = std::fs::read(&result).unwrap();
    for length in [0, whole.len() / 2] {
        std::fs::write(&result, &whole[..length]).unwrap();
        let Found::Ended(outcome) = bench.local.find(&key("dod")).await.unwrap() else {
            panic!("it was started")
        };
        assert_eq!(outcome.ended_by, EndedBy::Lost);
    }
    std::fs::write(&result, "{\"key\": 7}").unwrap();
    let error = bench.local.find(&key("dod")).await.unwrap_err();
    assert!(error.to_string().contains("result.json is damaged"), "{error}");
}
