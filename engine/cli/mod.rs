//! The command line: one file a verb. Arguments in, a room called, an exit code out.

pub mod adapters;
pub mod answer;
pub mod apply;
pub mod ask;
pub mod audit;
pub mod brief;
pub mod cancel;
pub mod completions;
pub mod config;
pub mod covers;
mod critic;
pub mod deliver;
pub mod draft;
pub mod drive;
pub mod exit;
pub mod failure;
pub mod graph;
mod in_person;
pub mod inbox;
pub mod init;
pub mod interrupt;
pub mod layers;
pub mod lesson;
pub mod logs;
pub mod man;
pub mod migrate_to_bare;
pub mod note;
pub mod plan;
mod plan_file;
pub mod preflight;
mod prompt;
mod publish;
pub mod recheck;
mod request;
pub mod resume;
pub mod retry;
pub mod review;
pub mod run;
pub mod run_args;
pub mod run_logged;
pub mod schema;
mod split;
pub mod stats;
pub mod status;
pub mod take;
pub mod terminal;
pub mod validate;
pub mod wait;
pub mod worktree;

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
    #[arg(
        long,
        global = true,
        value_name = "auto|always|never",
        value_enum,
        default_value_t,
        hide_possible_values = true,
        display_order = 900
    )]
    pub color: Color,
    /// What to do.
    #[command(subcommand)]
    pub verb: Verb,
}

/// The verbs. What each does is told by its arguments, in the verb's own file: clap shows that text.
#[derive(Debug, Subcommand)]
#[allow(missing_docs, reason = "a text here would take the place of the verb's own")]
pub enum Verb {
    Init(init::Args),
    Validate(validate::Args),
    Graph(graph::Args),
    Brief(brief::Args),
    Preflight(preflight::Args),
    Plan(plan::Args),
    Apply(apply::Args),
    Resume(resume::Args),
    Deliver(deliver::Args),
    Status(status::Args),
    Logs(logs::Args),
    Wait(wait::Args),
    Inbox(inbox::Args),
    Answer(answer::Args),
    Review(review::Args),
    Retry(retry::Args),
    Take(take::Args),
    Recheck(recheck::Args),
    Cancel(cancel::Args),
    Interrupt(interrupt::Args),
    Note(note::Args),
    Lesson(lesson::Args),
    Ask(ask::Args),
    Audit(audit::Args),
    Draft(draft::Args),
    Stats(stats::Args),
    Run(run::Args),
    Worktree(worktree::Args),
    MigrateToBare(migrate_to_bare::Args),
    RunLogged(run_logged::Args),
    Adapters(adapters::Args),
    Config(config::Args),
    Schema(schema::Args),
    Completions(completions::Args),
    Man(man::Args),
}

/// Parses `argv` and runs the verb it names.
pub fn main(argv: impl IntoIterator<Item = OsString>) -> ExitCode {
    listen_to_developers();
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

/// `SOP_LOG=debug` (or any filter) shows developers on standard error what `sop` does inside.
fn listen_to_developers() {
    if let Ok(filter) = tracing_subscriber::EnvFilter::try_from_env("SOP_LOG") {
        tracing_subscriber::fmt().with_env_filter(filter).with_writer(io::stderr).init();
    }
}

fn run(cli: &Cli) -> Result<u8, Failure> {
    match &cli.verb {
        Verb::Init(args) => init::run(args),
        Verb::Validate(args) => validate::run(args, cli.color),
        Verb::Graph(args) => graph::run(args, cli.color),
        Verb::Brief(args) => brief::run(args, cli.color),
        Verb::Preflight(args) => preflight::run(args, cli.color),
        Verb::Plan(args) => plan::run(args, cli.color),
        Verb::Apply(args) => apply::run(args, cli.color),
        Verb::Resume(args) => resume::run(args, cli.color),
        Verb::Deliver(args) => deliver::run(args, cli.color),
        Verb::Status(args) => status::run(args, cli.color),
        Verb::Logs(args) => logs::run(args),
        Verb::Wait(args) => wait::run(args),
        Verb::Inbox(args) => inbox::run(args, cli.color),
        Verb::Answer(args) => answer::run(args),
        Verb::Review(args) => review::run(args),
        Verb::Retry(args) => retry::run(args),
        Verb::Take(args) => take::run(args, cli.color),
        Verb::Recheck(args) => recheck::run(args, cli.color),
        Verb::Cancel(args) => cancel::run(args),
        Verb::Interrupt(args) => interrupt::run(args),
        Verb::Note(args) => note::run(args),
        Verb::Lesson(args) => lesson::run(args),
        Verb::Ask(args) => ask::run(args),
        Verb::Audit(args) => audit::run(args, cli.color),
        Verb::Draft(args) => draft::run(args, cli.color),
        Verb::Stats(args) => stats::run(args, cli.color),
        Verb::Run(args) => run::run(args, cli.color),
        Verb::Worktree(args) => worktree::run(args, cli.color),
        Verb::MigrateToBare(args) => migrate_to_bare::run(args, cli.color),
        Verb::RunLogged(args) => run_logged::run(args),
        Verb::Adapters(args) => adapters::run(args, cli.color),
        Verb::Config(args) => config::run(args, cli.color),
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
