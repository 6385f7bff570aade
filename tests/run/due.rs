//! Waiting for an instant, under a wall clock that is set back and one that is set forth.

use std::time::{Duration, Instant};

use sop::model::time::{Length, Timestamp};
use sop::run::due::Due;

#[test]
fn a_clock_that_is_set_back_makes_nobody_wait_longer_and_one_set_forth_ends_the_wait() {
    let (due, start) = (Due::default(), Instant::now());
    let wall = Timestamp(jiff::Timestamp::UNIX_EPOCH).after(Length::secs(100_000));
    let at = wall.after(Length::secs(10));
    let back = Timestamp(jiff::Timestamp::UNIX_EPOCH);
    assert!(!due.is_over_by(at, wall, start));
    assert!(!due.is_over_by(at, back, start + Duration::from_secs(9)));
    assert!(due.is_over_by(at, back, start + Duration::from_secs(10)));
    assert!(due.is_over_by(at, at, start), "the wall clock says so");
    // One that is first met later is waited for from then on.
    let other = wall.after(Length::secs(20));
    assert!(!due.is_over_by(other, wall, start + Duration::from_secs(10)));
    assert!(!due.is_over_by(other, wall, start + Duration::from_secs(29)));
    assert!(due.is_over_by(other, wall, start + Duration::from_secs(30)));
}
