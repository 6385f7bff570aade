//! Running a plan: from plan text to an integrated branch.

pub mod compile;
pub mod directory;
pub mod step;
