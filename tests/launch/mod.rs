//! Steps under holders, through the real binary.

mod crash;
mod ends;
mod limits;
mod lost;
mod once;
mod run_logged;
mod stopping;
