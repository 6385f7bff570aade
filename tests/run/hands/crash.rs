//! The engine is ended after any record of a take, a check, a giving back: whoever asks again, or resumes, ends the
//! same.

use std::path::PathBuf;

use sop::event::Outcome;
use sop::ledger::Phase;

use super::{BAD, Users, put, take};
use crate::support::rig::Rig;
use crate::support::written::{with_head, worker, wp};

/// Two WPs, of which `a` never gets through by itself.
fn escalated() -> Rig {
    let text =
        with_head("rounds = 1", &(wp("a", "review = \"none\"") + &wp("b", "needs = [\"a\"]")));
    let script = worker(&format!("if [ $SOP_WP = a ]; then {BAD}; else done_well; fi"));
    let rig = Rig::new(&text, &[("worker.sh", &script)]);
    rig.apply(3);
    rig
}

/// Runs `args` with the engine killed after each record in turn, for as long as there is one, and `then` on what is left.
fn killed_at_each(template: &Rig, args: &[&str], then: impl Fn(&Rig, &str)) -> u64 {
    let mut n = template.records().len() as u64 + 1;
    let first = n;
    loop {
        let rig = Rig::copy_of(template);
        let case = format!("{args:?}, kill:{n}");
        let said = rig.sop_with(&[("SOP_FAULT", &format!("kill:{n}"))], args);
        assert!([0, 256].contains(&said.code), "{case}: {}\n{}", said.code, said.err);
        then(&rig, &case);
        if said.code == 0 {
            return n - first;
        }
        n += 1;
    }
}

/// A run's worktrees are at other paths in a copy; the tree is found by the WP's name.
fn worktree(rig: &Rig, wp: &str) -> PathBuf {
    PathBuf::from(rig.wp(wp).worktree.expect("it has one"))
}

#[test]
fn whoever_asks_again_ends_the_same() {
    let template = escalated();
    let users = Users::of(&template);
    let records = killed_at_each(&template, &["take", "a"], |rig, case| {
        let path = take(rig, "a");
        assert_eq!(rig.wp("a").phase, Phase::Taken, "{case}");
        put(&path, "a.txt", "good\n");
        rig.sop_ends(0, &["recheck", "a"]);
        rig.sop_ends(0, &["resume"]);
        assert_eq!(rig.ledger().outcome, Some(Outcome::Done), "{case}");
        assert_eq!(rig.lines("starts"), ["a/1", "b/1"], "{case}");
        assert_eq!(rig.worktrees(), Vec::<PathBuf>::new(), "{case}");
    });
    assert!(records >= 4, "{records}");
    users.are_as_they_were(&template);
}

#[test]
fn a_check_that_was_cut_off_is_finished_by_whoever_resumes() {
    let template = escalated();
    let path = take(&template, "a");
    put(&path, "a.txt", "good\n");
    let trees = {
        let rig = Rig::copy_of(&template);
        rig.sop_ends(0, &["recheck", "a"]);
        rig.sop_ends(0, &["resume"]);
        rig.trees()
    };
    let records = killed_at_each(&template, &["recheck", "a"], |rig, case| {
        // One that was killed before the check began finds it noted.
        rig.sop_ends(0, &["resume"]);
        assert_eq!(rig.trees(), trees, "{case}");
        assert_eq!(rig.lines("starts"), ["a/1", "b/1"], "{case}");
        assert_eq!(rig.wp("a").by_lead(), ["a.txt"], "{case}");
    });
    assert!(records >= 7, "{records}");
}

#[test]
fn a_check_that_fails_leaves_it_with_the_lead_whoever_finishes_it() {
    let template = escalated();
    put(&take(&template, "a"), "a.txt", "bad\n");
    killed_at_each(&template, &["recheck", "a", "--json"], |rig, case| {
        if rig.wp("a").hands.is_some_and(|hands| !hands.rechecked) {
            // Noted, and no more.
            rig.sop_ends(4, &["resume"]);
        } else {
            rig.sop_ends(4, &["resume"]);
        }
        let a = rig.wp("a");
        assert_eq!((a.phase, a.round), (Phase::Taken, 1), "{case}");
        assert_eq!(a.hands.expect("it is taken").problems.len(), 1, "{case}");
        let _ = worktree(rig, "a");
    });
}

#[test]
fn given_back_at_any_record_it_is_back_in_the_end() {
    let template = escalated();
    put(&take(&template, "a"), "a.txt", "good\n");
    killed_at_each(&template, &["take", "a", "--back"], |rig, case| {
        rig.sop_ends(3, &["resume"]);
        let a = rig.wp("a");
        assert_eq!((a.phase, a.is_with_lead()), (Phase::Escalated, false), "{case}");
        assert_eq!(a.by_lead(), ["a.txt"], "{case}");
    });
}
