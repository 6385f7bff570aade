//! Exit codes, as DESIGN's section of that name gives them. Every verb answers with one of these.

/// All done.
pub const DONE: u8 = 0;
/// Findings in the plan.
pub const FINDINGS: u8 = 1;
/// The command line is wrong.
pub const USAGE: u8 = 2;
/// A WP failed or was escalated.
pub const FAILED: u8 = 3;
/// Waiting for a decision or an approval.
pub const WAITING: u8 = 4;
/// Infrastructure: git, the disk, a provider, a tool that is missing.
pub const INFRASTRUCTURE: u8 = 5;
/// Another engine holds the run.
pub const HELD: u8 = 6;
/// Interrupted; the run can be resumed.
pub const INTERRUPTED: u8 = 130;
