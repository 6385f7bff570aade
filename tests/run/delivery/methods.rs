//! A request is merged as the plan says: as one commit, as a merge, or commit by commit.

use super::{LOW, Shop};
use crate::support::written::{plan, wp};

/// A run whose request merges so, onto a base that has moved on; how it was asked for.
fn merged(method: &str) -> Option<Shop> {
    let text = plan(&format!("{LOW}merge_method = \"{method}\"\n{}", wp("a", "risk = \"low\"")));
    let shop = Shop::new(&text)?;
    shop.forge.push_by_another("main", "other.txt", "other");
    shop.apply(0);
    assert_eq!(shop.there("main", "a.txt"), "good a");
    assert_eq!(shop.there("main", "other.txt"), "other");
    assert!(shop.item(Some("a")).landed.is_some(), "{method}: it is proven to have landed");
    assert_eq!(shop.rig.trees().len(), 0, "{method}");
    let asked = format!("merge 1 {}", method.to_uppercase());
    let changes = shop.forge.changes();
    assert_eq!(
        changes.iter().filter(|line| line.starts_with("merge")).collect::<Vec<_>>(),
        [&asked]
    );
    Some(shop)
}

/// What the forge's main came to: the parents of its tip, and its subject.
fn tip(shop: &Shop) -> (usize, String) {
    let parents = shop.forge.sh("git show --no-patch --format=%P main");
    let subject = shop.forge.sh("git show --no-patch --format=%s main");
    (parents.split_whitespace().count(), subject.trim().to_owned())
}

#[test]
fn as_a_merge_the_checked_commit_itself_is_there() {
    let Some(shop) = merged("merge") else { return };
    assert_eq!(tip(&shop), (2, "a (#1)".to_owned()));
    let checked = shop.rig.wp("a").commit.expect("a commit");
    let there = shop.forge.sh("git rev-parse main^2");
    assert_eq!(there.trim(), checked.as_str());
}

#[test]
fn rebased_each_commit_is_there_anew_under_its_own_message() {
    let Some(shop) = merged("rebase") else { return };
    let checked = shop.rig.wp("a").commit.expect("a commit");
    let message = shop.forge.sh(&format!("git show --no-patch --format=%s {checked}"));
    assert_eq!(tip(&shop), (1, message.trim().to_owned()));
    assert_ne!(shop.forge.sh("git rev-parse main").trim(), checked.as_str());
}

#[test]
fn as_one_squash_it_is_one_commit_named_like_the_request() {
    let Some(shop) = merged("squash") else { return };
    assert_eq!(tip(&shop), (1, "a (#1)".to_owned()));
}
