//! The critic of a plan that is about to be approved: it is read where nobody has read it, and each remark is
//! answered, before anybody is asked for a yes.

use std::io::{self, Write as _};

use super::drive;
use super::exit;
use super::failure::{Failure, written};
use super::plan::Prepared;
use super::prompt;
use super::run_args;
use super::terminal::{self, Color};
use crate::critic::record;
use crate::critic::session::{self, Subject};
use crate::event::{Outcome, StopReason};
use crate::git::Repo;
use crate::model::checkpoint::Checkpoint;
use crate::model::critic::{Answer, Answered, PlannedCritic, Reading, Round};
use crate::model::ids::TierId;
use crate::model::plan::Plan;
use crate::model::time::Timestamp;
use crate::report::commands;
use crate::report::critic as draw;
use crate::report::escape::visible;
use crate::report::line::Line;
use crate::report::palette::{Look, Tone};
use crate::run::directory::RunDir;
use crate::run::ending::end_without_engine;
use crate::run::let_go::Ending;
use crate::upkeep::put_away::archive;

/// One answer of the command line: the remark's number, and what is said to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Said {
    number: u32,
    /// Why it is refused; nothing where it is taken.
    refused: Option<String>,
}

/// Reads `N=taken` or `N=refused: REASON`.
///
/// # Errors
/// It is neither.
pub fn said(text: &str) -> Result<Said, String> {
    let form = || "write `N=taken` or `N=refused: REASON`".to_owned();
    let (number, answer) = text.split_once('=').ok_or_else(form)?;
    let number = number.trim().parse().map_err(|_| form())?;
    let answer = answer.trim();
    if answer == "taken" {
        return Ok(Said { number, refused: None });
    }
    let rest = answer.strip_prefix("refused").ok_or_else(form)?.trim_start();
    let reason = match rest {
        "" => "",
        rest => rest.strip_prefix(':').ok_or_else(form)?.trim(),
    };
    match reason {
        "" => Err("a refusal needs a reason: `N=refused: REASON`".to_owned()),
        reason => Ok(Said { number, refused: Some(reason.to_owned()) }),
    }
}

/// The critic's part of the report on `plan`; nothing where none is to read it.
///
/// # Errors
/// What an earlier critic said cannot be read.
pub fn planned(
    repo: &Repo,
    plan: &Plan,
    report: &Checkpoint,
) -> Result<Option<PlannedCritic>, Failure> {
    let Some(why) = plan.criticised() else { return Ok(None) };
    let Some(tier) = plan.critic_tier() else {
        return Ok(Some(PlannedCritic { who: None, why, reading: None }));
    };
    let reading = kept(repo, plan)?.filter(|reading| {
        !matches!(reading.round(&report.plan_sha256), Round::Unread | Round::Reading)
    });
    let who = format!("{tier} ({})", plan.tiers[tier].worker);
    Ok(Some(PlannedCritic { who: Some(who), why, reading }))
}

/// Has the plan read, where one is to and none has. Nothing where no critic reads it.
///
/// # Errors
/// The critic came to no answer, or was interrupted.
pub fn read(repo: &Repo, prepared: &Prepared, color: Color) -> Result<Option<Reading>, Failure> {
    let (plan, report) = (&prepared.compiled.plan, &prepared.report);
    let Some(tier) = plan.critic_tier() else { return Ok(None) };
    let before = kept(repo, plan)?;
    let (dir, reading) = match before {
        Some(reading) => match reading.round(&report.plan_sha256) {
            Round::Open | Round::Unchanged | Round::Over => return Ok(Some(reading)),
            Round::Unread => {
                give_up(repo, &reading)?;
                begin(repo, prepared, tier)?
            }
            Round::Reading => match unfinished(repo, &reading)? {
                Some(dir) => (dir, reading),
                None => begin(repo, prepared, tier)?,
            },
        },
        None => begin(repo, prepared, tier)?,
    };
    hear(repo, &dir, reading, color).map(Some)
}

/// What is kept of the plan's critic.
fn kept(repo: &Repo, plan: &Plan) -> Result<Option<Reading>, Failure> {
    record::find(repo, &plan.name).map_err(|error| {
        Failure::infrastructure(error.to_string())
            .help("take that file away to have the plan read anew")
    })
}

/// The run of a reading that has not come to its end: its session is not paid twice.
fn unfinished(repo: &Repo, reading: &Reading) -> Result<Option<RunDir>, Failure> {
    let dir = RunDir::new(RunDir::root_in(repo.common_dir()), reading.run.clone());
    if !dir.journal().exists() {
        return Ok(None);
    }
    let ledger = run_args::fold(&dir)?;
    // One that answered nothing a program could read, or was cancelled, is over: only another can do better.
    Ok((ledger.outcome != Some(Outcome::Failed)).then_some(dir))
}

/// Ends a reading of what the plan was before, which nobody waits for any more. One that another engine sees to is its
/// own.
fn give_up(repo: &Repo, reading: &Reading) -> Result<(), Failure> {
    let Some(dir) = unfinished(repo, reading)?.filter(|_| reading.remarks.is_none()) else {
        return Ok(());
    };
    let ledger = run_args::fold(&dir)?;
    let ended = drive::runtime()?.block_on(end_without_engine(&dir, &ledger, |_| true));
    if ended.map_err(drive::refused)?.is_some() {
        put_away(repo, &dir, true);
    }
    Ok(())
}

/// What a critic said is kept elsewhere: a run that nobody asked for by name is in nobody's way.
fn put_away(repo: &Repo, dir: &RunDir, unfinished: bool) {
    if let Err(error) = archive(repo, dir.run().as_str(), unfinished) {
        let text = format!("{} stays where it is: {error}", dir.run());
        // Where standard error is gone, there is nobody left to tell.
        let _ = writeln!(io::stderr().lock(), "{}", visible(&text));
    }
}

fn begin(repo: &Repo, prepared: &Prepared, tier: &TierId) -> Result<(RunDir, Reading), Failure> {
    let subject = Subject {
        plan: &prepared.compiled.plan,
        report: &prepared.report,
        tier,
        checkout: prepared.checkout.as_ref(),
        lessons: &prepared.compiled.lessons,
    };
    let (dir, reading) = session::begin(repo, &subject).map_err(drive::refused)?;
    keep(repo, &reading)?;
    Ok((dir, reading))
}

/// Keeps what a critic said and what was answered, until there is a run of the plan, and after that what the plan of the
/// run was: what is changed from then on is another round.
///
/// # Errors
/// It cannot be written.
pub fn keep(repo: &Repo, reading: &Reading) -> Result<(), Failure> {
    record::keep(repo, reading).map_err(|error| Failure::infrastructure(error.to_string()))
}

/// Lets the critic read to its end, and keeps what it says.
fn hear(repo: &Repo, dir: &RunDir, mut reading: Reading, color: Color) -> Result<Reading, Failure> {
    let text = format!(
        "the critic reads the plan: {} ({}), as {}",
        reading.tier, reading.worker, reading.run
    );
    // Where standard error is gone, there is nobody left to tell.
    let _ = writeln!(io::stderr().lock(), "{}", visible(&text));
    let (ending, ledger) = drive::aside(repo, dir.clone(), color)?;
    if let Ending::Stopped(StopReason::Interrupted) = ending {
        return Err(Failure::new(exit::INTERRUPTED, "interrupted while the critic read the plan")
            .help("apply the plan again: the critic goes on where it was"));
    }
    let remarks = session::heard(&ledger, dir).map_err(|why| {
        let code = match drive::code(ending) {
            exit::DONE => exit::FAILED,
            code => code,
        };
        let run = dir.run();
        Failure::new(code, format!("the critic has not read the plan: {why}")).help(format!(
            "`{}` shows what it did; apply the plan again to have it tried again, or with `--no-critic` to do without",
            commands::show(run)
        ))
    })?;
    reading.remarks = Some(remarks);
    keep(repo, &reading)?;
    put_away(repo, dir, false);
    Ok(reading)
}

/// Answers what is said on the command line, and asks a person at the terminal for the rest. What is answered is kept,
/// whatever comes after. `command` answers remarks of these numbers.
///
/// # Errors
/// Remarks are left without an answer, were taken and the plan is not changed, or there is no such remark.
pub fn settle(
    repo: &Repo,
    report: &Checkpoint,
    mut reading: Reading,
    answers: &[Said],
    command: impl Fn(&[u32]) -> String,
) -> Result<Reading, Failure> {
    let by = repo.identity().name;
    for Said { number, refused } in answers {
        answer(&mut reading, *number, refused.clone(), &by)?;
    }
    if !answers.is_empty() {
        keep(repo, &reading)?;
    }
    if prompt::can_ask() {
        let open: Vec<u32> = reading.open().map(|it| it.number).collect();
        for number in open {
            let Some(refused) = ask(number)? else { break };
            answer(&mut reading, number, refused, &by)?;
            keep(repo, &reading)?;
        }
    }
    let numbers = |remarks: &mut dyn Iterator<Item = &Answered>| -> Vec<u32> {
        remarks.map(|it| it.number).collect()
    };
    match reading.round(&report.plan_sha256) {
        Round::Open => {
            let open = numbers(&mut reading.open());
            let what = match open.as_slice() {
                [one] => format!("remark {one} of the critic waits"),
                many => format!("{} remarks of the critic wait", many.len()),
            };
            let message = format!("nothing was started: {what} for an answer");
            let take =
                "take each (`N=taken`, and change the plan for it), or refuse it with a reason:";
            Err(Failure::new(exit::WAITING, message).help(format!("{take}\n{}", command(&open))))
        }
        Round::Unchanged => {
            let taken = numbers(&mut reading.taken());
            let what = match taken.as_slice() {
                [one] => format!("remark {one} of the critic was taken"),
                many => format!("{} remarks of the critic were taken", many.len()),
            };
            let message = format!("nothing was started: {what}, and the plan is as it was");
            let change = "change the plan and apply it again: it is not read once more; or refuse after all:";
            Err(Failure::new(exit::WAITING, message).help(format!("{change}\n{}", command(&taken))))
        }
        Round::Over | Round::Unread | Round::Reading => Ok(reading),
    }
}

fn answer(
    reading: &mut Reading,
    number: u32,
    refused: Option<String>,
    by: &str,
) -> Result<(), Failure> {
    let (by, at) = (by.to_owned(), Timestamp(jiff::Timestamp::now()));
    let answer = match refused {
        Some(reason) => Answer::Refused { reason, by, at },
        None => Answer::Taken { by, at },
    };
    reading.answer(number, answer).map_err(|count| {
        let there = match count {
            0 => "it made none".to_owned(),
            1 => "there is only remark 1".to_owned(),
            n => format!("they go from 1 to {n}"),
        };
        Failure::usage(format!("the critic has no remark {number}: {there}"))
    })
}

/// Asks the person at the terminal about one remark: nothing when they leave it, else why it is refused, or that it
/// is not.
fn ask(number: u32) -> Result<Option<Option<String>>, Failure> {
    const STOPPED: &str = "interrupted: nothing was started, and what you answered is kept";
    let question = format!("\nRemark {number}: take it, or refuse it? [t/r/N] ");
    match prompt::line(&question, STOPPED)?.to_ascii_lowercase().as_str() {
        "t" | "take" | "taken" => Ok(Some(None)),
        "r" | "refuse" | "refused" => {
            match prompt::line("Why is it refused? ", STOPPED)?.as_str() {
                "" => Ok(None),
                reason => Ok(Some(Some(reason.to_owned()))),
            }
        }
        _ => Ok(None),
    }
}

/// The reading as the run that is made of the plan keeps it.
#[must_use]
pub fn approved(mut reading: Reading, report: &Checkpoint) -> Reading {
    reading.approved_sha256 = Some(report.plan_sha256.clone());
    reading
}

/// Shows what the critic said: on standard output, or where that is for programs on standard error.
///
/// # Errors
/// It cannot be written.
pub fn show(reading: &Reading, aside: bool, color: Color) -> Result<(), Failure> {
    let look = match aside {
        true => Look { colour: color.on_stderr(), ..terminal::look(color) },
        false => terminal::look(color),
    };
    let mut text = Vec::new();
    let told = format!("the critic ({}) has read it: {}", reading.run, draw::tally(reading));
    written(writeln!(text, "\n{}", Line::new(&look).then(Tone::Strong, &told).done().trimmed()))?;
    written(draw::draw(reading.all(), &mut text, &look))?;
    if aside {
        // Where standard error is gone, there is nobody left to tell.
        let _ = io::stderr().lock().write_all(&text);
        return Ok(());
    }
    let mut out = io::stdout().lock();
    written(out.write_all(&text).and_then(|()| out.flush()))
}
