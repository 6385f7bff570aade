//! `sop interrupt`: tells a worker at work something, where it can be told.

use std::io::{self, Write as _};
use std::time::{Duration, Instant};

use serde::Serialize;

use super::exit;
use super::failure::{Failure, written};
use super::request::{self, Left, refused};
use super::run_args::{self, RunArg};
use crate::ledger::{Phase, WpState};
use crate::model::plan::{Does, Plan};
use crate::report::{commands, json};
use crate::run::directory::RunDir;
use crate::run::freeze;
use crate::run::requests::{self, Ask};
use crate::run::say::{self, Became};

/// How often the driver's answer is looked for.
const LOOK: Duration = Duration::from_millis(50);

/// How long it is waited for: an agent that must be ended and called again has its grace.
const PATIENCE: Duration = Duration::from_secs(20);

/// Tell a coding agent something while it works, without it losing what it knows.
///
/// Some agents take a word as they are; others are ended and called again in the same session. A plain
/// command cannot be told anything. Exit code 0: the agent has it, or will get it; 2: it cannot be told,
/// and goes on as before.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The WP.
    #[arg(value_name = "WP")]
    pub wp: String,
    /// What to tell it.
    #[arg(long, value_name = "TEXT")]
    pub say: String,
    /// Print the answer as JSON.
    #[arg(long)]
    pub json: bool,
    /// Which run.
    #[command(flatten)]
    pub run: RunArg,
}

#[derive(Debug, Serialize)]
struct Told<'a> {
    run: &'a str,
    wp: &'a str,
    attempt: u32,
    told: &'static str,
}

/// Runs the verb.
///
/// # Errors
/// The worker cannot be told anything, and why.
pub fn run(args: &Args) -> Result<u8, Failure> {
    let wp = run_args::wp(&args.wp)?;
    let text = args.say.trim();
    if text.is_empty() {
        return Err(Failure::usage("there is nothing to say"));
    }
    let left = request::leave(&args.run, "interrupt", |dir, ledger, waiting, by| {
        let state = ledger.wp(&wp);
        let (attempt, n) = state.map_or((0, 1), |state| requests::next_word(state, waiting));
        let ask = Ask::Interrupt { attempt, n, say: text.to_owned() };
        let made = requests::make(ledger, Some(&wp), by, ask);
        let made = made.map_err(|why| refused(&why).help(later(dir)))?;
        if let Some(state) = state {
            let plan = freeze::thaw(dir, &ledger.plan_sha256)
                .map_err(|error| Failure::infrastructure(error.to_string()))?;
            takes_words(&plan, state).map_err(|why| why.help(later(dir)))?;
        }
        Ok(vec![made])
    })?;
    if !left.held {
        return left.tell(args.json);
    }
    let told = told(&left)?;
    let mut out = io::stdout().lock();
    if args.json {
        let (run, attempt) = (left.dir.run().as_str(), word(&left).0);
        let answer = Told { run, wp: wp.as_str(), attempt, told };
        written(json::line(&answer, &mut out))?;
    } else {
        let text = match told {
            "taken" => "the worker has it and goes on",
            _ => "the worker gets it as soon as it listens",
        };
        written(writeln!(out, "interrupt {wp}: {text}"))?;
    }
    Ok(exit::DONE)
}

/// What to do instead.
fn later(dir: &RunDir) -> String {
    format!(
        "nothing was done, and nothing is lost; `{}` puts it into every later brief",
        commands::note(dir.run())
    )
}

/// Refuses where the worker is a plain command.
fn takes_words(plan: &Plan, state: &WpState) -> Result<(), Failure> {
    let worker = state.worker.as_ref().and_then(|id| Some((id, plan.workers.get(id)?)));
    match worker {
        Some((id, worker)) if matches!(worker.does, Does::Command { .. }) => Err(Failure::usage(
            format!("`{}` is worked on by `{id}`, a plain command: it takes no word", state.id),
        )),
        _ => Ok(()),
    }
}

/// The attempt, and which word to it.
fn word(left: &Left) -> (u32, u32) {
    let mut words = left.requests.iter().filter_map(|request| match request.ask {
        Ask::Interrupt { attempt, n, .. } => Some((attempt, n)),
        _ => None,
    });
    words.next_back().unwrap_or_default()
}

/// Waits until the driver says what became of the word.
fn told(left: &Left) -> Result<&'static str, Failure> {
    let ((attempt, n), deadline) = (word(left), Instant::now() + PATIENCE);
    let Some(wp) = left.requests.first().and_then(|request| request.wp.as_ref()) else {
        return Ok("waits");
    };
    loop {
        // Whether the worker is at work is looked at first: what it leaves when it ends is seen then.
        let ledger = run_args::fold(&left.dir)?;
        let at_work = ledger
            .wp(wp)
            .is_some_and(|state| (state.phase, state.attempt) == (Phase::Working, attempt));
        match say::became(&left.dir, wp, attempt, n) {
            Some(Became::Taken) => return Ok("taken"),
            Some(Became::Refused(why)) => {
                return Err(Failure::usage(format!("`{wp}` could not be told: {why}"))
                    .help(later(&left.dir)));
            }
            None if !at_work => {
                let why = format!("the worker of `{wp}` ended before it could be told");
                return Err(Failure::usage(why).help(later(&left.dir)));
            }
            None if Instant::now() >= deadline => return Ok("waits"),
            None => std::thread::sleep(LOOK),
        }
    }
}
