//! A run that stops once it is approved: whoever goes on with it is another session, with another model or on
//! another machine.

use std::io::{self, Write as _};

use super::drive::{View, refused};
use super::exit;
use super::failure::{Failure, written};
use super::terminal::{self, Color};
use crate::journal;
use crate::report::line::{Flow, Line};
use crate::report::palette::Tone;
use crate::report::{commands, json};
use crate::run::directory::RunDir;
use crate::run::error::RunError;

/// Says what goes on with the run that was just made: as its records where the run was to be shown so, and to people
/// on standard error then. Nothing waits for a decision, so all is done.
///
/// # Errors
/// The run's journal cannot be read, or standard output cannot be written.
pub fn stop(dir: &RunDir, why: &str, view: &View, color: Color) -> Result<u8, Failure> {
    let resume = commands::resume(dir.run());
    let look = terminal::look(color);
    let head = Line::new(&look).then(Tone::Strong, dir.run().as_str()).gap(1);
    let text = format!("is approved and stops here: {why}");
    let mut told = Vec::new();
    let drawn =
        writeln!(told).and_then(|()| Flow::after(head).then(Tone::Normal, &text).write(&mut told));
    written(drawn)?;
    let command = Line::new(&look).gap(2).then(Tone::Active, &resume).done();
    let at = crate::process::escape_path(&dir.path());
    let rest = format!(
        "It goes on from any session. In another clone that has the base, all it needs is a copy of {at} in the \
         same place there; it must go on in one of them only, since neither knows of the other."
    );
    let drawn = writeln!(told, "{}", command.trimmed())
        .and_then(|()| Flow::after(Line::new(&look)).then(Tone::Faint, &rest).write(&mut told));
    written(drawn)?;
    let mut out = io::stdout().lock();
    if view.json {
        let contents = journal::read(&dir.journal()).map_err(RunError::from).map_err(refused)?;
        for record in &contents.records {
            written(json::line(record, &mut out))?;
        }
        written(out.flush())?;
        // Where standard error is gone, there is nobody left to tell.
        let _ = io::stderr().lock().write_all(&told);
        return Ok(exit::DONE);
    }
    written(out.write_all(&told).and_then(|()| out.flush()))?;
    Ok(exit::DONE)
}
