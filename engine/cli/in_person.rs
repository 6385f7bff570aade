//! What the lead does with its own hands is answered at once: by the engine that has the run, or by one for that WP
//! alone where none has.

use std::time::Duration;

use super::drive;
use super::exit;
use super::failure::Failure;
use super::request::{self, Left};
use super::run_args::{self, RunArg};
use super::terminal::Color;
use crate::git::Repo;
use crate::ledger::{Phase, WpState};
use crate::model::ids::WpId;
use crate::process::escape;
use crate::report::commands;
use crate::report::narrate::one;
use crate::run::directory::RunDir;
use crate::run::requests::{self, Ask};

/// How often the journal is looked at while an engine is at it.
const LOOK: Duration = Duration::from_millis(50);

/// What was asked, and is being seen to.
pub(super) struct InPerson {
    repo: Repo,
    /// The run.
    pub dir: RunDir,
    /// The WP.
    pub wp: WpId,
    /// Who asks.
    pub by: String,
    color: Color,
}

/// How far it has come.
pub(super) enum Stands<T> {
    /// To its end.
    Done(T),
    /// An engine is at it, or has to be.
    Open,
}

impl InPerson {
    /// One WP of a run, and whoever asks about it.
    ///
    /// # Errors
    /// A run has started this, or there is no such run.
    pub(super) fn new(run: &RunArg, wp: &str, color: Color) -> Result<Self, Failure> {
        request::no_worker()?;
        let repo = run_args::repository()?;
        let dir = run_args::find(&repo, run.run.as_deref())?;
        let by = repo.identity().name;
        Ok(Self { wp: run_args::wp(wp)?, dir, by, repo, color })
    }

    /// The WP as it is.
    ///
    /// # Errors
    /// The journal cannot be read, or the run has no such WP.
    pub(super) fn state(&self) -> Result<WpState, Failure> {
        let ledger = run_args::fold(&self.dir)?;
        let state = ledger.wp(&self.wp).cloned();
        state.ok_or_else(|| run_args::no_such(&ledger, &self.wp))
    }

    /// Asks for it.
    ///
    /// # Errors
    /// It makes no sense.
    pub(super) fn ask(&self, name: &'static str, ask: &Ask) -> Result<Left, Failure> {
        let run = RunArg { run: Some(self.dir.run().to_string()) };
        request::about_wps(&run, std::slice::from_ref(&self.wp), name, || ask.clone())
    }

    /// Waits for whoever sees to it, or does so itself, until `stands` has its answer. That is asked with the WP, and
    /// only when nothing that was asked about it waits any more.
    ///
    /// # Errors
    /// `stands`; or the engine cannot go on.
    pub(super) fn see_to<T>(
        &self,
        stands: impl Fn(&WpState) -> Result<Stands<T>, Failure>,
    ) -> Result<T, Failure> {
        loop {
            let held = self.dir.held();
            if !self.waits()
                && let Stands::Done(answer) = stands(&self.state()?)?
            {
                return Ok(answer);
            }
            if held {
                std::thread::sleep(LOOK);
                continue;
            }
            match drive::for_lead(&self.repo, self.dir.clone(), &self.wp, self.color) {
                Err(failure) if failure.exit == exit::HELD => std::thread::sleep(LOOK),
                Err(failure) => return Err(failure),
                Ok(()) => {
                    return match stands(&self.state()?)? {
                        Stands::Done(answer) => Ok(answer),
                        Stands::Open => Err(self.not_yet()),
                    };
                }
            }
        }
    }

    /// That infrastructure is in the way, where it is.
    ///
    /// # Errors
    /// Just that.
    pub(super) fn not_blocked(&self, state: &WpState) -> Result<(), Failure> {
        let Some(problem) = state.blocked_by.as_ref().filter(|_| state.phase == Phase::Blocked)
        else {
            return Ok(());
        };
        let text = format!("`{}` is blocked by infrastructure: {}", self.wp, one(problem));
        let again = commands::take(self.dir.run(), &self.wp);
        Err(Failure::infrastructure(text)
            .help(format!("once that is mended, `{again}` has it for you again")))
    }

    /// Somebody said stop, or something has to be waited for.
    fn not_yet(&self) -> Failure {
        let resume = commands::resume(self.dir.run());
        Failure::new(exit::WAITING, format!("`{}` did not get there; nothing is lost", self.wp))
            .help(format!("ask again, or `{resume}` goes on with it"))
    }

    /// Whether something that was asked about the WP has not been taken up.
    fn waits(&self) -> bool {
        let noted = requests::noted(&self.dir);
        noted.iter().any(|request| {
            let mine = matches!(request.ask, Ask::Take | Ask::Back | Ask::Recheck { .. });
            mine && request.wp.as_ref() == Some(&self.wp)
        })
    }
}

/// Files, for people.
pub(super) fn listed(files: &[&str]) -> String {
    files.iter().map(|file| escape(file.as_bytes())).collect::<Vec<_>>().join(", ")
}
