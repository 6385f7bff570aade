//! NDJSON for programs: each record as a line of `schemas/event.schema.json`, whole and at once.

use std::io::Write;

use super::Reporter;
use crate::event::Record;
use crate::ledger::Ledger;
use crate::model::time::Timestamp;

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
        let written = serde_json::to_vec(record).map_err(Into::into).and_then(|mut line| {
            line.push(b'\n');
            out.write_all(&line)?;
            out.flush()
        });
        if written.is_err() {
            self.out = None;
        }
    }

    fn tick(&mut self, _: &Ledger, _: Timestamp) {}

    fn finish(&mut self, _: &Ledger) {
        self.out = None;
    }
}
