//! The part of the terminal that is drawn over: lines at the bottom that change in place, below lines
//! that stay.
//!
//! Lines are never filled to the terminal's edge, and how wide each one was is remembered: when the
//! terminal is made narrower it wraps what stands there, and the next drawing starts at the row where
//! the first line has moved to. Lines are cleared one by one: terminals keep a copy of a screen that is
//! cleared as a whole, and would keep one for each line that scrolls up. (Renderers that pad their lines leave one torn copy for each resize.)

use std::io::Write;

use crate::report::line::Row;

/// Rows and columns of a terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Size {
    /// Rows.
    pub rows: usize,
    /// Columns.
    pub columns: usize,
}

/// Terminals that know synchronized updates show nothing half drawn; others ignore this.
const BEGIN: &str = "\x1b[?2026h";
const END: &str = "\x1b[?2026l";
const CLEAR_REST_OF_LINE: &str = "\x1b[K";

/// What stands on the terminal.
#[derive(Debug, Default)]
pub struct Canvas {
    drawn: Vec<Row>,
    columns: usize,
}

impl Canvas {
    /// The bytes that put `stay` above and `frame` in place of the last one; none when that would
    /// change nothing. Lines of `frame` must be narrower than the terminal, and fewer than its rows.
    #[must_use]
    pub fn draw(&mut self, size: Size, stay: &[Row], frame: Vec<Row>) -> Vec<u8> {
        let same_shape = self.columns == size.columns && self.drawn.len() == frame.len();
        let mut out = Vec::new();
        if stay.is_empty() && same_shape && self.drawn == frame {
            return out;
        }
        let before = self.rows(size.columns);
        self.up(&mut out, before);
        if stay.is_empty() && same_shape {
            for (old, new) in self.drawn.iter().zip(&frame) {
                if old != new {
                    push(&mut out, &[&new.text, CLEAR_REST_OF_LINE]);
                }
                push(&mut out, &["\n"]);
            }
        } else {
            let mut after = 0;
            for row in stay.iter().chain(&frame) {
                push(&mut out, &[&row.text]);
                // On a row that is full to its last column this would take the last character.
                if row.width == 0 || row.width % size.columns.max(1) != 0 {
                    push(&mut out, &[CLEAR_REST_OF_LINE]);
                }
                push(&mut out, &["\n"]);
                after += rows_of(row, size.columns);
            }
            let left = before.saturating_sub(after);
            for _ in 0..left {
                push(&mut out, &[CLEAR_REST_OF_LINE, "\n"]);
            }
            if left > 0 {
                let _ = write!(out, "\x1b[{left}A");
            }
        }
        push(&mut out, &[END]);
        self.drawn = frame;
        self.columns = size.columns;
        out
    }

    /// Rows that the last frame takes on a terminal as wide as this.
    fn rows(&self, columns: usize) -> usize {
        self.drawn.iter().map(|row| rows_of(row, columns)).sum()
    }

    /// To the start of the first line drawn, wherever a resize has moved it.
    fn up(&self, out: &mut Vec<u8>, rows: usize) {
        push(out, &[BEGIN, "\r"]);
        if rows > 0 {
            let _ = write!(out, "\x1b[{rows}A");
        }
    }
}

fn rows_of(row: &Row, columns: usize) -> usize {
    row.width.div_ceil(columns.max(1)).max(1)
}

fn push(out: &mut Vec<u8>, texts: &[&str]) {
    for text in texts {
        out.extend_from_slice(text.as_bytes());
    }
}
