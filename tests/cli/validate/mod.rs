//! `sop validate`, through the binary.

mod color;
mod files;
mod formats;
mod repository;
mod together;
