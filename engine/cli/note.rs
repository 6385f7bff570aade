//! `sop note`: a correction of the plan's facts.

use std::io::{self, Write as _};

use super::exit;
use super::failure::{Failure, written};
use super::request::{self, refused};
use super::run_args::RunArg;
use crate::event::Outcome;
use crate::report::commands;
use crate::run::requests::{self, Ask};

/// Correct the plan's facts: every brief from now on carries it, with its date, above the task.
///
/// The plan itself stays as it was approved.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// What is right.
    #[arg(value_name = "TEXT")]
    pub text: String,
    /// Print the answer as JSON.
    #[arg(long)]
    pub json: bool,
    /// Which run.
    #[command(flatten)]
    pub run: RunArg,
}

/// Runs the verb.
///
/// # Errors
/// The same is noted already.
pub fn run(args: &Args) -> Result<u8, Failure> {
    let text = args.text.trim();
    if text.is_empty() {
        return Err(Failure::usage("the correction is empty").help("say what is right"));
    }
    let mut over = false;
    let left = request::leave(&args.run, "note", |_, ledger, _, by| {
        over = ledger.outcome == Some(Outcome::Done);
        let made = requests::make(ledger, None, by, Ask::Note { text: text.to_owned() });
        Ok(vec![made.map_err(|why| refused(&why))?])
    })?;
    if over && !left.held && !args.json {
        // Nothing is left to be briefed.
        let lesson = commands::add_lesson(text, &[]);
        let run = left.dir.run();
        written(writeln!(
            io::stdout().lock(),
            "note: noted, and `{run}` is over: no brief is left to carry it; `{lesson}` keeps it for later plans"
        ))?;
        return Ok(exit::DONE);
    }
    left.tell(args.json)
}
