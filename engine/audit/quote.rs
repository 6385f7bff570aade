//! Whether a file says what somebody quotes from it. Blanks do not count: neither how a line is indented nor
//! how its words are spaced, nor empty lines between.

use bstr::ByteSlice;

use crate::process::escape;

/// How far from the line that was named a quote may stand and be taken for what was meant.
pub const NEAR: u32 = 40;

/// A quote this long may be a part of a line. A shorter one (`}`, `else`) must be all of it, or it would
/// stand everywhere.
const PART: usize = 8;

/// Most lines of a quote that a report keeps.
const KEPT: usize = 12;

/// A file, line by line.
#[derive(Debug)]
pub struct Lines<'a> {
    raw: Vec<&'a [u8]>,
    /// Lines that are not blank: their index, and their words.
    filled: Vec<(usize, String)>,
}

/// Where a quote stands. Lines are from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stands {
    /// At the line that was named, or across it.
    There(Span),
    /// At another line close by.
    Near(Span),
    /// Only further off, this being the nearest place.
    Far(u32),
    /// Nowhere in the file.
    Nowhere,
    /// Nothing is quoted.
    Blank,
}

/// Some lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Span {
    /// The first.
    pub from: u32,
    /// The last.
    pub to: u32,
}

impl<'a> Lines<'a> {
    /// The lines of a file.
    #[must_use]
    pub fn of(content: &'a [u8]) -> Self {
        let raw: Vec<&[u8]> = content.lines().collect();
        let filled = raw.iter().enumerate().map(|(n, line)| (n, words(&line.to_str_lossy())));
        let filled = filled.filter(|(_, words)| !words.is_empty()).collect();
        Self { raw, filled }
    }

    /// How many there are.
    #[must_use]
    pub fn count(&self) -> u32 {
        u32::try_from(self.raw.len()).unwrap_or(u32::MAX)
    }

    /// What they say, escaped but for tabs; of many lines the first.
    #[must_use]
    pub fn text(&self, span: Span) -> String {
        let (from, to) = (span.from.saturating_sub(1) as usize, span.to as usize);
        let lines = self.raw.get(from..to.min(self.raw.len())).unwrap_or_default();
        let line = |line: &&[u8]| {
            let parts: Vec<String> = line.split_str("\t").map(escape).collect();
            parts.join("\t")
        };
        let mut shown: Vec<String> = lines.iter().take(KEPT).map(line).collect();
        if lines.len() > KEPT {
            shown.push("…".to_owned());
        }
        shown.join("\n")
    }

    /// Looks for `quote`, which is said to begin at `line`.
    #[must_use]
    pub fn look(&self, quote: &str, line: u32) -> Stands {
        let quoted: Vec<String> = quote.lines().map(words).filter(|it| !it.is_empty()).collect();
        if quoted.is_empty() {
            return Stands::Blank;
        }
        let stands = |at: &[(usize, String)]| {
            at.iter().zip(&quoted).all(|((_, line), quoted)| says(line, quoted))
        };
        let number = |n: usize| u32::try_from(n + 1).unwrap_or(u32::MAX);
        let found = self.filled.windows(quoted.len()).filter(|at| stands(at)).filter_map(|at| {
            let (from, to) = (at.first()?.0, at.last()?.0);
            Some(Span { from: number(from), to: number(to) })
        });
        // Whatever begins where it was said goes before what only reaches across it.
        let distance = |span: &Span| {
            let off = match (span.from..=span.to).contains(&line) {
                true => 0,
                false => span.from.abs_diff(line).min(span.to.abs_diff(line)),
            };
            (off, span.from.abs_diff(line))
        };
        match found.min_by_key(distance) {
            None => Stands::Nowhere,
            Some(span) => match distance(&span).0 {
                0 => Stands::There(span),
                off if off <= NEAR => Stands::Near(span),
                _ => Stands::Far(span.from),
            },
        }
    }
}

fn words(line: &str) -> String {
    line.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn says(line: &str, quoted: &str) -> bool {
    line == quoted || (quoted.len() >= PART && line.contains(quoted))
}
