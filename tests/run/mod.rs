//! Running plans.

mod compile;
mod kill_matrix;
mod outcomes;
