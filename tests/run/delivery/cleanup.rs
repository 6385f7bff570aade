//! What is removed once work has landed, and what is not.

use sop::event::Event;

use super::{LOW, Shop};
use crate::support::written::{plan, wp};

#[test]
fn what_somebody_merged_meanwhile_is_found_by_its_patch_and_tidied_up() {
    let Some(shop) = Shop::new(&plan(&format!("[delivery]\n{}", wp("a", "")))) else { return };
    let said = shop.apply(0);
    assert!(said.out.contains("nothing merges by itself"), "{}", said.out);
    assert_eq!(shop.rig.trees().len(), 1);
    shop.forge.push_by_another("main", "other.txt", "other");
    shop.forge.merge(1);
    let said = shop.sop(0, &["deliver"]);
    assert!(said.out.contains("landed"), "{}", said.out);
    assert_eq!(shop.rig.trees().len(), 0);
    assert_eq!(shop.rig.ledger().moved, []);
}

#[test]
fn what_is_merged_and_not_there_keeps_its_branch() {
    let Some(shop) = Shop::new(&plan(&format!("[delivery]\n{}", wp("a", "")))) else { return };
    shop.apply(0);
    let before = shop.forge.sh("git rev-parse main");
    shop.forge.merge(1);
    // Somebody takes it out again by force.
    shop.forge.sh(&format!("git update-ref refs/heads/main {before}"));
    let said = shop.sop(4, &["deliver"]);
    assert!(said.out.contains("is not found in main"), "{}", said.out);
    assert_eq!(shop.rig.trees().len(), 1);
    assert_eq!(shop.rig.count(|event| matches!(event, Event::BranchRemoved { .. })), 0);
}

#[test]
fn a_plan_can_have_everything_kept() {
    let plan = plan(&format!("{LOW}cleanup = false\n{}", wp("a", "risk = \"low\"")));
    let Some(shop) = Shop::new(&plan) else { return };
    shop.apply(0);
    assert!(shop.item(Some("a")).landed.is_some());
    assert_eq!((shop.rig.trees().len(), shop.rig.worktrees().len()), (1, 2));
}

#[test]
fn a_local_branch_that_was_moved_stays_and_what_was_checked_is_pushed() {
    let plan = plan(&format!("{LOW}{}", wp("a", "risk = \"low\"")));
    let Some(shop) = Shop::new(&plan) else { return };
    shop.sop(0, &["apply", "--approve", "commits,cleanup"]);
    let checked = shop.rig.wp("a").commit.unwrap();
    shop.rig.git(&["update-ref", "refs/heads/sop/o-1/a", "main"]);
    // Whoever moved it had no business there, and the run says so; what is delivered is what was checked.
    let said = shop.sop(3, &["deliver", "--merge"]);
    assert!(said.out.contains("moved after it was checked: sop/o-1/a"), "{}", said.out);
    assert_eq!(shop.forge.pulls()[0].at, checked.as_str());
    assert_eq!(shop.rig.trees().len(), 1, "it holds something else now");
}
