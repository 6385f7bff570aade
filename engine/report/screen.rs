//! A picture of a terminal: what was printed, with its colours, as an SVG that a README can show.

use std::fmt::Write as _;

use anstyle::RgbColor;
use anstyle_svg::{Palette, Term};

use super::cells::width;

/// Colours that read on the picture's own dark ground, whatever page it stands on.
const PALETTE: Palette = Palette([
    RgbColor(0x48, 0x4f, 0x58), // black
    RgbColor(0xff, 0x7b, 0x72), // red
    RgbColor(0x56, 0xd3, 0x64), // green
    RgbColor(0xe3, 0xb3, 0x41), // yellow
    RgbColor(0x79, 0xc0, 0xff), // blue
    RgbColor(0xd2, 0xa8, 0xff), // magenta
    RgbColor(0x56, 0xd4, 0xdd), // cyan
    RgbColor(0xc9, 0xd1, 0xd9), // white
    RgbColor(0x6e, 0x76, 0x81),
    RgbColor(0xff, 0xa1, 0x98),
    RgbColor(0x7e, 0xe7, 0x87),
    RgbColor(0xf2, 0xcc, 0x60),
    RgbColor(0xa5, 0xd6, 0xff),
    RgbColor(0xe2, 0xc5, 0xff),
    RgbColor(0xb3, 0xf0, 0xff),
    RgbColor(0xff, 0xff, 0xff),
]);
const GROUND: RgbColor = RgbColor(0x0d, 0x11, 0x17);
const TEXT: RgbColor = RgbColor(0xc9, 0xd1, 0xd9);

/// Widest picture in columns; longer lines are wrapped as a terminal would.
const COLUMNS: usize = 110;

/// Draws `ansi` (text with SGR sequences and line feeds, as the rooms here write it) below a prompt
/// with the `command` that printed it.
#[must_use]
pub fn svg(command: &str, ansi: &str) -> String {
    let mut text = String::new();
    if !command.is_empty() {
        let _ = writeln!(text, "\x1b[32m$\x1b[0m {command}");
    }
    for line in ansi.trim_end_matches('\n').split('\n') {
        wrap(line, &mut text);
    }
    let term = Term::new().palette(PALETTE).fg_color(TEXT.into()).bg_color(GROUND.into());
    term.render_svg(text.trim_end_matches('\n'))
}

/// Breaks `line` where [`COLUMNS`] are full. The style goes on by itself.
fn wrap(line: &str, out: &mut String) {
    let mut column = 0;
    let mut escape = false;
    for c in line.chars() {
        escape |= c == '\x1b';
        if !escape {
            let columns = width(c.encode_utf8(&mut [0; 4]));
            if column + columns > COLUMNS {
                out.push('\n');
                column = 0;
            }
            column += columns;
        } else if c == 'm' {
            escape = false;
        }
        out.push(c);
    }
    out.push('\n');
}
