//! The lead takes a WP into its own hands, has what it left checked, and gives it back.

mod beside;
mod bounds;
mod crash;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use sop::event::Event;
use sop::ledger::Phase;

use crate::support::rig::Rig;
use crate::support::written::{plan, with_head, worker, wp};

/// Works until it is ended, unless the mark `go` is there.
const ENDLESS: &str = "[ $SOP_WP = a ] && until [ -e $MARKS/go ]; do sleep 0.02; done\ndone_well";

/// Never does what was asked.
const BAD: &str = "echo \"bad $SOP_ROUND\" > $SOP_WP.txt";

/// What is the user's before a test, to be the same after it.
struct Users(BTreeMap<PathBuf, Vec<u8>>);

impl Users {
    fn of(rig: &Rig) -> Self {
        let mut users = rig.users();
        // Trees that a run keeps until it is over.
        users.retain(|path, _| !path.starts_with(rig.repo().join(".git/refs/sop")));
        Self(users)
    }

    fn are_as_they_were(&self, rig: &Rig) {
        let now = Self::of(rig).0;
        let all = now.keys().chain(self.0.keys());
        let changed: Vec<_> = all.filter(|path| now.get(*path) != self.0.get(*path)).collect();
        assert!(changed.is_empty(), "of the user's checkout: {changed:?}");
    }
}

/// `sop take WP`, which must give it; its worktree.
fn take(rig: &Rig, wp: &str) -> PathBuf {
    let said = rig.sop_ends(0, &["take", wp]);
    assert_eq!(said.out.lines().count(), 1, "the path alone: {}", said.out);
    let path = PathBuf::from(said.out.trim_end());
    assert!(path.is_dir(), "{}", path.display());
    path
}

fn put(folder: &Path, name: &str, text: &str) {
    std::fs::write(folder.join(name), text).expect("a file");
}

#[test]
fn what_was_escalated_is_mended_by_hand_and_no_round_is_spent() {
    let text = with_head("rounds = 1", &(wp("a", "") + &wp("b", "needs = [\"a\"]")));
    let script = worker(&format!("if [ $SOP_WP = a ]; then {BAD}; else done_well; fi"));
    let rig = Rig::new(&text, &[("worker.sh", &script)]);
    let users = Users::of(&rig);
    let said = rig.apply(3);
    assert!(said.out.contains("sop take a --run o-1"), "{}", said.out);
    let worktree = take(&rig, "a");
    assert_eq!(rig.wp("a").phase, Phase::Taken);
    let said = rig.sop_ends(0, &["status"]);
    assert!(said.out.contains("taken"), "{}", said.out);
    put(&worktree, "a.txt", "good by hand\n");
    let said = rig.sop_ends(0, &["recheck", "a"]);
    assert!(said.out.contains("a passed") && said.out.contains("a.txt"), "{}", said.out);
    assert_eq!((rig.wp("a").round, rig.wp("a").attempt), (1, 1));
    assert_eq!(rig.lines("starts"), ["a/1"]);
    // Whoever was put off has its chance again, once somebody goes on with the run.
    for verb in ["status", "inbox"] {
        let said = rig.sop_ends(0, &[verb]).out;
        assert!(
            said.contains("\n  sop resume o-1") || said.contains("    sop resume o-1"),
            "{said}"
        );
    }
    let said = rig.sop_ends(0, &["resume"]);
    assert!(said.out.contains("changed by the lead: a.txt"), "{}", said.out);
    assert_eq!(rig.lines("starts"), ["a/1", "b/1"]);
    let a = rig.wp("a");
    let commit = a.commit.expect("it is committed");
    let body = rig.git(&["show", "-s", "--format=%B", commit.as_str()]);
    assert!(body.contains("\n\nChanged by the lead (sop): a.txt\n\nSop-Run: o-1\n"), "{body}");
    let trailers = rig.git(&["show", "-s", "--format=%(trailers)", commit.as_str()]);
    assert!(!trailers.contains("lead"), "no trailer: {trailers}");
    let state: serde_json::Value =
        serde_json::from_str(&rig.sop_ends(0, &["status", "--json"]).out).expect("JSON");
    assert_eq!(state["wps"][0]["hands"]["files"], serde_json::json!(["a.txt"]));
    assert_eq!(rig.worktrees(), Vec::<PathBuf>::new());
    users.are_as_they_were(&rig);
}

#[test]
fn a_worker_at_work_is_stopped_and_the_others_go_on() {
    let text = plan(&(wp("a", "") + &wp("b", "")));
    let script = worker(&format!("(sleep 600 &)\ntrap '' TERM\n{ENDLESS}"));
    let text = text.replace("[tiers.standard]", "[tiers.standard]\ngrace = \"200ms\"");
    let rig = Rig::new(&text, &[("worker.sh", &script)]);
    let users = Users::of(&rig);
    let engine = rig.start(&["apply", "--yes"]);
    rig.until_lines("starts", 2);
    let said = rig.sop_ends(0, &["take", "a", "--json"]);
    let taken: serde_json::Value = serde_json::from_str(&said.out).expect("one line of JSON");
    assert_eq!(
        (&taken["wp"], &taken["by"], &taken["lead_may_fix"]),
        (&"a".into(), &"sop".into(), &1.into())
    );
    let worktree = PathBuf::from(taken["worktree"].as_str().expect("a path"));
    // It is said to be taken before anybody is stopped, and handed over when nobody is in it.
    let events: Vec<String> = rig
        .records()
        .iter()
        .filter(|it| it.event.wp().is_some_and(|wp| wp.as_str() == "a"))
        .map(|it| it.event.name())
        .collect();
    let at = |name: &str| events.iter().position(|event| event == name).expect(name);
    assert!(at("wp_taken") < at("attempt_ended"), "{events:?}");
    assert!(at("attempt_ended") < at("wp_handed_over"), "{events:?}");
    assert_eq!(engine.wait(), 4, "{}", rig.engine_said());
    rig.until_quiet();
    assert_eq!(rig.wp("b").phase, Phase::Passed);
    put(&worktree, "a.txt", "good\n");
    rig.sop_ends(0, &["recheck", "a"]);
    rig.sop_ends(0, &["resume"]);
    assert_eq!(rig.lines("starts").len(), 2);
    assert_eq!(rig.on("sop/o-1/a", "a.txt"), "good\n");
    users.are_as_they_were(&rig);
}

#[test]
fn with_no_engine_left_a_worker_that_outlived_it_is_stopped() {
    let rig = Rig::new(&plan(&wp("a", "")), &[("worker.sh", &worker(ENDLESS))]);
    let engine = rig.start(&["apply", "--yes"]);
    rig.until_lines("starts", 1);
    engine.signal(rustix::process::Signal::KILL);
    assert_eq!(engine.wait(), 256);
    let said = rig.sop_ends(0, &["take", "a"]);
    assert!(said.err.contains("a is yours (it was working)"), "{}", said.err);
    let worktree = PathBuf::from(said.out.trim_end());
    rig.until_quiet();
    // Whoever takes the run up starts nobody in it.
    rig.sop_ends(4, &["resume"]);
    assert_eq!(rig.lines("starts"), ["a/1"]);
    put(&worktree, "a.txt", "good\n");
    rig.sop_ends(0, &["recheck", "a"]);
    rig.sop_ends(0, &["resume"]);
    assert_eq!(rig.wp("a").phase, Phase::Passed);
}

#[test]
fn it_is_checked_by_the_engine_that_has_the_run() {
    let text = with_head("max_parallel = 1", &(wp("a", "") + &wp("b", "")));
    let rig = Rig::new(&text, &[("worker.sh", &worker(ENDLESS))]);
    let engine = rig.start(&["apply", "--yes"]);
    rig.until_lines("starts", 1);
    // It has not begun, and there is no room for it: the lead needs none.
    let worktree = take(&rig, "b");
    assert_eq!(rig.wp("a").phase, Phase::Working);
    let said = rig.sop_ends(3, &["recheck", "b"]);
    assert!(said.out.contains("nothing differs from the base"), "{}", said.out);
    put(&worktree, "b.txt", "good\n");
    rig.sop_ends(0, &["recheck", "b"]);
    std::fs::write(rig.mark("go"), "").unwrap();
    assert_eq!(engine.wait(), 0, "{}", rig.engine_said());
    assert_eq!(rig.lines("starts"), ["a/1"]);
    assert!(rig.engine_said().contains("1 file by the lead"), "{}", rig.engine_said());
}

#[test]
fn what_is_wrong_is_shown_and_stays_with_the_lead() {
    let text = with_head("rounds = 1", &wp("a", ""));
    let rig = Rig::new(&text, &[("worker.sh", &worker(BAD))]);
    rig.apply(3);
    let worktree = take(&rig, "a");
    for text in ["still bad\n", "worse\n"] {
        put(&worktree, "a.txt", text);
        let said = rig.sop_ends(3, &["recheck", "a", "--json"]);
        let answer: serde_json::Value = serde_json::from_str(&said.out).expect("JSON");
        assert_eq!((&answer["state"], &answer["commit"]), (&"taken".into(), &().into()));
        assert_eq!(answer["problems"][0]["message"], "exits 1");
    }
    put(&worktree, "../a/other.txt", "x\n");
    let said = rig.sop_ends(3, &["recheck", "a"]);
    assert!(said.out.contains("stays yours"), "{}", said.out);
    std::fs::remove_file(worktree.join("other.txt")).unwrap();
    put(&worktree, "a.txt", "good\n");
    rig.sop_ends(0, &["recheck", "a"]);
    let a = rig.wp("a");
    assert_eq!((a.phase, a.round, a.attempt, a.rounds.len()), (Phase::Passed, 1, 1, 1));
    assert_eq!(rig.count(|event| matches!(event, Event::RecheckEnded { .. })), 4);
}

#[test]
fn a_worker_goes_on_with_what_the_lead_could_not_mend() {
    let script = worker(
        "case $SOP_ROUND in 1) echo bad > a.txt ;; *) cp \"$SOP_BRIEF\" $MARKS/brief; done_well ;; esac",
    );
    let text = with_head("rounds = 1", &wp("a", ""));
    let rig = Rig::new(&text, &[("worker.sh", &script)]);
    rig.apply(3);
    let worktree = take(&rig, "a");
    put(&worktree, "a.txt", "not yet\n");
    let said = rig.sop_ends(3, &["recheck", "a", "--to-worker"]);
    assert!(said.out.contains("goes to a worker"), "{}", said.out);
    assert!(!rig.wp("a").is_with_lead());
    rig.sop_ends(0, &["resume"]);
    let brief = std::fs::read_to_string(rig.mark("brief")).expect("a brief");
    assert!(brief.contains("grep -q good a.txt") && brief.contains("exits 1"), "{brief}");
    let a = rig.wp("a");
    assert_eq!((a.round, a.attempt), (2, 2));
    // Its round is judged as any other, and what the lead did stays named.
    assert_eq!(a.by_lead(), ["a.txt"]);
}

#[test]
fn given_back_untouched_it_goes_on_where_it_was() {
    let text = plan(&wp("a", "review = \"human\""));
    let rig = Rig::new(&text, &[("worker.sh", &worker("done_well"))]);
    rig.apply(4);
    take(&rig, "a");
    let said = rig.sop_ends(2, &["review", "a", "--approve"]);
    assert!(said.err.contains("`a` is taken"), "{}", said.err);
    let said = rig.sop_ends(0, &["take", "a", "--back"]);
    assert!(said.out.contains("as it was"), "{}", said.out);
    assert_eq!(rig.wp("a").phase, Phase::AwaitingReview);
    // Changed, it is a worker's before anybody reviews it.
    let worktree = take(&rig, "a");
    put(&worktree, "a.txt", "good by hand\n");
    rig.sop_ends(0, &["take", "a", "--back"]);
    assert_eq!(rig.wp("a").phase, Phase::Starting);
    rig.sop_ends(4, &["resume"]);
    assert_eq!(rig.lines("starts"), ["a/1", "a/2"]);
    assert_eq!(rig.wp("a").round, 1);
    rig.sop_ends(0, &["review", "a", "--approve"]);
    rig.sop_ends(0, &["resume"]);
}

#[test]
fn a_person_and_a_command_review_the_leads_work_too() {
    let reviewer = "n=$(ls $MARKS | grep -c asked); touch $MARKS/asked$n\n\
                    if grep -q hand a.txt; then v=approve; f='[]'; else v=request_changes\n\
                    f='[{\"severity\":\"major\",\"message\":\"by hand\"}]'; fi\n\
                    echo \"{\\\"verdict\\\":\\\"$v\\\",\\\"summary\\\":\\\"s\\\",\\\"findings\\\":$f}\"";
    let text = with_head(
        "rounds = 1",
        &(wp("a", "review = { command = [\"sh\", \"review.sh\"] }")
            + &wp("b", "review = \"human\"")),
    );
    let files = [("worker.sh", &worker("done_well")[..]), ("review.sh", reviewer)];
    let rig = Rig::new(&text, &files);
    rig.apply(4);
    assert_eq!(rig.wp("a").phase, Phase::Escalated);
    let worktree = take(&rig, "a");
    put(&worktree, "a.txt", "good\n");
    let said = rig.sop_ends(3, &["recheck", "a"]);
    assert!(said.out.contains("by hand"), "asked anew: {}", said.out);
    put(&worktree, "a.txt", "good by hand\n");
    rig.sop_ends(0, &["recheck", "a"]);
    let worktree = take(&rig, "b");
    put(&worktree, "b.txt", "good by hand\n");
    let said = rig.sop_ends(4, &["recheck", "b"]);
    assert!(said.out.contains("sop review b --approve"), "{}", said.out);
    rig.sop_ends(0, &["review", "b", "--approve"]);
    rig.sop_ends(0, &["resume"]);
    assert_eq!(rig.on("sop/o-1/b", "b.txt"), "good by hand\n");
}
