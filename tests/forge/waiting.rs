//! How long is waited, and what of git's words is worth waiting for.

use std::time::Duration;

use sop::forge::{Kind, back_off, of_git};
use sop::git::GitError;

#[test]
fn waits_grow_outlast_ten_seconds_and_come_to_an_end() {
    let waits: Vec<Duration> = (1..).map_while(back_off::after).collect();
    assert_eq!(waits.len(), back_off::TRIES as usize - 1);
    assert!(waits.is_sorted() && waits[0] <= Duration::from_millis(500));
    let all: Duration = waits.iter().sum();
    assert!(all > Duration::from_secs(15) && all < Duration::from_secs(60), "{all:?}");
}

#[test]
fn what_git_says_of_a_remote_has_its_kind() {
    for (said, kind) in [
        ("fatal: unable to access 'http://x/': Empty reply from server", Kind::Unreachable),
        ("ssh: connect to host x port 22: Connection refused", Kind::Unreachable),
        ("fatal: unable to access 'https://x/': Could not resolve host: x", Kind::Unreachable),
        (
            "error: RPC failed; HTTP 502 curl 22 The requested URL returned error: 502",
            Kind::Unreachable,
        ),
        ("! [rejected] a -> b (stale info)", Kind::HeadMoved),
        ("! [remote rejected] a -> b (protected branch hook declined)", Kind::Protected),
        (
            "fatal: could not read Username for 'https://x': terminal prompts disabled",
            Kind::NoToken,
        ),
        ("remote: Permission denied to octo.", Kind::NoToken),
        ("fatal: repository 'x' not found: The requested URL returned error: 404", Kind::NotFound),
        ("something that nobody has heard of", Kind::Refused),
    ] {
        let (command, code) = ("git push".to_owned(), Some(1));
        let error = GitError::Failed { command, code, stderr: said.to_owned() };
        assert_eq!(of_git(&error).kind, kind, "{said}");
    }
}
