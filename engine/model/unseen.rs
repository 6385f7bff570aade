//! Characters that a person does not see. What a plan, a path or a worker writes is shown in a terminal, in a
//! brief and in a report; one list says for all of them what must not pass there as it is.

/// Whether `c` turns the direction of writing, breaks a line, has no width, or is one of the tags in which
/// whole hidden sentences have been written. Control characters are not meant: what becomes of a tab or
/// a line end is for whoever writes to say. The joiners U+200C and U+200D stay: whole scripts are
/// written with them.
#[must_use]
pub fn is_unseen(c: char) -> bool {
    matches!(
        c,
        '\u{ad}'
            | '\u{61c}'
            | '\u{200b}'
            | '\u{200e}'
            | '\u{200f}'
            | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{feff}'
            | '\u{fff9}'..='\u{fffb}'
            | '\u{e0000}'..='\u{e007f}'
    )
}
