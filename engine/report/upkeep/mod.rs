//! What is left, for people: worktrees, what may become of them, runs.

pub mod bare;
pub mod leftovers;
pub mod runs;
pub mod trees;

use std::io::{self, Write};

use super::line::{Flow, Line};
use super::palette::{Look, Tone};

/// Writes a line that is to be typed, which is never broken.
fn command(text: &str, out: &mut impl Write, look: &Look) -> io::Result<()> {
    let look = &Look { width: None, ..*look };
    writeln!(out, "{}", Line::new(look).gap(4).then(Tone::Command, text).done().trimmed())
}

/// Writes a remark below what it is about.
fn remark(tone: Tone, text: &str, out: &mut impl Write, look: &Look) -> io::Result<()> {
    Flow::after(Line::new(look).gap(4)).then(tone, text).write(out)
}
