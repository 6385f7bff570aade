//! Wall clock, silence and size (CASES 19).

use std::time::Duration;

use sop::launch::{EndedBy, Exit, Launcher};
use sop::process::tail;

use crate::support::peak::peak_kib;
use crate::support::steps::{Bench, holder_of, key, until, within};

#[tokio::test]
async fn the_wall_clock_ends_one_that_ignores_term() {
    let bench = Bench::new();
    let mut spec = bench.shell("trap '' TERM; while :; do sleep 0.05; done");
    spec.timeout = Some(Duration::from_millis(300));
    spec.grace = Duration::from_millis(100);
    let outcome = bench.run(&spec).await;
    assert_eq!(outcome.ended_by, EndedBy::Timeout);
    assert!(matches!(outcome.exit, Exit::Signal(9 | 15)), "{outcome:?}");
    assert!(outcome.duration_ms >= 300, "{outcome:?}");
}

#[tokio::test]
async fn silence_is_a_limit_of_its_own() {
    let bench = Bench::new();
    let mut stuck = bench.shell("echo started; exec sleep 1000");
    stuck.idle_timeout = Some(Duration::from_millis(200));
    let outcome = bench.run_as(&key("stuck"), &stuck).await;
    assert_eq!(outcome.ended_by, EndedBy::Idle);
    assert_eq!(outcome.exit, Exit::Signal(15));

    // Quiet, and nobody limits that.
    let mut quiet = bench.shell("sleep 0.5");
    quiet.timeout = Some(Duration::from_secs(300));
    assert!(bench.run_as(&key("quiet"), &quiet).await.succeeded());

    // Never quiet for long, though longer than the limit in all.
    let mut chatty = bench.shell("for i in 1 2 3 4 5 6 7 8; do echo $i; sleep 0.3; done");
    chatty.idle_timeout = Some(Duration::from_secs(2));
    assert!(bench.run_as(&key("chatty"), &chatty).await.succeeded());
}

#[tokio::test]
async fn a_flood_fills_neither_disk_nor_memory() {
    const LIMIT: u64 = 1 << 20;
    const FLOOD: u64 = 64 << 20;
    let bench = Bench::new();
    let script = format!(
        "echo FIRST; while [ ! -e go ]; do sleep 0.01; done
         yes 'all work and no play' | head -c {FLOOD}; echo; echo LAST
         while [ ! -e done ]; do sleep 0.01; done"
    );
    let mut spec = bench.shell(&script);
    spec.log_limit = LIMIT;
    let handle = bench.local.submit(&key("worker"), &spec).unwrap();
    let last_line = || tail(handle.log(), 1).unwrap().pop();
    until("the first line", || last_line().filter(|line| line == "FIRST")).await;
    let holder = holder_of(&bench, &key("worker")).await;
    let before = peak_kib(holder).expect("it runs");
    std::fs::write(bench.tree().join("go"), "").unwrap();
    until("the last line while it still runs", || last_line().filter(|line| line == "LAST")).await;
    let grown = peak_kib(holder).expect("it runs") - before;
    std::fs::write(bench.tree().join("done"), "").unwrap();
    let outcome = within(handle.wait()).await.unwrap();

    assert!(grown < 1024, "the holder grew by {grown} KiB");
    assert!(outcome.succeeded());
    assert_eq!(outcome.bytes, FLOOD + "FIRST\n\nLAST\n".len() as u64);
    let log = bench.log();
    assert!(log.len() as u64 <= LIMIT, "{} bytes", log.len());
    assert!(log.len() as u64 > LIMIT * 3 / 5, "{} bytes", log.len());
    assert!(log.starts_with("FIRST\nall work"));
    assert!(log.ends_with("\nLAST\n"));
    let note = format!(
        "\n[sop: {} bytes left out here, the log reached its limit]\n",
        outcome.dropped_bytes
    );
    assert_eq!(log.len() as u64 - note.len() as u64, outcome.bytes - outcome.dropped_bytes);
    assert!(log.contains(&note));
    let beside: Vec<_> =
        std::fs::read_dir(bench.path("")).unwrap().map(|e| e.unwrap().file_name()).collect();
    assert!(!beside.iter().any(|name| name.to_string_lossy().contains(".tail")), "{beside:?}");
}
