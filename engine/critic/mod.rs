//! The critic: a worker who reads a plan before anybody says yes to it, and changes nothing.
//!
//! A reading is a run like any other, of a plan with one scout: so its journal, its limits, what stands in for its
//! tier, `sop logs` and a start after a crash are the engine's, and its session is not paid twice.
//!
//! | file | idea |
//! | --- | --- |
//! | [`page`] | the plan as the critic is shown it |
//! | [`session`] | the run of the one scout, and what came of it |
//! | [`record`] | where it is kept what a critic said, until there is a run of the plan |
//!
//! What a remark, an answer and a round are is [`crate::model::critic`]'s.

pub mod page;
pub mod record;
pub mod session;
