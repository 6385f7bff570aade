//! Running a plan: from plan text to an integrated branch.

pub mod asking;
mod beside;
pub mod checkpoint;
pub mod clean;
pub mod compile;
pub mod create;
pub mod directory;
pub mod dispatcher;
pub mod error;
pub mod freeze;
pub mod gate;
pub mod leaving;
pub mod let_go;
mod lookout;
pub mod naming;
pub mod open;
pub mod provision;
pub mod requests;
pub mod reviewer;
pub mod say;
pub mod settled;
pub mod site;
pub mod slots;
pub mod step;
pub mod stop;
pub mod unit;
pub mod verify;
