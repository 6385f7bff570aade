//! Fixtures that several rooms' tests share.

pub mod checkout;
pub mod codex_home;
pub mod driven;
pub mod forge;
pub mod git_repo;
pub mod model_server;
pub mod peak;
pub mod plan_text;
pub mod policy;
pub mod pretender;
pub mod rig;
pub mod samples;
pub mod scratch;
pub mod small_plan;
pub mod steps;
pub mod story;
pub mod terminal;
pub mod tricks;
pub mod written;
