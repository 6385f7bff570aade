//! The last lines of a log, read from its end: the cost does not grow with the log.

use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

use crate::plain_file;

use super::escape::plain;
use super::limited_log::pieces;

/// How far back [`tail`] looks at most: forty lines of 1,600 characters.
pub const WINDOW: u64 = 64 * 1024;

/// The last `lines` lines of a log, finished or still being written, each made safe for a terminal
/// by [`plain`]. A log that is not there yet has none. A line that begins before the last
/// [`WINDOW`] bytes is shown from there on, behind `…`.
///
/// # Errors
/// If the log exists and cannot be read.
pub fn tail(log: &Path, lines: usize) -> io::Result<Vec<String>> {
    let (bytes, cut) = last_bytes(log)?;
    let body = bytes.strip_suffix(b"\n").unwrap_or(&bytes);
    if body.is_empty() && bytes.is_empty() {
        return Ok(Vec::new());
    }
    let mut found: Vec<String> =
        body.rsplit(|byte| *byte == b'\n').take(lines).map(plain).collect();
    let reached_start = body.split(|byte| *byte == b'\n').count() <= lines;
    if cut
        && reached_start
        && let Some(first) = found.last_mut()
    {
        first.insert(0, '…');
    }
    found.reverse();
    Ok(found)
}

/// The end of the log over its pieces, and whether something comes before it.
fn last_bytes(log: &Path) -> io::Result<(Vec<u8>, bool)> {
    let mut window: Vec<u8> = Vec::new();
    for piece in pieces(log).iter().rev() {
        let mut file = match plain_file::open(piece) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            Err(error) => return Err(error),
        };
        let length = file.metadata()?.len();
        let from = length.saturating_sub(WINDOW - window.len() as u64);
        file.seek(SeekFrom::Start(from))?;
        let mut part = Vec::new();
        file.take(WINDOW - window.len() as u64).read_to_end(&mut part)?;
        part.append(&mut window);
        window = part;
        if from > 0 {
            return Ok((window, true));
        }
    }
    Ok((window, false))
}
