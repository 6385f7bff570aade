//! `sop wait`: blocks until a run, or a WP, is where somebody wants it.

use std::io::{self, Write as _};
use std::time::{Duration, Instant};

use clap::ValueEnum;
use serde::Serialize;

use super::exit;
use super::failure::{Failure, written};
use super::run_args::{self, RunArg};
use crate::launch;
use crate::ledger::{Ledger, Phase, WpState};
use crate::model::ids::WpId;
use crate::model::plan::{Mode, Plan};
use crate::model::stand::Stand;
use crate::model::time::{Length, Timestamp};
use crate::report::outlook::taken_at;
use crate::report::{commands, words};
use crate::run::directory::RunDir;
use crate::run::{freeze, requests};

/// How often the journal is looked at.
const LOOK: Duration = Duration::from_millis(100);

/// So long no engine has the run, and nothing is recorded, before it is taken for one that nobody goes on with: an
/// engine may be just about to take it.
const STARTS_WITHIN: Duration = Duration::from_secs(2);

/// Wait until a run, or one of its WPs, has come somewhere.
///
/// Exit code 0: it has. Of one that settled (the default) the exit code says how, as that of `sop apply`
/// would: 0 it got through, 3 it did not, 4 somebody is waited for, 5 infrastructure is in the way. With
/// any other state, 3: it ended elsewhere and will not come there by itself. 4: the time is over, or no engine
/// has the run, which only `sop resume` goes on with.
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
    /// What goes on with the run, where no engine has it.
    resume: Option<&'a str>,
}

/// The run as it was last looked at.
struct Seen {
    ledger: Ledger,
    held: bool,
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
    let mut left: Option<(Instant, u64)> = None;
    loop {
        // In this order: an engine that lets go in between has recorded how by then.
        let held = dir.held();
        let seen = Seen { ledger: run_args::fold(&dir)?, held };
        let ledger = &seen.ledger;
        if let Some(wp) = &wp
            && ledger.wp(wp).is_none()
        {
            return Err(run_args::no_such(ledger, wp));
        }
        if plan.is_none() {
            // Without it, a question waits for a person.
            plan = Some(freeze::thaw(&dir, &ledger.plan_sha256).ok());
        }
        let plan = plan.as_ref().and_then(Option::as_ref);
        left = match left {
            Some((_, seq)) if held || seq != ledger.seq => None,
            None if !held => Some((Instant::now(), ledger.seq)),
            left => left,
        };
        let abandoned = left.is_some_and(|(since, _)| since.elapsed() >= STARTS_WITHIN);
        let there = seen.reached(wp.as_ref(), args.until, plan);
        let code = if there && args.until == Until::Settled {
            seen.how(wp.as_ref())
        } else if there {
            exit::DONE
        } else if seen.settled(wp.as_ref()) {
            exit::FAILED
        } else if abandoned || deadline.is_some_and(|deadline| Instant::now() >= deadline) {
            exit::WAITING
        } else {
            std::thread::sleep(LOOK);
            continue;
        };
        let reached = there || abandoned && args.until == Until::Settled;
        seen.tell(args, &dir, (wp.as_ref(), reached, abandoned))?;
        return Ok(code);
    }
}

impl Seen {
    /// Says where it is; and where no engine has the run, what goes on with it.
    fn tell(
        &self,
        args: &Args,
        dir: &RunDir,
        (wp, reached, abandoned): (Option<&WpId>, bool, bool),
    ) -> Result<(), Failure> {
        let stand = self.ledger.stands(self.held);
        let phase = wp.and_then(|wp| self.ledger.wp(wp)).map(|wp| wp.phase);
        // What was asked of it waits for an engine too.
        let now = Timestamp(jiff::Timestamp::now());
        let soon = || requests::taken(&self.ledger, requests::noted(dir), now).goes_on();
        let goes_on = !self.held && (abandoned || soon());
        let resume = commands::resume(dir.run());
        let mut out = io::stdout().lock();
        if args.json {
            let state = phase.map_or(stand.name(), Phase::name);
            let resume = goes_on.then_some(resume.as_str());
            let answer = Answer { run: dir.run().as_str(), wp, state, reached, resume };
            let text = serde_json::to_string(&answer).unwrap_or_default();
            return written(writeln!(out, "{text}"));
        }
        let name = wp.map_or(dir.run().as_str(), WpId::as_str);
        let state = phase.map_or(words::stand(stand).0, words::state);
        written(writeln!(out, "{name} is {state}"))?;
        if !goes_on {
            return Ok(());
        }
        let steps = launch::at_work(&dir.path());
        let steps: Vec<String> =
            steps.into_iter().map(|(unit, step)| format!("{unit} ({step})")).collect();
        if !steps.is_empty() {
            let steps = steps.join(", ");
            written(writeln!(out, "what its engine had started is still at work: {steps}"))?;
        }
        written(writeln!(out, "no engine has {}; `{resume}` goes on with it", dir.run()))
    }

    /// The exit code of something that has settled.
    fn how(&self, wp: Option<&WpId>) -> u8 {
        if let Some(wp) = wp.and_then(|wp| self.ledger.wp(wp)) {
            return match wp.phase {
                phase if phase.got_through() => exit::DONE,
                Phase::Blocked => exit::INFRASTRUCTURE,
                phase if phase.awaits_person() => exit::WAITING,
                _ => exit::FAILED,
            };
        }
        match self.ledger.stands(self.held) {
            Stand::Done => exit::DONE,
            Stand::Failed => exit::FAILED,
            Stand::Blocked => exit::INFRASTRUCTURE,
            Stand::Interrupted => exit::INTERRUPTED,
            Stand::Waiting | Stand::NotBegun | Stand::NotRunning | Stand::Running => exit::WAITING,
        }
    }

    fn reached(&self, wp: Option<&WpId>, until: Until, plan: Option<&Plan>) -> bool {
        let there = |phase: Phase| match until {
            Until::Settled => phase.settled(),
            Until::Working => phase == Phase::Working,
            Until::AwaitingReview => phase == Phase::AwaitingReview,
            Until::AwaitingAnswer => phase == Phase::AwaitingAnswer,
            Until::Passed => phase.got_through(),
            Until::Integrated => phase == Phase::Integrated,
        };
        match wp {
            Some(wp) => self.ledger.wp(wp).is_some_and(|wp| {
                there(wp.phase) || (until == Until::Settled && awaits_person(wp, plan))
            }),
            None => match until {
                Until::Settled => self.settled(None),
                Until::Working | Until::AwaitingReview | Until::AwaitingAnswer => {
                    self.ledger.wps.iter().any(|wp| there(wp.phase))
                }
                Until::Passed | Until::Integrated => {
                    self.ledger.wps.iter().all(|wp| there(wp.phase))
                }
            },
        }
    }

    /// Whether its engine has said that nothing more happens by itself.
    fn settled(&self, wp: Option<&WpId>) -> bool {
        let ledger = &self.ledger;
        match wp {
            Some(wp) => ledger.wp(wp).is_some_and(|wp| match wp.phase {
                // It may yet be integrated.
                Phase::Passed => ledger.mode == Mode::Independent || ledger.outcome.is_some(),
                phase => phase.settled(),
            }),
            None => match ledger.stands(self.held) {
                Stand::Running | Stand::NotBegun | Stand::NotRunning => false,
                Stand::Interrupted
                | Stand::Waiting
                | Stand::Blocked
                | Stand::Failed
                | Stand::Done => true,
            },
        }
    }
}

/// Only a person can go on with it: nothing happens by itself, as it does where a default is taken.
fn awaits_person(wp: &WpState, plan: Option<&Plan>) -> bool {
    wp.phase.awaits_person() && taken_at(plan, wp).is_none()
}
