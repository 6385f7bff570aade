//! What standard output and standard error can show: colours and a width. `--color` says it outright;
//! otherwise `NO_COLOR`, `CLICOLOR_FORCE`, `TERM` and whether it is a terminal at all decide.

use std::io::{self, IsTerminal};

use anstream::{AutoStream, ColorChoice};
use clap::ValueEnum;

use crate::report::findings::Look;
use crate::report::palette;

/// When to print in colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum Color {
    /// On a terminal that takes them, unless `NO_COLOR` is set.
    #[default]
    Auto,
    /// Even into a pipe or a file, and whatever `NO_COLOR` says.
    Always,
    /// Nowhere.
    Never,
}

impl Color {
    /// Whether standard output gets colours.
    #[must_use]
    pub fn on_stdout(self) -> bool {
        self.decide(|| AutoStream::choice(&io::stdout()))
    }

    /// Whether standard error gets colours.
    #[must_use]
    pub fn on_stderr(self) -> bool {
        self.decide(|| AutoStream::choice(&io::stderr()))
    }

    fn decide(self, auto: impl FnOnce() -> ColorChoice) -> bool {
        match self {
            Self::Always => true,
            Self::Never => false,
            Self::Auto => auto() != ColorChoice::Never,
        }
    }
}

/// How findings are to look on standard output.
#[must_use]
pub fn stdout_look(color: Color) -> Look {
    let usual = Look::default();
    let width = if io::stdout().is_terminal() {
        rustix::termios::tcgetwinsize(io::stdout())
            .map(|size| usize::from(size.ws_col))
            .unwrap_or(usual.width)
    } else {
        usual.width
    };
    Look {
        color: color.on_stdout(),
        // A terminal that says 0 does not know; under 40 an excerpt is all margin.
        width: if width == 0 { usual.width } else { width.max(40) },
    }
}

/// How findings are to look on standard error.
#[must_use]
pub fn stderr_look(color: Color) -> Look {
    Look { color: color.on_stderr(), ..stdout_look(color) }
}

/// How everything else is to look on standard output.
#[must_use]
pub fn look(color: Color) -> palette::Look {
    let width = io::stdout()
        .is_terminal()
        .then(|| rustix::termios::tcgetwinsize(io::stdout()).ok())
        .flatten()
        .map(|size| usize::from(size.ws_col))
        .filter(|columns| *columns > 0);
    palette::Look {
        colour: color.on_stdout(),
        unicode: palette::speaks_utf8(|name| std::env::var(name).ok()),
        width,
    }
}

/// How a terminal's contents are to look in a picture: as on a good terminal, whatever is at hand.
#[must_use]
pub fn for_a_picture() -> palette::Look {
    palette::Look { colour: true, unicode: true, width: Some(100) }
}
