//! The texts that findings point into, and positions in them as people and editors count.

use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::ops::Range;

use schemars::JsonSchema;
use serde::Serialize;

/// A place in a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Position {
    /// Line, from 1.
    pub line: usize,
    /// Column, from 1, counted in characters (Unicode scalar values).
    pub column: usize,
    /// Bytes before it, from 0.
    pub offset: usize,
}

/// Texts by the file name that findings use.
#[derive(Debug, Default)]
pub struct Sources<'a> {
    texts: BTreeMap<&'a str, Text<'a>>,
}

impl<'a> Sources<'a> {
    /// No texts yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds the text of `file`; a second text of the same name takes the place of the first.
    pub fn add(&mut self, file: &'a str, text: &'a str) {
        let lines = OnceCell::new();
        self.texts.insert(file, Text { text, lines });
    }

    /// The text of `file`, where it is known.
    #[must_use]
    pub fn get(&self, file: &str) -> Option<&Text<'a>> {
        self.texts.get(file)
    }
}

/// One text, with its lines found when first asked for.
#[derive(Debug)]
pub struct Text<'a> {
    text: &'a str,
    lines: OnceCell<Vec<usize>>,
}

impl<'a> Text<'a> {
    /// Where byte `offset` is. An offset past the end is the end; one inside a character is its start.
    #[must_use]
    pub fn position(&self, offset: usize) -> Position {
        let offset = self.floor(offset);
        let line = self.line(offset);
        let column = self.text[self.starts()[line - 1]..offset].chars().count() + 1;
        Position { line, column, offset }
    }

    /// Both ends of `span`, brought into the text and the right way round.
    #[must_use]
    pub fn positions(&self, span: &Range<usize>) -> (Position, Position) {
        let start = self.position(span.start);
        (start, self.position(span.end.max(start.offset)))
    }

    /// The whole lines `first..=last` (from 1) and the offset at which they start.
    #[must_use]
    pub fn lines(&self, first: usize, last: usize) -> (usize, &'a str) {
        let starts = self.starts();
        let from = starts[first - 1];
        let to = starts.get(last).copied().unwrap_or(self.text.len());
        (from, &self.text[from..to])
    }

    fn line(&self, offset: usize) -> usize {
        self.starts().partition_point(|start| *start <= offset)
    }

    fn floor(&self, offset: usize) -> usize {
        let mut offset = offset.clamp(self.starts()[0], self.text.len());
        while !self.text.is_char_boundary(offset) {
            offset -= 1;
        }
        offset
    }

    fn starts(&self) -> &[usize] {
        self.lines.get_or_init(|| {
            // A byte order mark has no width, and no place in what is shown.
            let first = if self.text.starts_with('\u{feff}') { 3 } else { 0 };
            let feeds = self.text.bytes().enumerate().filter(|(_, b)| *b == b'\n');
            std::iter::once(first).chain(feeds.map(|(at, _)| at + 1)).collect()
        })
    }
}
