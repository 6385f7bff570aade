//! Fixtures that more than one room's tests use.

pub mod git_repo;
pub mod tricks;
