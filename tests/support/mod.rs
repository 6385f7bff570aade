//! Fixtures that several rooms' tests share.

pub mod plan_text;
pub mod rig;
pub mod scratch;
pub mod small_plan;
pub mod steps;
pub mod written;
