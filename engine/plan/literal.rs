//! From the value of a TOML string back to the bytes that wrote it.

use std::ops::Range;

/// Where the bytes `range` of the value stand within `literal`, a string with its quotes.
///
/// `None` when `literal` is no string, or when its value ends before `range` does. A range that starts
/// or ends within an escape takes in the whole escape.
#[must_use]
pub fn locate(literal: &str, range: Range<usize>) -> Option<Range<usize>> {
    let (quotes, escapes) = match literal {
        text if text.starts_with("\"\"\"") => (3, true),
        text if text.starts_with("'''") => (3, false),
        text if text.starts_with('"') => (1, true),
        text if text.starts_with('\'') => (1, false),
        _ => return None,
    };
    let end = literal.len().checked_sub(quotes).filter(|end| *end >= quotes)?;
    let mut at = quotes;
    if quotes == 3 {
        // A newline right after the opening quotes is not part of the value.
        let body = &literal[at..end];
        at += if body.starts_with("\r\n") { 2 } else { usize::from(body.starts_with('\n')) };
    }
    let (mut value, mut start, mut stop) = (0, None, None);
    loop {
        if escapes {
            at += folded(&literal[at..end]);
        }
        // An empty range at the end of the value is a place too.
        if value >= range.start && start.is_none() {
            start = Some(at);
        }
        if value >= range.end && stop.is_none() {
            stop = Some(if range.is_empty() { start? } else { at });
        }
        if let (Some(start), Some(stop)) = (start, stop) {
            return Some(start..stop);
        }
        let (written, meant) = one(&literal[at..end], escapes)?;
        if value < range.start && range.start < value + meant {
            start = Some(at);
        }
        at += written;
        value += meant;
        if start.is_some() && value >= range.end && !range.is_empty() {
            stop = Some(at);
        }
    }
}

/// Length of the backslashes at the start of `text` that fold a line end and the blanks after it away.
fn folded(text: &str) -> usize {
    let mut length = 0;
    while let Some(after) = text[length..].strip_prefix('\\') {
        let line = after.trim_start_matches([' ', '\t']);
        if !line.starts_with(['\n', '\r']) {
            break;
        }
        length = text.len() - line.trim_start_matches([' ', '\t', '\r', '\n']).len();
    }
    length
}

/// The next character: bytes it takes in the file and bytes of value it makes.
fn one(text: &str, escapes: bool) -> Option<(usize, usize)> {
    let mut chars = text.chars();
    let first = chars.next()?;
    if first != '\\' || !escapes {
        return Some((first.len_utf8(), first.len_utf8()));
    }
    let digits = match chars.next()? {
        'x' => 2,
        'u' => 4,
        'U' => 8,
        _ => return Some((2, 1)),
    };
    let code = u32::from_str_radix(text.get(2..2 + digits)?, 16).ok()?;
    Some((2 + digits, char::from_u32(code)?.len_utf8()))
}
