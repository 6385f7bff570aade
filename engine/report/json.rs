//! JSON for programs: values as others show them too, and a run as NDJSON: each record as a line of
//! `schemas/event.schema.json`, whole and at once.

use std::io::{self, Write};

use serde::Serialize;

use super::Reporter;
use super::escape::visible_json;
use crate::event::Record;
use crate::ledger::Ledger;
use crate::model::time::Timestamp;

/// Writes `value` and a line feed, on one line.
///
/// # Errors
/// What `out` answers to a write.
pub fn line(value: &impl Serialize, out: &mut impl Write) -> io::Result<()> {
    writeln!(out, "{}", visible_json(serde_json::to_string(value)?))
}

/// Writes `value` and a line feed, indented.
///
/// # Errors
/// What `out` answers to a write.
pub fn pretty(value: &impl Serialize, out: &mut impl Write) -> io::Result<()> {
    writeln!(out, "{}", visible_json(serde_json::to_string_pretty(value)?))
}

/// Writes records as they come.
#[derive(Debug)]
pub struct Json<W> {
    out: Option<W>,
}

impl<W: Write> Json<W> {
    /// Writes to `out`.
    pub fn new(out: W) -> Self {
        Self { out: Some(out) }
    }
}

impl<W: Write + Send> Reporter for Json<W> {
    fn event(&mut self, record: &Record, _: &Ledger) {
        let Some(out) = &mut self.out else { return };
        let mut whole = Vec::new();
        let written = line(record, &mut whole).and_then(|()| out.write_all(&whole));
        if written.and_then(|()| out.flush()).is_err() {
            self.out = None;
        }
    }

    fn tick(&mut self, _: &Ledger, _: Timestamp) {}

    fn finish(&mut self, _: &Ledger) {
        self.out = None;
    }
}
