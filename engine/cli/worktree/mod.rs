//! `sop worktree`: worktrees for the lead's own hands, and those that runs left.

mod archive;
pub mod gc;
mod list;
mod new;
mod path;
mod rm;
mod sync;

use std::io::{self, Write as _};

use clap::Subcommand;
use serde::Serialize;

use super::exit;
use super::failure::{Failure, written};
use super::terminal::{self, Color};
use crate::report::json;
use crate::report::palette::Look;
use crate::run::directory::DirectoryError;
use crate::upkeep::error::UpkeepError;

/// Make, list, archive and remove worktrees, and clear away what runs left.
///
/// Nothing that is not merged, clean and left alone goes without being archived first, unless each kind of change
/// is named. The main checkout is never removed.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// What to do.
    #[command(subcommand)]
    pub verb: Verb,
}

/// The verbs.
#[derive(Debug, Subcommand)]
#[allow(missing_docs, reason = "a text here would take the place of the verb's own")]
pub enum Verb {
    New(new::Args),
    List(list::Args),
    Path(path::Args),
    Rm(rm::Args),
    Archive(archive::Args),
    Gc(gc::Args),
    Sync(sync::Args),
}

/// Runs the verb.
///
/// # Errors
/// As each verb says.
pub fn run(args: &Args, color: Color) -> Result<u8, Failure> {
    match &args.verb {
        Verb::New(args) => new::run(args, color),
        Verb::List(args) => list::run(args, color),
        Verb::Path(args) => path::run(args),
        Verb::Rm(args) => rm::run(args, color),
        Verb::Archive(args) => archive::run(args, color),
        Verb::Gc(args) => gc::run(args, color),
        Verb::Sync(args) => sync::run(args, color),
    }
}

/// Why a verb of upkeep was not done.
#[must_use]
pub fn refused(error: UpkeepError) -> Failure {
    let text = error.to_string();
    match error {
        UpkeepError::NoSuchTree(_)
        | UpkeepError::Ambiguous { .. }
        | UpkeepError::Name { .. }
        | UpkeepError::NoSuchRun(_) => Failure::usage(text),
        UpkeepError::Stays { help, .. } => {
            let failure = Failure::new(exit::FAILED, text);
            match help {
                Some(help) => failure.help(help),
                None => failure,
            }
        }
        UpkeepError::RunOpen(run) => {
            let help = format!("to give it up as it is: `sop run archive {run} --unfinished`");
            Failure::new(exit::FAILED, text).help(help)
        }
        UpkeepError::Directory(DirectoryError::Held(_)) => Failure::new(exit::HELD, text),
        _ => Failure::infrastructure(text),
    }
}

/// Prints a value as JSON, or as `draw` does for people.
///
/// # Errors
/// Standard output cannot be written.
pub fn show<T: Serialize>(
    value: &T,
    as_json: bool,
    color: Color,
    draw: impl FnOnce(&mut io::BufWriter<io::StdoutLock<'static>>, &Look) -> io::Result<()>,
) -> Result<(), Failure> {
    let mut out = io::BufWriter::new(io::stdout().lock());
    let drawn = match as_json {
        true => json::pretty(value, &mut out),
        false => draw(&mut out, &terminal::look(color)),
    };
    written(drawn.and_then(|()| out.flush()))
}
