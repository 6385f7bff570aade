//! Text that others wrote, made fit for a terminal: nothing in it may move the cursor, set a colour,
//! turn the reading direction or hide.

use std::borrow::Cow;

use crate::model::unseen::is_unseen;

/// `text` with every character escaped that a terminal would obey or not show; line breaks too.
///
/// Idempotent on what it returns, and the identity on plain text.
#[must_use]
pub fn visible(text: &str) -> Cow<'_, str> {
    escape(text, |c| !obeyed(c))
}

/// Like [`visible`], with tabs and line breaks (`\n` and `\r\n`) left as they are.
#[must_use]
pub fn visible_lines(text: &str) -> Cow<'_, str> {
    let fine = |c| matches!(c, '\n' | '\t') || !obeyed(c);
    if !text.contains('\r') {
        return escape(text, fine);
    }
    // A carriage return alone jumps back and overwrites the line; only before a line feed is it harmless.
    let pieces: Vec<_> = text.split("\r\n").map(|p| escape(p, fine)).collect();
    Cow::Owned(pieces.join("\r\n"))
}

/// `json`, a text in JSON, with every such character in its strings written as `\\u…`: to a program the
/// same value, and harmless where it is shown as it is.
#[must_use]
pub fn visible_json(json: String) -> String {
    let hidden = |c: char| !c.is_ascii() && obeyed(c);
    if json.is_ascii() || !json.chars().any(hidden) {
        return json;
    }
    let mut out = String::with_capacity(json.len() + 16);
    for c in json.chars() {
        if hidden(c) {
            for unit in c.encode_utf16(&mut [0; 2]) {
                out.push_str(&format!("\\u{unit:04x}"));
            }
        } else {
            out.push(c);
        }
    }
    out
}

/// `text` with every such character replaced by one visible character, so that columns stay true: a
/// control picture (`␛`) where Unicode has one, else `�`. Tabs and line breaks are left as they are.
#[must_use]
pub fn pictured(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        out.push(match c {
            '\n' | '\t' => c,
            '\r' if chars.peek() == Some(&'\n') => c,
            '\0'..='\u{1f}' => char::from_u32(0x2400 + u32::from(c)).unwrap_or('�'),
            '\u{7f}' => '␡',
            c if obeyed(c) => '�',
            c => c,
        });
    }
    out
}

fn escape(text: &str, fine: impl Fn(char) -> bool) -> Cow<'_, str> {
    if text.chars().all(&fine) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        if fine(c) {
            out.push(c);
        } else {
            out.extend(c.escape_default());
        }
    }
    Cow::Owned(out)
}

/// Whether a terminal acts on `c`, or shows nothing for it.
fn obeyed(c: char) -> bool {
    c.is_control() || is_unseen(c)
}
