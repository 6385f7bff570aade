//! A worker reaches into the run's own folders: it leaves results for steps that are yet to come, puts
//! there what cannot be read, and ends the process that holds it.

use sop::event::Event;
use sop::launch::Outcome;
use sop::ledger::Phase;
use sop::model::outcome::End;

use crate::support::rig::Rig;
use crate::support::written::{plan, worker, wp, wp_proven_by};

/// The run's directory, as a worker in its worktree finds it.
pub(super) const RUN: &str =
    "run=$(git rev-parse --path-format=absolute --git-common-dir)/sop-run/$SOP_RUN";

/// A result of a step `$1` of `a`, which never ran: green, and in every field as a holder writes it.
pub(super) const FORGE: &str = "forge() { mkdir -p $run/steps/$2/$1-1; \
    printf '{\"key\":{\"run\":\"%s\",\"unit\":\"%s\",\"step\":\"%s\",\"attempt\":1},\
    \"exit\":{\"code\":0},\"ended_by\":\"itself\",\"started_at\":\"2026-01-01T00:00:00Z\",\
    \"ended_at\":\"2026-01-01T00:00:01Z\",\"duration_ms\":1000,\"lines\":0,\"bytes\":0,\
    \"dropped_bytes\":0,\"left_behind\":0}' $SOP_RUN $2 $1 > $run/steps/$2/$1-1/result.json; }";

fn ends(rig: &Rig) -> Vec<End> {
    let records = rig.records().into_iter();
    let ends = records.filter_map(|record| match record.event {
        Event::AttemptEnded { ran, .. } => Some(ran.end),
        _ => None,
    });
    ends.collect()
}

#[test]
fn a_result_that_a_worker_left_for_its_dod_is_not_believed() {
    let script = worker(&format!("{RUN}\n{FORGE}\necho bad > a.txt\nforge dod.1.1.1 a"));
    let rig = Rig::new(&plan(&wp("a", "")), &[("worker.sh", &script)]);
    let said = rig.apply(5);
    assert!(said.out.contains("steps/a/dod.1.1.1-1"), "{}", said.out);
    assert!(said.out.contains("was made by somebody else"), "{}", said.out);
    let a = rig.wp("a");
    assert_eq!((a.phase, a.was, a.rounds.len()), (Phase::Blocked, Some(Phase::Proving), 0));
    let kept = rig.of_run("refused/a-dod.1.1.1-1.1/result.json");
    let kept: Outcome = serde_json::from_str(&kept).expect("it is a result like any other");
    assert!(kept.succeeded() && kept.key.step() == "dod.1.1.1", "{kept:?}");
    // The next engine does not come to believe it either: the DoD runs, and the work is bad.
    rig.sop(&["resume"]);
    let a = rig.wp("a");
    assert!(a.rounds[0].problems[0].message.contains("exits 1"), "{:?}", a.rounds);
    assert_ne!(a.phase, Phase::Passed);
}

#[test]
fn nor_one_that_it_left_for_the_gate_or_the_reviewer_or_anothers_setup_or_worker() {
    let stage = "[[stage]]\nname = \"one\"\n";
    let setup = "[provision]\nsetup = [\"true\"]\n";
    let b = wp("b", "needs = [\"a\"]");
    for (text, step, unit) in [
        (stage.to_owned() + &wp("a", "stage = \"one\""), "dod.1", "gate-1"),
        (wp("a", "review = { command = [\"sh\", \"review.sh\"] }"), "review.1.1", "a"),
        (setup.to_owned() + &wp("a", "") + &b, "setup.1", "b"),
        (wp("a", "") + &b, "work", "b"),
    ] {
        let script = worker(&format!("{RUN}\n{FORGE}\ndone_well\nforge {step} {unit}"));
        let files = [("worker.sh", script.as_str()), ("review.sh", "exit 1\n")];
        let rig = Rig::new(&plan(&text), &files);
        let said = rig.apply(5);
        let folder = format!("steps/{unit}/{step}-1 was made by somebody else");
        assert!(said.out.contains(&folder), "no `{folder}` in {}", said.out);
        rig.until_quiet();
    }
}

#[test]
fn what_is_no_plain_file_among_the_requests_keeps_nobody_waiting() {
    let script = format!(
        "{RUN}\nmkfifo $run/requests/1.json\nln -s /dev/zero $run/requests/2.json\n\
         truncate -s 3M $run/requests/3.json\nmkdir $run/requests/4.json\n\
         ln -s 1.json $run/requests/5.json\ndone_well"
    );
    let rig = Rig::new(&plan(&wp("a", "")), &[("worker.sh", &worker(&script))]);
    let said = rig.apply(0);
    assert!(said.err.matches("no request").count() <= 5, "once each: {}", said.err);
    for n in 1..=5 {
        let path = rig.run_dir().join(format!("requests/{n}.json"));
        assert!(path.symlink_metadata().is_ok(), "{n} is not ours to remove");
    }
}

#[test]
fn what_is_no_plain_file_in_a_step_keeps_nobody_waiting() {
    // Its own step is one that the engine believes in.
    for put in [
        "mkfifo $own/result.json",
        "ln -s /dev/zero $own/result.json",
        "truncate -s 3M $own/result.json",
        "rm $own/spec.json; mkfifo $own/spec.json",
        "rm $own/started; mkfifo $own/started",
    ] {
        let script = format!("{RUN}\nown=$run/steps/a/work-1\n{put}\ndone_well\nkill -9 $PPID");
        let rig = Rig::new(&plan(&wp("a", "")), &[("worker.sh", &worker(&script))]);
        let said = rig.apply(5);
        assert!(said.out.contains("is damaged"), "{put}: {}", said.out);
        assert_eq!(rig.lines("starts"), ["a/1"], "{put}");
    }
}

#[test]
fn a_worker_that_stops_its_own_holder_spoils_its_start() {
    let end = End::Signal { signal: 15 };
    // An order that nobody gave, left by the worker itself, makes no difference.
    for order in ["true", "echo term > $run/steps/a/work-1/cancel"] {
        let stop = format!("[ $SOP_ATTEMPT = 1 ] && {{ {order}; kill -TERM $PPID; sleep 600; }}");
        let script = worker(&format!("{RUN}\n{stop}\ndone_well"));
        let rig = Rig::new(&plan(&wp("a", "")), &[("worker.sh", &script)]);
        rig.apply(0);
        assert_eq!(ends(&rig), [end.clone(), End::Exit { code: 0 }]);
        assert_eq!(rig.wp("a").spoilt.len(), 1);
        assert_eq!(rig.wp("a").rounds.len(), 1);
    }
}

#[test]
fn a_dod_that_stops_its_own_holder_is_given_up() {
    let check = "[ -e a.txt ] || exit 1\necho x >> $MARKS/checks\n\
                 [ -e $MARKS/mended ] || { kill -TERM $PPID; sleep 600; }\n";
    let text = plan(&wp_proven_by("a", "[\"sh check.sh\"]", ""));
    let rig = Rig::new(&text, &[("worker.sh", &worker("done_well")), ("check.sh", check)]);
    let said = rig.apply(5);
    assert!(said.out.contains("was cut off 3 times"), "{}", said.out);
    assert_eq!(rig.lines("checks").len(), 3);
    assert_eq!(rig.wp("a").phase, Phase::Blocked);
    std::fs::write(rig.mark("mended"), "").unwrap();
    rig.sop_ends(0, &["resume"]);
    assert_eq!(rig.lines("starts"), ["a/1"]);
}
