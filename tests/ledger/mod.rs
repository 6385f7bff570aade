//! The ledger: what each fact means, what may follow it, and what may not.

mod course;
mod delivery;
mod gates;
mod impossible;
mod journal;
mod needs;
mod reviewers;
mod rounds;
mod starts;
mod walk;
