//! What the approval does not cover is not done, and is said.

use sop::model::approval::{Cover, Covers};
use sop::model::delivery::Hold;

use super::{Shop, one};
use crate::support::rig::Rig;
use crate::support::written::{plan, worker, wp, wp_proven_by};

#[test]
fn a_yes_covers_what_the_plan_asks_for_and_the_prompt_says_what_that_is() {
    let Some(shop) = Shop::new(&one()) else { return };
    let said = shop.sop(4, &["apply"]);
    let all = "commits,push,pull_request,merge,cleanup";
    assert!(said.out.contains(&format!("covers {all}")), "{}", said.out);
    shop.apply(0);
    assert_eq!(shop.rig.ledger().covers.to_string(), all);
    assert!(shop.rig.of_run("approval.json").contains("\"pull_request\""));
}

#[test]
fn what_is_not_covered_is_not_done_until_somebody_says_so() {
    let Some(shop) = Shop::new(&one()) else { return };
    let said = shop.sop(0, &["apply", "--approve", "commits"]);
    assert_eq!(shop.branches(), ["main"]);
    assert_eq!(shop.held(Some("a")).0, Hold::NotCovered);
    assert!(said.out.contains("sop deliver o-1"), "{}", said.out);
    assert!(said.out.contains("sop resume o-1 --approve cleanup"), "{}", said.out);
    assert_eq!(shop.rig.worktrees().len(), 2, "clean-up is not covered");

    let said = shop.sop(0, &["deliver"]);
    assert_eq!(shop.forge.told(), ["#1 sop/o-1/a OPEN"]);
    assert!(said.out.contains("sop deliver o-1 --merge"), "{}", said.out);
    shop.sop(0, &["deliver", "--merge"]);
    assert_eq!(shop.forge.told(), ["#1 sop/o-1/a MERGED"]);
    assert_eq!(shop.rig.trees().len(), 1, "clean-up is still not covered");
    shop.sop(0, &["resume", "--approve", "cleanup"]);
    assert_eq!((shop.rig.trees().len(), shop.rig.worktrees().len()), (0, 0));
}

#[test]
fn a_yes_to_pushing_alone_pushes_and_opens_nothing() {
    let Some(shop) = Shop::new(&one()) else { return };
    let said = shop.sop(0, &["apply", "--approve", "commits,push,cleanup"]);
    assert_eq!(shop.branches(), ["main", "sop/o-1/a"]);
    assert_eq!((shop.forge.pulls(), shop.forge.changes()), (vec![], vec![]));
    let (why, text) = shop.held(Some("a"));
    assert_eq!(why, Hold::NotCovered);
    assert!(text.contains("pull_request") || text.contains("request"), "{text}");
    assert!(said.out.contains("sop deliver o-1"), "{}", said.out);
    shop.sop(0, &["deliver"]);
    assert_eq!(shop.forge.told(), ["#1 sop/o-1/a OPEN"]);
}

#[test]
fn what_cannot_be_approved_is_refused_before_anything_is_run_and_what_is_approved_is_told() {
    let check = "echo x >> \"$MARKS/checks\"; grep -q good a.txt";
    let text = plan(&wp_proven_by("a", &format!("[{check:?}]"), ""));
    let rig = Rig::new(&text, &[("worker.sh", &worker("done_well"))]);
    for (list, says) in [
        ("commits,merge", "does not ask for merge"),
        ("commits,integration", "does not ask for integration"),
        ("cleanup", "may not commit"),
    ] {
        let said = rig.sop_ends(2, &["apply", "--approve", list]);
        assert!(said.err.contains(says), "{}", said.err);
        assert_eq!(rig.lines("checks"), [""; 0], "{list}");
    }
    let said = rig.sop_ends(0, &["apply", "--approve", "commits"]);
    let told = said.out.split_whitespace().collect::<Vec<_>>().join(" ");
    let approved = "approved commits; not cleanup, which the plan asks for as well";
    assert!(told.contains(approved) && !told.contains("a yes"), "{}", said.out);
    // Clean-up is all that is left, nothing follows it, and all of the work can be taken.
    for text in [&said.out, &rig.sop_ends(0, &["status", "--summary"]).out] {
        assert!(text.contains("sop resume o-1 --approve cleanup"), "{text}");
        for wrong in ["go on with the run", "what holds so far", "until somebody has looked"] {
            assert!(!text.contains(wrong), "{wrong}: {text}");
        }
    }
}

#[test]
fn a_stage_is_merged_only_where_integration_is_covered() {
    let stages = "[[stage]]\nname = \"one\"\n[[stage]]\nname = \"two\"\n";
    let (a, b) = (wp("a", "stage = \"one\""), wp("b", "stage = \"two\""));
    let Some(shop) = Shop::new(&plan(&format!("{stages}{a}{b}"))) else { return };
    let said = shop.sop(4, &["apply", "--approve", "commits,cleanup"]);
    assert!(said.out.contains("sop resume o-1 --approve integration"), "{}", said.out);
    assert_eq!(shop.rig.trees().into_keys().collect::<Vec<_>>(), ["sop/o-1/a"]);
    shop.sop(0, &["resume", "--approve", "integration"]);
    assert_eq!(shop.rig.on("sop-stage/o-1/2", "b.txt"), "good b\n");
}

#[test]
fn names_that_are_none_or_that_the_plan_does_not_ask_for_are_refused() {
    let Some(shop) = Shop::new(&plan(&wp("a", ""))) else { return };
    let said = shop.sop(2, &["apply", "--approve", "commits,deploy"]);
    assert!(said.err.contains("pull_request"), "{}", said.err);
    let said = shop.sop(2, &["apply", "--approve", "commits,push"]);
    assert!(said.err.contains("does not ask for push"), "{}", said.err);
    let said = shop.sop(2, &["apply", "--approve", "cleanup"]);
    assert!(said.err.contains("may not commit"), "{}", said.err);
    assert!(!shop.rig.repo().join(".git/sop-run/o-1").exists());
}

#[test]
fn a_changed_plan_voids_it() {
    let Some(shop) = Shop::new(&one()) else { return };
    shop.sop(0, &["apply", "--approve", "commits,cleanup"]);
    let frozen = shop.rig.run_dir().join("resolved.json");
    let text = std::fs::read_to_string(&frozen).unwrap();
    std::fs::write(&frozen, text.replace("\"low\"", "\"high\"")).unwrap();
    let said = shop.sop(5, &["deliver", "--merge"]);
    assert!(said.err.contains("is not the plan that was approved"), "{}", said.err);
    assert_eq!(shop.branches(), ["main"]);
    let local = Covers::of([Cover::Commits, Cover::Cleanup]);
    assert_eq!(shop.rig.ledger().covers, local);
}
