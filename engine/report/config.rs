//! Settings and where they come from: lines that a config file could hold, each with its origin.

use std::io::{self, Write};

use schemars::JsonSchema;
use serde::Serialize;

use super::cells::width;
use super::line::{Flow, Line};
use super::palette::{Look, Tone};
use crate::model::setting::Level;
use crate::plan::Setting;
use crate::plan::wording::inline;

/// Columns that keys and values take at most, so that one long value does not drive all origins away.
const WIDEST: usize = 56;

/// All settings, and the config files that were looked for.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Settings {
    /// Config files, whether they are there or not, the lowest first.
    pub files: Vec<Looked>,
    /// The settings, by name.
    pub settings: Vec<Setting>,
}

/// A config file that was looked for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Looked {
    /// Whose it is.
    pub whose: Level,
    /// Where it is, or would be.
    pub path: String,
    /// Whether it is there.
    pub found: bool,
}

/// Draws it.
///
/// # Errors
/// What `out` answers to a write.
pub fn draw(all: &Settings, look: &Look, out: &mut impl Write) -> io::Result<()> {
    let line = |setting: &Setting| match setting.value.is_null() {
        true => format!("# {} is not set", setting.key),
        false => format!("{} = {}", setting.key, inline(&setting.value)),
    };
    let column = all.settings.iter().map(|setting| width(&line(setting))).max().unwrap_or(0);
    let column = column.min(WIDEST);
    // Never cut: it is there to be copied.
    let bare = Look { width: None, ..*look };
    for setting in &all.settings {
        let text = line(setting);
        let (tone, origin) = match (&setting.at, setting.from) {
            (Some(at), from) => {
                let line = at.line.map(|line| format!(":{line}")).unwrap_or_default();
                let tone = if from == Level::BuiltIn { Tone::Faint } else { Tone::Normal };
                (tone, format!("{}{line}", at.name))
            }
            (None, _) => (Tone::Faint, "built in".to_owned()),
        };
        let fill = column.saturating_sub(width(&text)) + 2;
        let line = Line::new(&bare).then(tone, &text).gap(fill).then(Tone::Faint, "# ");
        writeln!(out, "{}", line.then(tone, &origin).done().trimmed())?;
    }
    writeln!(out)?;
    for file in &all.files {
        let whose = match file.whose {
            Level::User => "your config",
            _ => "of the repository",
        };
        let line = Line::new(&bare).cell(Tone::Faint, whose, 19).then(Tone::Normal, &file.path);
        let line = match file.found {
            true => line,
            false => line.then(Tone::Faint, " (not there)"),
        };
        writeln!(out, "{}", line.done().trimmed())?;
    }
    let variables = all.settings.iter().filter_map(|setting| setting.variable);
    let head = Line::new(look).cell(Tone::Faint, "environment", 19);
    let names = variables.collect::<Vec<_>>().join(" ");
    Flow::after(head).then(Tone::Normal, &names).write(out)
}
