//! Commands as a person can type them, on whatever line they are told. A test parses each one with the
//! command line's own parser.

use crate::model::ids::{RunId, WpId};

/// Approves the work of `wp`.
#[must_use]
pub fn approve(run: &RunId, wp: &WpId) -> String {
    format!("sop review {wp} --approve --run {run}")
}

/// Tries `wp` again.
#[must_use]
pub fn retry(run: &RunId, wp: &WpId) -> String {
    format!("sop retry {wp} --run {run}")
}

/// Goes on with the run.
#[must_use]
pub fn resume(run: &RunId) -> String {
    format!("sop resume {run}")
}

/// Shows how the run stands.
#[must_use]
pub fn status(run: &RunId) -> String {
    format!("sop status {run}")
}
