//! How things look: one place for colours and symbols. A colour never says anything that a word
//! beside it does not say too.
//!
//! Only the 8 basic colours are used, so that the terminal's own theme, light or dark, decides what
//! they are; nothing is drawn in plain black, white or yellow, which one theme or the other hides.

use anstyle::{AnsiColor, Effects, Style};

/// How to draw, as `cli` decided it from flags, environment and terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Look {
    /// Colours may be used.
    pub colour: bool,
    /// Symbols beyond ASCII may be used.
    pub unicode: bool,
    /// Columns there are; `None` when nothing needs to be cut to fit.
    pub width: Option<usize>,
}

impl Look {
    /// No colour, no symbol beyond ASCII, no end of line: what any file can hold.
    pub const BARE: Self = Self { colour: false, unicode: false, width: None };

    /// `text` in `tone`, if there are colours.
    #[must_use]
    pub fn paint(&self, tone: Tone, text: &str) -> String {
        let style = tone.style();
        if !self.colour || style == Style::new() || text.is_empty() {
            return text.to_owned();
        }
        format!("{style}{text}{style:#}")
    }

    /// One of two texts: the second for terminals that know ASCII alone.
    #[must_use]
    pub fn pick<'a>(&self, symbol: &'a str, ascii: &'a str) -> &'a str {
        if self.unicode { symbol } else { ascii }
    }

    /// What stands between two facts on a line.
    #[must_use]
    pub fn dot(&self) -> &'static str {
        if self.unicode { " · " } else { ", " }
    }

    /// What stands where text was cut.
    #[must_use]
    pub fn ellipsis(&self) -> &'static str {
        if self.unicode { "…" } else { "..." }
    }
}

/// What a text means; the style follows from it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Tone {
    /// Says nothing about how things stand.
    Normal,
    /// A name to be found again.
    Strong,
    /// Beside the point.
    Faint,
    /// At work.
    Active,
    /// Got through.
    Good,
    /// Wants a person's eye.
    Warn,
    /// Did not get through.
    Bad,
    /// Something to type.
    Command,
}

impl Tone {
    fn style(self) -> Style {
        let colour = |colour: AnsiColor| Style::new().fg_color(Some(colour.into()));
        match self {
            Self::Normal => Style::new(),
            Self::Strong => Style::new().effects(Effects::BOLD),
            Self::Faint => Style::new().effects(Effects::DIMMED),
            Self::Active => colour(AnsiColor::Cyan),
            Self::Good => colour(AnsiColor::Green),
            Self::Warn => colour(AnsiColor::Magenta),
            Self::Bad => colour(AnsiColor::Red).effects(Effects::BOLD),
            Self::Command => colour(AnsiColor::Blue).effects(Effects::BOLD),
        }
    }
}

/// Whether the locale writes UTF-8, by the variables that POSIX looks at, in its order; `var` gives a
/// variable's value.
#[must_use]
pub fn speaks_utf8(var: impl Fn(&str) -> Option<String>) -> bool {
    let set = |name: &&str| var(name).filter(|value| !value.is_empty());
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"].iter().find_map(set).unwrap_or_default();
    let locale = locale.to_ascii_lowercase();
    locale.contains("utf-8") || locale.contains("utf8")
}
