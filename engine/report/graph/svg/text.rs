//! Text that must fit. Nobody knows which font will draw it, and so widths are estimated, a little
//! on the wide side.

use crate::report::escape::visible;

/// `text` made safe to stand in XML, as an attribute or between tags.
pub(super) fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in visible(text).chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            // Characters that XML does not allow in any form.
            '\u{fffe}' | '\u{ffff}' => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}

/// `text` on one line of at most `room` pixels, escaped, with an ellipsis where it was cut.
pub(super) fn fitted(text: &str, room: f64, size: f64, bold: bool) -> String {
    escaped(&cut(&visible(text), room, size, bold))
}

/// `text` on at most `lines` lines of `room` pixels each, escaped; the last may end in an ellipsis.
pub(super) fn wrapped(text: &str, room: f64, size: f64, lines: usize) -> Vec<String> {
    let text = visible(text);
    let mut out: Vec<String> = Vec::new();
    let mut words = text.split_whitespace().peekable();
    while words.peek().is_some() && out.len() < lines {
        let last = out.len() + 1 == lines;
        let mut line = String::new();
        while let Some(&word) = words.peek() {
            let longer = if line.is_empty() { word.to_owned() } else { format!("{line} {word}") };
            if !last && !line.is_empty() && width(&longer, size, false) > room {
                break;
            }
            line = longer;
            words.next();
        }
        out.push(escaped(&cut(&line, room, size, false)));
    }
    out
}

fn cut(text: &str, room: f64, size: f64, bold: bool) -> String {
    if width(text, size, bold) <= room {
        return text.to_owned();
    }
    let room = room - width("…", size, bold);
    let mut used = 0.0;
    let fits = |c: &char| {
        used += advance(*c, size, bold);
        used <= room
    };
    let kept: String = text.chars().take_while(fits).collect();
    format!("{}…", kept.trim_end())
}

/// About how many pixels `text` takes.
pub(super) fn width(text: &str, size: f64, bold: bool) -> f64 {
    text.chars().map(|c| advance(c, size, bold)).sum()
}

fn advance(c: char, size: f64, bold: bool) -> f64 {
    let em = match c {
        'i' | 'j' | 'l' | 'I' | '|' | '!' | '\'' | '.' | ',' | ':' | ';' => 0.32,
        'f' | 't' | 'r' | ' ' | '·' | '(' | ')' | '[' | ']' | '-' | '/' | '"' | '`' => 0.38,
        'm' | 'w' | 'M' | 'W' | '@' | '%' | '—' | '…' => 0.98,
        'A'..='Z' | '&' | '+' | '=' | '<' | '>' | '~' => 0.74,
        _ if c.is_ascii() || c < '\u{1100}' => 0.59,
        _ => 1.05,
    };
    em * size * if bold { 1.08 } else { 1.0 }
}
