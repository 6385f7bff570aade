//! Whether an instant has come. The wall clock says when it should, and a monotonic one how long that is from
//! where it was first waited for: a wall clock that is set back in between makes nobody wait any longer.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use crate::model::time::Timestamp;

/// The instants that are waited for, each with when it comes by the monotonic clock. There are few: one for each
/// pause and each question with a time.
#[derive(Debug, Default)]
pub struct Due(Mutex<BTreeMap<Timestamp, Option<Instant>>>);

impl Due {
    /// Whether `at` has come.
    #[must_use]
    pub fn is_over(&self, at: Timestamp) -> bool {
        self.is_over_by(at, Timestamp(jiff::Timestamp::now()), Instant::now())
    }

    /// The same, where the clocks say this.
    #[must_use]
    pub fn is_over_by(&self, at: Timestamp, wall: Timestamp, monotonic: Instant) -> bool {
        if at <= wall {
            return true;
        }
        let mut waited = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let comes = waited.entry(at).or_insert_with(|| monotonic.checked_add(at.since(wall).0));
        // One that is too far off to be said never comes by itself.
        comes.is_some_and(|comes| comes <= monotonic)
    }
}
