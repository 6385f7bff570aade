//! `sop note`: a correction of the plan's facts.

use super::failure::Failure;
use super::request::{self, refused};
use super::run_args::RunArg;
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
    let left = request::leave(&args.run, "note", |_, ledger, _, by| {
        let made = requests::make(ledger, None, by, Ask::Note { text: text.to_owned() });
        Ok(vec![made.map_err(|why| refused(&why))?])
    })?;
    left.tell(args.json)
}
