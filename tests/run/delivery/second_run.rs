//! A second run of the same plan finds the request of the first.

use sop::model::delivery::Hold;

use super::Shop;
use crate::support::written::{plan, wp};

fn open() -> String {
    plan(&format!("[delivery]\n{}", wp("a", "")))
}

#[test]
fn it_updates_that_request_and_opens_no_other() {
    let Some(shop) = Shop::new(&open()) else { return };
    shop.apply(0);
    let first = shop.forge.pulls()[0].clone();
    shop.apply(0);
    let pulls = shop.forge.pulls();
    assert_eq!(pulls.len(), 1);
    assert_eq!((pulls[0].head.as_str(), pulls[0].state.as_str()), ("sop/o-1/a", "OPEN"));
    let second = shop.rig.wp("a").commit.expect("a commit");
    assert_eq!(pulls[0].at, second.as_str());
    assert_ne!(pulls[0].at, first.at);
    assert_eq!(shop.branches(), ["main", "sop/o-1/a"]);
    let item = shop.item(Some("a"));
    assert!(item.earlier);
    assert_eq!((item.number, item.branch.as_deref()), (Some(1), Some("sop/o-1/a")));
    // And a third finds what the second left there.
    shop.apply(0);
    assert_eq!(shop.forge.told(), ["#1 sop/o-1/a OPEN"]);
    assert_eq!(shop.forge.pulls()[0].at, shop.rig.wp("a").commit.unwrap().as_str());
}

#[test]
fn its_title_and_body_are_those_of_the_later_run() {
    let Some(shop) = Shop::new(&open()) else { return };
    shop.apply(0);
    assert_eq!(shop.forge.pulls()[0].title, "a");
    // The same again has nothing to say.
    shop.apply(0);
    assert_eq!(shop.forge.changes(), ["create sop/o-1/a"]);
    let later = open().replace("Try it.", "Try it once more.");
    let later = later.replace("whitelist", "title = \"Make it better\"\nwhitelist");
    let path = shop.rig.root().join("later.toml");
    std::fs::write(&path, later).unwrap();
    shop.sop(0, &["apply", "--yes", path.to_str().unwrap()]);
    let pulls = shop.forge.pulls();
    assert_eq!((pulls.len(), pulls[0].title.as_str()), (1, "Make it better"));
    let body = &pulls[0].body;
    assert!(body.contains("Try it once more.") && body.contains("**a**: Make it better"), "{body}");
    assert!(body.contains("<!-- sop: plan=o wp=a -->"), "{body}");
    assert_eq!(shop.forge.changes(), ["create sop/o-1/a", "update 1"]);
}

#[test]
fn what_somebody_else_pushed_there_is_left_and_said() {
    let Some(shop) = Shop::new(&open()) else { return };
    shop.apply(0);
    let theirs = shop.forge.push_by_another("sop/o-1/a", "theirs.txt", "theirs");
    let said = shop.apply(4);
    let (why, text) = shop.held(Some("a"));
    assert_eq!(why, Hold::HeadMoved);
    assert!(text.contains(&theirs[..7]) && text.contains("somebody else"), "{text}");
    assert!(said.out.contains("somebody else did"), "{}", said.out);
    assert_eq!(shop.forge.pulls()[0].at, theirs, "nothing of theirs is overwritten");
    assert_eq!(shop.branches(), ["main", "sop/o-1/a"]);
}
