//! Running an engine for whoever started it: the view they get, the summary at the end, the exit code.

use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::exit;
use super::failure::{Failure, written};
use super::terminal::{self, Color};
use crate::event::{Event, Outcome, Record, StopReason};
use crate::git::Repo;
use crate::journal;
use crate::launch;
use crate::ledger::Ledger;
use crate::model::ids::WpId;
use crate::model::plan::Plan;
use crate::model::time::Timestamp;
use crate::process::escape_path;
use crate::report::Reporter;
use crate::report::json::Json;
use crate::report::live::{self, Live};
use crate::report::palette::Look;
use crate::report::plain::Plain;
use crate::report::summary::Summary;
use crate::report::{commands, junit, screen};
use crate::run::directory::{DirectoryError, RunDir};
use crate::run::dispatcher::{Engine, EngineError, Observer};
use crate::run::error::RunError;
use crate::run::freeze;
use crate::run::let_go::Ending;
use crate::run::open::{self, Open};
use crate::run::step::Order;

/// What the user wants to see of a run.
#[derive(Debug, clap::Args)]
pub struct View {
    /// Print the run's events as NDJSON (`sop schema event`) instead of words.
    #[arg(long)]
    pub json: bool,
    /// Write the run as JUnit XML when the engine lets go.
    #[arg(long, value_name = "FILE")]
    pub junit: Option<PathBuf>,
    /// Write the summary as a picture (SVG) when the engine lets go.
    #[arg(long, value_name = "FILE")]
    pub svg: Option<PathBuf>,
}

/// Takes the run in `dir` and runs it as far as it goes.
///
/// # Errors
/// Another engine has it, something in it cannot be read, or the engine cannot go on.
pub fn drive(repo: &Repo, dir: RunDir, view: &View, color: Color) -> Result<u8, Failure> {
    drive_accepting(repo, dir, None, view, color)
}

/// The same, where `accepts` accepts what became of the repository and would be held against the run.
///
/// # Errors
/// As [`drive`].
pub fn drive_accepting(
    repo: &Repo,
    dir: RunDir,
    accepts: Option<String>,
    view: &View,
    color: Color,
) -> Result<u8, Failure> {
    let (ending, ledger) = engine(repo, dir.clone(), accepts, view, color)?;
    sum_up(&ledger, &dir, view, color)?;
    Ok(code(ending))
}

/// The same without the summary at the end.
///
/// # Errors
/// As [`drive`].
pub fn engine(
    repo: &Repo,
    dir: RunDir,
    accepts: Option<String>,
    view: &View,
    color: Color,
) -> Result<(Ending, Ledger), Failure> {
    let opened = open::open(repo, dir.clone()).map_err(refused)?;
    let mut reporter = reporter(view, &dir, &opened.site.plan, color);
    if view.json && opened.ledger.engines == 0 {
        // Nobody has seen how the run came to be, its name among it.
        let contents = journal::read(&dir.journal()).map_err(RunError::from).map_err(refused)?;
        contents.records.iter().for_each(|record| reporter.event(record, &opened.ledger));
    }
    let mut watcher = Watcher(reporter.as_mut());
    let (ending, ledger) = run(opened, &dir, &mut watcher, |engine| engine.accepting(accepts))?;
    reporter.finish(&ledger);
    Ok((ending, ledger))
}

/// Runs the run in `dir` as far as it goes, for somebody who waits for another one: what happens is told on standard
/// error, a line each.
///
/// # Errors
/// As [`drive`].
pub fn aside(repo: &Repo, dir: RunDir, color: Color) -> Result<(Ending, Ledger), Failure> {
    let opened = open::open(repo, dir.clone()).map_err(refused)?;
    let look = Look { colour: color.on_stderr(), ..terminal::look(color) };
    let mut reporter = Plain::new(io::stderr(), look).with_plan(Arc::clone(&opened.site.plan));
    run(opened, &dir, &mut Watcher(&mut reporter), |engine| engine)
}

/// Lets an engine run as far as it goes, set up as `set` says.
fn run<'a>(
    opened: Open,
    dir: &RunDir,
    watcher: &'a mut dyn Observer,
    set: impl FnOnce(Engine<'a>) -> Engine<'a>,
) -> Result<(Ending, Ledger), Failure> {
    let Open { site, lock, journal, ledger } = opened;
    let runtime = runtime()?;
    let engine = set(Engine::new(Arc::new(site), lock, journal, ledger, watcher));
    let ended = runtime.block_on(engine.run()).map_err(|error| failed(&error, dir))?;
    // Whatever still reads a log or waits for a blocked disk is in nobody's way.
    runtime.shutdown_background();
    Ok(ended)
}

/// Takes the run in `dir` for as long as it takes to see to what the lead wants of `wp`. What happens is told on
/// standard error.
///
/// # Errors
/// As [`drive`].
pub fn for_lead(repo: &Repo, dir: RunDir, wp: &WpId, color: Color) -> Result<(), Failure> {
    let opened = open::open(repo, dir.clone()).map_err(refused)?;
    let look = Look { colour: color.on_stderr(), ..terminal::look(color) };
    let mut watcher = Steps { reporter: Plain::new(io::stderr(), look), wp };
    let (ending, _) = run(opened, &dir, &mut watcher, |engine| engine.for_lead(wp.clone()))?;
    match code(ending) {
        exit::INTERRUPTED => {
            let help = format!("ask again, or `{}` goes on with it", commands::resume(dir.run()));
            Err(Failure::new(exit::INTERRUPTED, "stopped; nothing is lost").help(help))
        }
        _ => Ok(()),
    }
}

/// Says what a run came to, in each form that was asked for.
///
/// # Errors
/// A file or standard output cannot be written.
pub fn sum_up(ledger: &Ledger, dir: &RunDir, view: &View, color: Color) -> Result<(), Failure> {
    let summary = summary(ledger, dir);
    if !view.json {
        let mut out = io::stdout().lock();
        let look = terminal::look(color);
        written(summary.write(&mut out, &look).and_then(|()| out.flush()))?;
    }
    if let Some(path) = &view.junit {
        let file = std::fs::File::create(path);
        let done = file.and_then(|file| junit::write(ledger, file));
        done.map_err(|error| unwritable(path, &error))?;
    }
    if let Some(path) = &view.svg {
        let look = terminal::for_a_picture();
        let mut ansi = Vec::new();
        written(summary.write(&mut ansi, &look))?;
        let picture = screen::svg(&typed(), &String::from_utf8_lossy(&ansi));
        std::fs::write(path, picture).map_err(|error| unwritable(path, &error))?;
    }
    Ok(())
}

/// What a run came to, with what it left at work.
#[must_use]
pub fn summary(ledger: &Ledger, dir: &RunDir) -> Summary {
    let summary = Summary::of(ledger, &dir.path()).as_found(|path| Path::new(path).exists());
    let summary = summary.read_by(freeze::reading(dir));
    let summary = summary.with_at_work(launch::at_work(&dir.path()));
    if dir.is_archived() {
        return summary.put_away();
    }
    if dir.held() { summary.running() } else { summary }
}

/// The command line as it was typed, for the prompt of a picture.
fn typed() -> String {
    let args = std::env::args_os().skip(1).map(|arg| arg.to_string_lossy().into_owned());
    let args: Vec<String> = args.collect();
    match shlex::try_join(args.iter().map(String::as_str)) {
        Ok(line) => format!("sop {line}"),
        Err(_) => "sop".to_owned(),
    }
}

fn unwritable(path: &std::path::Path, error: &io::Error) -> Failure {
    Failure::infrastructure(format!("could not write {}: {error}", escape_path(path)))
}

fn reporter(view: &View, dir: &RunDir, plan: &Arc<Plan>, color: Color) -> Box<dyn Reporter> {
    if view.json {
        return Box::new(Json::new(io::stdout()));
    }
    let look = terminal::look(color);
    let dumb = std::env::var_os("TERM").is_none_or(|term| term == "dumb");
    if io::stdout().is_terminal() && !dumb {
        let logs = dir.named("logs");
        let live = Live::new(io::stdout(), || live::size_of(io::stdout()), look, &logs);
        return Box::new(live.with_plan(Arc::clone(plan)));
    }
    Box::new(Plain::new(io::stdout(), look).with_plan(Arc::clone(plan)))
}

/// The engine's view of a reporter: it is told the time as well.
struct Watcher<'a>(&'a mut dyn Reporter);

impl Observer for Watcher<'_> {
    fn event(&mut self, record: &Record, ledger: &Ledger) {
        self.0.event(record, ledger);
    }

    fn tick(&mut self, ledger: &Ledger) {
        self.0.tick(ledger, Timestamp(jiff::Timestamp::now()));
    }

    fn stopping(&mut self, order: Order) {
        self.0.say(match order {
            Order::Kill => "ending everything now",
            _ => "stopping: workers are asked to end; once more to end them now",
        });
    }
}

/// What an engine for the lead does on the way to its answer, which somebody else tells.
struct Steps<'a> {
    reporter: Plain<io::Stderr>,
    wp: &'a WpId,
}

impl Observer for Steps<'_> {
    fn event(&mut self, record: &Record, ledger: &Ledger) {
        let answer = matches!(
            record.event,
            Event::WpTaken { .. }
                | Event::WpReleased { .. }
                | Event::RecheckStarted { .. }
                | Event::RecheckEnded { .. }
                | Event::WpCommitted { .. }
                | Event::WpBlocked { .. }
        );
        let of_run = matches!(record.event, Event::RepositoryAccepted { .. });
        if of_run || (record.event.wp() == Some(self.wp) && !answer) {
            self.reporter.event(record, ledger);
        }
    }

    fn tick(&mut self, _: &Ledger) {}

    fn stopping(&mut self, _: Order) {
        self.reporter.say("stopping");
    }
}

/// The runtime that engines and dry runs run on.
///
/// # Errors
/// The system gives no threads.
pub fn runtime() -> Result<tokio::runtime::Runtime, Failure> {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .map_err(|error| Failure::infrastructure(format!("could not start: {error}")))
}

/// The exit code of an engine's ending.
#[must_use]
pub fn code(ending: Ending) -> u8 {
    match ending {
        Ending::Finished(Outcome::Done) => exit::DONE,
        Ending::Finished(Outcome::Failed) => exit::FAILED,
        Ending::Finished(Outcome::Waiting) | Ending::Stopped(StopReason::Waiting) => exit::WAITING,
        Ending::Finished(Outcome::Blocked) | Ending::Stopped(StopReason::Halted) => {
            exit::INFRASTRUCTURE
        }
        Ending::Stopped(StopReason::Interrupted) => exit::INTERRUPTED,
    }
}

/// Why a run could not be made or opened.
#[must_use]
pub fn refused(error: RunError) -> Failure {
    match error {
        RunError::Directory(DirectoryError::Held(_)) => Failure::new(exit::HELD, error.to_string()),
        error => Failure::infrastructure(error.to_string()),
    }
}

fn failed(error: &EngineError, dir: &RunDir) -> Failure {
    Failure::infrastructure(error.to_string())
        .help(format!("everything recorded so far stands; `sop resume {}` goes on", dir.run()))
}
