//! `[delivery]`.

use super::{found, good_but, only, reading};
use sop::model::approval::Covers;
use sop::model::delivery::{Delivery, MergeMethod};
use sop::model::plan::{Plan, Risk};
use sop::model::time::Length;

#[track_caller]
fn plan(table: &str) -> Plan {
    let (source, read) = reading(&with(table));
    read.plan.unwrap_or_else(|| panic!("{:#?}", super::lines(&source, &read.findings)))
}

fn with(table: &str) -> String {
    good_but("[[wp]]", &format!("[delivery]\n{table}\n[[wp]]"))
}

#[test]
fn an_empty_table_pushes_and_asks_and_merges_nothing() {
    let Delivery { remote, push, pull_request, auto_merge_risk, merge_method, .. } =
        plan("").delivery.expect("it delivers");
    assert_eq!((remote.as_str(), push, pull_request), ("origin", true, true));
    assert_eq!((auto_merge_risk, merge_method), (None, MergeMethod::Squash));
    let delivery = plan("").delivery.unwrap();
    assert_eq!(delivery.wait_for_checks, Length::secs(600));
    assert!(delivery.cleanup && !delivery.draft && !delivery.attribution);
    assert!(!delivery.merges(Risk::Low).0);
    let (_, read) = reading(&good_but("[[wp]]", "[[wp]]"));
    assert_eq!(read.plan.unwrap().delivery, None, "and without it nothing leaves the machine");
}

#[test]
fn risk_decides_what_merges_by_itself() {
    let merges = |key: &str| {
        let delivery = plan(&format!("auto_merge_risk = \"{key}\"")).delivery.unwrap();
        [Risk::Low, Risk::Medium, Risk::High].map(|risk| delivery.merges(risk).0)
    };
    assert_eq!(merges("none"), [false, false, false]);
    assert_eq!(merges("low"), [true, false, false]);
    assert_eq!(merges("medium"), [true, true, false]);
    assert_eq!(merges("high"), [true, true, true]);
}

#[test]
fn what_it_asks_for_is_what_a_yes_covers() {
    for (table, covers) in [
        ("", "commits,push,pull_request,cleanup"),
        ("auto_merge_risk = \"low\"", "commits,push,pull_request,merge,cleanup"),
        ("pull_request = false", "commits,push,cleanup"),
        ("push = false", "commits,cleanup"),
        ("cleanup = false", "commits,push,pull_request"),
    ] {
        assert_eq!(Covers::asked_by(&plan(table)).to_string(), covers, "{table}");
    }
}

#[test]
fn what_is_wrong_with_it_is_said() {
    assert!(only(&with("push = false\npull_request = true")).contains("request-without-push"));
    let idle = found(&with("pull_request = false\ndraft = true"));
    assert!(idle.iter().any(|line| line.contains("`draft` does nothing here")), "{idle:?}");
    let idle = found(&with("draft = true\nauto_merge_risk = \"low\""));
    assert!(idle.iter().any(|line| line.contains("a draft does not merge by itself")), "{idle:?}");
    assert!(only(&with("auto_merge_risk = \"all\"")).contains("auto_merge_risk"));
    assert!(only(&with("after_merge = [\"echo 'open\"]")).contains("open-quote"));
    assert!(only(&with("remote = \"--upload-pack=x\"")).contains("--upload-pack=x"));
}
