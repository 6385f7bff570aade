//! What a person asks of a run, left for its engine: one that has the run takes it at once, otherwise it
//! waits for the next `sop resume`.

use std::io::{self, Write as _};

use serde::Serialize;

use super::exit;
use super::failure::{Failure, written};
use super::run_args::{self, RunArg};
use crate::ledger::Ledger;
use crate::model::ids::WpId;
use crate::process::escape;
use crate::report::{commands, json};
use crate::run::directory::RunDir;
use crate::run::requests::{self, Ask, Refused, Request, Turn};

/// Requests that were left.
#[derive(Debug)]
pub(super) struct Left {
    /// What was asked, in a word.
    pub name: &'static str,
    /// The run.
    pub dir: RunDir,
    /// The requests.
    pub requests: Vec<Request>,
    /// Whether an engine has the run.
    pub held: bool,
}

/// What was asked, and who will see to it.
#[derive(Debug, Serialize)]
struct Asked<'a> {
    run: &'a str,
    wps: Vec<&'a WpId>,
    asked: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    question: Option<u32>,
    taken_by: &'static str,
}

/// Decisions are the lead's: whatever a run has started (a worker, a check, a setup step, a reviewer) is
/// told so when it comes upon these verbs, and nothing is recorded in a person's name.
///
/// # Errors
/// This was started by a run.
pub(super) fn no_worker() -> Result<(), Failure> {
    let var = |name| {
        let value = std::env::var_os(name).filter(|value| !value.is_empty());
        value.map(|value| escape(value.as_encoded_bytes()))
    };
    let Some(run) = var("SOP_RUN") else { return Ok(()) };
    let who = match var("SOP_WP") {
        Some(wp) => format!("this is a worker of `{wp}` in the run `{run}`"),
        None => format!("this was started by the run `{run}` (SOP_RUN is set)"),
    };
    Err(Failure::usage(format!("{who}, and such decisions are not a worker's"))
        .help("say in the report what should be decided, or ask: `sop ask \"…\"`"))
}

/// Leaves what `make` makes of the run as it stands, whoever makes it knowing what waits already. All are
/// made before any is left: either the whole makes sense or nothing happens.
///
/// # Errors
/// This is a worker, there is no such run, or what is asked makes no sense.
pub(super) fn leave(
    run: &RunArg,
    name: &'static str,
    make: impl FnOnce(&RunDir, &Ledger, &[Request], &str) -> Result<Vec<Request>, Failure>,
) -> Result<Left, Failure> {
    no_worker()?;
    let repo = run_args::repository()?;
    let dir = run_args::find(&repo, run.run.as_deref())?;
    let by = repo.identity().name;
    let turn = Turn::take(&dir);
    if !dir.path().is_dir() {
        let text = format!("the run `{}` was put away just now: it is in the archive", dir.run());
        return Err(Failure::usage(text));
    }
    let turn = turn.map_err(|error| Failure::infrastructure(error.to_string()))?;
    let waiting: Vec<_> =
        requests::waiting(&dir.requests()).into_iter().map(|(_, request)| request).collect();
    let ledger = run_args::fold(&dir)?;
    let made = make(&dir, &ledger, &waiting, &by)?;
    for request in &made {
        requests::is_first(&ledger, &waiting, request).map_err(|why| refused(&why))?;
    }
    for request in &made {
        request
            .leave(&dir, jiff::Timestamp::now())
            .map_err(|error| Failure::infrastructure(error.to_string()))?;
    }
    // Before others have their turn: whoever puts the run away has its lock too, and takes nothing up.
    let held = dir.held();
    drop(turn);
    Ok(Left { name, dir, requests: made, held })
}

/// The same of each of these WPs.
///
/// # Errors
/// As [`leave`].
pub(super) fn about_wps(
    run: &RunArg,
    wps: &[WpId],
    name: &'static str,
    ask: impl Fn() -> Ask,
) -> Result<Left, Failure> {
    leave(run, name, |_, ledger, _, by| {
        let made = wps.iter().map(|wp| requests::make(ledger, Some(wp), by, ask()));
        made.collect::<Result<_, _>>().map_err(|why| refused(&why))
    })
}

/// Why a request makes no sense, for whoever made it.
pub(super) fn refused(why: &Refused) -> Failure {
    Failure::usage(why.to_string())
}

impl Left {
    /// Says what was asked and who sees to it.
    ///
    /// # Errors
    /// Standard output cannot be written.
    pub(super) fn tell(&self, json: bool) -> Result<u8, Failure> {
        let mut out = io::stdout().lock();
        let wps: Vec<&WpId> = self.requests.iter().filter_map(|it| it.wp.as_ref()).collect();
        let question = self.requests.iter().find_map(|request| match request.ask {
            Ask::Answer { number, .. } => Some(number),
            _ => None,
        });
        if json {
            let taken_by = if self.held { "engine" } else { "next_resume" };
            let run = self.dir.run().as_str();
            let asked = Asked { run, wps, asked: self.name, question, taken_by };
            written(json::line(&asked, &mut out))?;
            return Ok(exit::DONE);
        }
        let wps: Vec<&str> = wps.into_iter().map(WpId::as_str).collect();
        let what = match question {
            Some(number) => format!("{} q{number} ({})", self.name, wps.join(", ")),
            None if wps.is_empty() => self.name.to_owned(),
            None => format!("{} {}", self.name, wps.join(", ")),
        };
        written(match self.held {
            true => writeln!(out, "{what}: the engine at work takes it now"),
            false => {
                let resume = commands::resume(self.dir.run());
                writeln!(out, "{what}: noted; `{resume}` goes on with it")
            }
        })?;
        Ok(exit::DONE)
    }
}
