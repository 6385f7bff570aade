//! What git said, as a person may see it.

use bstr::ByteSlice;

use crate::model::unseen::is_unseen;

/// One line of it: its own quotes and backslashes as they are, and whatever a terminal would obey or not show written
/// out.
pub(super) fn plain(line: &[u8]) -> String {
    let mut shown = String::with_capacity(line.len());
    for c in line.to_str_lossy().chars() {
        match c.is_control() || is_unseen(c) {
            true => shown.extend(c.escape_default()),
            false => shown.push(c),
        }
    }
    shown
}
