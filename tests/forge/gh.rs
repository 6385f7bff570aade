//! The real gh against the forge of the tests, through the room's own door. Every child inherits what the test
//! binary has in its environment, which cannot be changed here: gh's settings are its own by a wrapper, and so
//! these tests are run by the binary itself (`tests/run/delivery`). What is held here needs no login.

use sop::forge::{Forge as _, Gh, Kind, Place};

use crate::support::scratch::has_tool;

#[test]
fn that_nobody_is_logged_in_is_known_without_asking_anybody() {
    if !has_tool("gh", "apt-get install gh") {
        return;
    }
    let place = Place::of("https://nobody-is-logged-in.invalid/octo/demo").unwrap();
    let error = Gh::new(place).ready().expect_err("nobody is");
    assert_eq!(error.kind, Kind::NoToken);
    assert!(error.text.contains("gh auth login --hostname nobody-is-logged-in.invalid"), "{error}");
}
