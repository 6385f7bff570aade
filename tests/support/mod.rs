//! Fixtures that several rooms' tests share.

pub mod samples;
pub mod small_plan;
pub mod story;
pub mod terminal;
