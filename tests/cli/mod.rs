//! The command line, through the binary.

mod adapters;
mod brief;
mod config;
mod graph;
mod init;
mod pages;
mod pre_commit;
mod schema;
mod validate;
