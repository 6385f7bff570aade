//! Text made fit for a terminal: nothing in it acts, and it is as wide as it should be.
//!
//! Titles, paths and output come from plans and workers. A control character could move the cursor, a
//! bidirectional one could make `rm` read as something else, and both would be believed because `sop`
//! printed them.

use std::borrow::Cow;

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// `text` with every character that would act instead of being seen written as an escape.
#[must_use]
pub fn shown(text: &str) -> Cow<'_, str> {
    if !text.chars().any(acts) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        match c {
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if acts(c) && u32::from(c) < 0x80 => {
                out.push_str(&format!("\\x{:02x}", u32::from(c)));
            }
            c if acts(c) => out.push_str(&format!("\\u{{{:x}}}", u32::from(c))),
            c => out.push(c),
        }
    }
    Cow::Owned(out)
}

/// A line of a program's output: its colours are dropped, a tab is spaces, what a carriage return
/// wrote over is gone, everything else that acts is escaped.
#[must_use]
pub fn output_line(line: &str) -> String {
    let bare = anstream::adapter::strip_str(line).to_string();
    let last = bare.trim_end_matches(['\r', '\n']).rsplit('\r').next().unwrap_or_default();
    shown(&last.replace('\t', "    ")).into_owned()
}

/// Controls, and format characters that reorder, hide or tag what stands around them. Joiners stay:
/// scripts and emoji are spelled with them.
fn acts(c: char) -> bool {
    c.is_control()
        || matches!(u32::from(c),
            0xad | 0x61c | 0x180e | 0x200b | 0x200e..=0x200f | 0x2028..=0x202e | 0x2060..=0x206f
            | 0xfeff | 0xfff9..=0xfffb | 0x1_3430..=0x1_343f | 0x1_bca0..=0x1_bca3
            | 0x1_d173..=0x1_d17a | 0xe_0000..=0xe_0fff)
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
