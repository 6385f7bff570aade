//! What keeps a request from merging by itself: it stays open, with the reason.

use sop::model::delivery::Hold;

use super::{Shop, one};
use crate::support::forge::Ends;

#[test]
fn a_protected_branch_is_not_gone_around() {
    let Some(shop) = Shop::new(&one()) else { return };
    shop.forge.protect(&["ci"], true);
    let said = shop.apply(4);
    let (why, text) = shop.held(Some("a"));
    assert_eq!(why, Hold::Protected);
    assert!(text.contains("a review is required"), "{text}");
    assert!(said.out.contains("main, which is protected"), "{}", said.out);
    assert!(!shop.forge.changes().iter().any(|line| line.starts_with("merge")));
}

#[test]
fn a_check_that_the_branch_requires_is_waited_for_even_if_none_has_begun() {
    let plan = one().replace("auto_merge_risk", "wait_for_checks = \"1s\"\nauto_merge_risk");
    let Some(shop) = Shop::new(&plan) else { return };
    shop.forge.protect(&["build"], false);
    shop.forge.checks("/a", &[]);
    shop.apply(4);
    let pending = (Hold::ChecksPending, "checks have not begun: build".to_owned());
    assert_eq!(shop.held(Some("a")), pending);
    shop.forge.checks("/a", &[("build", Ends::Passed)]);
    shop.sop(0, &["resume"]);
}

#[test]
fn a_check_that_the_branch_requires_and_that_fails_is_named_and_costs_no_round() {
    let Some(shop) = Shop::new(&one()) else { return };
    shop.forge.protect(&["build"], false);
    shop.forge.checks("/a", &[("build", Ends::Failed), ("lint", Ends::Passed)]);
    shop.apply(4);
    assert_eq!(shop.held(Some("a")), (Hold::ChecksFailed, "failed: build".to_owned()));
    assert_eq!(shop.forge.told(), ["#1 sop/o-1/a OPEN"]);
    assert!(!shop.forge.changes().iter().any(|line| line.starts_with("merge")));
    assert_eq!(shop.rig.wp("a").round, 1);
    shop.forge.checks("/a", &[("build", Ends::Passed), ("lint", Ends::Passed)]);
    shop.sop(0, &["resume"]);
    assert_eq!(shop.forge.told(), ["#1 sop/o-1/a MERGED"]);
}

#[test]
fn a_base_that_moved_on_is_merged_onto_where_that_goes() {
    let Some(shop) = Shop::new(&one()) else { return };
    shop.forge.push_by_another("main", "other.txt", "other");
    shop.apply(0);
    assert_eq!(shop.there("main", "a.txt"), "good a");
    assert_eq!(shop.there("main", "other.txt"), "other");
    assert!(shop.item(Some("a")).landed.is_some());
}

#[test]
fn a_base_that_moved_on_into_a_conflict_keeps_it_open() {
    let Some(shop) = Shop::new(&one()) else { return };
    let theirs = shop.forge.push_by_another("main", "a.txt", "theirs");
    shop.apply(4);
    let (why, text) = shop.held(Some("a"));
    assert_eq!(why, Hold::Conflict);
    assert!(text.contains("conflicts"), "{text}");
    assert_eq!(shop.forge.sh("git rev-parse main"), theirs);
    assert_eq!(shop.rig.trees().len(), 1, "the work is where it was");
}

#[test]
fn a_head_that_somebody_else_pushed_to_is_not_merged() {
    let Some(shop) = Shop::new(&one()) else { return };
    shop.forge.checks("/a", &[("ci", Ends::Failed)]);
    shop.apply(4);
    let theirs = shop.forge.push_by_another("sop/o-1/a", "theirs.txt", "theirs");
    shop.forge.checks("/a", &[("ci", Ends::Passed)]);
    shop.sop(4, &["resume"]);
    let (why, text) = shop.held(Some("a"));
    assert_eq!(why, Hold::HeadMoved);
    assert!(text.contains("somebody else"), "{text}");
    assert_eq!(shop.forge.pulls()[0].at, theirs);
    assert_eq!(shop.forge.told(), ["#1 sop/o-1/a OPEN"]);
}

#[test]
fn a_branch_that_is_somebody_elses_from_the_start_is_left_alone() {
    let Some(shop) = Shop::new(&one()) else { return };
    shop.forge.sh("git branch sop/o-1/a main");
    let theirs = shop.forge.push_by_another("sop/o-1/a", "theirs.txt", "theirs");
    shop.apply(4);
    assert_eq!(shop.held(Some("a")).0, Hold::HeadMoved);
    assert_eq!(shop.forge.sh("git rev-parse sop/o-1/a"), theirs);
    assert_eq!(shop.forge.pulls(), []);
}

#[test]
fn a_request_that_somebody_closed_stays_closed() {
    let Some(shop) = Shop::new(&one()) else { return };
    shop.forge.checks("/a", &[("ci", Ends::Failed)]);
    shop.apply(4);
    shop.forge.close(1);
    shop.sop(0, &["resume"]);
    assert_eq!(shop.held(Some("a")).0, Hold::Closed);
    assert_eq!(shop.forge.told(), ["#1 sop/o-1/a CLOSED"]);
}

#[test]
fn a_draft_does_not_merge_by_itself() {
    let plan = one().replace("auto_merge_risk", "draft = true\nauto_merge_risk");
    let Some(shop) = Shop::new(&plan) else { return };
    shop.apply(0);
    assert_eq!(shop.held(Some("a")).0, Hold::Draft);
    assert!(shop.forge.pulls()[0].draft);
}

#[test]
fn what_the_forge_says_steers_no_terminal() {
    let Some(shop) = Shop::new(&one()) else { return };
    shop.forge.checks("/a", &[("\u{1b}[31mred\u{202e}", Ends::Failed)]);
    let said = shop.apply(4);
    assert!(said.out.contains("[31mred\\u{202e}"), "{}", said.out);
    assert!(!said.out.contains('\u{1b}'));
}

#[test]
fn a_remote_that_is_added_as_it_was_told_is_delivered_to() {
    let Some(mut shop) = Shop::new(&one()) else { return };
    shop.rig.git(&["remote", "remove", "origin"]);
    let said = shop.sop(5, &["apply", "--yes"]);
    assert!(said.err.contains("git remote add origin URL"), "{}", said.err);
    shop.sop(0, &["apply", "--approve", "commits,cleanup"]);
    // As told, and as everybody does it.
    shop.rig.git(&["remote", "add", "origin", &shop.forge.url()]);
    shop.rig.git(&["push", "--quiet", "--set-upstream", "origin", "main"]);
    let said = shop.sop(0, &["deliver", "--merge"]);
    let words = said.out.split_whitespace().collect::<Vec<_>>().join(" ");
    let taken = "taken as yours: branch.main.merge, branch.main.remote, remote.origin.fetch, remote.origin.url";
    assert!(words.contains(taken), "{}", said.out);
    assert!(shop.item(Some("a")).landed.is_some());
    shop.before = super::users(&shop.rig);
}
