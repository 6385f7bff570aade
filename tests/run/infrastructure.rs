//! What is nobody's work: commands that cannot run, worktrees that cannot be made, workers that are
//! killed or are not there. None of it costs a round.

use std::path::PathBuf;

use sop::event::Event;
use sop::ledger::Phase;

use crate::support::rig::Rig;
use crate::support::written::{plan, worker, wp, wp_proven_by};

/// A plan of one WP that cannot even begin: exit 5, no run, no worker, the report names `what`.
fn cannot_begin(text: &str, files: &[(&str, &str)], what: &str) {
    let worker = worker("done_well");
    let rig = Rig::new(text, &[files, &[("worker.sh", worker.as_str())]].concat());
    let users = rig.users();
    let said = rig.apply(5);
    let all = said.out + &said.err;
    assert!(all.contains(what), "no `{what}` in {all}");
    assert_eq!(rig.lines("starts"), Vec::<String>::new());
    assert_eq!(rig.trees().len(), 0, "no branch is made for nothing");
    assert_eq!(rig.worktrees(), Vec::<PathBuf>::new());
    assert_eq!(rig.users(), users);
    rig.until_quiet();
}

#[test]
fn a_dod_that_cannot_run_stops_before_any_worker_is_paid() {
    for (dod, what) in [
        ("[\"no-such-command-here --check\"]", "no-such-command-here"),
        ("[\"./missing.sh\"]", "missing.sh"),
        ("[\"exit 126\"]", "exit 126"),
    ] {
        cannot_begin(&plan(&wp_proven_by("a", dod, "")), &[], what);
    }
}

#[test]
fn a_setup_that_outlives_its_timeout_stops_before_any_worker_is_paid() {
    // What it left running is ended with it: `cannot_begin` waits until all is quiet.
    let provision = "[provision]\nsetup = [\"sleep 600 & sleep 600\"]\ntimeout = \"300ms\"\n";
    let text = plan(&(provision.to_owned() + &wp("a", "")));
    cannot_begin(&text, &[], "setup failed: ended at its timeout of 300ms");
}

#[test]
fn a_dod_that_is_not_what_the_plan_says_stops_before_any_worker_is_paid() {
    let dod = "[{ run = \"true\", expect = \"red\" }]";
    cannot_begin(&plan(&wp_proven_by("a", dod, "")), &[], "red");
}

#[test]
fn what_provisioning_lacks_stops_before_any_worker_is_paid() {
    for (provision, what) in [
        ("copy = [\".env.test\"]", ".env.test"),
        ("setup = [\"echo what went wrong; exit 3\"]", "what went wrong"),
        ("setup = [\"true\"]\nexpect = [\"node_modules\"]", "node_modules"),
        ("setup = [\"echo x > left-behind.txt\"]", "left-behind.txt"),
    ] {
        let text = plan(&format!("[provision]\n{provision}\n{}", wp("a", "")));
        cannot_begin(&text, &[], what);
    }
}

#[test]
fn setup_that_fails_in_the_run_blocks_the_wp_until_it_is_mended() {
    // The dry run is fine; it is the WP's own worktree that cannot be filled.
    let setup = "case $SOP_RUN in o-1) [ -e $MARKS/mended ] || { echo no room; exit 3; } ;; esac\n";
    let text = plan(&format!("[provision]\nsetup = [\"sh setup.sh\"]\n{}", wp("a", "")));
    let rig = Rig::new(&text, &[("worker.sh", &worker("done_well")), ("setup.sh", setup)]);
    let said = rig.apply(5);
    assert!(said.out.contains("no room"), "{}", said.out);
    assert!(said.out.contains("sop resume o-1"), "{}", said.out);
    assert_eq!(rig.wp("a").phase, Phase::Blocked);
    assert_eq!(rig.lines("starts"), Vec::<String>::new());
    rig.sop_ends(5, &["resume", "o-1"]);
    std::fs::write(rig.mark("mended"), "").unwrap();
    rig.sop_ends(0, &["resume", "o-1"]);
    assert_eq!(rig.lines("starts"), ["a/1"]);
    assert_eq!(rig.wp("a").round, 1);
}

#[test]
fn a_dod_that_breaks_later_costs_no_round() {
    let check = "[ -e a.txt ] || exit 1\n[ -e $MARKS/mended ] || exit 127\n";
    let text = plan(&(wp_proven_by("a", "[\"sh check.sh\"]", "") + &wp("b", "")));
    let rig = Rig::new(&text, &[("worker.sh", &worker("done_well")), ("check.sh", check)]);
    let said = rig.apply(5);
    assert!(said.out.contains("sh check.sh"), "{}", said.out);
    assert_eq!(rig.wp("b").phase, Phase::Passed, "it is one WP's trouble");
    std::fs::write(rig.mark("mended"), "").unwrap();
    rig.sop_ends(0, &["resume"]);
    let starts = rig.lines("starts");
    assert_eq!(starts.iter().filter(|line| line.starts_with("a/")).count(), 1, "{starts:?}");
    assert_eq!(rig.wp("a").rounds.len(), 1);
}

#[test]
fn a_worker_that_is_killed_is_started_again_in_the_same_round() {
    let script = worker("[ $SOP_ATTEMPT = 1 ] && kill -9 $$\ndone_well");
    let rig = Rig::new(&plan(&wp("a", "")), &[("worker.sh", &script)]);
    rig.apply(0);
    assert_eq!(rig.lines("starts"), ["a/1", "a/2"]);
    assert_eq!(rig.wp("a").rounds.len(), 1);
    let rounds = |event: &Event| matches!(event, Event::RoundStarted { .. });
    assert_eq!(rig.count(rounds), 1);
}

#[test]
fn where_the_worker_is_not_to_be_had_the_fallback_works() {
    let tiers = "[tiers.light]\nworker = \"gone\"\nfallback = [\"standard\"]\n\
                 [workers.gone]\ncommand = [\"no-such-worker-here\"]\n";
    let text = plan(&(tiers.to_owned() + &wp("a", "tier = \"light\"")));
    let rig = Rig::new(&text, &[("worker.sh", &worker("done_well"))]);
    rig.apply(0);
    assert_eq!(rig.wp("a").rounds.len(), 1);
    assert_eq!(rig.wp("a").tier.as_str(), "standard");
    assert_eq!(rig.lines("starts"), ["a/2"]);
}

#[test]
fn where_no_worker_is_to_be_had_a_person_is_told() {
    let text = plan(&wp("a", "")).replace("\"sh\", \"worker.sh\"", "\"no-such-worker-here\"");
    let rig = Rig::new(&text, &[]);
    // Told before anything is made, where it is known by then.
    let said = rig.apply(1);
    assert!(said.err.contains("missing-program"), "{}", said.err);
    assert!(said.err.contains("there is no program `no-such-worker-here` on PATH"), "{}", said.err);
    assert!(!rig.repo().join(".git/sop-run/o-1").exists());
    rig.write("plan.toml", &text.replace("no-such-worker-here", "bin/wrok.sh"));
    let said = rig.apply(1);
    assert!(said.err.contains("there is no `bin/wrok.sh`"), "{}", said.err);
    rig.write(
        "plan.toml",
        &text.replace("no-such-worker-here", "{{ \\\"no-such-worker-here\\\" }}"),
    );
    let said = rig.apply(5);
    assert!(said.out.contains("no-such-worker-here"), "{}", said.out);
    assert_eq!(rig.wp("a").rounds.len(), 0);
    assert_eq!(rig.wp("a").phase, Phase::Blocked);
}

#[test]
fn a_worker_that_was_changed_since_the_base_is_told_of() {
    let rig = Rig::new(&plan(&wp("a", "")), &[("worker.sh", &worker("done_well"))]);
    let said = rig.apply(0);
    assert!(!said.out.contains("worker.sh` is not the same"), "{}", said.out);
    rig.write("worker.sh", "exit 1\n");
    let said = rig.apply(0);
    assert!(said.out.contains("worker.sh` is not the same"), "{}", said.out);
}

#[test]
fn a_worktree_whose_place_is_taken_fails_as_infrastructure_and_nowhere_else_is_worked() {
    let script = worker("done_well\n[ $SOP_WP = a ] && echo taken > \"${PWD%/*}/b\"\ntrue");
    let rig =
        Rig::new(&plan(&(wp("a", "") + &wp("b", "needs = [\"a\"]"))), &[("worker.sh", &script)]);
    let users = rig.users();
    let said = rig.apply(5);
    let taken = PathBuf::from(rig.wp("b").worktree.expect("it was to be there"));
    assert!(said.out.contains(taken.to_str().unwrap()), "{}", said.out);
    assert_eq!(rig.wp("b").phase, Phase::Blocked);
    assert_eq!(rig.lines("starts"), ["a/1"]);
    assert_eq!(rig.users(), users);
    assert_eq!(std::fs::read_to_string(&taken).unwrap(), "taken\n", "it is not ours to remove");
    std::fs::remove_file(&taken).unwrap();
    rig.sop_ends(0, &["resume"]);
    assert_eq!(rig.lines("starts"), ["a/1", "b/1"]);
}

#[test]
fn what_a_killed_run_of_the_same_name_left_is_in_nobodys_way() {
    let script = worker("done_well");
    let rig = Rig::new(&plan(&(wp("a", "") + &wp("b", ""))), &[("worker.sh", &script)]);
    let said = rig.sop_with(&[("SOP_FAULT", "kill:14")], &["apply", "--yes"]);
    assert_eq!(said.code, 256, "{}", said.err);
    rig.until_quiet();
    // Somebody tidies up half of it: branches and worktrees stay.
    std::fs::remove_dir_all(rig.run_dir()).unwrap();
    assert!(!rig.trees().is_empty());
    let said = rig.apply(0);
    assert!(said.out.contains("sop/o-2/a"), "{}", said.out);
    assert_eq!(rig.on("sop/o-2/b", "b.txt"), "good b\n");
}

#[test]
fn a_killed_dry_run_leaves_nothing_that_lasts() {
    let check = "echo x > left.txt; echo $$ > $MARKS/check\n[ -e $MARKS/go ] || sleep 600\nrm left.txt; exit 1\n";
    let rig = Rig::new(
        &plan(&wp_proven_by("a", "[\"sh check.sh\"]", "")),
        &[("worker.sh", &worker("done_well")), ("check.sh", check)],
    );
    let users = rig.users();
    let engine = rig.start(&["plan"]);
    rig.until_lines("check", 1);
    engine.signal(rustix::process::Signal::KILL);
    assert_eq!(engine.wait(), 256);
    rig.until_quiet();
    assert!(!rig.worktrees().is_empty(), "a kill leaves what it leaves");
    std::fs::write(rig.mark("go"), "").unwrap();
    rig.sop_ends(0, &["plan"]);
    assert_eq!(rig.worktrees(), Vec::<PathBuf>::new());
    assert_eq!(rig.users(), users);
    let left = std::fs::read_dir(rig.repo().join(".git/sop-run")).unwrap();
    let left: Vec<_> = left.map(|entry| entry.unwrap().file_name()).collect();
    let scratch = left.iter().filter(|name| name.to_string_lossy().starts_with(".checkpoint"));
    assert_eq!(scratch.count(), 0, "{left:?}");
}

#[test]
fn a_dod_that_cannot_run_at_the_gate_halts_it_until_it_is_mended() {
    let check = "[ -e a.txt ] || exit 1\n\
                 case $PWD in */gate-*) [ -e $MARKS/mended ] || exit 127 ;; esac\n";
    let stage = "[[stage]]\nname = \"one\"\n";
    let text =
        plan(&(stage.to_owned() + &wp_proven_by("a", "[\"sh check.sh\"]", "stage = \"one\"")));
    let rig = Rig::new(&text, &[("worker.sh", &worker("done_well")), ("check.sh", check)]);
    let said = rig.apply(5);
    assert!(said.out.contains("sop resume o-1"), "{}", said.out);
    std::fs::write(rig.mark("mended"), "").unwrap();
    rig.sop_ends(0, &["resume", "o-1"]);
    assert_eq!(rig.lines("starts"), ["a/1"]);
    assert_eq!(rig.worktrees(), Vec::<PathBuf>::new());
}

#[test]
fn a_reviewer_that_fails_is_asked_again_once_it_is_mended() {
    let review = "echo x >> $MARKS/asked\n[ -e $MARKS/mended ] || { echo nonsense; exit 0; }\n\
                  printf '{\"verdict\":\"approve\",\"summary\":\"\",\"findings\":[]}'\n";
    let text = plan(&wp("a", "review = { command = [\"sh\", \"review.sh\"] }"));
    let rig = Rig::new(&text, &[("worker.sh", &worker("done_well")), ("review.sh", review)]);
    let said = rig.apply(5);
    assert!(said.out.contains("no verdict"), "{}", said.out);
    assert!(said.out.contains("as `sop schema verdict` says"), "{}", said.out);
    let problem = rig.wp("a").blocked_by.expect("it says why");
    assert!(problem.log.is_some_and(|log| log.starts_with("logs/a-review.1.")));
    assert_eq!(rig.lines("asked").len(), 2);
    rig.sop_ends(5, &["resume"]);
    std::fs::write(rig.mark("mended"), "").unwrap();
    rig.sop_ends(0, &["resume"]);
    assert_eq!(rig.lines("asked").len(), 5);
    assert_eq!(rig.lines("starts"), ["a/1"]);
}
