//! `sop answer`: a person answers what a worker asked.

use super::failure::Failure;
use super::request::{self, refused};
use super::run_args::RunArg;
use crate::run::requests::{self, Ask, Refused};

/// Answer a worker's question; `sop inbox` lists those that wait.
///
/// The worker is called again, with the answer in its brief. It costs no round.
#[derive(Debug, clap::Args)]
#[command(group = clap::ArgGroup::new("answer").required(true))]
pub struct Args {
    /// The question, as `q3`.
    #[arg(value_name = "ID", value_parser = number)]
    pub id: u32,
    /// The answer.
    #[arg(value_name = "TEXT", group = "answer")]
    pub text: Option<String>,
    /// Take what the worker would do.
    #[arg(long, group = "answer")]
    pub take_default: bool,
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
/// There is no such question, or it is answered already.
pub fn run(args: &Args) -> Result<u8, Failure> {
    let number = args.id;
    let left = request::leave(&args.run, "answer", |_, ledger, _, by| {
        let (_, fork) = requests::open_question(ledger, number).map_err(|why| refused(&why))?;
        let text = match (&args.text, &fork.default) {
            (Some(text), _) => text.trim().to_owned(),
            (None, Some(default)) => default.clone(),
            (None, None) => return Err(refused(&Refused::NoDefault(number))),
        };
        if text.is_empty() {
            return Err(Failure::usage("the answer is empty")
                .help("say what to do: it is all that the worker will know"));
        }
        let made = requests::make(ledger, None, by, Ask::Answer { number, text });
        Ok(vec![made.map_err(|why| refused(&why))?])
    })?;
    left.tell(args.json)
}

/// `q3`, or `3`.
fn number(text: &str) -> Result<u32, String> {
    let digits = text.strip_prefix(['q', 'Q']).unwrap_or(text);
    let number = digits.parse().ok().filter(|number| *number > 0);
    number.ok_or_else(|| "a question is named like `q3`; `sop inbox` lists them".to_owned())
}
