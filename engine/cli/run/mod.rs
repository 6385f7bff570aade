//! `sop run`: the runs of a repository.

mod archive;
mod clean;
mod list;
mod show;

use clap::Subcommand;

use super::failure::Failure;
use super::resume;
use super::terminal::Color;

/// List runs, show one, go on with it, put it away, clear away what it left.
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
    List(list::Args),
    Show(show::Args),
    Resume(resume::Args),
    Archive(archive::Args),
    Clean(clean::Args),
}

/// Runs the verb.
///
/// # Errors
/// As each verb says.
pub fn run(args: &Args, color: Color) -> Result<u8, Failure> {
    match &args.verb {
        Verb::List(args) => list::run(args, color),
        Verb::Show(args) => show::run(args, color),
        Verb::Resume(args) => resume::run(args, color),
        Verb::Archive(args) => archive::run(args, color),
        Verb::Clean(args) => clean::run(args, color),
    }
}
