//! `sop recheck`: what the lead left is checked as a worker's work would be.

use std::io::{self, Write as _};

use serde::Serialize;

use super::exit;
use super::failure::{Failure, written};
use super::in_person::{InPerson, Stands, listed};
use super::run_args::RunArg;
use super::terminal::Color;
use crate::ledger::{Phase, WpState};
use crate::model::ids::{CommitId, WpId};
use crate::model::outcome::Problem;
use crate::process::escape_path;
use crate::report::escape::visible;
use crate::report::narrate::one;
use crate::report::{commands, json, words};
use crate::run::requests::Ask;

/// Check what you left in a WP that you have taken: scope, Definition of Done, review, and no round is spent.
///
/// What passes is committed, exactly as it was checked, and the files that you changed are named in the commit. What
/// does not is shown and stays yours, or is a worker's with --to-worker. Exit codes: 0 committed, 2 it cannot be
/// checked, 3 something is wrong, 4 it waits for a review, 5 infrastructure is in the way.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The WP.
    #[arg(value_name = "WP")]
    pub wp: String,
    /// Hand it to a worker if something is wrong: the findings are what the next round is told.
    #[arg(long)]
    pub to_worker: bool,
    /// Print the answer as JSON.
    #[arg(long)]
    pub json: bool,
    /// Which run.
    #[command(flatten)]
    pub run: RunArg,
}

/// What came of it.
#[derive(Debug, Serialize)]
struct Answer<'a> {
    run: &'a str,
    wp: &'a WpId,
    state: Phase,
    commit: Option<&'a CommitId>,
    by_lead: Vec<&'a str>,
    problems: &'a [Problem],
    next: Option<String>,
}

/// Runs the verb.
///
/// # Errors
/// The WP is not yours, or infrastructure is in the way.
pub fn run(args: &Args, color: Color) -> Result<u8, Failure> {
    let lead = InPerson::new(&args.run, &args.wp, color)?;
    let before = lead.state()?;
    // One that was begun and cut short is gone on with.
    let mine = before.hands.as_ref().filter(|hands| hands.by == lead.by);
    let begun = match before.phase {
        Phase::Taken | Phase::Blocked => false,
        Phase::Committing => mine.is_some_and(|hands| hands.rechecked),
        _ => mine.is_some() && before.rechecks(),
    };
    if !in_review(&before) && !begun {
        lead.ask("recheck", &Ask::Recheck { to_worker: args.to_worker })?;
    }
    let state = lead.see_to(|state| {
        lead.not_blocked(state)?;
        // What passed has its commit still to come.
        let open = state.rechecks() || state.phase == Phase::Committing;
        Ok(match open && !in_review(state) {
            true => Stands::Open,
            false => Stands::Done(state.clone()),
        })
    })?;
    let hands = state.hands.as_ref();
    let problems = hands.map_or(&[][..], |hands| &hands.problems);
    let (run, wp) = (lead.dir.run(), &lead.wp);
    let (code, next) = match state.phase {
        phase if phase.got_through() => {
            let next = (!lead.dir.held()).then(|| commands::resume(run));
            (exit::DONE, next)
        }
        Phase::AwaitingReview => (exit::WAITING, Some(commands::approve(run, wp))),
        Phase::Taken => (exit::FAILED, Some(commands::recheck(run, wp))),
        _ if lead.dir.held() => (exit::FAILED, None),
        _ => (exit::FAILED, Some(commands::resume(run))),
    };
    let mut out = io::stdout().lock();
    if args.json {
        let answer = Answer {
            run: run.as_str(),
            wp,
            state: state.phase,
            commit: state.commit.as_ref(),
            by_lead: state.by_lead(),
            problems,
            next,
        };
        written(json::line(&answer, &mut out))?;
        return Ok(code);
    }
    let mut text = head(&state);
    for problem in problems {
        text.push_str(&format!("\n  {}", visible(&one(problem))));
        let tail = problem.tail.iter().flat_map(|tail| tail.lines());
        tail.for_each(|line| text.push_str(&format!("\n      {}", visible(line))));
        if let Some(log) = &problem.log {
            text.push_str(&format!("\n      log {}", escape_path(&lead.dir.named(log))));
        }
    }
    if let Some(next) = next {
        text.push_str(&format!("\n  next: {next}"));
    }
    if state.phase == Phase::Taken && !problems.is_empty() {
        // Of too many files the worker needs no findings.
        let too_many = problems.iter().any(|problem| problem.message.contains("`lead_may_fix`"));
        let or = match too_many {
            true => commands::give_back(run, wp),
            false => commands::recheck_to_worker(run, wp),
        };
        text.push_str(&format!("\n  or:   {or}"));
    }
    written(writeln!(out, "{text}"))?;
    Ok(code)
}

fn in_review(state: &WpState) -> bool {
    state.rechecks() && state.phase == Phase::AwaitingReview
}

fn head(state: &WpState) -> String {
    let by_lead = state.by_lead();
    let files = match by_lead.is_empty() {
        true => "nothing changed by hand".to_owned(),
        false => format!("changed by hand: {}", listed(&by_lead)),
    };
    let wp = &state.id;
    match (state.phase, &state.commit) {
        (phase, Some(commit)) if phase.got_through() => {
            format!("{wp} passed, and is committed as {}; {files}", commit.short())
        }
        (Phase::AwaitingReview, _) => format!("{wp} waits for a review; {files}"),
        (Phase::Taken, _) => format!("{wp} does not pass, and stays yours; {files}"),
        (Phase::Briefing, _) => format!("{wp} does not pass, and goes to a worker; {files}"),
        (phase, _) => format!("{wp} is {}; {files}", words::state(phase)),
    }
}
