//! Running plans.

mod adversary;
mod all_at_once;
mod approval;
mod cases;
mod compile;
mod holder;
mod infrastructure;
mod interrupt;
mod kill_matrix;
mod leaving;
mod limits;
mod logs;
mod objects;
mod outcomes;
mod providers;
mod pushes;
mod questions;
mod requests;
mod tampering;
mod tampering_branches;
mod tampering_files;
mod tampering_steps;
mod unreadable;
mod watching;
mod words;
mod worker_review;
