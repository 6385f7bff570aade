//! The rooms that draw. They write to what they are given and never print by themselves.

pub mod escape;
pub mod findings;
pub mod graph;
