//! `sop wait`: blocks until a run, or a WP, is where somebody wants it.

use std::io::{self, Write as _};
use std::time::{Duration, Instant};

use clap::ValueEnum;
use serde::Serialize;

use super::exit;
use super::failure::{Failure, written};
use super::run_args::{self, RunArg};
use crate::event::Outcome;
use crate::ledger::{Ledger, Phase, WpState};
use crate::model::ids::WpId;
use crate::model::plan::{Mode, Plan};
use crate::model::time::Length;
use crate::report::outlook::taken_at;
use crate::run::freeze;
use crate::run::let_go::Ending;

/// How often the journal is looked at.
const LOOK: Duration = Duration::from_millis(100);

/// Wait until a run, or one of its WPs, has come somewhere.
///
/// Exit code 0: it has. Of one that settled (the default) the exit code says how, as that of `sop apply`
/// would: 0 it got through, 3 it did not, 4 somebody is waited for, 5 infrastructure is in the way. With
/// any other state, 3: it ended elsewhere and will not come there by itself. 4: the time is over.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The WP; the whole run if not given.
    #[arg(value_name = "WP")]
    pub wp: Option<String>,
    /// Where it is to come.
    #[arg(long, value_name = "STATE", value_enum, default_value_t)]
    pub until: Until,
    /// How long to wait at most, such as `90s` or `10m`.
    #[arg(long, value_name = "TIME")]
    pub timeout: Option<Length>,
    /// Print where it is as JSON.
    #[arg(long)]
    pub json: bool,
    /// Which run.
    #[command(flatten)]
    pub run: RunArg,
}

/// Where a WP or a run can be waited for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum Until {
    /// It got through, or a person has to see to it: nothing more happens by itself. A question whose
    /// default is taken when its time is over has not settled.
    #[default]
    Settled,
    /// A worker is at work on it.
    Working,
    /// It awaits a review.
    AwaitingReview,
    /// Its worker asked something that a person is to answer.
    AwaitingAnswer,
    /// It is committed, or its report is there; for a run: every WP is.
    Passed,
    /// It is part of the integrated result; for a run: every WP is.
    Integrated,
}

#[derive(Debug, Serialize)]
struct Answer<'a> {
    run: &'a str,
    wp: Option<&'a WpId>,
    state: &'a str,
    reached: bool,
}

/// Runs the verb.
///
/// # Errors
/// There is no such run or WP, or its journal cannot be read.
pub fn run(args: &Args) -> Result<u8, Failure> {
    let repo = run_args::repository()?;
    let dir = run_args::find(&repo, args.run.run.as_deref())?;
    let wp = args.wp.as_deref().map(run_args::wp).transpose()?;
    let deadline = args.timeout.map(|length| Instant::now() + length.0);
    let mut plan = None;
    loop {
        let ledger = run_args::fold(&dir)?;
        if let Some(wp) = &wp
            && ledger.wp(wp).is_none()
        {
            return Err(run_args::no_such(&ledger, wp));
        }
        if plan.is_none() {
            // Without it, a question waits for a person.
            plan = Some(freeze::thaw(&dir, &ledger.plan_sha256).ok());
        }
        let plan = plan.as_ref().and_then(Option::as_ref);
        let state = state_of(&ledger, wp.as_ref());
        let there = reached(&ledger, wp.as_ref(), args.until, plan);
        let code = if there && args.until == Until::Settled {
            how(&ledger, wp.as_ref())
        } else if there {
            exit::DONE
        } else if settled(&ledger, wp.as_ref()) {
            exit::FAILED
        } else if deadline.is_some_and(|deadline| Instant::now() >= deadline) {
            exit::WAITING
        } else {
            std::thread::sleep(LOOK);
            continue;
        };
        let mut out = io::stdout().lock();
        let answer = Answer { run: dir.run().as_str(), wp: wp.as_ref(), state, reached: there };
        let name = wp.as_ref().map_or(dir.run().as_str(), WpId::as_str);
        written(match args.json {
            true => {
                let text = serde_json::to_string(&answer).unwrap_or_default();
                writeln!(out, "{text}")
            }
            false => writeln!(out, "{name} is {state}"),
        })?;
        return Ok(code);
    }
}

/// The exit code of something that has settled.
fn how(ledger: &Ledger, wp: Option<&WpId>) -> u8 {
    if let Some(wp) = wp.and_then(|wp| ledger.wp(wp)) {
        return match wp.phase {
            phase if phase.got_through() => exit::DONE,
            Phase::Blocked => exit::INFRASTRUCTURE,
            phase if phase.awaits_person() => exit::WAITING,
            _ => exit::FAILED,
        };
    }
    match (ledger.outcome, ledger.stopped) {
        (Some(outcome), _) => super::drive::code(Ending::Finished(outcome)),
        (None, Some(why)) => super::drive::code(Ending::Stopped(why)),
        (None, None) => exit::WAITING,
    }
}

fn state_of(ledger: &Ledger, wp: Option<&WpId>) -> &'static str {
    if let Some(wp) = wp.and_then(|wp| ledger.wp(wp)) {
        return wp.phase.name();
    }
    match ledger.outcome {
        Some(Outcome::Done) => "done",
        Some(Outcome::Failed) => "failed",
        Some(Outcome::Blocked) => "blocked",
        Some(Outcome::Waiting) => "waiting",
        None if ledger.stopped.is_some() => "stopped",
        None => "running",
    }
}

fn reached(ledger: &Ledger, wp: Option<&WpId>, until: Until, plan: Option<&Plan>) -> bool {
    let there = |phase: Phase| match until {
        Until::Settled => phase.settled(),
        Until::Working => phase == Phase::Working,
        Until::AwaitingReview => phase == Phase::AwaitingReview,
        Until::AwaitingAnswer => phase == Phase::AwaitingAnswer,
        Until::Passed => phase.got_through(),
        Until::Integrated => phase == Phase::Integrated,
    };
    match wp {
        Some(wp) => ledger.wp(wp).is_some_and(|wp| {
            there(wp.phase) || (until == Until::Settled && awaits_person(wp, plan))
        }),
        None => match until {
            Until::Settled => settled(ledger, None),
            Until::Working | Until::AwaitingReview | Until::AwaitingAnswer => {
                ledger.wps.iter().any(|wp| there(wp.phase))
            }
            Until::Passed | Until::Integrated => ledger.wps.iter().all(|wp| there(wp.phase)),
        },
    }
}

/// Only a person can go on with it: nothing happens by itself, as it does where a default is taken.
fn awaits_person(wp: &WpState, plan: Option<&Plan>) -> bool {
    wp.phase.awaits_person() && taken_at(plan, wp).is_none()
}

fn settled(ledger: &Ledger, wp: Option<&WpId>) -> bool {
    match wp {
        Some(wp) => ledger.wp(wp).is_some_and(|wp| match wp.phase {
            // It may yet be integrated.
            Phase::Passed => ledger.mode == Mode::Independent || ledger.outcome.is_some(),
            phase => phase.settled(),
        }),
        None => ledger.outcome.is_some() || ledger.stopped.is_some(),
    }
}
