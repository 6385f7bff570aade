//! A key starts once, ever; and one step at a time works in a worktree.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use sop::launch::{EndedBy, Exit, Found, How, LaunchError, Launcher, State};
use sop::model::ids::RunId;

use crate::support::steps::{Bench, key, line_of, pid_in, until, within};

#[tokio::test]
async fn eight_holders_of_one_key_start_it_once() {
    let bench = Bench::new();
    let mut spec = bench.shell("echo x >> starts; sleep 0.1");
    spec.outlives = true;
    bench.leave(&key("worker"), &spec).await;
    assert!(matches!(bench.local.find(&key("worker")).await.unwrap(), Found::NeverStarted));
    let hold = || bench.bare_holder(&key("worker"));
    for mut holder in (0..8).map(|_| hold()).collect::<Vec<_>>() {
        assert!(holder.wait().unwrap().success());
    }
    // A late one finds the fence closed.
    assert!(hold().wait().unwrap().success());
    assert_eq!(std::fs::read_to_string(bench.tree().join("starts")).unwrap(), "x\n");
    let Found::Ended(outcome) = bench.local.find(&key("worker")).await.unwrap() else {
        panic!("it ended")
    };
    assert!(outcome.succeeded());
}

#[tokio::test]
async fn the_owner_of_a_run_adopts_what_was_in_flight_and_what_it_started_and_no_more() {
    let bench = Bench::new();
    for step in ["earlier", "later"] {
        bench.run_as(&key(step), &bench.shell("true")).await;
    }
    let run = RunId::new("demo-1").unwrap();
    let open = |_: &str, step: &str, attempt| (step, attempt) == ("earlier", 1);
    let owner = bench.local.clone().owning(&run, open).unwrap();
    let error = owner.find(&key("later")).await.unwrap_err();
    assert!(matches!(&error, LaunchError::Foreign { .. }), "{error}");
    assert!(matches!(owner.find(&key("earlier")).await.unwrap(), Found::Ended(_)));
    let handle = owner.submit(&key("own"), &bench.shell("true")).unwrap();
    within(handle.wait()).await.unwrap();
    assert!(matches!(owner.find(&key("own")).await.unwrap(), Found::Ended(_)));
    // What another made meanwhile, in whatever way, is refused once and then out of the way.
    let elsewhere = owner.step_dir(&key("earlier"));
    for (name, how) in [("found", true), ("submitted", false)] {
        let dir = owner.step_dir(&key(name));
        std::os::unix::fs::symlink(&elsewhere, &dir).unwrap();
        let refused = match how {
            true => owner.find(&key(name)).await.map(drop),
            false => owner.submit(&key(name), &bench.shell("true")).map(drop),
        };
        let error = refused.unwrap_err();
        assert!(matches!(&error, LaunchError::Foreign { path, .. } if *path == dir), "{error}");
        assert!(matches!(owner.find(&key(name)).await.unwrap(), Found::NeverStarted));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn submits_that_race_share_one_start() {
    let bench = Arc::new(Bench::new());
    let tasks: Vec<_> = (0..8)
        .map(|_| {
            let bench = Arc::clone(&bench);
            tokio::spawn(
                async move { bench.run(&bench.shell("echo x >> starts; sleep 0.1")).await },
            )
        })
        .collect();
    let mut outcomes = Vec::new();
    for task in tasks {
        outcomes.push(task.await.unwrap());
    }
    assert!(outcomes[0].succeeded(), "{:?}", outcomes[0]);
    assert!(outcomes.iter().all(|outcome| *outcome == outcomes[0]), "{outcomes:#?}");
    assert_eq!(std::fs::read_to_string(bench.tree().join("starts")).unwrap(), "x\n");
}

#[tokio::test]
async fn looking_does_not_keep_a_holder_out() {
    let bench = Arc::new(Bench::new());
    let done = Arc::new(AtomicBool::new(false));
    let looking = std::thread::spawn({
        let (bench, done) = (Arc::clone(&bench), Arc::clone(&done));
        move || {
            let mut waiting = 0;
            while !done.load(Ordering::Relaxed) {
                for n in 0..10 {
                    let state = bench.local.status(&key(&format!("dod-{n}"))).unwrap();
                    waiting += u32::from(state == State::NeverStarted);
                }
            }
            waiting
        }
    });
    for n in 0..10 {
        let outcome = bench.run_as(&key(&format!("dod-{n}")), &bench.command(["true"])).await;
        assert!(outcome.succeeded(), "{outcome:?}");
        // The first holder did it: none was turned away and replaced.
        assert!(!bench.local.step_dir(&key(&format!("dod-{n}"))).join("holder.err").exists());
    }
    done.store(true, Ordering::Relaxed);
    assert!(looking.join().unwrap() > 0, "the looker looked before all was over");
}

#[tokio::test]
async fn one_step_at_a_time_works_in_a_worktree() {
    let bench = Bench::new();
    let handles: Vec<_> = (0..6)
        .map(|n| {
            let mut spec = bench.shell("mkdir busy && sleep 0.02 && rmdir busy");
            spec.slot = Some(bench.path("slot"));
            spec.log = bench.path(&format!("log-{n}"));
            bench.local.submit(&key(&format!("dod-{n}")), &spec).unwrap()
        })
        .collect();
    for handle in handles {
        let outcome = within(handle.wait()).await.unwrap();
        assert!(outcome.succeeded(), "{outcome:?}");
    }
}

#[tokio::test]
async fn a_step_that_waits_for_its_turn_can_be_called_off() {
    let bench = Bench::new();
    let slot = Some(bench.path("slot"));
    let mut first = bench.shell("echo $$ > pid; exec sleep 1000");
    first.slot.clone_from(&slot);
    let first = bench.local.submit(&key("first"), &first).unwrap();
    pid_in(&bench.tree().join("pid")).await;
    let mut second = bench.shell("echo here > second");
    second.slot = slot;
    let second = bench.local.submit(&key("second"), &second).unwrap();
    let waits = || (bench.local.status(&key("second")).unwrap() == State::Waiting).then_some(());
    until("the second one waiting", waits).await;
    bench.local.cancel(&key("second"), How::Term).unwrap();
    let outcome = within(second.wait()).await.unwrap();
    assert_eq!((outcome.exit, outcome.ended_by), (Exit::NeverStarted, EndedBy::Cancel));
    assert!(!bench.tree().join("second").exists());
    bench.local.cancel(&key("first"), How::Kill).unwrap();
    within(first.wait()).await.unwrap();
}

#[tokio::test]
async fn a_later_submit_adopts_what_runs_whatever_it_says() {
    let bench = Bench::new();
    let script = "echo x >> starts; echo up > up; while [ ! -e go ]; do sleep 0.01; done; exit 5";
    let first = bench.local.submit(&key("worker"), &bench.shell(script)).unwrap();
    line_of(&bench.tree().join("up")).await;
    let second =
        bench.local.submit(&key("worker"), &bench.shell("echo another >> starts")).unwrap();
    std::fs::write(bench.tree().join("go"), "").unwrap();
    let outcome = within(second.wait()).await.unwrap();
    assert_eq!(outcome.exit, Exit::Code(5));
    assert_eq!(outcome, within(first.wait()).await.unwrap());
    assert_eq!(std::fs::read_to_string(bench.tree().join("starts")).unwrap(), "x\n");
}
