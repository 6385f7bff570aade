//! From a checkout to a bare repository: the steps, and what was cut short.

use std::io::{self, Write};

use super::command;
use crate::report::line::{Flow, Line};
use crate::report::palette::{Look, Tone};

/// The steps of a migration, as people read them.
#[derive(Debug, Clone, Copy)]
pub struct Steps<'a> {
    /// The folder around everything.
    pub top: &'a str,
    /// Where the checkout goes.
    pub folder: &'a str,
    /// The steps.
    pub steps: &'a [String],
    /// The command that does it; `None` when it is done.
    pub again: Option<&'a str>,
}

/// What was cut short, and what became of it.
#[derive(Debug, Clone, Copy)]
pub enum CutShort<'a> {
    /// Nothing yet: these steps are left.
    Told(&'a [String]),
    /// It was finished: the checkout is there.
    Finished(&'a str),
    /// It was undone.
    Undone,
}

impl Steps<'_> {
    /// Writes the steps, and what to type next.
    ///
    /// # Errors
    /// When `out` cannot be written.
    pub fn write(&self, out: &mut impl Write, look: &Look) -> io::Result<()> {
        say(&format!("In {}:", self.top), out, look)?;
        numbered(1, self.steps, out, look)?;
        writeln!(out)?;
        match self.again {
            None => {
                say(&format!("Done. The checkout is in {}", self.folder), out, look)?;
                let folder = shlex::try_quote(self.folder).unwrap_or(self.folder.into());
                command(&format!("cd {folder}"), out, look)
            }
            Some(again) => {
                let note = "Files that hold the old place in their text (a virtual environment, a build \
                            folder), and other clones that borrow objects from here, are not known and \
                            not changed.";
                Flow::after(Line::new(look)).then(Tone::Faint, note).write(out)?;
                say("Nothing was done yet:", out, look)?;
                command(again, out, look)
            }
        }
    }
}

impl CutShort<'_> {
    /// Writes that a migration in the folder `top` was cut short after `done` of `all` steps, and what became of it.
    ///
    /// # Errors
    /// When `out` cannot be written.
    pub fn write(
        &self,
        top: &str,
        (done, all): (usize, usize),
        out: &mut impl Write,
        look: &Look,
    ) -> io::Result<()> {
        say(
            &format!("A migration in {top} was cut short after {done} of {all} steps."),
            out,
            look,
        )?;
        match self {
            Self::Finished(folder) => {
                say(&format!("It is finished: the checkout is in {folder}"), out, look)
            }
            Self::Undone => say("It is undone: all is as it was.", out, look),
            Self::Told(left) => {
                if !left.is_empty() {
                    say("These are left:", out, look)?;
                    numbered(done + 1, left, out, look)?;
                }
                command("sop migrate-to-bare --apply   # finishes it", out, look)?;
                command("sop migrate-to-bare --undo    # undoes it", out, look)
            }
        }
    }
}

fn numbered(first: usize, steps: &[String], out: &mut impl Write, look: &Look) -> io::Result<()> {
    for (n, step) in steps.iter().enumerate() {
        let number = Line::new(look).gap(2).cell(Tone::Faint, &format!("{:>3}", n + first), 5);
        Flow::after(number).then(Tone::Normal, step).write(out)?;
    }
    Ok(())
}

fn say(text: &str, out: &mut impl Write, look: &Look) -> io::Result<()> {
    Flow::after(Line::new(look)).then(Tone::Normal, text).write(out)
}
