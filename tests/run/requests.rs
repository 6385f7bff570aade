//! What people ask of a run: a review, a cancellation, another try; with an engine at work and without.

use std::path::PathBuf;

use sop::event::{Event, Outcome, Record};
use sop::journal::Journal;
use sop::ledger::Phase;
use sop::model::outcome::Class;

use crate::support::rig::Rig;
use crate::support::story::wp_id;
use crate::support::written::{plan, with_head, worker, wp, wp_proven_by};

/// Works until it is ended, unless the mark `go` is there.
const ENDLESS: &str = "[ $SOP_WP = a ] && until [ -e $MARKS/go ]; do sleep 0.02; done\ndone_well";

#[test]
fn a_person_reviews_while_no_engine_is_there() {
    let script = worker("echo \"round $SOP_ROUND\" > a.txt; echo good >> a.txt");
    let rig = Rig::new(&plan(&wp("a", "review = \"human\"")), &[("worker.sh", &script)]);
    let said = rig.apply(4);
    assert!(said.out.contains("sop review a --approve --run o-1"), "{}", said.out);
    assert_eq!(rig.wp("a").phase, Phase::AwaitingReview);
    // Nobody has answered yet.
    rig.sop_ends(4, &["resume"]);
    rig.write("../notes.txt", "Say why,\nnot what.\n");
    rig.sop_ends(0, &["review", "a", "--request-changes", "../notes.txt"]);
    rig.sop_ends(4, &["resume"]);
    let a = rig.wp("a");
    assert_eq!((a.round, a.rounds[0].class), (2, Some(Class::Work)));
    assert!(rig.of_run("briefs/a-2.md").contains("Say why,"));
    rig.sop_ends(0, &["review", "a", "--approve", "--run", "o-1"]);
    rig.sop_ends(0, &["resume"]);
    assert_eq!(rig.on("sop/o-1/a", "a.txt"), "round 2\ngood\n");
    // What is approved is approved.
    let said = rig.sop_ends(2, &["review", "a", "--approve"]);
    assert!(said.err.contains("awaits a review"), "{}", said.err);
}

#[test]
fn what_is_no_file_is_neither_waited_for_nor_read_without_end() {
    let rig =
        Rig::new(&plan(&wp("a", "review = \"human\"")), &[("worker.sh", &worker("done_well"))]);
    rig.apply(4);
    rustix::fs::mkfifoat(rustix::fs::CWD, rig.repo().join("../pipe"), rustix::fs::Mode::RUSR)
        .unwrap();
    rig.write("../long.txt", &"x".repeat(3 << 20));
    for (file, why) in [
        ("/dev/zero", "no plain file"),
        ("../pipe", "no plain file"),
        ("../long.txt", "longer than"),
    ] {
        let said = rig.sop_ends(2, &["review", "a", "--request-changes", file]);
        assert!(said.err.contains(why), "{file}: {}", said.err);
    }
    for file in ["/dev/zero", "../pipe"] {
        let said = rig.sop_ends(2, &["validate", file]);
        assert!(said.err.contains("`-` for standard input"), "{file}: {}", said.err);
    }
    assert_eq!(rig.wp("a").phase, Phase::AwaitingReview);
}

#[test]
fn every_verb_says_in_the_same_words_which_wps_there_are() {
    let rig =
        Rig::new(&plan(&(wp("a", "") + &wp("b", ""))), &[("worker.sh", &worker("done_well"))]);
    rig.apply(0);
    for args in [
        &["cancel", "nope"][..],
        &["logs", "nope"],
        &["wait", "nope", "--until", "settled"],
        &["retry", "nope"],
        &["brief", "plan.toml", "nope"],
    ] {
        let said = rig.sop_ends(2, args);
        assert!(said.err.contains("has no WP `nope`; it has `a`, `b`"), "{args:?}: {}", said.err);
    }
    // Verbs that take the run as an argument take it as the others do, too.
    assert_eq!(
        rig.sop_ends(0, &["status", "--run", "o-1"]).out,
        rig.sop_ends(0, &["status", "o-1"]).out
    );
    rig.sop_ends(0, &["resume", "--run", "o-1"]);
    rig.sop_ends(2, &["status", "--run", "o-2"]);
    rig.sop_ends(2, &["status", "o-1", "--run", "o-1"]);
}

#[test]
fn what_was_noted_is_not_asked_for_again() {
    let script = "if [ ! -e $MARKS/asked ]; then touch $MARKS/asked\n\
                  printf '```question\\nA or B?\\n```\\n' > \"$SOP_REPORT\"; exit 0; fi\ndone_well";
    let rig = Rig::new(
        &plan(&(wp("a", "") + &wp("b", "review = \"human\""))),
        &[(
            "worker.sh",
            &worker(&format!("if [ $SOP_WP = a ]; then {script}; else done_well; fi")),
        )],
    );
    rig.apply(4);
    let before = rig.sop_ends(0, &["status"]).out;
    assert!(before.contains("sop answer q1") && before.contains("sop review b"), "{before}");
    rig.sop_ends(0, &["answer", "q1", "B"]);
    let after = rig.sop_ends(0, &["status"]).out;
    assert!(after.contains("answer q1 (a) by sop: noted; `sop resume o-1` takes it up"), "{after}");
    assert!(!after.contains("sop answer q1") && after.contains("sop review b"), "{after}");
    rig.sop_ends(0, &["cancel", "b"]);
    let after = rig.sop_ends(0, &["status"]).out;
    assert!(after.contains("cancel b by sop: noted"), "{after}");
    assert!(!after.contains("sop review b"), "{after}");
    assert!(after.contains("sop resume o-1"), "{after}");
    rig.sop_ends(3, &["resume"]);
    let taken = rig.sop_ends(0, &["status"]).out;
    assert!(!taken.contains("noted"), "{taken}");
}

#[test]
fn of_two_reviews_the_second_is_refused_and_says_who_was_first() {
    let review = "review = \"human\"";
    let rig = Rig::new(&plan(&wp("a", review)), &[("worker.sh", &worker("done_well"))]);
    rig.apply(4);
    rig.write("../notes.txt", "Say why.\n");
    let asked = |rig: &Rig, first: &[&str], second: &[&str], word: &str| {
        rig.sop_ends(0, first);
        let said = rig.sop_ends(2, second);
        assert!(said.err.contains(word) && said.err.contains("not recorded"), "{}", said.err);
    };
    let approve = ["review", "a", "--approve"];
    let changes = ["review", "a", "--request-changes", "../notes.txt"];
    asked(&rig, &changes, &approve, "changes requested");
    rig.sop_ends(4, &["resume"]);
    assert_eq!(rig.wp("a").round, 2, "the first counts");
    asked(&rig, &approve, &changes, "approved");
    rig.sop_ends(0, &["resume"]);
    assert_eq!(rig.wp("a").phase, Phase::Passed);
}

#[test]
fn of_reviews_given_at_once_one_is_taken_and_the_others_are_told() {
    let text = plan(&(wp("a", "") + &wp("b", "review = \"human\"")));
    let rig = Rig::new(&text, &[("worker.sh", &worker(ENDLESS))]);
    let engine = rig.start(&["apply", "--yes"]);
    rig.until_wp("b", "awaiting its review", |wp| wp.phase == Phase::AwaitingReview);
    let codes: Vec<i32> = std::thread::scope(|scope| {
        let ask = || rig.sop(&["review", "b", "--approve"]).code;
        let asking: Vec<_> = (0..4).map(|_| scope.spawn(ask)).collect();
        asking.into_iter().map(|one| one.join().expect("no panic")).collect()
    });
    let told = codes.iter().filter(|code| **code == 2).count();
    let taken = codes.iter().filter(|code| **code == 0).count();
    assert_eq!((taken, told), (1, 3), "{codes:?}");
    std::fs::write(rig.mark("go"), "").unwrap();
    assert_eq!(engine.wait(), 0, "{}", rig.engine_said());
}

#[test]
fn a_person_reviews_while_the_engine_works_on_something_else() {
    let text = plan(&(wp("a", "") + &wp("b", "review = \"human\"")));
    let rig = Rig::new(&text, &[("worker.sh", &worker(ENDLESS))]);
    let engine = rig.start(&["apply", "--yes"]);
    rig.until_wp("b", "awaiting its review", |wp| wp.phase == Phase::AwaitingReview);
    let said = rig.sop_ends(0, &["review", "b", "--approve", "--json"]);
    let answer: serde_json::Value = serde_json::from_str(&said.out).expect("one line of JSON");
    assert_eq!((&answer["asked"], &answer["taken_by"]), (&"review".into(), &"engine".into()));
    rig.until_wp("b", "passed", |wp| wp.phase == Phase::Passed);
    std::fs::write(rig.mark("go"), "").unwrap();
    assert_eq!(engine.wait(), 0, "{}", rig.engine_said());
}

#[test]
fn one_wp_is_cancelled_while_it_runs_and_taken_up_again() {
    let text = plan(&(wp("a", "") + &wp("b", "") + &wp("c", "needs = [\"a\"]")));
    let rig =
        Rig::new(&text, &[("worker.sh", &worker(&format!("(setsid sleep 600 &)\n{ENDLESS}")))]);
    let engine = rig.start(&["apply", "--yes"]);
    rig.until_lines("starts", 2);
    rig.sop_ends(0, &["cancel", "a"]);
    assert_eq!(engine.wait(), 3, "{}", rig.engine_said());
    rig.until_quiet();
    assert_eq!(rig.wp("a").phase, Phase::Cancelled);
    assert_eq!(rig.wp("b").phase, Phase::Integrated);
    assert_eq!(rig.wp("c").phase, Phase::Deferred);
    let said = rig.sop_ends(2, &["cancel", "b"]);
    assert!(said.err.contains("done already"), "{}", said.err);
    std::fs::write(rig.mark("go"), "").unwrap();
    rig.sop_ends(0, &["retry", "a"]);
    rig.sop_ends(0, &["resume"]);
    assert_eq!(rig.ledger().outcome, Some(Outcome::Done));
    assert_eq!(rig.worktrees(), Vec::<PathBuf>::new());
}

#[test]
fn all_are_cancelled() {
    let text = with_head("max_parallel = 1", &(wp("a", "") + &wp("b", "") + &wp("c", "")));
    let rig = Rig::new(&text, &[("worker.sh", &worker(ENDLESS))]);
    let engine = rig.start(&["apply", "--yes"]);
    rig.until_lines("starts", 1);
    rig.sop_ends(0, &["cancel", "--all"]);
    assert_eq!(engine.wait(), 3, "{}", rig.engine_said());
    rig.until_quiet();
    assert_eq!(rig.lines("starts"), ["a/1"], "what was cancelled is not started");
    assert!(rig.ledger().wps.iter().all(|wp| wp.phase == Phase::Cancelled));
}

#[test]
fn with_no_engine_left_a_cancelled_worker_does_not_go_on() {
    let rig = Rig::new(&plan(&wp("a", "")), &[("worker.sh", &worker(ENDLESS))]);
    let engine = rig.start(&["apply", "--yes"]);
    rig.until_lines("starts", 1);
    engine.signal(rustix::process::Signal::KILL);
    assert_eq!(engine.wait(), 256);
    let said = rig.sop_ends(0, &["cancel", "a"]);
    assert!(said.out.contains("sop resume o-1"), "{}", said.out);
    rig.until_quiet();
    rig.sop_ends(3, &["resume"]);
    assert_eq!(rig.wp("a").phase, Phase::Cancelled);
    assert_eq!(rig.lines("starts"), ["a/1"]);
}

#[test]
fn what_makes_no_sense_is_refused_with_a_reason() {
    let rig = Rig::new(&plan(&wp("a", "")), &[("worker.sh", &worker("done_well"))]);
    let said = rig.sop_ends(2, &["retry", "a"]);
    assert!(said.err.contains("no run yet"), "{}", said.err);
    rig.apply(0);
    for (args, what) in [
        (vec!["retry", "a"], "can be tried again"),
        (vec!["retry", "z"], "it has `a`"),
        (vec!["cancel", "--all"], "nothing in `o-1` is left to cancel"),
        (vec!["review", "a", "--approve", "--run", "o-9"], "there is no run `o-9`"),
        (vec!["review", "a"], "--approve"),
    ] {
        let said = rig.sop_ends(2, &args);
        assert!(said.err.contains(what), "{args:?}: {}", said.err);
    }
    rig.sop_ends(0, &["resume"]);
}

#[test]
fn nothing_that_a_run_has_started_decides_in_a_persons_name() {
    let rig = Rig::new(&plan(&wp("a", "")), &[("worker.sh", &worker("done_well"))]);
    rig.apply(0);
    let records = rig.records().len();
    // A check has no SOP_WP.
    for env in [&[("SOP_RUN", "o-1")][..], &[("SOP_RUN", "o-1"), ("SOP_WP", "a")]] {
        for args in [
            &["review", "a", "--approve"][..],
            &["cancel", "a"],
            &["retry", "a"],
            &["note", "x"],
            &["interrupt", "a", "--say", "x"],
            &["answer", "q1", "x"],
            &["resume"],
            &["apply", "--yes"],
        ] {
            let said = rig.sop_with(env, args);
            assert_eq!(said.code, 2, "{args:?}: {}{}", said.out, said.err);
            assert!(said.err.contains("are not a worker's"), "{args:?}: {}", said.err);
        }
    }
    assert_eq!(rig.records().len(), records);
    let left = std::fs::read_dir(rig.run_dir().join("requests")).expect("a folder").count();
    assert_eq!(left, 0);
}

#[test]
fn what_waits_for_its_stage_keeps_its_worktree_for_another_try() {
    let setup = "case $PWD in */b) [ -e $MARKS/mended ] || echo x > stray;; esac\n";
    let check = "case $PWD in *gate-1) exit 1;; esac; grep -q good $1.txt\n";
    let one = |id: &str| wp_proven_by(id, &format!("[\"sh check.sh {id}\"]"), "stage = \"one\"");
    let head = "[provision]\nsetup = [\"sh setup.sh\"]\n[[stage]]\nname = \"one\"\n";
    let rest = [head.to_owned(), one("a"), one("b")].concat();
    let script = worker("done_well");
    let files = [("worker.sh", script.as_str()), ("setup.sh", setup), ("check.sh", check)];
    let rig = Rig::new(&with_head("max_parallel = 1", &rest), &files);
    rig.apply(5);
    assert_eq!((rig.wp("a").phase, rig.wp("b").phase), (Phase::Passed, Phase::Blocked));
    std::fs::write(rig.mark("mended"), "").unwrap();
    let left = rig.wp("b").worktree.expect("it stays");
    std::fs::remove_file(PathBuf::from(left).join("stray")).unwrap();
    rig.sop_ends(3, &["resume"]);
    rig.sop_ends(0, &["retry", "a"]);
    rig.sop_ends(0, &["retry", "b"]);
    rig.sop_ends(0, &["resume"]);
    assert_eq!(rig.worktrees(), Vec::<PathBuf>::new());
}

/// A worktree that is gone was filled by steps whose results say nothing of the next one.
#[test]
fn one_that_begins_anew_in_a_later_engine_is_provisioned_anew() {
    let head = "[provision]\nsetup = [\"echo x >> $MARKS/setups\"]\n";
    let text = plan(&(head.to_owned() + &wp("a", "")));
    let rig = Rig::new(&text, &[("worker.sh", &worker(ENDLESS))]);
    let engine = rig.start(&["apply", "--yes"]);
    rig.until_lines("starts", 1);
    rig.sop_ends(0, &["cancel", "a"]);
    assert_eq!(engine.wait(), 3, "{}", rig.engine_said());
    let before = rig.lines("setups").len();
    let worktree = rig.wp("a").worktree.expect("it stays");
    rig.git(&["worktree", "remove", "--force", &worktree]);
    rig.git(&["branch", "-D", "sop/o-1/a"]);
    let (mut journal, records) = Journal::resume(&rig.run_dir().join("journal.jsonl")).unwrap();
    let last = records.last().expect("a record");
    let event = Event::WorktreeRemoved { wp: wp_id("a"), salvage: None };
    journal.append(&[Record { seq: last.seq + 1, at: last.at, event }]).unwrap();
    std::fs::write(rig.mark("go"), "").unwrap();
    rig.sop_ends(0, &["retry", "a"]);
    rig.sop_ends(0, &["resume"]);
    assert_eq!((rig.lines("setups").len(), rig.wp("a").begun), (before + 1, 2));
}
