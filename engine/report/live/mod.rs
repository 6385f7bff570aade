//! For a terminal: one line for each WP that something happens to, and a bar for the run, drawn over
//! as time passes. What is worth keeping scrolls up and stays.
//!
//! There is no thread here: the caller ticks, and each tick writes at most once, only what changed.

mod canvas;
mod frame;
mod tail;

use std::fmt;
use std::io::Write;
use std::os::fd::AsFd;
use std::path::Path;
use std::sync::Arc;

pub use canvas::{Canvas, Size};
pub use tail::last_bytes;

use super::Reporter;
use super::line::{Line, Row};
use super::palette::{Look, Tone};
use super::plain::Lines;
use crate::event::Record;
use crate::ledger::Ledger;
use crate::model::plan::Plan;
use crate::model::time::Timestamp;
use tail::Tails;

/// What is drawn for when the terminal does not say.
const USUAL: Size = Size { rows: 24, columns: 80 };

/// The live view.
pub struct Live<W: Write> {
    out: Option<W>,
    size: Box<dyn Fn() -> Option<Size> + Send>,
    look: Look,
    lines: Lines,
    tails: Tails,
    canvas: Canvas,
    stay: Vec<Row>,
}

impl<W: Write> Live<W> {
    /// Draws on `out`, whose size is asked of `size` before each drawing ([`size_of`]); logs are in
    /// the folder `logs`.
    pub fn new(
        out: W,
        size: impl Fn() -> Option<Size> + Send + 'static,
        look: Look,
        logs: &Path,
    ) -> Self {
        Self {
            out: Some(out),
            size: Box::new(size),
            look: Look { width: None, ..look },
            lines: Lines::default(),
            tails: Tails::new(logs),
            canvas: Canvas::default(),
            stay: Vec::new(),
        }
    }

    /// With the plan, which says what a start waits for.
    #[must_use]
    pub fn with_plan(mut self, plan: Arc<Plan>) -> Self {
        self.lines.plan_is(plan);
        self
    }

    fn draw(&mut self, frame: impl FnOnce(&mut Self, Size) -> Vec<Row>) {
        let size = (self.size)().filter(|size| size.rows > 0 && size.columns > 0).unwrap_or(USUAL);
        let frame = frame(self, size);
        let bytes = self.canvas.draw(size, &std::mem::take(&mut self.stay), frame);
        let Some(out) = &mut self.out else { return };
        if !bytes.is_empty() && out.write_all(&bytes).and_then(|()| out.flush()).is_err() {
            self.out = None;
        }
    }

    /// Takes the changing lines away and leaves what stays.
    fn close(&mut self) {
        if self.out.is_some() {
            if self.lines.began().is_some() {
                // What follows is the summary: not one more event.
                self.stay.push(Row::default());
            }
            self.draw(|_, _| Vec::new());
            self.out = None;
        }
    }
}

impl<W: Write + Send> Reporter for Live<W> {
    fn event(&mut self, record: &Record, ledger: &Ledger) {
        let columns = (self.size)().map(|size| size.columns).filter(|columns| *columns > 0);
        let look = Look { width: columns, ..self.look };
        let said = self.lines.line(record, ledger, &look);
        self.stay.extend(said.filter(|said| said.milestone).into_iter().flat_map(|said| said.rows));
    }

    fn say(&mut self, text: &str) {
        self.stay.push(Line::new(&self.look).then(Tone::Warn, text).done());
    }

    fn tick(&mut self, ledger: &Ledger, now: Timestamp) {
        if self.out.is_none() {
            return;
        }
        self.draw(|live, size| {
            let elapsed = now.since(live.lines.began().unwrap_or(now));
            let plan = live.lines.plan();
            frame::frame(ledger, plan, now, elapsed, size, &live.look, &mut live.tails)
        });
    }

    fn finish(&mut self, _: &Ledger) {
        self.close();
    }
}

impl<W: Write> Drop for Live<W> {
    fn drop(&mut self) {
        self.close();
    }
}

impl<W: Write> fmt::Debug for Live<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Live").field("look", &self.look).field("canvas", &self.canvas).finish()
    }
}

/// The size of the terminal behind `fd`, if it is one.
#[must_use]
pub fn size_of(fd: impl AsFd) -> Option<Size> {
    let size = rustix::termios::tcgetwinsize(fd).ok()?;
    Some(Size { rows: usize::from(size.ws_row), columns: usize::from(size.ws_col) })
}
