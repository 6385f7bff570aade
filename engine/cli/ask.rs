//! `sop ask`: a worker asks what its brief leaves open.

use std::env;
use std::io::{self, Write as _};
use std::path::PathBuf;

use serde::Serialize;

use super::exit;
use super::failure::{Failure, written};
use super::run_args;
use crate::ledger::{Fork, settled};
use crate::model::ids::{RunId, WpId};
use crate::model::question::Question;
use crate::report::escape::visible_lines;
use crate::report::json;
use crate::run::asking::{self, PutError};
use crate::run::directory::RunDir;
use crate::run::freeze;

/// Ask the lead what your brief leaves open (for workers, from their worktree).
///
/// Exit code 0: the answer is known already and stands on standard output. 4: a person has to answer:
/// end your turn; you are called again, with the answer in your brief, and it costs no round.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The choice, with the options you see.
    #[arg(value_name = "QUESTION")]
    pub question: String,
    /// What you would do if nobody answered.
    #[arg(long, value_name = "TEXT")]
    pub default: Option<String>,
    /// Print the answer as JSON.
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Serialize)]
struct Answer<'a> {
    question: &'a str,
    /// The answer, where it is known.
    answer: Option<&'a str>,
    /// Who gave it.
    by: Option<&'a str>,
    /// What to do now.
    then: &'static str,
}

/// The worker that asks.
struct Worker {
    dir: RunDir,
    wp: WpId,
    asks: PathBuf,
}

/// Runs the verb.
///
/// # Errors
/// This is no worker, the question is empty, or it cannot be left.
pub fn run(args: &Args) -> Result<u8, Failure> {
    let worker = Worker::here()?;
    let Some(question) = Question::new(&args.question, args.default.as_deref()) else {
        return Err(Failure::usage("the question is empty")
            .help("name the choice, and the options you see"));
    };
    let mut out = io::stdout().lock();
    if let Some((answer, by)) = worker.settled(&question) {
        written(match args.json {
            true => {
                let (answer, by) = (Some(answer.as_str()), Some(by.as_str()));
                let then = "go_on";
                json::line(&Answer { question: &question.question, answer, by, then }, &mut out)
            }
            false => writeln!(out, "{}", visible_lines(&answer)),
        })?;
        return Ok(exit::DONE);
    }
    worker.put(&question)?;
    written(match args.json {
        true => {
            let (answer, by, then) = (None, None, "end_your_turn");
            json::line(&Answer { question: &question.question, answer, by, then }, &mut out)
        }
        false => writeln!(
            out,
            "The question is noted. Ask whatever else is open, then leave the worktree as it is and end \
             your turn:\nyou are called again, with the answer in your brief. Do not wait, and do not guess."
        ),
    })?;
    Ok(exit::WAITING)
}

impl Worker {
    /// The one whose environment this is.
    fn here() -> Result<Self, Failure> {
        let nobody = |why: String| {
            Failure::usage(why).help("`sop ask` is for workers of a run, from their worktree")
        };
        let var = |name: &str| env::var(name).ok().filter(|value| !value.is_empty());
        let (Some(run), Some(wp)) = (var("SOP_RUN"), var("SOP_WP")) else {
            return Err(nobody("this is no worker of a run".to_owned()));
        };
        let Some(asks) = env::var_os("SOP_ASKS").filter(|value| !value.is_empty()) else {
            return Err(nobody(format!("this session of `{wp}` cannot ask")));
        };
        let asks = PathBuf::from(asks);
        let named = || {
            let (run, wp) = (RunId::new(&*run).ok()?, WpId::new(&*wp).ok()?);
            let attempt = env::var("SOP_ATTEMPT").ok()?.parse().ok()?;
            // <root>/<run>/turns/<wp>-<attempt>/asks
            let dir = RunDir::new(asks.ancestors().nth(4)?.to_owned(), run);
            let folder = dir.named(&RunDir::turn_name(&wp, attempt)).join("asks");
            (folder == asks && asks.is_dir()).then_some((dir, wp))
        };
        let Some((dir, wp)) = named() else {
            return Err(nobody("SOP_ASKS names no folder of a run".to_owned()));
        };
        Ok(Self { dir, wp, asks })
    }

    /// What settles the question: the plan, or an earlier answer. What cannot be read settles nothing:
    /// the engine looks as well.
    fn settled(&self, question: &Question) -> Option<(String, String)> {
        let ledger = run_args::fold(&self.dir).ok()?;
        let plan = freeze::thaw(&self.dir, &ledger.plan_sha256).ok()?;
        let before: &[Fork] = ledger.wp(&self.wp).map_or(&[], |wp| &wp.forks);
        let (answer, by) = settled(question, &plan.wp(&self.wp)?.forks, before)?;
        Some((answer.to_owned(), by.to_owned()))
    }

    /// Leaves the question for the engine, once.
    fn put(&self, question: &Question) -> Result<(), Failure> {
        asking::put(&self.asks, question).map_err(|error| match error {
            PutError::Full => {
                Failure::usage(error.to_string()).help("end your turn: they are answered first")
            }
            PutError::Unwritten { .. } => Failure::infrastructure(error.to_string())
                .help("end your report with the question instead, as the brief shows"),
        })
    }
}
