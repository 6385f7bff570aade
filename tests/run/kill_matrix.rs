//! The engine is ended right after every journal record in turn, and comes back: the result is that of
//! a run that nobody disturbed.
//!
//! `SOP_FAULT=kill:N` has a debug build end itself with KILL once record N is on the disk; `term:N`
//! sends it TERM. With `SOP_TEST_FULL` set (CI sets it) every record is tried with both; otherwise
//! every third, the two taking turns, which leaves no kind of record out.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use sop::event::{Event, Outcome};

use crate::support::rig::{Engine, Rig};

/// Cases that run at once; each is mostly short processes.
const LANES: usize = 3;

const WORKER: &str = r#"
echo "$SOP_WP/$SOP_ATTEMPT" >> "$MARKS/starts"
case "$SOP_WP/$SOP_ROUND" in
    # Its first round does not do what was asked.
    b/1) echo bad > b.txt ;;
    *) echo "good $SOP_WP" > "$SOP_WP.txt" ;;
esac
"#;

/// Two stages, six WPs, one of which needs two rounds.
fn plan() -> String {
    let mut text = r#"version = 1
[plan]
name = "matrix"
goal = "Survive."
base = "main"
[tiers.standard]
worker = "script"
[workers.script]
command = ["sh", "worker.sh"]
[[stage]]
name = "one"
[[stage]]
name = "two"
"#
    .to_owned();
    for (stage, wps) in [("one", ["a", "b", "c"]), ("two", ["d", "e", "f"])] {
        for wp in wps {
            text += &format!(
                "[[wp]]\nid = \"{wp}\"\nstage = \"{stage}\"\nwhitelist = [\"{wp}.txt\"]\n\
                 dod = [\"grep -q good {wp}.txt\"]\nbrief_text = \"Make {wp}.txt good.\"\n"
            );
        }
    }
    text
}

/// What a run that nobody disturbs comes to.
struct Reference {
    template: Rig,
    trees: BTreeMap<String, String>,
    starts: BTreeSet<String>,
    users: BTreeMap<PathBuf, Vec<u8>>,
    records: u64,
}

impl Reference {
    fn new() -> Self {
        let template = Rig::new(&plan(), &[("worker.sh", WORKER)]);
        let undisturbed = Rig::copy_of(&template);
        undisturbed.apply(0);
        let reference = Self {
            users: at_home(&template),
            trees: undisturbed.trees(),
            starts: undisturbed.lines("starts").into_iter().collect(),
            records: undisturbed.records().len() as u64,
            template,
        };
        assert_eq!(reference.trees.len(), 6 + 2, "{:?}", reference.trees);
        assert_eq!(reference.starts.len(), 6 + 1, "{:?}", reference.starts);
        reference.holds(&undisturbed, "undisturbed", true);
        reference
    }

    /// The end of a run is as it should be. `calm`: no worker was told to stop.
    fn holds(&self, rig: &Rig, case: &str, calm: bool) {
        rig.until_quiet();
        let ledger = rig.ledger();
        assert_eq!(ledger.outcome, Some(Outcome::Done), "{case}");
        assert_eq!(rig.trees(), self.trees, "{case}");
        let last = ledger.gates.last().and_then(|gate| gate.tree.clone()).expect("a gate");
        assert_eq!(last.as_str(), self.trees["sop-stage/matrix-1/2"], "{case}");
        let lines = rig.lines("starts");
        let starts: BTreeSet<String> = lines.iter().cloned().collect();
        assert_eq!(lines.len(), starts.len(), "{case}: an attempt started twice: {lines:?}");
        let begun: BTreeSet<String> = rig
            .records()
            .iter()
            .filter_map(|record| match &record.event {
                Event::AttemptStarted { wp, attempt, .. } => Some(format!("{wp}/{attempt}")),
                _ => None,
            })
            .collect();
        assert!(starts.is_subset(&begun), "{case}: {starts:?} is not within {begun:?}");
        if calm {
            assert_eq!(starts, self.starts, "{case}");
            assert_eq!(begun, self.starts, "{case}");
        }
        assert_eq!(at_home(rig), self.users, "{case}: the user's checkout");
        for wp in &ledger.wps {
            assert_eq!((&wp.worktree, &wp.kept), (&None, &None), "{case}: {}", wp.id);
        }
        assert_eq!(rig.worktrees(), Vec::<PathBuf>::new(), "{case}: {:?}", rig.records());
    }
}

/// [`Rig::users`], by names that do not tell where the rig is.
fn at_home(rig: &Rig) -> BTreeMap<PathBuf, Vec<u8>> {
    let home = rig.repo();
    let name = |path: PathBuf| path.strip_prefix(&home).expect("below the checkout").to_owned();
    rig.users().into_iter().map(|(path, bytes)| (name(path), bytes)).collect()
}

/// Calls `case` with 1, 2, 3, … until it says that nothing was left to disturb, several at once.
fn matrix(case: impl Fn(u64) -> bool + Sync) {
    let (next, end) = (AtomicU64::new(1), AtomicU64::new(u64::MAX));
    std::thread::scope(|scope| {
        for _ in 0..LANES {
            scope.spawn(|| {
                loop {
                    let n = next.fetch_add(1, Ordering::Relaxed);
                    if n > end.load(Ordering::Relaxed) {
                        break;
                    }
                    if !case(n) {
                        end.fetch_min(n, Ordering::Relaxed);
                    }
                }
            });
        }
    });
}

fn full() -> bool {
    std::env::var_os("SOP_TEST_FULL").is_some()
}

/// `sop apply` until the fault. Whether it came to it.
fn disturbed(rig: &Rig, fault: &str) -> bool {
    let said = rig.sop_with(&[("SOP_FAULT", fault)], &["apply", "--yes"]);
    let fine = [0, 130, 256].contains(&said.code);
    assert!(fine, "{fault}: {}\n{}\n{}", said.code, said.out, said.err);
    said.code != 0
}

/// `sop resume`, which must finish the run.
fn resumed(rig: &Rig, case: &str) {
    let said = rig.sop(&["resume"]);
    assert_eq!(said.code, 0, "{case}: resume\n{}\n{}", said.out, said.err);
}

#[test]
fn killed_after_any_record_a_run_ends_as_if_nobody_had_disturbed_it() {
    let reference = Reference::new();
    let faults = |n: u64| match (full(), n.is_multiple_of(2)) {
        (true, _) => vec![("kill", n), ("term", n)],
        (false, true) => vec![("kill", 3 * n - 2)],
        (false, false) => vec![("term", 3 * n - 2)],
    };
    matrix(|n| {
        let mut came = true;
        for (kind, record) in faults(n) {
            let rig = Rig::copy_of(&reference.template);
            let case = format!("{kind}:{record}");
            came &= disturbed(&rig, &case);
            resumed(&rig, &case);
            reference.holds(&rig, &case, kind == "kill");
        }
        came
    });
}

#[test]
fn killed_again_and_again_it_still_ends_so() {
    let reference = Reference::new();
    let step = if full() { 5 } else { 19 };
    matrix(|n| {
        let first = step * n - step + 1;
        let rig = Rig::copy_of(&reference.template);
        if !disturbed(&rig, &format!("kill:{first}")) {
            return false;
        }
        let mut case = format!("kill:{first}");
        for after in [first + 1, first + 3, first + 11] {
            case = format!("{case}, then kill:{after}");
            let said = rig.sop_with(&[("SOP_FAULT", &format!("kill:{after}"))], &["resume"]);
            assert!([0, 256].contains(&said.code), "{case}: {}\n{}", said.code, said.err);
        }
        resumed(&rig, &case);
        reference.holds(&rig, &case, true);
        true
    });
}

/// Between two records too: in the middle of a commit, a merge, a removal, or while a git child that
/// survives its engine is at it. Where it hits is chance; what comes of it is not.
#[test]
fn killed_at_any_moment_it_still_ends_so() {
    let reference = Reference::new();
    let cases = if full() { 80 } else { 6 };
    matrix(|n| {
        let rig = Rig::copy_of(&reference.template);
        // Spread over about the time that a run takes, and the same again with each attempt.
        let pauses = [0, 7, 13].map(|more| Duration::from_millis((n * 37 + more * 61) % 1200));
        let case = format!("killed after {pauses:?}");
        for pause in pauses {
            let begun = rig.repo().join(".git/sop-run/matrix-1/journal.jsonl").exists();
            let args: &[&str] = if begun { &["resume"] } else { &["apply", "--yes"] };
            let engine = rig.start(args);
            std::thread::sleep(pause);
            engine.signal(rustix::process::Signal::KILL);
            let code = engine.wait();
            // Killed while the run was being made: there is a journal, and nothing in it yet.
            let unmade = code == 2 && rig.engine_said().contains("has no run yet");
            assert!([0, 256].contains(&code) || unmade, "{case}: {code}\n{}", rig.engine_said());
        }
        if !rig.repo().join(".git/sop-run/matrix-1/journal.jsonl").exists() {
            // A run that was not made yet, or whose name is taken by the beginnings of one.
            return n < cases;
        }
        let said = rig.sop(&["resume"]);
        if said.code == 2 && said.err.contains("no run yet") {
            return n < cases;
        }
        assert_eq!(said.code, 0, "{case}: resume\n{}\n{}", said.out, said.err);
        // What a killed dry run leaves goes with the next.
        rig.until_quiet();
        rig.sop_ends(0, &["plan"]);
        reference.holds(&rig, &case, true);
        n < cases
    });
}

#[test]
fn of_two_that_resume_at_once_one_does_it() {
    let reference = Reference::new();
    let step = if full() { 4 } else { 23 };
    matrix(|n| {
        let rig = Rig::copy_of(&reference.template);
        let case = format!("race after kill:{}", step * n);
        if !disturbed(&rig, &format!("kill:{}", step * n)) {
            return false;
        }
        let racers: Vec<Engine> = (0..2).map(|_| rig.start(&["resume"])).collect();
        let mut codes: Vec<i32> = racers.into_iter().map(Engine::wait).collect();
        codes.sort_unstable();
        assert!(codes == [0, 6] || codes == [0, 0], "{case}: {codes:?}\n{}", rig.engine_said());
        reference.holds(&rig, &case, true);
        true
    });
}

/// Here it is certain that the first still has the run when the second comes: its worker waits.
#[test]
fn whoever_resumes_a_run_that_is_being_resumed_is_sent_away() {
    let waiting = "while [ $SOP_WP = a ] && ! [ -e $MARKS/go ]; do sleep 0.02; done";
    let rig = Rig::new(&plan(), &[("worker.sh", &format!("{WORKER}{waiting}\n"))]);
    // The record after which `a` and the others have their worktrees, and nobody works yet.
    assert!(disturbed(&rig, "kill:6"));
    let first = rig.start(&["resume"]);
    rig.until_lines("starts", 1);
    for _ in 0..3 {
        let said = rig.sop_ends(6, &["resume"]);
        assert!(said.err.contains("another engine holds the run `matrix-1`"), "{}", said.err);
    }
    std::fs::write(rig.mark("go"), "").expect("a mark");
    assert_eq!(first.wait(), 0, "{}", rig.engine_said());
    let starts = rig.lines("starts");
    assert_eq!(starts.len(), 7, "each once: {starts:?}");
    rig.until_quiet();
}

#[test]
fn a_run_that_is_held_is_nobody_elses() {
    let reference = Reference::new();
    let rig = Rig::copy_of(&reference.template);
    assert!(reference.records > 40);
    // Whoever holds the lock is an engine at work, as far as anybody can tell.
    assert!(disturbed(&rig, "kill:40"));
    let lock = std::fs::File::options().write(true).open(rig.run_dir().join("engine.lock"));
    let lock = lock.expect("there is a lock");
    rustix::fs::fcntl_lock(&lock, rustix::fs::FlockOperation::NonBlockingLockExclusive)
        .expect("nobody has it");
    let before = rig.records();
    let said = rig.sop_ends(6, &["resume"]);
    assert!(said.err.contains("another engine holds the run `matrix-1`"), "{}", said.err);
    assert_eq!(rig.records(), before);
    drop(lock);
    resumed(&rig, "after it was let go");
    reference.holds(&rig, "after it was let go", true);
}
