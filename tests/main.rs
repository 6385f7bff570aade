//! The one test binary: a module for each room, and one for the house itself.

mod audit;
mod brief;
mod cli;
mod critic;
mod examples;
mod floors;
mod forge;
mod git;
mod graph;
mod launch;
mod ledger;
mod licences;
mod model;
mod plan;
mod preflight;
mod process;
mod quick;
mod report;
mod run;
mod support;
mod upkeep;
mod whitelist;
mod worker;
