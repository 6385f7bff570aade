//! One line being composed: everything that goes into it is escaped, and it never outgrows its room,
//! or ([`Flow`]) goes on below, broken between words.

use std::io::{self, Write};

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

/// Text of several tones that is never cut: where it outgrows the terminal it goes on in the next line,
/// below where it began.
#[derive(Debug)]
pub struct Flow<'a> {
    look: &'a Look,
    head: Row,
    /// Facts, each of words.
    facts: Vec<Vec<Word>>,
}

/// What is never broken, in its tones.
type Word = Vec<(Tone, String)>;

/// Fewest columns that text is broken into: below that a terminal does better by itself.
const NARROWEST: usize = 24;

impl<'a> Flow<'a> {
    /// Text that begins after `head`, which is never broken.
    #[must_use]
    pub fn after(head: Line<'a>) -> Self {
        Self { look: head.look, head: head.done(), facts: vec![vec![Word::new()]] }
    }

    /// The same text, with `text` at its end. Each space is a place to break it at.
    #[must_use]
    pub fn then(mut self, tone: Tone, text: &str) -> Self {
        if let Some(fact) = self.facts.last_mut() {
            for (n, word) in visible(text).split(' ').enumerate() {
                if n > 0 {
                    fact.push(Word::new());
                }
                if let Some(last) = fact.last_mut().filter(|_| !word.is_empty()) {
                    last.push((tone, word.to_owned()));
                }
            }
        }
        self
    }

    /// The same text, with what stands between two facts at its end: no line begins with it, and the
    /// text is broken after it rather than within what follows.
    #[must_use]
    pub fn dot(mut self) -> Self {
        let dot = self.look.dot().trim_end();
        if let Some(word) = self.facts.last_mut().and_then(|fact| fact.last_mut()) {
            word.push((Tone::Faint, dot.to_owned()));
        }
        self.facts.push(vec![Word::new()]);
        self
    }

    /// Writes the lines.
    ///
    /// # Errors
    /// When `out` cannot be written.
    pub fn write(self, out: &mut impl Write) -> io::Result<()> {
        self.rows().iter().try_for_each(|row| writeln!(out, "{}", row.trimmed()))
    }

    /// The lines. A word longer than a line stays whole, so that what is copied from the terminal is what
    /// was meant.
    #[must_use]
    pub fn rows(self) -> Vec<Row> {
        let Self { look, head, facts } = self;
        let indent = match look.width {
            Some(room) if head.width + NARROWEST > room => room.saturating_sub(NARROWEST).min(4),
            _ => head.width,
        };
        let fits = |columns: usize| look.width.is_none_or(|room| columns <= room);
        let mut rows = vec![Broken { start: head.text, used: head.width, spans: Vec::new() }];
        for fact in facts {
            let whole = fact.iter().map(|word| wide(word) + 1).sum::<usize>().saturating_sub(1);
            for (n, word) in fact.iter().enumerate() {
                let Some(row) = rows.last_mut() else { continue };
                let gap = usize::from(!row.spans.is_empty());
                let together = n == 0 && fits(indent + whole);
                let next = if together { whole } else { wide(word) };
                if gap > 0 && !fits(row.used + gap + next) {
                    let start = " ".repeat(indent);
                    let spans = Vec::new();
                    rows.push(Broken { start, used: indent, spans });
                }
                if let Some(row) = rows.last_mut() {
                    row.add(word);
                }
            }
        }
        rows.iter().map(|row| row.drawn(look)).collect()
    }
}

fn wide(word: &Word) -> usize {
    word.iter().map(|(_, text)| width(text)).sum()
}

/// A line of a text that is broken into several.
struct Broken {
    start: String,
    used: usize,
    spans: Vec<(Tone, String)>,
}

impl Broken {
    fn add(&mut self, word: &Word) {
        if !self.spans.is_empty() {
            add(&mut self.spans, None, " ");
            self.used += 1;
        }
        word.iter().for_each(|(tone, text)| add(&mut self.spans, Some(*tone), text));
        self.used += wide(word);
    }

    fn drawn(&self, look: &Look) -> Row {
        let texts = self.spans.iter().map(|(tone, text)| {
            // A gap is of no tone but between two words of one.
            let (text, gap) = match text.strip_suffix(' ') {
                Some(text) => (text, " "),
                None => (text.as_str(), ""),
            };
            look.paint(*tone, text) + gap
        });
        Row { text: self.start.clone() + &texts.collect::<String>(), width: self.used }
    }
}

/// Adds `text` to the last of `spans` if that has the same tone, or if it has none of its own.
fn add(spans: &mut Vec<(Tone, String)>, tone: Option<Tone>, text: &str) {
    match (spans.last_mut(), tone) {
        (Some((last, span)), _) if tone.is_none_or(|tone| tone == *last) => span.push_str(text),
        (_, tone) => spans.push((tone.unwrap_or(Tone::Normal), text.to_owned())),
    }
}
