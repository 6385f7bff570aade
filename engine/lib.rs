//! `sop`: a plan file in, checked and integrated git branches out.
//!
//! The rooms stand on floors and import only from floors below their own; `tests/floors.rs` holds
//! them to it, and the ARCHITECTURE section of the README draws the house.

pub mod audit;
pub mod brief;
pub mod cli;
pub mod critic;
pub mod event;
pub mod finding;
pub mod forge;
pub mod git;
pub mod graph;
pub mod journal;
pub mod launch;
pub mod ledger;
pub mod model;
pub mod plain_file;
pub mod plan;
pub mod preflight;
pub mod process;
pub mod quick;
pub mod report;
pub mod run;
pub mod schemas;
pub mod upkeep;
pub mod whitelist;
pub mod worker;
