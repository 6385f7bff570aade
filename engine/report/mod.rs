//! The only rooms that draw. Events rise to here through a callback; nothing below knows who looks.
//!
//! While a run goes, one [`Reporter`] follows it: [`live`] on a terminal, [`plain`] in a pipe,
//! [`json`] for programs. Recorded events replayed through a reporter draw the same. When it is over,
//! [`summary`] says what was verified and what to type next.
//!
//! Whatever a plan, a path or a worker wrote is escaped here ([`escape`]) before it meets a terminal.

pub mod adapters;
pub mod cells;
pub mod checkpoint;
pub mod commands;
pub mod config;
pub mod costs;
pub mod critic;
pub mod delivery;
pub mod escape;
mod estimate;
pub mod findings;
pub mod gap;
pub mod graph;
pub mod inbox;
pub mod json;
pub mod junit;
mod limits;
pub mod line;
pub mod live;
pub mod narrate;
pub mod outlook;
pub mod palette;
pub mod plain;
pub mod preflight;
pub mod screen;
pub mod standing;
pub mod stats;
pub mod status;
pub mod summary;
pub mod upkeep;
pub mod whole;
pub mod words;

use std::io;

use crate::event::Record;
use crate::ledger::Ledger;
use crate::model::time::Timestamp;

/// Follows a run. What it cannot write (a pipe whose reader has gone) it drops: a run does not end
/// because nobody looks.
pub trait Reporter: Send {
    /// A record was folded; `ledger` is the state after it.
    fn event(&mut self, record: &Record, ledger: &Ledger);

    /// Time has passed: about ten times a second while a run goes. `now` is the clock's, or the
    /// recording's.
    fn tick(&mut self, ledger: &Ledger, now: Timestamp);

    /// Something that is no event and that a person who looks should know.
    fn say(&mut self, _text: &str) {}

    /// Nothing more follows. After it the reporter writes nothing, whatever it is told.
    fn finish(&mut self, ledger: &Ledger);
}

/// Follows a run for nobody.
#[derive(Debug, Default)]
pub struct Silent;

impl Reporter for Silent {
    fn event(&mut self, _: &Record, _: &Ledger) {}
    fn tick(&mut self, _: &Ledger, _: Timestamp) {}
    fn finish(&mut self, _: &Ledger) {}
}

/// A reader that has gone away is no error: the answer was given to as much of it as it wanted.
///
/// # Errors
/// Every other failure to write.
pub fn quiet(written: io::Result<()>) -> io::Result<()> {
    match written {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        other => other,
    }
}
