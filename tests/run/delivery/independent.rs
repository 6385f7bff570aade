//! Each WP has a request of its own.

use sop::event::{Event, Outcome};
use sop::model::delivery::Hold;

use super::{LOW, Shop};
use crate::support::forge::Ends;
use crate::support::written::{plan, with_head, wp, wp_proven_by};

#[test]
fn of_three_requests_the_one_of_low_risk_merges_by_itself() {
    let all = ["low", "medium", "high"].map(|risk| {
        wp(
            risk,
            &format!(
                "risk = \"{risk}\"\ntitle = \"Make {risk}\"\nfindings = [\"G-{risk}\", \"#7\"]"
            ),
        )
    });
    let Some(shop) = Shop::new(&plan(&format!("{LOW}{}", all.join("")))) else { return };
    let said = shop.apply(0);
    assert_eq!(shop.rig.ledger().outcome, Some(Outcome::Done));
    let mut told: Vec<String> =
        shop.forge.pulls().iter().map(|pull| format!("{} {}", pull.head, pull.state)).collect();
    told.sort();
    assert_eq!(told, ["sop/o-1/high OPEN", "sop/o-1/low MERGED", "sop/o-1/medium OPEN"]);
    assert_eq!(shop.there("main", "low.txt"), "good low");
    assert_eq!(shop.held(Some("high")).0, Hold::Risk);
    let why = "its risk is medium, and up to low merges by itself";
    assert_eq!(shop.held(Some("medium")), (Hold::Risk, why.to_owned()));
    assert!(said.out.contains(why), "{}", said.out);

    // What landed is proven to have landed, and gone here; the rest stays.
    assert!(shop.item(Some("low")).landed.is_some());
    assert_eq!(
        shop.rig.trees().into_keys().collect::<Vec<_>>(),
        ["sop/o-1/high", "sop/o-1/medium"]
    );
    assert_eq!(shop.rig.worktrees(), Vec::<std::path::PathBuf>::new());
    assert!(shop.branches().contains(&"sop/o-1/low".to_owned()), "that is the forge's to remove");

    // The request says what it is and what was verified, and nothing of what made it.
    let low = shop.forge.pulls().into_iter().find(|pull| pull.head.ends_with("low")).unwrap();
    assert_eq!(low.title, "Make low");
    for text in [
        "Try it.",
        "**low**",
        "deals with G-low, #7\n",
        "`grep -q good low.txt`: exit",
        "<!-- sop: plan=o wp=low -->",
    ] {
        assert!(low.body.contains(text), "{text} is not in {}", low.body);
    }
    assert!(!low.body.contains("Made by"), "{}", low.body);

    // Each step stands in the journal before it is made and after it was, in this order.
    let of_low = shop.rig.records().into_iter().filter(|it| {
        it.event.of_delivery() && it.event.wp().is_some_and(|wp| wp.as_str() == "low")
    });
    let names: Vec<String> = of_low.map(|it| it.event.name()).collect();
    let course = [
        "delivery_started",
        "branch_pushed",
        "delivery_started",
        "request_opened",
        "delivery_started",
        "request_merged",
        "delivery_landed",
    ];
    assert_eq!(names, course);

    // A summary for programs has each with its state; so has the one for people.
    let said = shop.sop(0, &["status", "--summary"]);
    for text in ["delivery of low landed", "delivery of high open", "request #"] {
        assert!(said.out.contains(text), "{text} is not in {}", said.out);
    }
}

#[test]
fn a_failing_check_keeps_a_request_open_and_costs_no_round() {
    let Some(shop) = Shop::new(&super::one()) else { return };
    shop.forge.checks("/a", &[("unit", Ends::Passed), ("e2e", Ends::Failed)]);
    let said = shop.apply(4);
    assert_eq!(shop.held(Some("a")), (Hold::ChecksFailed, "failed: e2e".to_owned()));
    assert_eq!(shop.forge.told(), ["#1 sop/o-1/a OPEN"]);
    assert!(said.out.contains("failed: e2e"), "{}", said.out);
    let inbox = shop.sop(0, &["inbox"]).out;
    assert!(inbox.contains("failed: e2e") && inbox.contains("sop resume o-1"), "{inbox}");
    assert_eq!(shop.rig.wp("a").round, 1);
    assert!(!shop.forge.changes().iter().any(|line| line.starts_with("merge")));

    // Somebody mends it: the next look merges.
    shop.forge.checks("/a", &[("unit", Ends::Passed), ("e2e", Ends::Passed)]);
    shop.sop(0, &["resume"]);
    assert_eq!(shop.forge.told(), ["#1 sop/o-1/a MERGED"]);
    assert_eq!(shop.rig.lines("starts"), ["a/1"], "nobody worked again");
}

#[test]
fn checks_that_are_not_over_are_waited_for_as_long_as_the_plan_says() {
    let plan = plan(&format!("{LOW}wait_for_checks = \"1s\"\n{}", wp("a", "risk = \"low\"")));
    let Some(shop) = Shop::new(&plan) else { return };
    shop.forge.checks("/a", &[("e2e", Ends::Pending)]);
    shop.apply(4);
    let pending = (Hold::ChecksPending, "checks are not over: e2e".to_owned());
    assert_eq!(shop.held(Some("a")), pending);
    shop.forge.checks("/a", &[("e2e", Ends::PassedSoon)]);
    shop.sop(0, &["resume"]);
    assert!(shop.item(Some("a")).landed.is_some());
    let opened = shop.rig.count(|event| matches!(event, Event::RequestOpened { .. }));
    assert_eq!(opened, 1);
}

#[test]
fn a_forge_without_checks_is_given_a_moment_and_then_believed() {
    let Some(shop) = Shop::new(&super::one()) else { return };
    shop.forge.checks("/a", &[]);
    shop.apply(0);
    assert!(shop.item(Some("a")).landed.is_some());
}

#[test]
fn without_a_table_nothing_leaves_the_machine() {
    let Some(shop) = Shop::new(&plan(&wp("a", ""))) else { return };
    let said = shop.apply(0);
    assert!(said.out.contains("nothing: no `[delivery]`"), "{}", said.out);
    assert_eq!(shop.branches(), ["main"]);
    assert_eq!(shop.rig.ledger().delivery, None);
    let said = shop.sop(2, &["deliver"]);
    assert!(said.err.contains("nothing leave the machine"), "{}", said.err);
}

#[test]
fn a_request_says_what_made_it_only_where_the_plan_wants_that() {
    let text = plan(&format!("[delivery]\nattribution = true\n{}", wp("a", "")));
    let Some(shop) = Shop::new(&text) else { return };
    shop.apply(0);
    let body = &shop.forge.pulls()[0].body;
    let commit = shop.rig.wp("a").commit.unwrap();
    assert!(body.contains(&format!("Made by a run of `sop` (o-1, at {commit}).")), "{body}");
}

#[test]
fn a_request_names_what_of_the_plan_did_not_get_through() {
    let wps = [wp_proven_by("lost", "[\"false\"]", ""), wp("a", "")].concat();
    let keys = "max_parallel = 1\nrounds = 1";
    let Some(shop) = Shop::new(&with_head(keys, &format!("[delivery]\n{wps}"))) else { return };
    shop.apply(3);
    assert_eq!(shop.forge.told(), ["#1 sop/o-1/a OPEN"]);
    let body = &shop.forge.pulls()[0].body;
    assert!(body.contains("### Not in here\n\n- **lost**: escalated"), "{body}");
}

/// As `git remote add origin ../bare.git` has it.
#[test]
fn a_remote_that_is_named_by_a_relative_path_is_pushed_to() {
    let text = super::one().replace(super::LOW, "[delivery]\npull_request = false\n");
    let rig = crate::support::rig::Rig::new(&text, &[("worker.sh", &super::worker("done_well"))]);
    rig.git(&["init", "--quiet", "--bare", "../small.git"]);
    rig.git(&["remote", "add", "origin", "../small.git"]);
    rig.git(&["push", "--quiet", "origin", "main"]);
    rig.apply(0);
    let there = rig.git(&["ls-remote", "--heads", "origin", "sop/o-1/a"]);
    assert!(there.starts_with(rig.git(&["rev-parse", "sop/o-1/a"]).trim()), "{there}");
}
