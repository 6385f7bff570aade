//! What people see of an agent at work: a few short lines on standard output, which the step's log and
//! the live view show.

use std::io::{self, Write};
use std::time::{Duration, Instant};

use crate::process::plain;

/// Characters of a line.
const WIDTH: usize = 300;
/// Lines of one text.
const HEIGHT: usize = 30;
/// How long an agent may print only what people need not see before that is said: whoever measures
/// its silence sees no more than they do.
const QUIET: Duration = Duration::from_secs(5);

/// When something was last shown.
pub(super) struct Screen(Instant);

impl Screen {
    pub(super) fn new() -> Self {
        Self(Instant::now())
    }

    /// Shows what one line of an agent's output came to, if anything.
    pub(super) fn heard(&mut self, said: &[String]) {
        if said.is_empty() && self.0.elapsed() < QUIET {
            return;
        }
        self.0 = Instant::now();
        said.iter().for_each(|text| show(text));
        if said.is_empty() {
            show("(at work)");
        }
    }
}

/// Shows a text, escaped, long lines cut, blank ones and those after the thirtieth left out.
pub(super) fn show(text: &str) {
    let mut lines = text.lines().filter(|line| !line.trim().is_empty());
    let mut out = String::new();
    for line in lines.by_ref().take(HEIGHT) {
        // Cut before it is escaped: a line may be megabytes.
        let mut cut: String = line.chars().take(WIDTH + 1).collect();
        if cut.chars().count() > WIDTH {
            cut.pop();
            cut.push('…');
        }
        out.push_str(&plain(cut.as_bytes()));
        out.push('\n');
    }
    match lines.count() {
        0 => {}
        more => out.push_str(&format!("… {more} more lines\n")),
    }
    let mut stdout = io::stdout().lock();
    let _nobody_looks = stdout.write_all(out.as_bytes()).and_then(|()| stdout.flush());
}
