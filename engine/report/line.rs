//! One line being composed: everything that goes into it is escaped, and it never outgrows its room.

use super::cells::{clip, fit, width};
use super::escape::visible;
use super::palette::{Look, Tone};

/// A line under composition.
#[derive(Debug)]
pub struct Line<'a> {
    look: &'a Look,
    text: String,
    width: usize,
    room: Option<usize>,
}

impl<'a> Line<'a> {
    /// An empty line as wide as `look` allows.
    #[must_use]
    pub fn new(look: &'a Look) -> Self {
        Self { look, text: String::new(), width: 0, room: look.width }
    }

    /// The same line, with `text` at its end; what does not fit is cut.
    #[must_use]
    pub fn then(mut self, tone: Tone, text: &str) -> Self {
        let text = visible(text);
        let text = match self.room {
            Some(room) => clip(&text, room.saturating_sub(self.width), self.look.ellipsis()),
            None => text,
        };
        self.width += width(&text);
        self.text.push_str(&self.look.paint(tone, &text));
        self
    }

    /// The same line, with `text` at its end cut or filled to exactly `columns`.
    #[must_use]
    pub fn cell(self, tone: Tone, text: &str, columns: usize) -> Self {
        let ellipsis = self.look.ellipsis();
        self.then(tone, &fit(&visible(text), columns, ellipsis))
    }

    /// The same line, with a gap of `columns` at its end.
    #[must_use]
    pub fn gap(self, columns: usize) -> Self {
        self.then(Tone::Normal, &" ".repeat(columns))
    }

    /// Columns that are left, where there is an end.
    #[must_use]
    pub fn left(&self) -> Option<usize> {
        self.room.map(|room| room.saturating_sub(self.width))
    }

    /// The line with its width in columns.
    #[must_use]
    pub fn done(self) -> Row {
        Row { text: self.text, width: self.width }
    }
}

/// A finished line: text with escape sequences, and how many columns it takes.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Row {
    /// What is written.
    pub text: String,
    /// Columns it takes.
    pub width: usize,
}

impl Row {
    /// The line without the spaces at its end, for output that stays.
    #[must_use]
    pub fn trimmed(&self) -> &str {
        self.text.trim_end()
    }
}
