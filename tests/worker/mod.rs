//! Agents: what they are called with, what their streams mean, and the driver that runs them.

mod acp;
mod command_lines;
mod driving;
mod faults;
mod limits;
mod matrix;
mod pretend;
mod real_codex;
mod recorded;
mod results;
mod streams;
mod words;
