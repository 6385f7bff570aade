//! The command line: one file a verb. Arguments in, a room called, an exit code out.

pub mod apply;
pub mod ask;
pub mod brief;
pub mod completions;
pub mod drive;
pub mod exit;
pub mod failure;
pub mod graph;
pub mod init;
pub mod logs;
pub mod man;
pub mod plan;
mod plan_file;
pub mod resume;
pub mod run_args;
pub mod run_logged;
pub mod schema;
pub mod status;
pub mod terminal;
pub mod validate;
pub mod wait;

use std::ffi::OsString;
use std::io;
use std::process::ExitCode;

use clap::{CommandFactory as _, Parser, Subcommand};

use failure::{Failure, written};
use terminal::Color;

/// Runs plans: cuts work into packages that cannot tread on each other, and lets nothing through unchecked.
#[derive(Debug, Parser)]
#[command(name = "sop", version, about, disable_help_subcommand = true)]
pub struct Cli {
    /// When to print in colours; `auto` heeds `NO_COLOR`.
    #[arg(long, global = true, value_name = "WHEN", value_enum, default_value_t)]
    pub color: Color,
    /// What to do.
    #[command(subcommand)]
    pub verb: Verb,
}

/// The verbs. Each variant's arguments live in the verb's own file.
#[derive(Debug, Subcommand)]
pub enum Verb {
    /// Write a first plan.
    Init(init::Args),
    /// Check plan files.
    Validate(validate::Args),
    /// Draw who waits for whom.
    Graph(graph::Args),
    /// Show what workers would be told.
    Brief(brief::Args),
    /// Show what a run of a plan would do.
    Plan(plan::Args),
    /// Run a plan.
    Apply(apply::Args),
    /// Go on with a run.
    Resume(resume::Args),
    /// Show how a run stands.
    Status(status::Args),
    /// Show what a WP's processes printed.
    Logs(logs::Args),
    /// Wait until a run or a WP has come somewhere.
    Wait(wait::Args),
    /// Approve a WP's work, or ask for changes.
    Review(ask::Review),
    /// End a WP, or all of them.
    Cancel(ask::Cancel),
    /// Try a WP again.
    Retry(ask::Retry),
    /// Run a command with its output in a file.
    RunLogged(run_logged::Args),
    /// Print a JSON Schema.
    Schema(schema::Args),
    /// Print completions for a shell.
    Completions(completions::Args),
    /// Print the manual page, or write them all.
    Man(man::Args),
}

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
    match run(&cli) {
        Ok(exit) => exit.into(),
        Err(failure) => failure.print(cli.color),
    }
}

fn run(cli: &Cli) -> Result<u8, Failure> {
    match &cli.verb {
        Verb::Init(args) => init::run(args),
        Verb::Validate(args) => validate::run(args, cli.color),
        Verb::Graph(args) => graph::run(args, cli.color),
        Verb::Brief(args) => brief::run(args, cli.color),
        Verb::Plan(args) => plan::run(args, cli.color),
        Verb::Apply(args) => apply::run(args, cli.color),
        Verb::Resume(args) => resume::run(args, cli.color),
        Verb::Status(args) => status::run(args, cli.color),
        Verb::Logs(args) => logs::run(args),
        Verb::Wait(args) => wait::run(args),
        Verb::Review(args) => ask::review(args),
        Verb::Cancel(args) => ask::cancel(args),
        Verb::Retry(args) => ask::retry(args),
        Verb::RunLogged(args) => run_logged::run(args),
        Verb::Schema(args) => schema::run(args),
        Verb::Completions(args) => {
            let done = completions::run(args, Cli::command(), &mut io::stdout());
            written(done).map(|()| exit::DONE)
        }
        Verb::Man(args) => {
            let done = man::run(args, Cli::command(), &mut io::stdout());
            written(done).map(|()| exit::DONE)
        }
    }
}
