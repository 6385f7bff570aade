//! `sop adapters`: which agents can be driven here, and what a plan's tiers would run.

mod life_check;

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::thread;

use super::exit;
use super::failure::{Failure, written};
use super::terminal::{self, Color};
use super::{plan_file, run_args};
use crate::model::plan::{BUILT_IN_WORKERS, Continue, Does, Plan, Worker};
use crate::process::escape_path;
use crate::report::adapters::{self as drawn, Adapters, Known, TierLine};
use crate::report::json;
use crate::worker::{self, Agent, Drive, Home, Login};

/// The plan that is looked for where none is named.
const PLAN: &str = "plan.toml";
/// Folders of a run that an agent may write to beside its worktree.
const WRITABLE: [&str; 2] = ["RUN/reports", "RUN/turns/WP-ATTEMPT/asks"];

/// Show the coding agents that can be driven, and what the tiers of a plan would run.
///
/// Of each agent: its version, where it is, and whether it is logged in, as far as files and the
/// environment tell; nothing is called. Of each tier: the exact command line, that of an attempt which goes
/// on with a session too. What only a run knows stands in capitals: RUN, its directory; WP and ATTEMPT;
/// SESSION; BRIEF, a file, and its text.
#[derive(Debug, clap::Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct Args {
    /// The plan whose tiers are shown; `plan.toml`, or that of the newest run, if not given.
    #[arg(value_name = "PLAN")]
    pub plan: Option<PathBuf>,
    /// Print it as JSON.
    #[arg(long)]
    pub json: bool,
    /// What else to do.
    #[command(subcommand)]
    pub verb: Option<Verb>,
}

/// What else there is to do.
#[derive(Debug, clap::Subcommand)]
#[allow(missing_docs, reason = "a text here would take the place of the verb's own")]
pub enum Verb {
    Try(life_check::Args),
}

/// Runs the verb.
///
/// # Errors
/// The plan cannot be read; an agent cannot be tried.
pub fn run(args: &Args, color: Color) -> Result<u8, Failure> {
    if let Some(Verb::Try(args)) = &args.verb {
        return life_check::run(args, color);
    }
    let Some(plan) = plan(args.plan.as_deref(), color)? else { return Ok(exit::FINDINGS) };
    let tiers = plan.as_ref().map(tiers).unwrap_or_default();
    let adapters = Adapters { adapters: known(plan.as_ref()), tiers };
    let mut out = io::BufWriter::new(io::stdout().lock());
    let drawn = match args.json {
        true => json::pretty(&adapters, &mut out),
        false => drawn::draw(&adapters, &terminal::look(color), &mut out),
    };
    written(drawn.and_then(|()| out.flush()))?;
    Ok(exit::DONE)
}

/// The plan that is named, or that lies here, or of the newest run, if there is any. Nothing when it has
/// errors, which are on standard error by then.
fn plan(named: Option<&Path>, color: Color) -> Result<Option<Option<Plan>>, Failure> {
    match named.or(Some(Path::new(PLAN)).filter(|path| path.is_file())) {
        Some(path) => Ok(plan_file::compiled(path, color)?.map(|compiled| Some(compiled.plan))),
        None => Ok(Some(newest())),
    }
}

/// The plan of the newest run here, if there is one.
fn newest() -> Option<Plan> {
    let repo = run_args::repository().ok()?;
    let dir = run_args::find(&repo, None).ok()?;
    serde_json::from_slice(&std::fs::read(dir.resolved()).ok()?).ok()
}

/// The built-in workers and the plan's own that are agents, each asked for its version beside the
/// others.
fn known(plan: Option<&Plan>) -> Vec<Known> {
    let mut workers: Vec<(String, Worker)> = BUILT_IN_WORKERS
        .iter()
        .filter_map(|(name, ..)| Some(((*name).to_owned(), Worker::built_in(name)?)))
        .collect();
    for (id, worker) in plan.into_iter().flat_map(|plan| &plan.workers) {
        // A plan may name a built-in worker, or make one of that name its own.
        match workers.iter_mut().find(|(name, _)| name == id.as_str()) {
            Some((_, known)) => known.clone_from(worker),
            None => workers.push((id.to_string(), worker.clone())),
        }
    }
    thread::scope(|scope| {
        let asked: Vec<_> = workers
            .iter()
            .map(|(name, worker)| scope.spawn(move || look(name, worker, &Home::here(&worker.env))))
            .collect();
        asked.into_iter().filter_map(|one| one.join().ok().flatten()).collect()
    })
}

fn look(name: &str, worker: &Worker, home: &Home) -> Option<Known> {
    let Does::Agent { agent: adapter, program, .. } = &worker.does else { return None };
    let agent = worker::adapter(*adapter)?;
    let mut drive = Drive::new(*adapter, PathBuf::new(), Path::new(""));
    drive.program.clone_from(program);
    let program = drive.program_or(agent);
    let path = program.first().and_then(|name| home.find(name));
    let found = path.is_some();
    Some(Known {
        worker: name.to_owned(),
        adapter: adapter.name(),
        program: program.join(" "),
        path: path.map(|path| escape_path(&path)),
        version: worker::look::version(agent, &program, home).filter(|_| found),
        login: if found { agent.login(home) } else { Login::Unknown }.into(),
        install: agent.install(),
        abilities: agent.abilities(),
    })
}

/// The command line of each tier's first attempt, and of one that goes on with its session.
fn tiers(plan: &Plan) -> Vec<TierLine> {
    let lines = plan.tiers.iter().filter_map(|(id, tier)| {
        let worker = plan.workers.get(&tier.worker)?;
        let (command, again) = match &worker.does {
            Does::Command { command, .. } => (command.clone(), None),
            Does::Agent { agent, .. } => {
                let mut drive = order(worker, Path::new("BRIEF"), Path::new(""))?;
                drive.model.clone_from(&tier.model);
                drive.effort.clone_from(&tier.effort);
                drive.max_turns = tier.max_turns;
                drive.usd = plan.budget.usd;
                drive.writable = WRITABLE.map(PathBuf::from).to_vec();
                let agent = worker::adapter(*agent)?;
                let command = command_line(&drive, agent);
                let resumes = tier.continues == Continue::Session && agent.abilities().resumes;
                drive.session = Some("SESSION".to_owned());
                // Where the session is said over the protocol, the command line is the same.
                let again =
                    Some(command_line(&drive, agent)).filter(|it| resumes && *it != command);
                (command, again)
            }
        };
        let home = Home::here(&worker.env);
        let found = command.first().is_some_and(|name| {
            // A program in the worktree is there when the worktree is.
            home.find(name).is_some() || (name.contains('/') && !name.starts_with('/'))
        });
        let (tier, worker) = (id.to_string(), tier.worker.to_string());
        Some(TierLine { tier, worker, command, again, found })
    });
    lines.collect()
}

fn command_line(drive: &Drive, agent: &dyn Agent) -> Vec<String> {
    let line = drive.command_line(agent, "THE TEXT OF THE BRIEF", Path::new("."));
    line.argv.iter().map(|word| word.to_string_lossy().into_owned()).collect()
}

/// A turn of a worker that is an agent.
fn order(worker: &Worker, prompt: &Path, folder: &Path) -> Option<Drive> {
    let Does::Agent { agent, program, args } = &worker.does else { return None };
    let mut drive = Drive::new(*agent, prompt.to_owned(), folder);
    drive.program.clone_from(program);
    drive.args.clone_from(args);
    Some(drive)
}
