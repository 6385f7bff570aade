//! Running plans.

mod adversary;
mod approval;
mod cases;
mod compile;
mod consolidation;
mod holder;
mod infrastructure;
mod interrupt;
mod kill_matrix;
mod leaving;
mod limits;
mod objects;
mod outcomes;
mod requests;
mod tampering;
mod tampering_branches;
mod tampering_files;
mod tampering_steps;
mod unreadable;
mod verify;
mod watching;
mod worker_review;
