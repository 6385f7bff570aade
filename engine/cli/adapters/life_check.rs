//! `sop adapters try`: whether a tier's agent, model and login are alive, for the price of one word.

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Instant;

use crate::cli::exit;
use crate::cli::failure::{Failure, written};
use crate::cli::terminal::{self, Color};
use crate::model::ids::{TierId, WorkerId};
use crate::model::plan::{Adapter, Plan, Worker};
use crate::model::time::Length;
use crate::model::turn::Turn;
use crate::process::reap::Death;
use crate::report::adapters::{LifeCheck, advice, draw_check};
use crate::report::json;
use crate::worker::trial::{self, Trial};
use crate::worker::{Drive, adapter, read_answer, read_turn};

/// What is said to the agent.
const PROMPT: &str = "This is a life check. Answer with the one word READY and nothing else. \
                      Use no tools, read no files and change nothing.\n";

/// Start a tier's agent, have it say READY, and show what came back.
///
/// It runs in an empty temporary folder, may only read, and is asked once. Exit code 0: READY came.
/// 5: it did not; the fault and what to do are shown.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The tier; or a worker, to be tried with its own model.
    #[arg(value_name = "TIER")]
    pub tier: String,
    /// The plan that has the tier; `plan.toml`, or that of the newest run, if not given.
    #[arg(long, value_name = "FILE")]
    pub plan: Option<PathBuf>,
    /// How long it may take.
    #[arg(long, value_name = "TIME", default_value = "2m")]
    pub timeout: Length,
    /// Print what came back as JSON.
    #[arg(long)]
    pub json: bool,
}

/// Runs the verb.
///
/// # Errors
/// There is no such tier, it is no agent's, or the driver cannot be started.
pub(super) fn run(args: &Args, color: Color) -> Result<u8, Failure> {
    let Some(plan) = super::plan(args.plan.as_deref(), color)? else { return Ok(exit::FINDINGS) };
    let temp = tempfile::tempdir().map_err(|error| {
        Failure::infrastructure(format!("cannot make a temporary folder: {error}"))
    })?;
    let (order, worker) = find(&args.tier, plan.as_ref(), temp.path())?;
    let check = check(&args.tier, &order, &worker, temp.path(), args)?;
    let mut out = io::stdout().lock();
    let drawn = match args.json {
        true => json::pretty(&check, &mut out),
        false => draw_check(&check, &terminal::look(color), &mut out),
    };
    written(drawn.and_then(|()| out.flush()))?;
    Ok(if check.ready { exit::DONE } else { exit::INFRASTRUCTURE })
}

/// The turn that a tier's agent, or a worker by its own name, is asked for.
fn find(name: &str, plan: Option<&Plan>, folder: &Path) -> Result<(Drive, Worker), Failure> {
    let tier = TierId::new(name).ok().and_then(|id| plan?.tiers.get(&id));
    let worker = match (tier, plan) {
        (Some(tier), Some(plan)) => plan.workers.get(&tier.worker).cloned(),
        _ => WorkerId::new(name)
            .ok()
            .and_then(|id| plan?.workers.get(&id).cloned())
            .or_else(|| Worker::built_in(name)),
    };
    let worker = worker.ok_or_else(|| {
        let failure = Failure::usage(format!("there is no tier and no worker `{name}`"));
        let tiers = plan.into_iter().flat_map(|plan| plan.tiers.keys());
        match tiers.map(ToString::to_string).collect::<Vec<_>>().join(", ") {
            none if none.is_empty() => failure.help("name the plan with --plan"),
            tiers => failure.help(format!("the plan has: {tiers}")),
        }
    })?;
    let mut order = super::order(&worker, &folder.join("prompt.md"), folder).ok_or_else(|| {
        Failure::usage(format!("`{name}` runs a command, not an agent: there is nothing to ask"))
    })?;
    if let Some(tier) = tier {
        order.model.clone_from(&tier.model);
        order.effort.clone_from(&tier.effort);
    }
    order.read_only = true;
    // For an agent that looks around first in spite of what it is told.
    order.max_turns = Some(3);
    order.grace = Length::secs(3);
    Ok((order, worker))
}

fn check(
    name: &str,
    order: &Drive,
    worker: &Worker,
    folder: &Path,
    args: &Args,
) -> Result<LifeCheck, Failure> {
    let failed =
        |what: &str, error: io::Error| Failure::infrastructure(format!("cannot {what}: {error}"));
    let cwd = folder.join("empty");
    fs::create_dir(&cwd)
        .and_then(|()| fs::create_dir(&order.say))
        .and_then(|()| fs::write(&order.prompt, PROMPT))
        .map_err(|error| failed("write to the temporary folder", error))?;
    let shown = if args.json { Stdio::null() } else { Stdio::inherit() };
    let began = Instant::now();
    let trial = trial::run(order, folder, &cwd, &worker.env, args.timeout.0, shown)
        .map_err(|error| failed("start the agent's driver", error))?;
    let took = began.elapsed();
    let turn = read_turn(&order.turn).unwrap_or_default();
    let text = read_answer(&order.answer).unwrap_or_default().unwrap_or_default();
    let ready = is_ready(&text) && turn.as_ref().is_some_and(|turn| turn.fault.is_none());
    let problem = problem(ready, &trial, turn.as_ref(), args.timeout);
    let fault = turn.as_ref().and_then(|turn| turn.fault.as_ref());
    let advice = match trial.exit {
        Death::Code(127) => Some(install(order.agent)),
        _ => fault.map(|fault| advice(fault.class).to_owned()),
    };
    Ok(LifeCheck {
        tier: name.to_owned(),
        ready,
        took_ms: u64::try_from(took.as_millis()).unwrap_or(u64::MAX),
        turn,
        text,
        problem,
        advice: advice.filter(|_| !ready),
    })
}

/// What is wrong beside the turn's own fault.
fn problem(ready: bool, trial: &Trial, turn: Option<&Turn>, limit: Length) -> Option<String> {
    if ready {
        return None;
    }
    if trial.interrupted {
        return Some("it was interrupted".to_owned());
    }
    if trial.late {
        return Some(format!("it took longer than {limit}"));
    }
    match turn {
        None => Some("its driver left no account of the turn".to_owned()),
        Some(Turn { stopped_at: Some(limit), .. }) => Some(format!("it was ended at {limit}")),
        Some(Turn { fault: None, .. }) => Some("it said something else than READY".to_owned()),
        Some(_) => None,
    }
}

fn install(agent: Adapter) -> String {
    match adapter(agent) {
        Some(agent) => format!("get it with: {}", agent.install()),
        None => "name its program in the plan".to_owned(),
    }
}

/// Whether the last line is the word, with or without decoration.
fn is_ready(text: &str) -> bool {
    let last = text.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or_default();
    last.trim_matches(|c: char| !c.is_alphanumeric()).eq_ignore_ascii_case("ready")
}
