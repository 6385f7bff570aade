//! What was done to the repository does not become right because a round, a retry, a cancellation or a crash came
//! in between: as long as it stands it is named, with what puts it back, and the run does not end well.

use rustix::process::Signal;
use sop::event::Outcome;
use sop::ledger::Phase;

use crate::support::rig::Rig;
use crate::support::scratch::Said;
use crate::support::written::{plan, worker, wp};

const TOUCHED: [&str; 5] = [
    ".git/config",
    ".git/hooks",
    ".git/refs/tags/evil",
    ".git/refs/heads/other",
    ".git/logs/refs/heads/other",
];

const HOOKS: &str = "git config core.hooksPath /tmp/evil";

/// A run of one WP whose first worker does its work and then `mischief`.
fn first_round(mischief: &str, more: &str) -> Rig {
    let script = format!(
        "done_well\nif [ $SOP_ATTEMPT = 1 ]; then {mischief}\nfi\n[ -e $MARKS/go ] || {WAIT}"
    );
    let rig = Rig::new(&plan(&wp("a", more)), &[("worker.sh", &worker(&script))]);
    rig.touches(&TOUCHED, "workers change these, which is found out");
    rig
}

/// Told apart by the mark `patient`: one that waits for its end.
const WAIT: &str = "[ ! -e $MARKS/patient ] || { echo x >> $MARKS/waits; sleep 600; }";

/// Types what the summary says below `place`.
fn put_back(rig: &Rig, said: &Said, place: &str) {
    let mut lines = said.out.lines().skip_while(|line| !line.contains(place));
    let command =
        lines.find(|line| line.trim_start().starts_with("rm ") || line.contains("git update-ref"));
    let command = command.unwrap_or_else(|| panic!("no command: {}", said.out)).trim();
    let mut shell = std::process::Command::new("sh");
    let ran = shell.args(["-c", command]).current_dir(rig.repo()).status();
    assert!(ran.expect("a shell").success(), "{command}");
}

/// What there is to put back.
fn repository(rig: &Rig) -> (String, String, bool) {
    let config = std::fs::read_to_string(rig.repo().join(".git/config")).expect("its config");
    let refs = rig.git(&["for-each-ref", "refs/heads/main", "refs/heads/other", "refs/tags"]);
    (config, refs, rig.repo().join(".git/hooks/pre-commit").exists())
}

fn stands(rig: &Rig, said: &Said, place: &str, what: &str) {
    assert!(said.out.contains(place) && said.out.contains(what), "{place} {what}: {}", said.out);
    assert_eq!(rig.ledger().outcome, Some(Outcome::Failed));
}

#[test]
fn another_round_does_not_make_it_right() {
    for (mischief, place, what) in [
        (HOOKS, "config (of git's own)", "core.hookspath"),
        (
            "git config user.name Evil; git config --unset core.bare",
            "config (of git's own)",
            "core.bare, user.name",
        ),
        (
            "G=$(git rev-parse --git-common-dir); mkdir -p $G/hooks; echo x > $G/hooks/pre-commit",
            "hooks/pre-commit",
            "was added",
        ),
        ("git tag evil", "refs/tags/evil", "was added"),
        ("git update-ref -d refs/heads/other", "refs/heads/other", "was removed"),
    ] {
        let rig = first_round(mischief, "");
        rig.git(&["branch", "other"]);
        let before = repository(&rig);
        let said = rig.apply(3);
        assert_eq!((rig.wp("a").phase, rig.wp("a").round), (Phase::Passed, 2), "{mischief}");
        stands(&rig, &said, place, what);
        assert!(said.out.contains("first seen when `a` was at work"), "{}", said.out);
        let again = rig.sop_ends(3, &["resume"]);
        put_back(&rig, &again, place);
        assert_eq!(repository(&rig), before, "{mischief}");
        let last = rig.sop_ends(0, &["resume"]);
        assert!(!last.out.contains("nobody's to touch"), "{}", last.out);
        assert_eq!(rig.ledger().outcome, Some(Outcome::Done));
        assert!(rig.ledger().tampering.is_empty());
    }
}

#[test]
fn nor_does_a_cancellation_or_another_try() {
    for mischief in [HOOKS, "git tag evil"] {
        let rig = first_round(mischief, "");
        std::fs::write(rig.mark("patient"), "").unwrap();
        let engine = rig.start(&["apply", "--yes"]);
        rig.until_lines("waits", 1);
        rig.sop_ends(0, &["cancel", "a"]);
        assert_eq!(engine.wait(), 3, "{}", rig.engine_said());
        assert_eq!(rig.ledger().tampering.len(), 1, "{}", rig.engine_said());
        std::fs::write(rig.mark("go"), "").unwrap();
        rig.sop_ends(0, &["retry", "a"]);
        let said = rig.sop_ends(3, &["resume"]);
        assert_eq!(rig.wp("a").phase, Phase::Passed);
        stands(&rig, &said, "nobody's to touch", "was");
    }
}

#[test]
fn nor_does_a_killed_engine_with_a_cancellation_after_it() {
    for mischief in [HOOKS, "git tag evil"] {
        let rig = first_round(mischief, "");
        std::fs::write(rig.mark("patient"), "").unwrap();
        let engine = rig.start(&["apply", "--yes"]);
        rig.until_lines("waits", 1);
        engine.signal(Signal::KILL);
        assert_eq!(engine.wait(), 256);
        rig.sop_ends(0, &["cancel", "a"]);
        let said = rig.sop_ends(3, &["resume"]);
        assert_eq!(rig.wp("a").phase, Phase::Cancelled);
        stands(&rig, &said, "nobody's to touch", "was");
        std::fs::write(rig.mark("go"), "").unwrap();
        rig.sop_ends(0, &["retry", "a"]);
        let said = rig.sop_ends(3, &["resume"]);
        assert_eq!(rig.wp("a").phase, Phase::Passed);
        stands(&rig, &said, "nobody's to touch", "was");
        assert_eq!(rig.lines("starts"), ["a/1", "a/2"]);
    }
}

#[test]
fn what_a_person_does_meanwhile_is_named_where_it_is_gits_own_and_theirs_where_it_is_a_ref() {
    let rig = first_round("true", "review = \"human\"");
    rig.apply(4);
    let asked = rig.records().into_iter().find(|it| it.event.name() == "review_requested");
    let asked = asked.expect("a person is asked").seq;
    // Its engine dies there: nobody knows what was at work after it.
    let rig = first_round("true", "review = \"human\"");
    rig.sop_with(&[("SOP_FAULT", &format!("kill:{asked}"))], &["apply", "--yes"]);
    rig.git(&["tag", "mine"]);
    rig.git(&["config", "alias.st", "status"]);
    rig.sop_ends(0, &["review", "a", "--approve"]);
    let said = rig.sop_ends(3, &["resume"]);
    stands(&rig, &said, "config (of git's own)", "(alias.st)");
    assert!(
        !said.out.contains("refs/tags/mine") && !said.out.contains("first seen"),
        "{}",
        said.out
    );
    assert_eq!(rig.git(&["config", "alias.st"]).trim(), "status", "nothing is repaired");
    rig.git(&["config", "--remove-section", "alias"]);
    rig.sop_ends(0, &["resume"]);
}

#[test]
fn without_what_was_taken_down_nobody_can_say_that_all_is_well() {
    for loss in ["rm $R/guard/run.json", "echo F > $R/guard/run.json"] {
        let script = format!(
            "R=$(git rev-parse --path-format=absolute --git-common-dir)/sop-run/$SOP_RUN; {loss}"
        );
        let rig = first_round(&script, "");
        let said = rig.apply(3);
        stands(&rig, &said, "the repository cannot be compared", "not as it was written");
    }
}

#[test]
fn a_copy_that_was_changed_too_is_not_offered() {
    let script = format!(
        "{HOOKS}; R=$(git rev-parse --path-format=absolute --git-common-dir)/sop-run/$SOP_RUN; \
         for f in $R/guard/was/*; do echo evil > $f; done"
    );
    let rig = first_round(&script, "");
    let said = rig.apply(3);
    stands(&rig, &said, "config (of git's own)", "was changed");
    assert!(rig.ledger().tampering[0].put_back.is_none(), "{}", said.out);
}
