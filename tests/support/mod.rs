//! Fixtures that several rooms' tests share.

pub mod small_plan;
pub mod steps;
