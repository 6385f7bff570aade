//! `sop take`: the lead's own hands in a WP's worktree.

use std::io::{self, Write as _};

use serde::Serialize;

use super::exit;
use super::failure::{Failure, written};
use super::in_person::{InPerson, Stands, listed};
use super::run_args::{self, RunArg};
use super::terminal::Color;
use crate::ledger::{Phase, WpState};
use crate::model::ids::WpId;
use crate::model::time::Timestamp;
use crate::report::escape::visible;
use crate::report::narrate::one;
use crate::report::{commands, json, words};
use crate::run::freeze;
use crate::run::requests::Ask;

/// Problems of its last round that are shown.
const PROBLEMS: usize = 5;

/// Take a WP into your own hands: no worker is in its worktree then, and none is started.
///
/// A worker that is at work is stopped; a worktree that does not stand is made. Its path is all that is printed on
/// standard output, so that `cd "$(sop take WP)"` goes there. The rest of the run goes on. What you leave is checked
/// by `sop recheck WP`; `[plan] lead_may_fix` says how many files you may change before a worker has to look at it.
/// Exit codes: 0 it is yours, 2 it cannot be taken, 5 infrastructure is in the way.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The WP.
    #[arg(value_name = "WP")]
    pub wp: String,
    /// Give it back: it goes on where it was, and with a worker where you have changed something.
    #[arg(long)]
    pub back: bool,
    /// Print the answer as JSON.
    #[arg(long)]
    pub json: bool,
    /// Which run.
    #[command(flatten)]
    pub run: RunArg,
}

/// Who has it, and where.
#[derive(Debug, Serialize)]
struct Taken<'a> {
    run: &'a str,
    wp: &'a WpId,
    worktree: &'a str,
    by: &'a str,
    since: Timestamp,
    /// Where the WP was.
    was: Phase,
    /// Files that may be changed by hand.
    lead_may_fix: Option<u32>,
}

/// That it is given back.
#[derive(Debug, Serialize)]
struct Back<'a> {
    run: &'a str,
    wp: &'a WpId,
    state: Phase,
    by_lead: Vec<&'a str>,
}

/// Runs the verb.
///
/// # Errors
/// It cannot be taken or given back, or infrastructure is in the way.
pub fn run(args: &Args, color: Color) -> Result<u8, Failure> {
    let lead = InPerson::new(&args.run, &args.wp, color)?;
    if args.back {
        return back(&lead, args.json);
    }
    let before = lead.state()?;
    if !is_mine(&lead, &before) {
        let asked = before.is_to_be_handed_over() && before.phase != Phase::Blocked;
        let mine = before.hands.as_ref().is_some_and(|hands| hands.by == lead.by);
        // What was asked for already, and never answered, is waited for.
        if !(asked && mine) {
            lead.ask("take", &Ask::Take)?;
        }
    }
    let state = lead.see_to(|state| {
        if is_mine(&lead, state) {
            return Ok(Stands::Done(state.clone()));
        }
        if state.is_with_lead() {
            lead.not_blocked(state)?;
            return Ok(Stands::Open);
        }
        let text =
            format!("`{}` could not be taken in time: it is {}", lead.wp, state.phase.name());
        Err(Failure::usage(text))
    })?;
    // Its worker was stopped on the way: what it was at is what was seen before.
    let was = if before.phase.active() { before.phase } else { hands_were(&state) };
    tell(&lead, &state, was, args.json)
}

/// Where it was when the lead got it.
fn hands_were(state: &WpState) -> Phase {
    state.hands.as_ref().map_or(state.phase, |hands| hands.was)
}

fn is_mine(lead: &InPerson, state: &WpState) -> bool {
    let mine = state.hands.as_ref().is_some_and(|hands| hands.held && hands.by == lead.by);
    mine && state.phase == Phase::Taken && state.lead_asks().is_none()
}

fn tell(lead: &InPerson, state: &WpState, was: Phase, as_json: bool) -> Result<u8, Failure> {
    let ledger = run_args::fold(&lead.dir)?;
    let may_fix = freeze::thaw(&lead.dir, &ledger.plan_sha256).ok().map(|plan| plan.lead_may_fix);
    let worktree = state.worktree.as_deref().unwrap_or_default();
    let Some(hands) = &state.hands else { return Ok(exit::DONE) };
    let (run, wp) = (lead.dir.run(), &lead.wp);
    let mut out = io::stdout().lock();
    if as_json {
        let taken = Taken {
            run: run.as_str(),
            wp,
            worktree,
            by: &hands.by,
            since: hands.since,
            was: hands.was,
            lead_may_fix: may_fix,
        };
        written(json::line(&taken, &mut out))?;
        return Ok(exit::DONE);
    }
    written(writeln!(out, "{worktree}").and_then(|()| out.flush()))?;
    let may = match may_fix {
        Some(0) => {
            "the plan lets you change no file in it (`lead_may_fix = 0`): look, and give it back"
                .to_owned()
        }
        Some(n) => {
            format!("the plan lets you change {} in it by hand", words::count(n.into(), "file"))
        }
        None => "how many files you may change in it, its plan says".to_owned(),
    };
    let mut err = io::stderr().lock();
    let wrong: String = state
        .carried()
        .iter()
        .take(PROBLEMS)
        .map(|problem| format!("  {}\n", visible(&one(problem))))
        .collect();
    // Where standard error is gone, there is nobody left to tell.
    let _ = writeln!(
        err,
        "{wp} is yours (it was {}); {may}\n{wrong}  {}   checks what you leave\n  {}   gives it back",
        words::state(was),
        commands::recheck(run, wp),
        commands::give_back(run, wp),
    );
    Ok(exit::DONE)
}

fn back(lead: &InPerson, as_json: bool) -> Result<u8, Failure> {
    lead.ask("take back", &Ask::Back)?;
    let state = lead.see_to(|state| {
        lead.not_blocked(state)?;
        Ok(if state.is_with_lead() { Stands::Open } else { Stands::Done(state.clone()) })
    })?;
    let (run, wp, by_lead) = (lead.dir.run(), &lead.wp, state.by_lead());
    let mut out = io::stdout().lock();
    if as_json {
        let back = Back { run: run.as_str(), wp, state: state.phase, by_lead };
        written(json::line(&back, &mut out))?;
        return Ok(exit::DONE);
    }
    let changed = match by_lead.is_empty() {
        true => "as it was".to_owned(),
        false => format!("with what you changed in it: {}", listed(&by_lead)),
    };
    let next = match state.phase {
        Phase::Escalated | Phase::Cancelled => commands::retry(run, wp),
        _ => commands::resume(run),
    };
    let next = match lead.dir.held() {
        true if !state.phase.stuck() => "the engine at work goes on with it".to_owned(),
        _ => format!("`{next}` goes on with it"),
    };
    written(writeln!(
        out,
        "{wp} is given back, {changed}; it is {}; {next}",
        words::state(state.phase)
    ))?;
    Ok(exit::DONE)
}
