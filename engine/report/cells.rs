//! Text as wide as it should be: measured, cut and filled in columns of the terminal.

use std::borrow::Cow;

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use super::escape::visible;

/// A line of a program's output: its colours are dropped, a tab is spaces, what a carriage return
/// wrote over is gone, everything else that acts is escaped.
#[must_use]
pub fn output_line(line: &str) -> String {
    let bare = anstream::adapter::strip_str(line).to_string();
    let last = bare.trim_end_matches(['\r', '\n']).rsplit('\r').next().unwrap_or_default();
    visible(&last.replace('\t', "    ")).into_owned()
}

/// Columns that `text` takes; it must hold no escape sequences.
#[must_use]
pub fn width(text: &str) -> usize {
    text.width()
}

/// The longest beginning of `text` that fits into `columns`, with `ellipsis` where something was cut.
#[must_use]
pub fn clip<'a>(text: &'a str, columns: usize, ellipsis: &str) -> Cow<'a, str> {
    if width(text) <= columns {
        return Cow::Borrowed(text);
    }
    let mark = if width(ellipsis) < columns { ellipsis } else { "" };
    let room = columns - width(mark);
    let mut end = 0;
    let mut used = 0;
    for (at, c) in text.char_indices() {
        used += c.width().unwrap_or(0);
        if used > room {
            break;
        }
        end = at + c.len_utf8();
    }
    Cow::Owned(format!("{}{mark}", &text[..end]))
}

/// `text` cut or filled with spaces to exactly `columns`.
#[must_use]
pub fn fit(text: &str, columns: usize, ellipsis: &str) -> String {
    let mut text = clip(text, columns, ellipsis).into_owned();
    text.extend(std::iter::repeat_n(' ', columns.saturating_sub(width(&text))));
    text
}

/// `text` in lines of at most `columns`, broken at spaces; a longer word stays whole, for the terminal
/// to break where it must: a path that is cut is a path that nobody can read.
#[must_use]
pub fn wrap(text: &str, columns: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        let line = lines.last().map_or(0, |line| width(line));
        if line > 0 && line + 1 + width(word) > columns {
            lines.push(String::new());
        }
        if let Some(last) = lines.last_mut() {
            if line > 0 && !last.is_empty() {
                last.push(' ');
            }
            last.push_str(word);
        }
    }
    lines
}
