//! The adapter for the Agent Client Protocol.

mod bounds;
mod choices;
mod fake;
mod policy;
mod reads;
mod turns;
