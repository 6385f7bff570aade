//! What an agent at work said last of something that went wrong: it may be trying again for hours, and to a
//! person who asks how it stands that comes before any theory. The driver leaves it in the folder of the
//! session.

use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use jiff::Timestamp;

use super::results;
use crate::process::plain;

/// Characters of it that are kept.
const WIDTH: usize = 300;
/// Largest file that can be one.
const LIMIT: u64 = 16 * 1024;
/// How often it is written down.
const NOTE: Duration = Duration::from_secs(2);

/// Where it is left, in the folder of a session.
#[must_use]
pub(super) fn file(folder: &Path) -> PathBuf {
    folder.join("error.txt")
}

/// The last error that the session whose folder this is has told, one line, escaped for display, and when.
/// Nothing where it has told none.
#[must_use]
pub fn last(folder: &Path) -> Option<(String, Timestamp)> {
    let path = file(folder);
    let bytes = results::read(&path, LIMIT).ok().flatten()?;
    let at = path.symlink_metadata().and_then(|meta| meta.modified()).ok()?;
    let text = one_line(&bytes)?;
    Some((text, Timestamp::try_from(at).ok()?))
}

/// The driver's side: hears errors, and leaves the last.
#[derive(Debug)]
pub(super) struct Trouble {
    path: PathBuf,
    last: Option<String>,
    /// The last line of standard error that was looked at.
    errors: Option<String>,
    written: Option<(Instant, String)>,
}

impl Trouble {
    pub(super) fn new(path: &Path) -> Self {
        Self { path: path.to_owned(), last: None, errors: None, written: None }
    }

    /// An error that the agent's stream tells.
    pub(super) fn heard(&mut self, error: &str) {
        self.last = one_line(error.as_bytes()).or(self.last.take());
    }

    /// The end of what stands on its standard error.
    pub(super) fn look(&mut self, errors: &[u8]) {
        let line = one_line(errors);
        if line.is_some() && line != self.errors {
            self.errors.clone_from(&line);
            self.last = line;
        }
    }

    /// Leaves the last one, if it is news and the one before it is old enough.
    ///
    /// # Errors
    /// When it cannot be written.
    pub(super) fn leave(&mut self) -> io::Result<()> {
        let Some(last) = &self.last else { return Ok(()) };
        let due = match &self.written {
            None => true,
            Some((at, written)) => written != last && at.elapsed() >= NOTE,
        };
        if due && !self.path.as_os_str().is_empty() {
            results::replace(&self.path, last.as_bytes())?;
            self.written = Some((Instant::now(), last.clone()));
        }
        Ok(())
    }
}

/// The last line that has something in it, cut and escaped.
fn one_line(bytes: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(bytes);
    let line = text.lines().rev().map(str::trim).find(|line| !line.is_empty())?;
    let mut cut: String = line.chars().take(WIDTH + 1).collect();
    if cut.chars().count() > WIDTH {
        cut.pop();
        cut.push('…');
    }
    Some(plain(cut.as_bytes()))
}
