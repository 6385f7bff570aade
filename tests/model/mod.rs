//! Data that other programs write: questions, reports, and verdicts, of which several become one.

mod answers;
mod estimate;
mod panel;
mod question;
