//! Foreign bytes made safe for a terminal. Nothing that a worker prints, and no file name, may move
//! the cursor, set a title, hide text or answer a query.

use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use bstr::ByteSlice;

use crate::model::unseen::is_unseen;

/// Shows bytes as they are, everything a terminal could act on written out: `\n`, `\x1b`, `\xff` for
/// a byte that is not UTF-8, `\u{202e}` for a character that nobody sees. For names.
#[must_use]
pub fn escape(bytes: &[u8]) -> String {
    let mut out = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        chunk.valid().chars().for_each(|c| push(&mut out, c));
        chunk.invalid().iter().for_each(|byte| out.push_str(&format!("\\x{byte:02x}")));
    }
    out
}

/// [`escape`] for a path.
#[must_use]
pub fn escape_path(path: &Path) -> String {
    escape(path.as_os_str().as_bytes())
}

/// One line of program output as a reader wants it: colours and other terminal sequences removed,
/// what a carriage return would have overwritten dropped (a progress bar shows its last state), tabs
/// as blanks, the rest as [`escape`] does.
#[must_use]
pub fn plain(line: &[u8]) -> String {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    let line = line.trim_end_with(|c| c == '\r');
    let line = line.rfind_byte(b'\r').map_or(line, |at| &line[at + 1..]);
    let stripped = strip_sequences(line);
    escape(&stripped.replace(b"\t", b"    "))
}

fn push(out: &mut String, c: char) {
    match c {
        '\n' => out.push_str("\\n"),
        '\r' => out.push_str("\\r"),
        '\t' => out.push_str("\\t"),
        c if c.is_ascii_control() => out.push_str(&format!("\\x{:02x}", c as u32)),
        c if c.is_control() || is_unseen(c) => out.push_str(&format!("\\u{{{:x}}}", c as u32)),
        c => out.push(c),
    }
}

/// Removes escape sequences as ECMA-48 frames them: CSI up to its final byte, string sequences (OSC,
/// DCS, …) up to BEL or ST, and the two-byte rest. One that is cut off takes the line's end with it.
fn strip_sequences(line: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(line.len());
    let mut rest = line;
    while let Some(at) = rest.find_byte(0x1b) {
        out.extend_from_slice(&rest[..at]);
        let body = &rest[at + 1..];
        let length = match body.first() {
            Some(b'[') => body[1..].iter().position(|b| (0x40..=0x7e).contains(b)).map(|n| n + 2),
            Some(b']' | b'P' | b'X' | b'^' | b'_') => string_end(body),
            Some(0x20..=0x2f) => body.iter().position(|b| (0x30..=0x7e).contains(b)).map(|n| n + 1),
            Some(_) => Some(1),
            None => None,
        };
        rest = length.map_or(&[][..], |n| &body[n..]);
    }
    out.extend_from_slice(rest);
    out
}

fn string_end(body: &[u8]) -> Option<usize> {
    let bell = body.find_byte(0x07).map(|at| at + 1);
    let terminator = body.find(b"\x1b\\").map(|at| at + 2);
    [bell, terminator].into_iter().flatten().min()
}
