//! The engine is ended after any record of a take, a check, a giving back: whoever asks again, or resumes, ends the
//! same.

use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};

use sop::event::Outcome;
use sop::ledger::Phase;

use super::{BAD, Users, put, take};
use crate::support::rig::Rig;
use crate::support::written::{with_head, worker, wp};

/// Cases that run at once.
const LANES: usize = 3;

/// Two WPs, of which `a` never gets through by itself.
fn escalated() -> Rig {
    let text =
        with_head("rounds = 1", &(wp("a", "review = \"none\"") + &wp("b", "needs = [\"a\"]")));
    let script = worker(&format!("if [ $SOP_WP = a ]; then {BAD}; else done_well; fi"));
    let rig = Rig::new(&text, &[("worker.sh", &script)]);
    rig.apply(3);
    rig
}

/// Runs `args` with the engine killed after each record in turn, on a run of its own each time (worktrees do not stand
/// in a copy), and `then` on what is left. How many records there were.
fn killed_at_each(
    made: impl Fn() -> Rig + Sync,
    args: &[&str],
    then: impl Fn(&Rig, &str) + Sync,
) -> u64 {
    let before = AtomicU64::new(0);
    let most = AtomicU64::new(u64::MAX);
    let next = AtomicU64::new(1);
    std::thread::scope(|scope| {
        for _ in 0..LANES {
            scope.spawn(|| {
                loop {
                    let n = next.fetch_add(1, Ordering::Relaxed);
                    if n > most.load(Ordering::Relaxed) {
                        break;
                    }
                    let rig = made();
                    let first = rig.records().len() as u64;
                    before.store(first, Ordering::Relaxed);
                    let case = format!("{args:?}, kill:{n} records on");
                    let fault = format!("kill:{}", first + n);
                    let said = rig.sop_with(&[("SOP_FAULT", &fault)], args);
                    let over = said.code != 256;
                    assert!(
                        [0, 3, 256].contains(&said.code),
                        "{case}: {}\n{}",
                        said.code,
                        said.err
                    );
                    if over {
                        most.fetch_min(n, Ordering::Relaxed);
                    }
                    then(&rig, &case);
                }
            });
        }
    });
    most.load(Ordering::Relaxed) - 1
}

/// The same, taken, with this in its file.
fn taken(text: &str) -> Rig {
    let rig = escalated();
    put(&take(&rig, "a"), "a.txt", text);
    rig
}

#[test]
fn whoever_asks_again_ends_the_same() {
    let records = killed_at_each(escalated, &["take", "a"], |rig, case| {
        let users = Users::of(rig);
        let path = take(rig, "a");
        assert_eq!(rig.wp("a").phase, Phase::Taken, "{case}");
        put(&path, "a.txt", "good\n");
        rig.sop_ends(0, &["recheck", "a"]);
        rig.sop_ends(0, &["resume"]);
        assert_eq!(rig.ledger().outcome, Some(Outcome::Done), "{case}");
        assert_eq!(rig.lines("starts"), ["a/1", "b/1"], "{case}");
        assert_eq!(rig.worktrees(), Vec::<PathBuf>::new(), "{case}");
        users.are_as_they_were(rig);
    });
    assert!(records >= 4, "{records}");
}

#[test]
fn a_check_that_was_cut_off_is_finished_by_whoever_resumes() {
    let trees = {
        let rig = taken("good\n");
        rig.sop_ends(0, &["recheck", "a"]);
        rig.sop_ends(0, &["resume"]);
        rig.trees()
    };
    let records = killed_at_each(
        || taken("good\n"),
        &["recheck", "a"],
        |rig, case| {
            // One that was killed before the check began finds it noted.
            rig.sop_ends(0, &["resume"]);
            assert_eq!(rig.trees(), trees, "{case}");
            assert_eq!(rig.lines("starts"), ["a/1", "b/1"], "{case}");
            assert_eq!(rig.wp("a").by_lead(), ["a.txt"], "{case}");
        },
    );
    assert!(records >= 7, "{records}");
}

#[test]
fn a_check_that_was_cut_off_is_finished_by_whoever_asks_for_it_again() {
    let records = killed_at_each(
        || taken("good\n"),
        &["recheck", "a"],
        |rig, case| {
            if !rig.wp("a").phase.got_through() {
                let said = rig.sop(&["recheck", "a"]);
                assert_eq!(said.code, 0, "{case}: {}\n{}", said.out, said.err);
            }
            assert!(rig.wp("a").phase.got_through(), "{case}");
            assert_eq!(rig.wp("a").by_lead(), ["a.txt"], "{case}");
            assert_eq!(rig.lines("starts"), ["a/1"], "{case}");
        },
    );
    assert!(records >= 7, "{records}");
}

#[test]
fn a_check_that_fails_leaves_it_with_the_lead_whoever_finishes_it() {
    let records = killed_at_each(
        || taken("worse\n"),
        &["recheck", "a", "--json"],
        |rig, case| {
            rig.sop_ends(4, &["resume"]);
            let a = rig.wp("a");
            assert_eq!((a.phase, a.round, a.attempt), (Phase::Taken, 1, 1), "{case}");
            assert_eq!(a.hands.expect("it is taken").problems.len(), 1, "{case}");
        },
    );
    assert!(records >= 5, "{records}");
}

#[test]
fn given_back_at_any_record_it_is_back_in_the_end() {
    let records = killed_at_each(
        || taken("good\n"),
        &["take", "a", "--back"],
        |rig, case| {
            rig.sop_ends(3, &["resume"]);
            let a = rig.wp("a");
            assert_eq!((a.phase, a.is_with_lead()), (Phase::Escalated, false), "{case}");
            assert_eq!(a.by_lead(), ["a.txt"], "{case}");
        },
    );
    assert!(records >= 4, "{records}");
}
