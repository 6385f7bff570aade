//! What holds before a run: ten parts, found out side by side, each within a time of its own. Nothing is
//! written, and nothing is started that could call a provider.
//!
//! | file | part |
//! | --- | --- |
//! | `runtime` | who would work: found, logged in and how |
//! | `config` | the settings of a run, and who says each |
//! | `instructions` | the repository's files for agents, at the base and in the checkout |
//! | `leftovers` | what runs from before have left |
//! | `open_runs` | runs that are not over |
//! | `pr` | where pull requests would go |
//! | `baseline` | the checkout as it is now |
//! | `base_check` | the local base against its upstream |
//! | `docker_pool` | Docker's networks |
//! | `git` | git, and what is special about the repository |
//!
//! [`start`] begins; [`Started::finish`] has what was found. What a part could not find out in time is a part
//! that says so.

mod base_check;
mod baseline;
mod config;
mod docker_pool;
mod git;
mod instructions;
mod leftovers;
mod open_runs;
mod pr;
mod runtime;

use std::sync::Arc;
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::{Duration, Instant};

use crate::git::Repo;
use crate::model::baseline::{Baseline, Kept};
use crate::model::plan::Plan;
use crate::model::preflight::{
    BaseCheck, Config, DockerPool, Git, Instructions, Leftovers, Part, Preflight, Requests, Runs,
    Runtime, State, Word,
};
use crate::plan::Setting;

/// How long a question to a program of this machine may take.
pub const LIMIT: Duration = Duration::from_secs(5);
/// How long a fetch may take.
const FETCH: Duration = Duration::from_secs(60);
/// How much longer a part may take than the questions it asks.
const SLACK: Duration = Duration::from_secs(2);

/// What the part about these is called.
const AGENTS: &str = "the agents";

/// What is looked at.
pub struct Ask {
    /// The repository.
    pub repo: Repo,
    /// What a run would have at hand: of a plan, or of none ([`crate::plan::at_hand`]).
    pub plan: Plan,
    /// The settings, each with who says it ([`crate::plan::settings`]).
    pub settings: Vec<Setting>,
    /// What is wrong with the config files, in their own words.
    pub wrong: Vec<Word>,
    /// Whether `plan` is one, and not just what every plan would have.
    pub planned: bool,
    /// What `git` calls its version, where that is known already.
    pub version: Option<String>,
    /// Whether everything is asked, or what takes no time.
    pub depth: Depth,
}

/// How much is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Depth {
    /// All parts, but for what takes time: no program is asked for its version, and no forge about its branches.
    /// What does not concern a run of this plan is found out and not warned of.
    Run,
    /// Everything.
    All {
        /// Whether the upstream of the base is fetched first.
        fetch: bool,
    },
}

impl Depth {
    /// Whether everything is asked.
    fn all(self) -> bool {
        matches!(self, Self::All { .. })
    }
}

/// Parts under way.
pub struct Started {
    wait: Wait,
    found: Parts,
    runtime: Option<Part<Runtime>>,
}

struct Parts {
    runtime: Waiting<Runtime>,
    config: Waiting<Config>,
    instructions: Waiting<Instructions>,
    leftovers: Waiting<Leftovers>,
    run: Waiting<Runs>,
    pr: Waiting<Requests>,
    baseline: Receiver<(Part<Baseline>, Option<Kept>)>,
    base_check: Waiting<BaseCheck>,
    docker_pool: Waiting<DockerPool>,
    git: Waiting<Git>,
}

type Waiting<T> = Receiver<Part<T>>;

/// What was found, and what is compared with when the run is over.
pub struct Looked {
    /// The parts.
    pub preflight: Preflight,
    /// The checkout, path by path; nothing where there is none, or it could not be told.
    pub kept: Option<Kept>,
}

/// Begins to look, at everything at once.
#[must_use]
pub fn start(ask: Ask) -> Started {
    let ask = Arc::new(ask);
    let began = Instant::now();
    let found = Parts {
        baseline: beside(&ask, baseline::look),
        base_check: beside(&ask, base_check::look),
        git: beside(&ask, git::look),
        run: beside(&ask, open_runs::look),
        docker_pool: beside(&ask, docker_pool::look),
        leftovers: beside(&ask, leftovers::look),
        instructions: beside(&ask, instructions::look),
        pr: beside(&ask, pr::look),
        runtime: beside(&ask, runtime::look),
        config: beside(&ask, config::look),
    };
    let fetching = if ask.depth == (Depth::All { fetch: true }) { FETCH } else { Duration::ZERO };
    Started { wait: Wait { until: began + LIMIT + SLACK + fetching }, found, runtime: None }
}

/// Has a part looked at by a thread of its own. One that hangs in the system is left behind.
fn beside<T: Send + 'static>(ask: &Arc<Ask>, look: fn(&Ask) -> T) -> Receiver<T> {
    let (to, found) = mpsc::channel();
    let ask = Arc::clone(ask);
    thread::spawn(move || {
        // Nobody waits any more for what is late.
        let _ = to.send(look(&ask));
    });
    found
}

impl Started {
    /// Whether it is known already, before anything slow has answered, that no run can start.
    #[must_use]
    pub fn stops(&mut self) -> bool {
        let runtime = self.wait.for_part(&self.found.runtime, AGENTS);
        let stops = runtime.state == State::Stop;
        self.runtime = Some(runtime);
        stops
    }

    /// Waits for what is under way, and sums it up.
    #[must_use]
    pub fn finish(self) -> Looked {
        let Self { wait, found, runtime } = self;
        let (baseline, kept) = match wait.whatever(&found.baseline) {
            Some((part, kept)) => (part, kept),
            None => (late("the checkout"), None),
        };
        let preflight = Preflight {
            runtime: Some(runtime.unwrap_or_else(|| wait.for_part(&found.runtime, AGENTS))),
            config: Some(wait.for_part(&found.config, "the settings")),
            instructions: Some(wait.for_part(&found.instructions, "the files for agents")),
            leftovers: Some(wait.for_part(&found.leftovers, "what earlier runs left")),
            run: Some(wait.for_part(&found.run, "the runs")),
            pr: Some(wait.for_part(&found.pr, "the forge")),
            baseline: Some(baseline),
            base_check: Some(wait.for_part(&found.base_check, "the base")),
            docker_pool: Some(wait.for_part(&found.docker_pool, "Docker")),
            git: Some(wait.for_part(&found.git, "git")),
            ..Preflight::default()
        };
        Looked { preflight: preflight.summed(), kept }
    }
}

struct Wait {
    until: Instant,
}

impl Wait {
    fn whatever<T>(&self, found: &Receiver<T>) -> Option<T> {
        found.recv_timeout(self.until.saturating_duration_since(Instant::now())).ok()
    }

    fn for_part<T>(&self, found: &Waiting<T>, what: &str) -> Part<T> {
        self.whatever(found).unwrap_or_else(|| late(what))
    }
}

fn late<T>(what: &str) -> Part<T> {
    Part::unknown(Word::warn(
        format!("{what} could not be looked at in time"),
        "look whether a disk or a program hangs, and try again",
    ))
}
