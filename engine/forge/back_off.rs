//! How long to wait before something that failed in passing is tried again.

use std::time::Duration;

/// Tries, the first one included. Together they wait for about half a minute.
pub const TRIES: u32 = 8;

/// The first wait; each further one is twice as long.
const FIRST: Duration = Duration::from_millis(200);

/// How long to wait after the `failed`th failure in a row, from 1; `None` when there is no further try.
#[must_use]
pub fn after(failed: u32) -> Option<Duration> {
    (failed < TRIES).then(|| FIRST * 2_u32.pow(failed.saturating_sub(1)))
}
