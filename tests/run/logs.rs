//! `sop logs`: which logs are shown, and that one which is gone is not shown as if it were empty.

use std::fs;

use crate::support::rig::Rig;
use crate::support::written::{plan, worker, wp, wp_proven_by};

const WORKER: &str = "echo round $SOP_ROUND\n[ $SOP_ROUND = 2 ] && done_well || echo bad > a.txt";

/// A run of one WP with two DoD commands and two rounds, in the first of which the second one fails.
fn two_rounds() -> Rig {
    let dod = r#"["echo one", "echo two; grep -q good a.txt"]"#;
    let text = plan(&wp_proven_by("a", dod, ""));
    let rig = Rig::new(&text, &[("worker.sh", &worker(WORKER))]);
    rig.apply(0);
    rig
}

#[test]
fn a_step_of_several_commands_shows_all_of_the_newest_round() {
    let rig = two_rounds();
    let of = |step: &str| rig.sop_ends(0, &["logs", "a", "--step", step]).out;
    let both = |round| {
        format!(
            "==> logs/a-dod.{round}.1.1-1.log <==\none\n\n==> logs/a-dod.{round}.1.2-1.log <==\ntwo\n"
        )
    };
    assert_eq!(of("dod"), both(2));
    assert_eq!(of("dod.1"), both(1));
    assert_eq!(of("dod.2"), both(2));
    // One log needs no head, however it is named.
    for name in ["dod.1.1.2", "dod.1.1.2-1", "a-dod.1.1.2-1", "logs/a-dod.1.1.2-1.log"] {
        assert_eq!(of(name), "two\n", "{name}");
    }
    assert_eq!(of("work"), "round 2\n");
    assert_eq!(of("work-1"), "round 1\n");
    let base = rig.sop_ends(0, &["logs", "base", "--step", "dod"]).out;
    assert!(base.contains("==> logs/base-dod-1.log <==\none\n"), "{base}");
    assert!(base.contains("==> logs/base-dod-2.log <==\ntwo\n"), "{base}");
    assert_eq!(rig.sop_ends(0, &["logs", "a"]).out, "round 2\n");
    let said = rig.sop_ends(0, &["logs", "a", "--step", "dod", "--json"]);
    let lines: Vec<String> =
        said.out.lines().map(|line| serde_json::from_str(line).expect("a string")).collect();
    let heads = ["==> logs/a-dod.2.1.1-1.log <==", "==> logs/a-dod.2.1.2-1.log <=="];
    assert_eq!(lines, [heads[0], "one", heads[1], "two"]);
    // What there is not is told with what there is.
    for name in ["do", "dod.3", "work-3"] {
        let said = rig.sop_ends(2, &["logs", "a", "--step", name]);
        assert!(said.err.contains("no such log") && said.err.contains("a-work-2"), "{}", said.err);
    }
}

#[test]
fn a_log_that_was_removed_is_an_error_and_not_an_empty_page() {
    let rig = two_rounds();
    fs::remove_file(rig.run_dir().join("logs/a-work-2.log")).expect("a log");
    for args in [&["logs", "a"][..], &["logs", "a", "--step", "work"], &["logs", "a", "-f"]] {
        let said = rig.sop_ends(5, args);
        assert_eq!(said.out, "");
        let named = said.err.contains("a-work-2.log is gone: somebody removed it");
        assert!(named && said.err.contains("help: "), "{}", said.err);
    }
    let list = rig.sop_ends(0, &["logs", "a", "--list"]).out;
    assert!(list.contains("a-work-1.log") && !list.contains("a-work-2.log"), "{list}");
    // What was shown before the one that is missing stays shown.
    fs::remove_file(rig.run_dir().join("logs/a-dod.2.1.2-1.log")).expect("a log");
    let said = rig.sop_ends(5, &["logs", "a", "--step", "dod"]);
    assert!(said.out.ends_with("one\n") && said.err.contains("a-dod.2.1.2-1.log"), "{}", said.err);
    // With all of them gone it is no other.
    fs::remove_dir_all(rig.run_dir().join("logs")).expect("logs");
    fs::create_dir(rig.run_dir().join("logs")).expect("a folder");
    assert!(rig.sop_ends(5, &["logs", "a"]).err.contains("a-work-2.log"));
}

#[test]
fn a_log_that_could_not_be_written_whole_is_said_to_be_incomplete() {
    // What does not fit into the first half of a log goes beside it; here a folder is in the way.
    let script =
        "mkdir \"$(dirname \"$SOP_BRIEF\")/../logs/a-work-1.log.tail\"\nseq 5000\ndone_well";
    let tier = "[tiers.standard]\n";
    let text = plan(&wp("a", "")).replace(tier, &format!("{tier}log_limit = 4096\n"));
    let rig = Rig::new(&text, &[("worker.sh", &worker(script))]);
    let said = rig.apply(0);
    let told = said.out.split_whitespace().collect::<Vec<_>>().join(" ");
    let expected = "logs/a-work-1.log is incomplete: ";
    assert!(told.contains(&format!("seen {expected}")), "{}", said.out);
    assert!(told.matches(expected).count() >= 2, "as it happened too: {}", said.out);
}
