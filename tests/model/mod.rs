//! Data that other programs write: questions, reports, and verdicts, of which several become one.

mod answers;
mod panel;
mod question;
