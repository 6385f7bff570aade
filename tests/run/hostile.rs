//! Workers that do not mean well: each ends as its limit says, and nothing of it survives. Once as a
//! plain command, once as an agent behind the driver.

use std::collections::BTreeMap;
use std::fs;

use sop::event::Event;
use sop::ledger::Phase;
use sop::model::outcome::End;

use crate::support::peak::peak_kib;
use crate::support::pretender::Way;
use crate::support::rig::{Rig, until};
use crate::support::steps::lives;
use crate::support::written::wp;

/// What a worker does, and how it must end.
struct Case {
    name: &'static str,
    /// Keys of its tier.
    tier: &'static str,
    script: &'static str,
    ends: fn(&End) -> bool,
    /// What becomes of its WP, which has one round, and what is said of it.
    phase: Phase,
    says: &'static str,
}

const CASES: &[Case] = &[
    Case {
        name: "leaves a process in a session of its own, and says that it is done",
        tier: "grace = \"300ms\"",
        script: "begin; leave; done_well; says done; over",
        ends: |end| *end == End::Exit { code: 0 },
        phase: Phase::Passed,
        says: "it left running",
    },
    Case {
        name: "ignores TERM, and so does what it started",
        tier: "grace = \"300ms\"\ntimeout = \"3s\"",
        script: "trap '' TERM; begin; leave; while :; do says busy; sleep 0.1; done",
        ends: |end| matches!(end, End::Timeout { .. }),
        phase: Phase::Escalated,
        says: "timeout of 3s",
    },
    Case {
        name: "sleeps and says nothing",
        tier: "grace = \"300ms\"\nidle_timeout = \"2s\"\ntimeout = \"10m\"",
        script: "begin; leave; trap '' TERM; while :; do sleep 0.1; done",
        ends: |end| matches!(end, End::Idle { .. }),
        phase: Phase::Escalated,
        says: "after 2s without output",
    },
    Case {
        name: "says that it is done and has done nothing",
        tier: "grace = \"300ms\"",
        script: "begin; leave; says 'All is done.'; over; exit 0",
        ends: |end| *end == End::Exit { code: 0 },
        phase: Phase::Escalated,
        says: "changed nothing",
    },
];

fn ends_as_it_must(way: Way, case: &Case) {
    let name = format!("{way:?} that {}", case.name);
    let text = way.plan("rounds = 1", case.tier, &wp("a", ""));
    let rig = Rig::new(&text, &[("worker.sh", &way.script(case.script))]);
    let said = rig.apply(if case.phase == Phase::Passed { 0 } else { 3 });
    assert!(said.out.contains(case.says), "{name}: {}", said.out);
    let left: Vec<i32> = rig.lines("left").iter().map(|pid| pid.parse().unwrap()).collect();
    assert_eq!(left.len(), 1, "{name}");
    assert!(!lives(left[0]), "{name}: what it left lives");
    rig.until_quiet();
    assert_eq!(rig.wp("a").phase, case.phase, "{name}");
    assert_eq!(rig.lines("starts"), ["a/1"], "{name}");
    let ends: Vec<_> = rig
        .records()
        .into_iter()
        .filter_map(|record| match record.event {
            Event::AttemptEnded { ran, left_behind, .. } => Some((ran.end, left_behind)),
            _ => None,
        })
        .collect();
    let [(end, left_behind)] = &ends[..] else { panic!("{name}: {ends:?}") };
    assert!((case.ends)(end), "{name}: {end:?}");
    // What is left by one that was stopped is stopped with it.
    let itself = matches!(end, End::Exit { .. });
    assert_eq!(*left_behind > 0, itself, "{name}: {left_behind} left behind");
}

fn all(way: Way) {
    std::thread::scope(|scope| {
        for case in CASES {
            scope.spawn(move || ends_as_it_must(way, case));
        }
    });
}

#[test]
fn a_command_that_means_no_good_ends_as_its_limits_say() {
    all(Way::Command);
}

#[test]
fn so_does_an_agent() {
    all(Way::Agent);
}

/// Most that each process of a run has had, by what it is.
fn peaks(rig: &Rig, engine: i32) -> BTreeMap<&'static str, u64> {
    let mut found = BTreeMap::new();
    let mut note = |what, pid| found.extend(peak_kib(pid).map(|peak| (what, peak)));
    note("engine", engine);
    for (pid, line) in rig.processes() {
        match line.split(' ').nth(1) {
            Some("__hold") => note("holder", pid),
            Some("__drive") => note("driver", pid),
            _ => {}
        }
    }
    found
}

/// Five gigabytes where there is time for it: a build that is not optimized reads them in a minute or so.
fn flooded(way: Way, known: &[&str]) {
    const LIMIT: u64 = 256 * 1024;
    let full = std::env::var_os("SOP_TEST_FULL").is_some();
    let flood: u64 = if full { 5 << 30 } else { 64 << 20 };
    let script = format!(
        "begin; says first; : > $MARKS/ready; until [ -e $MARKS/go ]; do sleep 0.05; done
         line=$(head -c 20000 /dev/zero | tr '\\0' x)
         yes \"$line\" | head -c {}; echo
         yes 'it goes wrong' | head -c {} >&2; says last; : > $MARKS/flooded
         until [ -e $MARKS/done ]; do sleep 0.05; done
         done_well; over",
        flood - flood / 16,
        flood / 16,
    );
    let tier = format!("log_limit = {LIMIT}\ntimeout = \"20m\"");
    let text = way.plan("rounds = 1", &tier, &wp("a", ""));
    let rig = Rig::new(&text, &[("worker.sh", &way.script(&script))]);
    let engine = rig.start(&["apply", "--yes"]);
    until(|| rig.mark("ready").exists().then_some(()).ok_or_else(|| rig.engine_said()));
    let before = peaks(&rig, engine.pid());
    assert_eq!(before.keys().copied().collect::<Vec<_>>(), known);
    fs::write(rig.mark("go"), "").unwrap();
    let began = std::time::Instant::now();
    while !rig.mark("flooded").exists() {
        assert!(began.elapsed().as_secs() < 600, "{way:?}: the flood does not end");
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    let after = peaks(&rig, engine.pid());
    fs::write(rig.mark("done"), "").unwrap();
    assert_eq!(engine.wait(), 0, "{}", rig.engine_said());
    rig.until_quiet();
    for (what, peak) in &after {
        let grown = peak.saturating_sub(before[what]);
        assert!(grown < 16 * 1024, "{way:?}: the {what} grew by {grown} KiB to {peak}");
        assert!(*peak < 64 * 1024, "{way:?}: the {what} has {peak} KiB");
    }
    let size = |name: &str| fs::metadata(rig.run_dir().join(name)).unwrap().len();
    assert!(size("logs/a-work-1.log") <= LIMIT, "{way:?}");
    let text = rig.of_run("logs/a-work-1.log");
    assert!(text.contains("first") && text.contains("left out here"), "{way:?}");
    let whole: u64 = fs::read_dir(rig.run_dir().join("logs"))
        .unwrap()
        .map(|entry| entry.unwrap().metadata().unwrap().len())
        .sum();
    assert!(whole <= 2 * LIMIT, "{way:?}: {whole} bytes of logs");
    if way == Way::Agent {
        assert!(size("turns/a-1/stream.jsonl") <= LIMIT);
    }
}

#[test]
fn a_flood_from_a_command_fills_neither_disk_nor_memory() {
    flooded(Way::Command, &["engine", "holder"]);
}

#[test]
fn nor_does_one_from_an_agent() {
    flooded(Way::Agent, &["driver", "engine", "holder"]);
}
