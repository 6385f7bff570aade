//! A terminal small enough to be sure of: it wraps, scrolls, and reflows when it is resized, as most do.
//! What it does not know, it refuses.

use std::io;
use std::sync::{Arc, Mutex};

use unicode_width::UnicodeWidthChar;

/// A row of the screen. A wide character is followed by an empty cell.
#[derive(Debug, Clone, Default)]
struct Row {
    cells: Vec<Option<char>>,
    /// The text goes on in the next row.
    wrapped: bool,
}

impl Row {
    fn text(&self) -> String {
        self.cells.iter().flatten().collect::<String>().trim_end().to_owned()
    }

    fn width(&self) -> usize {
        let blank = |cell: &Option<char>| *cell == Some(' ');
        self.cells.len() - self.cells.iter().rev().take_while(|c| blank(c)).count()
    }
}

#[derive(Debug)]
struct State {
    rows: usize,
    columns: usize,
    /// Everything that scrolled away, then the screen.
    lines: Vec<Row>,
    /// Index of the screen's first row.
    top: usize,
    /// Index of the cursor's row, and its column; the column may stand behind the last one.
    at: (usize, usize),
    writes: usize,
    flushes: usize,
    raw: Vec<u8>,
}

/// The terminal; clones are the same one.
#[derive(Debug, Clone)]
pub struct Terminal(Arc<Mutex<State>>);

impl Terminal {
    pub fn new(rows: usize, columns: usize) -> Self {
        Self(Arc::new(Mutex::new(State {
            rows,
            columns,
            lines: vec![Row::default()],
            top: 0,
            at: (0, 0),
            writes: 0,
            flushes: 0,
            raw: Vec::new(),
        })))
    }

    fn with<T>(&self, look: impl FnOnce(&mut State) -> T) -> T {
        look(&mut self.0.lock().unwrap())
    }

    /// Rows and columns.
    pub fn size(&self) -> (usize, usize) {
        self.with(|state| (state.rows, state.columns))
    }

    /// What is on the screen, without the blank rows at its end.
    pub fn screen(&self) -> Vec<String> {
        self.with(|state| trimmed(&state.lines[state.top..]))
    }

    /// What is on the screen and what has scrolled away.
    pub fn history(&self) -> Vec<String> {
        self.with(|state| trimmed(&state.lines))
    }

    /// Writes since the last call.
    pub fn writes(&self) -> usize {
        self.with(|state| std::mem::take(&mut state.writes))
    }

    /// Every byte ever written.
    pub fn raw(&self) -> String {
        self.with(|state| String::from_utf8(state.raw.clone()).unwrap())
    }

    /// The person pulls at a corner of the window.
    pub fn resize(&self, rows: usize, columns: usize) {
        self.with(|state| state.resize(rows, columns));
    }
}

fn trimmed(rows: &[Row]) -> Vec<String> {
    let mut rows: Vec<String> = rows.iter().map(Row::text).collect();
    while rows.last().is_some_and(String::is_empty) {
        rows.pop();
    }
    rows
}

impl State {
    fn resize(&mut self, rows: usize, columns: usize) {
        let mut lines = Vec::new();
        let (mut cursor, mut n) = ((0, 0), 0);
        while n < self.lines.len() {
            let mut cells = Vec::new();
            let mut offset = None;
            loop {
                let row = &self.lines[n];
                if n == self.at.0 {
                    offset = Some(cells.len() + self.at.1);
                }
                let whole = row.wrapped && n + 1 < self.lines.len();
                cells.extend_from_slice(
                    &row.cells[..if whole { row.cells.len() } else { row.width() }],
                );
                n += 1;
                if !whole {
                    break;
                }
            }
            let first = lines.len();
            for chunk in cells.chunks(columns) {
                lines.push(Row { cells: chunk.to_vec(), wrapped: true });
            }
            if cells.is_empty() {
                lines.push(Row::default());
            }
            lines.last_mut().unwrap().wrapped = false;
            if let Some(offset) = offset {
                cursor = (first + offset / columns, offset % columns);
            }
        }
        while lines.len() <= cursor.0 {
            lines.push(Row::default());
        }
        (self.rows, self.columns, self.lines, self.at) = (rows, columns, lines, cursor);
        // The cursor stays in sight; what is above it may come back from history.
        self.top = (self.at.0 + 1).saturating_sub(rows);
        self.lines.truncate((self.top + rows).max(self.at.0 + 1));
    }

    fn feed(&mut self) {
        self.at = (self.at.0 + 1, self.at.1);
        if self.at.0 == self.lines.len() {
            self.lines.push(Row::default());
        }
        if self.at.0 >= self.top + self.rows {
            self.top += 1;
        }
    }

    fn put(&mut self, c: char) {
        let width = c.width().unwrap_or(0);
        if width == 0 {
            return;
        }
        if self.at.1 + width > self.columns {
            self.lines[self.at.0].wrapped = true;
            self.feed();
            self.at.1 = 0;
        }
        let row = &mut self.lines[self.at.0];
        if row.cells.len() < self.at.1 + width {
            row.cells.resize(self.at.1 + width, Some(' '));
        }
        row.cells[self.at.1] = Some(c);
        if width == 2 {
            row.cells[self.at.1 + 1] = None;
        }
        self.at.1 += width;
    }

    fn escape(&mut self, sequence: &str) {
        let (body, last) = sequence.split_at(sequence.len() - 1);
        match (body, last) {
            (n, "A") => {
                let up: usize = n.parse().unwrap();
                self.at.0 = self.at.0.saturating_sub(up).max(self.top);
            }
            ("", "K") => {
                // At the right edge the cursor stands on the last column.
                let column = self.at.1.min(self.columns - 1);
                let row = &mut self.lines[self.at.0];
                row.cells.truncate(column);
                row.wrapped = false;
            }
            ("?2026", "h" | "l") | (_, "m") => {}
            _ => panic!("the terminal does not know ESC [ {sequence}"),
        }
    }
}

impl io::Write for Terminal {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.with(|state| {
            state.writes += 1;
            state.raw.extend_from_slice(bytes);
            let text = std::str::from_utf8(bytes).expect("whole characters");
            let mut chars = text.chars();
            while let Some(c) = chars.next() {
                match c {
                    '\n' => {
                        state.feed();
                        state.at.1 = 0;
                    }
                    '\r' => state.at.1 = 0,
                    '\x1b' => {
                        assert_eq!(chars.next(), Some('['), "an escape that is not CSI");
                        let mut sequence = String::new();
                        for c in chars.by_ref() {
                            sequence.push(c);
                            if c.is_ascii_alphabetic() {
                                break;
                            }
                        }
                        state.escape(&sequence);
                    }
                    c if c.is_control() => panic!("{c:?} reached the terminal"),
                    c => state.put(c),
                }
            }
        });
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.with(|state| state.flushes += 1);
        Ok(())
    }
}

/// A pipe whose reader leaves after some bytes.
#[derive(Debug, Clone)]
pub struct Pipe {
    left: usize,
    pub tried: Arc<Mutex<usize>>,
}

impl Pipe {
    pub fn new(left: usize) -> Self {
        Self { left, tried: Arc::default() }
    }
}

impl io::Write for Pipe {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        *self.tried.lock().unwrap() += 1;
        if self.left < bytes.len() {
            return Err(io::ErrorKind::BrokenPipe.into());
        }
        self.left -= bytes.len();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
