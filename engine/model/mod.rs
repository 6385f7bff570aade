//! The nouns of the product: ids, the plan as resolved, outcomes. Data only: serde (and schemars,
//! which describes the same data), no I/O, no clock.

pub mod approval;
pub mod baseline;
pub mod checkpoint;
pub mod critic;
pub mod delivery;
pub mod estimate;
pub mod gap;
pub mod ids;
pub mod lesson;
pub mod outcome;
pub mod panel;
pub mod plan;
pub mod preflight;
pub mod question;
pub mod setting;
pub mod stand;
pub mod time;
pub mod turn;
pub mod unseen;
pub mod upkeep;
pub mod verdict;
