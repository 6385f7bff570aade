//! Text that others wrote, made safe to stand in a brief: it cannot end its fence and go on as if
//! it were part of the brief, it cannot steer a terminal, and it shows all that it says.

use std::borrow::Cow;

use crate::model::unseen::is_unseen;

/// `text` as a fenced block.
#[must_use]
pub fn block(text: &str) -> String {
    let text = clean(text);
    let fence = "`".repeat(3.max(longest_run(&text) + 1));
    let end = if text.ends_with('\n') || text.is_empty() { "" } else { "\n" };
    format!("{fence}text\n{text}{end}{fence}")
}

/// `text` as a code span on one line.
#[must_use]
pub fn span(text: &str) -> String {
    let text = text.replace('\n', "\\n");
    let text = clean(&text);
    let ticks = "`".repeat(longest_run(&text) + 1);
    // A span may not touch its own ticks, and one space on each side is not shown.
    let pad = if text.starts_with('`') || text.ends_with('`') { " " } else { "" };
    format!("{ticks}{pad}{text}{pad}{ticks}")
}

/// `text` as it is when it is one line, else as a fenced block of its own.
pub(super) fn line_or_block(text: &str) -> String {
    let text = text.trim_end();
    if text.contains('\n') { format!("\n\n{}", block(text)) } else { clean(text).into_owned() }
}

/// `text` with every character escaped that steers or does not show, except line ends and tabs.
pub(super) fn clean(text: &str) -> Cow<'_, str> {
    let hides = |c: char| !matches!(c, '\n' | '\t') && (c.is_control() || is_unseen(c));
    if !text.contains(hides) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    for c in text.replace("\r\n", "\n").chars() {
        if hides(c) {
            out.extend(c.escape_default());
        } else {
            out.push(c);
        }
    }
    Cow::Owned(out)
}

fn longest_run(text: &str) -> usize {
    text.split(|c| c != '`').map(str::len).max().unwrap_or(0)
}
