//! gh itself, asked by the room. What needs somebody to be logged in is held by whole runs, which have a
//! forge (`tests/run/delivery`): gh's settings are found by the environment, and that of the test binary is
//! everybody's.

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
