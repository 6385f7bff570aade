//! Running plans.

mod compile;
