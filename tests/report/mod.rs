//! The report room: what it draws.

mod escape;
mod findings;
mod graph;
mod rules;
