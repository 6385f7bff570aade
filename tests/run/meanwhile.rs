//! What is changed in git's settings, hooks and refs while nothing is at work is whoever's the repository is, and is
//! said; what may have been a worker's doing is held against the run until it is put back or accepted by name.

use rustix::process::Signal;
use sop::event::{Event, Outcome};
use sop::ledger::{Accepted, Phase};

use crate::support::rig::Rig;
use crate::support::written::{plan, worker, wp, wp_proven_by};

/// A run of one WP that Ann reviews: its first worker does its work and then `mischief`, the next of the second round
/// `later`.
fn reviewed(mischief: &str, later: &str) -> Rig {
    let script = format!(
        "done_well\necho $SOP_ATTEMPT >> a.txt\n[ $SOP_ATTEMPT -gt 1 ] || {{ {mischief}; }}\n\
         if [ -e $MARKS/later ]; then rm $MARKS/later; {later}; fi"
    );
    let text = plan(&wp("a", "review = \"human\""));
    let rig = Rig::new(&text, &[("worker.sh", &worker(&script))]);
    let touched = [".git/config", ".git/refs/tags"];
    rig.touches(&touched, "workers change these, which is found out, and they are put back");
    rig.git(&["config", "user.name", "Ann"]);
    rig.apply(4);
    rig
}

/// Ann wants more, which a worker does.
fn sent_back(rig: &Rig) {
    std::fs::write(rig.mark("later"), "").unwrap();
    let say = rig.root().join("say.md");
    std::fs::write(&say, "- again: a.txt:1\n").unwrap();
    rig.sop_ends(0, &["review", "a", "--request-changes", say.to_str().unwrap()]);
    rig.sop(&["resume"]);
    if rig.wp("a").phase == Phase::Escalated {
        rig.sop_ends(0, &["retry", "a"]);
        rig.sop(&["resume"]);
    }
    rig.sop_ends(0, &["review", "a", "--approve"]);
}

/// What was taken as it is: who accepted it, and the places.
fn accepted(rig: &Rig) -> Vec<(Option<String>, String)> {
    let all = rig.ledger().accepted.into_iter().filter(|it| !it.changed.is_empty());
    let line = |Accepted { changed, by, .. }: Accepted| {
        let changed: Vec<String> = changed.iter().map(ToString::to_string).collect();
        (by, changed.join("; "))
    };
    all.map(line).collect()
}

/// A change of each kind, by the lead.
fn change_all(rig: &Rig) {
    rig.git(&["remote", "add", "origin", "../elsewhere"]);
    rig.git(&["config", "branch.main.remote", "origin"]);
    rig.write(".git/hooks/pre-push", "exit 0\n");
    rig.git(&["tag", "mine"]);
}

const ALL: &str = "branch.main.remote, remote.origin.fetch, remote.origin.url in config (of git's own); \
                   hooks/pre-push (of git's own) was added; refs/tags/mine was added";

#[test]
fn what_the_lead_changes_between_two_engines_is_taken_and_said_in_one_line() {
    let rig = reviewed("true", "true");
    change_all(&rig);
    rig.sop_ends(0, &["review", "a", "--approve"]);
    let said = rig.sop_ends(0, &["resume"]);
    let line = format!("changed while nothing was at work: taken as yours: {ALL}");
    let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words(&said.out).contains(&line), "{}", said.out);
    assert_eq!(accepted(&rig), [(None, ALL.to_owned())]);
    assert_eq!((rig.ledger().outcome, rig.ledger().tampering), (Some(Outcome::Done), vec![]));
    // Once is enough.
    rig.sop_ends(0, &["resume"]);
    assert_eq!(accepted(&rig).len(), 1);
}

#[test]
fn so_it_is_between_take_recheck_and_resume_and_after_an_interrupt() {
    let rig = Rig::new(
        &plan(&wp("a", "")),
        &[("worker.sh", &worker("[ -e $MARKS/go ] || sleep 600; done_well"))],
    );
    let engine = rig.start(&["apply", "--yes"]);
    rig.until_lines("starts", 1);
    engine.signal(Signal::INT);
    assert_eq!(engine.wait(), 130);
    rig.git(&["config", "alias.one", "status"]);
    let said = rig.sop_ends(0, &["take", "a"]);
    assert!(said.err.contains("taken as yours: alias.one"), "{}", said.err);
    rig.git(&["config", "alias.two", "status"]);
    std::fs::write(rig.root().join("trees").join(worktree(&rig)).join("a.txt"), "good\n").unwrap();
    let said = rig.sop_ends(0, &["recheck", "a"]);
    assert!(said.err.contains("taken as yours: alias.two"), "{}", said.err);
    rig.git(&["config", "branch.main.description", "x"]);
    let said = rig.sop_ends(0, &["resume"]);
    assert!(said.out.contains("taken as yours: branch.main.description"), "{}", said.out);
    assert_eq!(accepted(&rig).len(), 3);
}

/// The worktree of `a`, below the folder of all.
fn worktree(rig: &Rig) -> std::path::PathBuf {
    rig.wp("a").worktree.expect("it has one").into()
}

#[test]
fn a_worker_is_not_accused_of_what_the_lead_changed_while_its_checks_were_interrupted() {
    // Its work is looked at again when its checks have passed.
    let check = "echo x >> $MARKS/checks; until [ -e $MARKS/go ]; do sleep 0.05; done; grep -q good a.txt\n";
    let text = plan(&wp_proven_by("a", "[\"sh check.sh\"]", ""));
    let files = [("worker.sh", &*worker("done_well")), ("check.sh", check)];
    let rig = Rig::new(&text, &files);
    std::fs::write(rig.mark("go"), "").unwrap();
    let known = rig.sop_ends(0, &["plan"]);
    assert!(known.out.contains("check.sh"), "{}", known.out);
    let begun = rig.lines("checks").len();
    let engine = rig.start(&["apply", "--yes"]);
    rig.until_lines("starts", 1);
    std::fs::remove_file(rig.mark("go")).unwrap();
    rig.until_lines("checks", begun + 2);
    engine.signal(Signal::INT);
    assert_eq!(engine.wait(), 130);
    change_all(&rig);
    std::fs::write(rig.mark("go"), "").unwrap();
    rig.sop_ends(0, &["resume"]);
    let a = rig.wp("a");
    assert_eq!((a.phase, a.round), (Phase::Passed, 1), "{:?}", a.rounds);
    assert!(rig.ledger().seen.is_empty(), "{:?}", rig.ledger().seen);
}

#[test]
fn a_workers_change_stays_held_whatever_the_lead_does_beside_it() {
    let rig = reviewed("git config core.hooksPath /tmp/evil; git tag evil", "true");
    change_all(&rig);
    rig.git(&["tag", "--force", "evil", "main~0"]);
    rig.sop_ends(0, &["review", "a", "--approve"]);
    // The file holds both, so all of it is held; the hook and the tag are the lead's alone.
    let said = rig.sop_ends(3, &["resume"]);
    let hook = "hooks/pre-push (of git's own) was added; refs/tags/mine was added";
    assert_eq!(accepted(&rig), [(None, hook.to_owned())]);
    let standing = rig.ledger().tampering;
    let places: Vec<_> = standing.iter().map(|standing| standing.place.as_str()).collect();
    assert_eq!(places, ["config (of git's own)", "refs/tags/evil"], "{}", said.out);
    assert!(standing[0].what.contains("core.hookspath"), "{standing:?}");
    // Taken back to what it was, and no further, it is right again.
    rig.git(&["config", "--unset", "core.hooksPath"]);
    rig.sop_ends(3, &["resume"]);
    rig.git(&["config", "--remove-section", "remote.origin"]);
    rig.git(&["config", "--remove-section", "branch.main"]);
    rig.git(&["tag", "--delete", "evil"]);
    rig.sop_ends(0, &["resume"]);
    assert_eq!(rig.ledger().outcome, Some(Outcome::Done));
}

#[test]
fn what_is_held_can_be_accepted_by_name_and_both_ways_out_are_offered() {
    let rig = reviewed("git config core.hooksPath /tmp/evil; git tag evil", "true");
    rig.sop_ends(0, &["review", "a", "--approve"]);
    for verb in [&["resume"][..], &["resume", "--approve", "cleanup"]] {
        let said = rig.sop_ends(3, verb);
        for offered in ["rm -rf -- ", "git update-ref --no-deref -d refs/tags/evil"] {
            assert!(said.out.contains(offered), "{offered}: {}", said.out);
        }
        assert!(said.out.contains("sop resume o-1 --accept-changes"), "{}", said.out);
    }
    let status = rig.sop_ends(0, &["status"]).out;
    let status = status.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(status.contains("or accept it: sop resume o-1 --accept-changes"), "{status}");

    let said = rig.sop_ends(0, &["resume", "o-1", "--accept-changes"]);
    let what = "core.hookspath in config (of git's own); refs/tags/evil was added";
    assert!(said.out.contains("accepted by Ann, as it is now: "), "{}", said.out);
    assert_eq!(accepted(&rig), [(Some("Ann".to_owned()), what.to_owned())]);
    let ledger = rig.ledger();
    assert_eq!((ledger.outcome, ledger.tampering), (Some(Outcome::Done), vec![]));
    assert_eq!(rig.git(&["config", "core.hooksPath"]).trim(), "/tmp/evil", "nothing is repaired");
    let summary = rig.sop_ends(0, &["status", "--summary"]).out;
    assert!(summary.contains("accepted by Ann"), "{summary}");
}

#[test]
fn what_was_accepted_once_does_not_cover_what_the_next_worker_does() {
    let again = "git config core.sshCommand evil; git tag --force evil $(git hash-object -w a.txt)";
    let rig = reviewed("git config core.hooksPath /tmp/evil; git tag evil", again);
    rig.sop_ends(4, &["resume", "--accept-changes"]);
    assert_eq!(accepted(&rig).len(), 1);
    sent_back(&rig);
    let said = rig.sop_ends(3, &["resume"]);
    let standing = rig.ledger().tampering;
    let places: Vec<_> = standing.iter().map(|standing| standing.place.as_str()).collect();
    assert_eq!(places, ["config (of git's own)", "refs/tags/evil"], "{}", said.out);
    assert!(standing[0].what.contains("(core.sshcommand)"), "{standing:?}");
}

#[test]
fn what_is_put_back_after_the_lead_made_it_is_the_leads_and_not_what_was_before() {
    let rig = reviewed("true", "git tag --delete mine; git config --unset alias.mine");
    rig.git(&["tag", "mine"]);
    rig.git(&["config", "alias.mine", "status"]);
    sent_back(&rig);
    rig.sop_ends(3, &["resume"]);
    for standing in rig.ledger().tampering {
        let command = standing.put_back.expect("a command");
        let mut shell = std::process::Command::new("sh");
        let ran = shell.args(["-c", &command]).current_dir(rig.repo()).status();
        assert!(ran.unwrap().success(), "{command}");
    }
    assert_eq!(rig.git(&["config", "alias.mine"]).trim(), "status");
    assert_eq!(rig.git(&["tag", "--list"]).trim(), "mine");
    rig.sop_ends(0, &["resume"]);
}

#[test]
fn after_a_killed_engine_nobody_knows_and_it_is_held_until_it_is_accepted() {
    let rig = Rig::new(
        &plan(&wp("a", "")),
        &[("worker.sh", &worker("done_well; until [ -e $MARKS/go ]; do sleep 0.05; done"))],
    );
    let engine = rig.start(&["apply", "--yes"]);
    rig.until_lines("starts", 1);
    engine.signal(Signal::KILL);
    assert_eq!(engine.wait(), 256);
    rig.git(&["config", "alias.mine", "status"]);
    let said = rig.sop_ends(5, &["resume", "--accept-changes"]);
    assert!(said.err.contains("a/work-1 is still at work"), "{}", said.err);
    assert_eq!(accepted(&rig), []);
    std::fs::write(rig.mark("go"), "").unwrap();
    rig.until_quiet();
    rig.sop_ends(3, &["resume"]);
    assert_eq!(accepted(&rig), []);
    assert_eq!(rig.ledger().tampering.len(), 1);
    rig.sop_ends(0, &["resume", "--accept-changes"]);
    assert_eq!(rig.ledger().outcome, Some(Outcome::Done));
}

#[test]
fn what_another_runs_worker_may_have_done_is_not_taken_as_the_leads() {
    let rig = reviewed("true", "true");
    let evil = worker("done_well; git config core.hooksPath /tmp/evil");
    rig.write("worker.sh", &evil);
    rig.git(&["commit", "--quiet", "--all", "-m", "another worker"]);
    let other = rig.root().join("other.toml");
    std::fs::write(&other, plan(&wp("a", "")).replace("name = \"o\"", "name = \"p\"")).unwrap();
    rig.sop_ends(3, &["apply", "--yes", other.to_str().unwrap()]);
    rig.sop_ends(0, &["review", "a", "--approve", "--run", "o-1"]);
    let said = rig.sop_ends(3, &["resume", "o-1"]);
    assert!(!said.out.contains("taken as yours"), "{}", said.out);
    assert!(said.out.contains("core.hookspath"), "{}", said.out);
}

#[test]
fn an_engine_that_dies_when_it_has_taken_it_has_taken_it() {
    for more in [1, 2] {
        let rig = reviewed("true", "true");
        change_all(&rig);
        rig.sop_ends(0, &["review", "a", "--approve"]);
        let kill = rig.records().last().expect("records").seq + more;
        let fault = format!("kill:{kill}");
        rig.sop_with(&[("SOP_FAULT", &fault)], &["resume"]);
        let taken = rig.count(|event| matches!(event, Event::RepositoryAccepted { .. }));
        assert_eq!(taken, 1, "killed at {kill}");
        rig.sop_ends(0, &["resume"]);
        assert_eq!((rig.wp("a").phase, accepted(&rig).len()), (Phase::Passed, 1), "{kill}");
    }
}
