//! The holder itself is killed with KILL, and no bystander is hurt (CASES 17).

use std::process::{Command, Stdio};

use rustix::process::Signal;
use serde_json::json;
use sop::launch::{EndedBy, Exit, Found, Launcher};
use sop::process::Identity;

use crate::support::steps::{Bench, holder_of, key, lives, pid_in, send, until, within};

const SCRIPT: &str = "echo working; echo $$ > pid
    (setsid sh -c 'trap \"\" TERM; echo $$ > below; while :; do sleep 0.05; done' &)
    while :; do sleep 0.05; done";

#[tokio::test]
async fn a_lost_step_is_ended_and_said_to_be_lost() {
    let bench = Bench::new();
    let mut spec = bench.shell(SCRIPT);
    spec.outlives = true;
    let handle = bench.local.submit(&key("worker"), &spec).unwrap();
    let pids = [pid_in(&bench.tree().join("pid")).await, pid_in(&bench.tree().join("below")).await];
    send(holder_of(&bench, &key("worker")).await, Signal::KILL);
    let outcome = within(handle.wait()).await.unwrap();
    assert_eq!((&outcome.exit, outcome.ended_by), (&Exit::Unknown, EndedBy::Lost));
    assert_eq!(outcome.lines, 1);
    assert!(!pids.iter().any(|pid| lives(*pid)), "{pids:?}");
    // Lost for good: nothing starts it again.
    let again = within(bench.local.submit(&key("worker"), &spec).unwrap().wait()).await.unwrap();
    assert_eq!(again, outcome);
}

#[tokio::test]
async fn a_command_dies_with_its_holder_though_nobody_looks() {
    let bench = Bench::new();
    let mut spec = bench.shell("echo $$ > pid; exec sleep 1000");
    spec.outlives = true;
    let mut holder = bench.hold(&key("worker"), &spec).await;
    let command = pid_in(&bench.tree().join("pid")).await;
    holder.kill().unwrap();
    holder.wait().unwrap();
    until("the command dead", || (!lives(command)).then_some(())).await;
}

/// A bystander that has an id which a dead step once had.
struct Bystander(std::process::Child);

impl Bystander {
    fn new() -> (Self, Identity) {
        let child = Command::new("sleep").arg("1000").stdin(Stdio::null()).spawn().unwrap();
        let identity = Identity::of(child.id().cast_signed()).unwrap();
        (Self(child), identity)
    }
}

impl Drop for Bystander {
    fn drop(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

#[tokio::test]
async fn a_reused_process_id_is_left_alone() {
    let bench = Bench::new();
    let (_keep, bystander) = Bystander::new();
    let earlier = Identity { start: bystander.start - 1, ..bystander.clone() };
    let before_the_boot = Identity { boot: "another boot".into(), ..bystander.clone() };
    for (step, worker, spared) in [
        ("earlier", earlier, true),
        ("rebooted", before_the_boot, true),
        ("itself", bystander.clone(), false),
    ] {
        let dir = bench.local.step_dir(&key(step));
        std::fs::create_dir_all(&dir).unwrap();
        let fence = json!({"holder": worker, "token": "of no one", "at": "2026-01-01T00:00:00Z"});
        std::fs::write(dir.join("started"), format!("{fence}\n{}\n", json!(worker))).unwrap();
        let Found::Ended(outcome) = within(bench.local.find(&key(step))).await.unwrap() else {
            panic!("it is lost")
        };
        assert_eq!(outcome.ended_by, EndedBy::Lost);
        assert_eq!(bystander.is_alive(), spared, "{step}");
    }
}

#[tokio::test]
async fn a_fence_cut_off_while_it_was_written_still_holds() {
    let bench = Bench::new();
    let dir = bench.local.step_dir(&key("worker"));
    std::fs::create_dir_all(&dir).unwrap();
    std::fs::write(dir.join("started"), "{\"holder\":{\"pi").unwrap();
    let spec = bench.shell("echo x >> starts");
    let outcome = within(bench.local.submit(&key("worker"), &spec).unwrap().wait()).await.unwrap();
    assert_eq!(outcome.ended_by, EndedBy::Lost);
    assert!(!bench.tree().join("starts").exists());
}
