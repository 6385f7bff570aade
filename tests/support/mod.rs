//! What tests share.

pub mod steps;
