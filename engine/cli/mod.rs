//! The command line: one file a verb. Arguments in, a room called, an exit code out.

pub mod completions;
pub mod exit;
pub mod man;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// Runs plans: cuts work into packages that cannot tread on each other, and lets nothing through unchecked.
#[derive(Debug, Parser)]
#[command(name = "sop", version, about, disable_help_subcommand = true)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub verb: Verb,
}

/// The verbs. Each variant's arguments live in the verb's own file.
#[derive(Debug, Subcommand)]
pub enum Verb {}

/// Parses `argv` and runs the verb it names.
pub fn main(argv: impl IntoIterator<Item = OsString>) -> ExitCode {
    let cli = match Cli::try_parse_from(argv) {
        Ok(cli) => cli,
        Err(error) => {
            // Help and version are answers, not mistakes; clap knows which stream each belongs to.
            let _ = error.print();
            return if error.use_stderr() { exit::USAGE.into() } else { exit::DONE.into() };
        }
    };
    match cli.verb {}
}
