//! One request for the whole, from the last stage's branch.

use sop::model::delivery::Hold;

use super::{LOW, Shop};
use crate::support::written::{plan, wp};

fn two_stages(delivery: &str, risk: &str, verify: &str) -> String {
    let a = wp("a", &format!("stage = \"one\"\nrisk = \"{risk}\""));
    let b = wp("b", "stage = \"two\"\nrisk = \"low\"");
    plan(&format!("{delivery}{verify}[[stage]]\nname = \"one\"\n[[stage]]\nname = \"two\"\n{a}{b}"))
}

#[test]
fn it_is_opened_after_the_last_look_and_merges_as_its_highest_risk_allows() {
    let verify = "[verify]\nlive = [\"grep -q good a.txt b.txt\"]\n";
    let Some(shop) = Shop::new(&two_stages(LOW, "low", verify)) else { return };
    let said = shop.apply(0);
    assert_eq!(shop.forge.told(), ["#1 sop-stage/o-1/2 MERGED"]);
    assert_eq!(shop.branches(), ["main", "sop-stage/o-1/2"]);
    assert_eq!(shop.there("main", "b.txt"), "good b");
    let pull = &shop.forge.pulls()[0];
    assert_eq!(pull.title, "Try it.");
    for text in ["**a**", "**b**", "on the integrated tree", "`grep -q good a.txt b.txt`"] {
        assert!(pull.body.contains(text), "{text} is not in {}", pull.body);
    }
    let records = shop.rig.records();
    let at = |name: &str| records.iter().position(|it| it.event.name() == name).unwrap();
    assert!(at("verify_ended") < at("delivery_started"));
    // Merged as one commit: landing is told by the patch, and then no branch of the run is needed.
    assert_eq!(shop.rig.trees().len(), 0, "{}", said.out);
}

/// What was merged as one commit is found by that commit's patch, whatever became of the same lines since.
#[test]
fn a_later_edit_of_the_same_lines_does_not_hide_that_it_landed() {
    let Some(shop) = Shop::new(&two_stages("[delivery]\n", "low", "")) else { return };
    shop.apply(0);
    shop.forge.merge(1);
    shop.forge.push_by_another("main", "a.txt", "better");
    let said = shop.sop(0, &["deliver"]);
    assert!(said.out.contains("landed"), "{}", said.out);
    assert!(shop.item(None).landed.is_some());
    assert_eq!(shop.rig.trees().len(), 0, "{}", said.out);
}

#[test]
fn a_higher_risk_keeps_the_whole_open() {
    let Some(shop) = Shop::new(&two_stages(LOW, "high", "")) else { return };
    shop.apply(0);
    assert_eq!(shop.forge.told(), ["#1 sop-stage/o-1/2 OPEN"]);
    assert_eq!(shop.held(None).0, Hold::Risk);
    assert_eq!(shop.rig.trees().len(), 4, "what has not landed stays");
}

#[test]
fn what_does_not_hold_is_not_delivered() {
    let verify = "[verify]\nlive = [\"false\"]\n";
    let Some(shop) = Shop::new(&two_stages(LOW, "low", verify)) else { return };
    shop.apply(3);
    assert_eq!(shop.branches(), ["main"]);
}
