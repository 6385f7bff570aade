//! What an agent may do when it asks.

use serde_json::{Value, json};
use sop::worker::acp::bounds::Bounds;
use sop::worker::acp::policy::{Call, Policy, Ruling, option};

use crate::support::scratch::Scratch;

fn allows(scratch: &Scratch, read_only: bool, told: &Value) -> bool {
    let mut call = Call::default();
    call.learn(told);
    let policy = Policy { read_only, bounds: Bounds::new(scratch.path(), &[]) };
    policy.rule(&call) == Ruling::Allow
}

#[test]
fn a_session_that_works_may_do_anything_inside() {
    let scratch = Scratch::folder();
    for told in [
        json!({ "kind": "edit", "locations": [{ "path": "a.rs" }] }),
        json!({ "kind": "read", "rawInput": { "file_path": scratch.path().join("a.rs") } }),
        json!({ "kind": "execute", "rawInput": { "command": "cargo test", "cwd": scratch.path() } }),
        json!({ "kind": "fetch", "rawInput": { "url": "http://127.0.0.1/" } }),
        json!({ "title": "some tool of its own" }),
    ] {
        assert!(allows(&scratch, false, &told), "{told}");
    }
}

#[test]
fn nor_does_it_reach_outside() {
    let scratch = Scratch::folder();
    for told in [
        json!({ "kind": "edit", "locations": [{ "path": "a.rs" }, { "path": "../b.rs" }] }),
        json!({ "kind": "edit", "content": [{ "type": "diff", "path": "/etc/x", "newText": "" }] }),
        json!({ "kind": "edit", "rawInput": { "changes": { "/etc/x": {} } } }),
        json!({ "kind": "edit", "locations": [{ "path": ".git/config" }] }),
        json!({ "kind": "read", "rawInput": { "filePath": "/etc/passwd" } }),
        json!({ "kind": "execute", "rawInput": { "command": "make", "workdir": "/" } }),
    ] {
        assert!(!allows(&scratch, false, &told), "{told}");
    }
}

#[test]
fn a_session_that_reads_is_held_to_it() {
    let scratch = Scratch::folder();
    for told in [
        json!({ "kind": "read", "locations": [{ "path": "a.rs" }] }),
        json!({ "kind": "search" }),
        json!({ "kind": "execute", "rawInput": { "command": "git diff" } }),
    ] {
        assert!(allows(&scratch, true, &told), "{told}");
    }
    for told in [
        json!({ "kind": "edit", "locations": [{ "path": "a.rs" }] }),
        json!({ "kind": "delete", "locations": [{ "path": "a.rs" }] }),
        json!({ "kind": "execute", "rawInput": { "command": "cargo test" } }),
        json!({ "kind": "execute" }),
        json!({ "kind": "switch_mode" }),
        json!({ "kind": "other" }),
        json!({}),
    ] {
        assert!(!allows(&scratch, true, &told), "{told}");
    }
}

#[test]
fn what_is_told_in_parts_is_put_together() {
    let mut call = Call::default();
    call.learn(&json!({ "kind": "execute", "title": "bash", "rawInput": {} }));
    call.learn(&json!({ "title": "cargo test", "rawInput": { "command": "cargo test" } }));
    call.learn(&json!({ "status": "completed", "title": "" }));
    assert_eq!(call.words(), "run cargo test");
    assert_eq!(call.input, json!({ "command": "cargo test" }));
}

#[test]
fn the_answer_is_for_this_once() {
    let options = json!([
        { "optionId": "a", "kind": "allow_always" },
        { "optionId": "b", "kind": "allow_once" },
        { "optionId": "c", "kind": "reject_always" },
    ]);
    assert_eq!(option(&options, Ruling::Allow), Some("b"));
    assert_eq!(option(&options, Ruling::Deny("no")), Some("c"));
    // Nothing that fits: better none than the wrong one.
    assert_eq!(
        option(&json!([{ "optionId": "a", "kind": "allow_once" }]), Ruling::Deny("no")),
        None
    );
    assert_eq!(option(&json!("?"), Ruling::Allow), None);
}
