//! `sop inbox`: what waits for a person.

use std::io::{self, Write as _};

use super::exit;
use super::failure::{Failure, written};
use super::run_args::{self, RunArg};
use super::terminal::{self, Color};
use crate::model::time::Timestamp;
use crate::report::inbox::{self, Item, Waiting};
use crate::report::json;
use crate::run::directory::RunDir;
use crate::run::freeze;
use crate::run::requests::{self, Ask};

/// List what waits for a person, with the command to type for each: questions, reviews, escalations, and
/// what infrastructure blocks.
///
/// All runs of the repository, the newest first, unless one is named.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Print it as JSON, an array.
    #[arg(long)]
    pub json: bool,
    /// One run alone.
    #[arg(long, value_name = "RUN")]
    pub run: Option<String>,
}

/// Runs the verb.
///
/// # Errors
/// There is no such run, or the journal of the one that was named cannot be read.
pub fn run(args: &Args, color: Color) -> Result<u8, Failure> {
    let repo = run_args::repository()?;
    let mut items = Vec::new();
    match &args.run {
        Some(name) => {
            let run = RunArg { run: Some(name.clone()) };
            items = of(&run_args::find(&repo, run.run.as_deref())?)?;
        }
        None => {
            let root = RunDir::root_in(repo.common_dir());
            let runs =
                RunDir::list(&root).map_err(|error| Failure::infrastructure(error.to_string()))?;
            for dir in runs.iter().rev() {
                match of(dir) {
                    Ok(found) => items.extend(found),
                    // One run that cannot be read hides nothing of the others.
                    Err(failure) => drop(failure.print(color)),
                }
            }
        }
    }
    let mut out = io::BufWriter::new(io::stdout().lock());
    let now = Timestamp(jiff::Timestamp::now());
    let drawn = match args.json {
        true => json::pretty(&items, &mut out),
        false => inbox::write(&items, now, &mut out, &terminal::look(color)),
    };
    written(drawn.and_then(|()| out.flush()))?;
    Ok(exit::DONE)
}

fn of(dir: &RunDir) -> Result<Vec<Item>, Failure> {
    let waiting = requests::waiting(&dir.requests());
    let ledger = run_args::fold(dir)?;
    let plan = freeze::thaw(dir, &ledger.plan_sha256).ok();
    // What makes no sense any more is not waited for.
    let open =
        waiting.into_iter().map(|(_, it)| it).filter(|it| it.clone().event(&ledger).is_some());
    let (mut answered, mut decided, mut requests) = (Vec::new(), Vec::new(), 0);
    for request in open {
        requests += 1;
        match (request.ask, request.wp) {
            (Ask::Answer { number, .. }, _) => answered.push(number),
            (_, Some(wp)) => decided.push(wp),
            (_, None) => {}
        }
    }
    Ok(Waiting {
        ledger: &ledger,
        plan: plan.as_ref(),
        answered: &answered,
        decided: &decided,
        requests,
        held: dir.held(),
    }
    .items())
}
