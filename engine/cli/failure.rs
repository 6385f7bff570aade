//! Why a verb could not do its work: a sentence, what to do, and the exit code that its kind has.
//! Printed once, here at the edge.

use std::io::{self, Write};
use std::process::ExitCode;

use anstyle::{AnsiColor, Style};

use super::exit;
use super::terminal::Color;
use crate::report::escape::{visible, visible_lines};

/// A verb's failure.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// One of [`exit`].
    pub exit: u8,
    /// What was wrong, in one sentence.
    pub message: String,
    /// What to do.
    pub help: Option<String>,
}

impl Failure {
    /// The command line asks for something that cannot be.
    #[must_use]
    pub fn usage(message: impl Into<String>) -> Self {
        Self::new(exit::USAGE, message)
    }

    /// Git, the disk or a tool is in the way.
    #[must_use]
    pub fn infrastructure(message: impl Into<String>) -> Self {
        Self::new(exit::INFRASTRUCTURE, message)
    }

    /// A failure with this exit code.
    #[must_use]
    pub fn new(exit: u8, message: impl Into<String>) -> Self {
        Self { exit, message: message.into(), help: None }
    }

    /// The same failure, with what to do.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// Says it on standard error.
    pub fn print(&self, color: Color) -> ExitCode {
        let style = |color: AnsiColor| color.on_default().bold();
        let (red, cyan) = if color.on_stderr() {
            (style(AnsiColor::BrightRed), style(AnsiColor::BrightCyan))
        } else {
            (Style::new(), Style::new())
        };
        let mut err = io::stderr().lock();
        let mut say = |style: Style, word: &str, text: &str| {
            // Where standard error is gone, there is nobody left to tell.
            let _ = writeln!(err, "{style}{word}{style:#}: {text}");
        };
        say(red, "error", &visible(&self.message));
        if let Some(help) = &self.help {
            say(cyan, "help", &visible_lines(help));
        }
        self.exit.into()
    }
}

/// Turns what standard output answered to a write into a failure. A reader who has seen enough
/// (`sop … | head`) is none.
///
/// # Errors
/// The disk is full, the descriptor is closed, …
pub fn written(result: io::Result<()>) -> Result<(), Failure> {
    match result {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        Err(error) => {
            Err(Failure::infrastructure(format!("could not write to standard output: {error}")))
        }
    }
}
