//! Reads the text of one pattern into tokens, each with its byte range in the text. What a token may
//! stand beside is not asked here (`lower.rs`).

use std::ops::Range;
use std::sync::Arc;

use super::finding::{Notes, Problem};
use super::symbol::Class;

/// Longest pattern in bytes: the longest path that Linux takes.
pub const MAX_PATTERN: usize = 4096;

/// How deep braces may nest.
pub const MAX_DEPTH: usize = 16;

/// What `\` may stand before.
const ESCAPABLE: &str = "*?[]{},!\\^-";

/// One piece of a pattern.
#[derive(Debug, Clone)]
pub(super) struct Token {
    pub(super) kind: Kind,
    /// Bytes of the pattern's text.
    pub(super) range: Range<usize>,
}

#[derive(Debug, Clone)]
pub(super) enum Kind {
    /// A character that stands for itself.
    Literal(char),
    /// `?`
    One,
    /// `*`
    Run,
    /// `[…]`
    Class(Arc<Class>),
    /// `{…,…}`
    Alternatives(Vec<Vec<Token>>),
    /// `/`
    Slash,
    /// `**`
    Components,
    /// Something that has been noted as wrong; it keeps its place, so that no more is said of it.
    Faulty,
}

/// Reads `text` from byte `from` on, and notes what is wrong with it.
pub(super) fn read(text: &str, from: usize, notes: &mut Notes<'_>) -> Vec<Token> {
    let mut reader = Reader { text, at: from, lost: false, notes };
    reader.sequence(0)
}

struct Reader<'a, 'n> {
    text: &'a str,
    at: usize,
    /// The rest of the text was given up on, so that nothing more can be said about its end.
    lost: bool,
    notes: &'a mut Notes<'n>,
}

impl Reader<'_, '_> {
    fn peek(&self) -> Option<char> {
        self.text[self.at..].chars().next()
    }

    fn bump(&mut self) -> Option<char> {
        let next = self.peek()?;
        self.at += next.len_utf8();
        Some(next)
    }

    fn sequence(&mut self, depth: usize) -> Vec<Token> {
        // Most patterns are one token a byte.
        let room = if depth == 0 { self.text.len() - self.at } else { 0 };
        let mut tokens = Vec::with_capacity(room);
        while let Some(next) = self.peek() {
            let start = self.at;
            if depth > 0 && matches!(next, ',' | '}') {
                break;
            }
            self.at += next.len_utf8();
            let kind = match next {
                '*' => self.stars(start),
                '?' => Some(Kind::One),
                '/' => Some(Kind::Slash),
                '[' => self.class(start),
                '{' => self.braces(start, depth + 1),
                '\\' => self.escape(start).map(Kind::Literal),
                ']' | '}' => {
                    self.notes.add(start..self.at, Problem::Unopened(next));
                    None
                }
                _ => {
                    if next.is_control() && next != '\0' {
                        self.notes.add(start..self.at, Problem::Control(next));
                    }
                    self.literal(next, start).map(Kind::Literal)
                }
            };
            tokens.push(Token { kind: kind.unwrap_or(Kind::Faulty), range: start..self.at });
        }
        tokens
    }

    fn literal(&mut self, c: char, start: usize) -> Option<char> {
        if c == '\0' {
            self.notes.add(start..self.at, Problem::Nul);
            return None;
        }
        Some(c)
    }

    fn stars(&mut self, start: usize) -> Option<Kind> {
        while self.peek() == Some('*') {
            self.bump();
        }
        match self.at - start {
            1 => Some(Kind::Run),
            2 => Some(Kind::Components),
            _ => {
                self.notes.add(start..self.at, Problem::Glued);
                None
            }
        }
    }

    /// The character after a `\`. An ordinary one, or `\**`, says that the author meant a separator.
    fn escape(&mut self, start: usize) -> Option<char> {
        let escaped = self.bump();
        let fine = escaped.filter(|c| ESCAPABLE.contains(*c));
        let separator = fine == Some('*') && self.peek() == Some('*');
        if fine.is_none() || separator {
            self.notes.add(start..self.at, Problem::Backslash);
            return None;
        }
        fine
    }

    fn braces(&mut self, start: usize, depth: usize) -> Option<Kind> {
        if depth > MAX_DEPTH {
            self.notes.add(start..self.at, Problem::TooDeep);
            self.at = self.text.len();
            self.lost = true;
            return None;
        }
        let mut alternatives = Vec::new();
        loop {
            alternatives.push(self.sequence(depth));
            match self.bump() {
                Some(',') => {}
                Some(_) if alternatives.len() == 1 => {
                    self.notes.add(start..self.at, Problem::OneAlternative);
                    return None;
                }
                Some(_) => return Some(Kind::Alternatives(alternatives)),
                None => {
                    if !self.lost {
                        self.notes.add(start..start + 1, Problem::Unclosed('{'));
                    }
                    return None;
                }
            }
        }
    }

    fn class(&mut self, start: usize) -> Option<Kind> {
        let negated = self.peek() == Some('!');
        if negated {
            self.bump();
        } else if self.peek() == Some('^') {
            self.notes.add(self.at..self.at + 1, Problem::Caret);
            self.bump();
        }
        let mut ranges = Vec::new();
        while self.peek() != Some(']') {
            let from = self.at;
            let Some(low) = self.member(start)? else {
                continue;
            };
            let rest = &self.text[self.at..];
            let mut high = low;
            if rest.starts_with('-') && !rest.starts_with("-]") {
                self.bump();
                let Some(end) = self.member(start)? else {
                    continue;
                };
                high = end;
            }
            if low > high {
                self.notes.add(from..self.at, Problem::Reversed(low, high));
            }
            ranges.push((low, high));
        }
        self.bump();
        if ranges.is_empty() {
            self.notes.add(start..self.at, Problem::EmptyClass);
            return None;
        }
        Some(Kind::Class(Arc::new(Class { negated, ranges })))
    }

    /// A character inside a class: `None` when the class does not end, `Some(None)` when the
    /// character cannot stand there, which has been noted.
    fn member(&mut self, class: usize) -> Option<Option<char>> {
        let start = self.at;
        let Some(c) = self.bump() else {
            self.notes.add(class..class + 1, Problem::Unclosed('['));
            self.lost = true;
            return None;
        };
        Some(match c {
            '\\' => self.escape(start),
            '/' => {
                self.notes.add(start..self.at, Problem::SlashInClass);
                None
            }
            '[' if self.peek() == Some(':') => {
                self.notes.add(start..self.at + 1, Problem::NamedClass);
                None
            }
            _ => self.literal(c, start),
        })
    }
}
