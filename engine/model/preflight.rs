//! What holds before a run: ten parts, each with what was found, what that means, and what to do about
//! it. `preflight` finds it out, `report::preflight` draws it, and the checkpoint report carries it.

mod auth;
mod base_check;
mod config;
mod docker_pool;
mod git;
mod instructions;
mod leftovers;
mod part;
mod requests;
mod runs;
mod runtime;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::baseline::Baseline;

pub use auth::{Auth, Known, Method};
pub use base_check::BaseCheck;
pub use config::{Config, Layout, ProvisionSetting, Said};
pub use docker_pool::DockerPool;
pub use git::{Git, Lfs, Means, Submodules};
pub use instructions::{InCheckout, InstructionFile, Instructions};
pub use leftovers::{Leftover, LeftoverCount, Leftovers};
pub use part::{Part, State, Summed, Word};
pub use requests::Requests;
pub use runs::{OpenRun, Runs};
pub use runtime::{RoleTier, Runtime};

/// What holds before a run: every part of it, unless there is no repository to look at. `sop plan` and `sop apply`
/// start no program for it that takes time, and warn of nothing that does not concern a run of the plan.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Preflight {
    /// The worst of all parts.
    pub state: State,
    /// The plan whose tiers and settings were looked at, as it was named; absent where there was none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan: Option<String>,
    /// Who would work, and whether they are there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runtime: Option<Part<Runtime>>,
    /// The settings that a run would have.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub config: Option<Part<Config>>,
    /// The repository's own files for agents, at the base and in the checkout.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instructions: Option<Part<Instructions>>,
    /// What runs from before have left.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub leftovers: Option<Part<Leftovers>>,
    /// Runs that are not over.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<Part<Runs>>,
    /// Where pull requests would go.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pr: Option<Part<Requests>>,
    /// The checkout as it is now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub baseline: Option<Part<Baseline>>,
    /// The local base against its upstream.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base_check: Option<Part<BaseCheck>>,
    /// Docker's networks against what would run at once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub docker_pool: Option<Part<DockerPool>>,
    /// Git, and what is special about this repository.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub git: Option<Part<Git>>,
}

impl Preflight {
    /// Each part that was looked at, with its name.
    #[must_use]
    pub fn parts(&self) -> Vec<(&'static str, Summed)> {
        fn sum<T>(name: &'static str, part: &Option<Part<T>>) -> Option<(&'static str, Summed)> {
            let part = part.as_ref()?;
            let Part { state, what, .. } = part;
            let words = part.words().collect();
            Some((name, Summed { state: *state, what: what.clone(), words }))
        }
        let parts = [
            sum("runtime", &self.runtime),
            sum("config", &self.config),
            sum("instructions", &self.instructions),
            sum("leftovers", &self.leftovers),
            sum("run", &self.run),
            sum("pr", &self.pr),
            sum("baseline", &self.baseline),
            sum("base_check", &self.base_check),
            sum("docker_pool", &self.docker_pool),
            sum("git", &self.git),
        ];
        parts.into_iter().flatten().collect()
    }

    /// The same, with its state that of the worst part.
    #[must_use]
    pub fn summed(mut self) -> Self {
        self.state = self.parts().iter().map(|(_, part)| part.state).max().unwrap_or_default();
        self
    }

    /// What keeps every run from starting, each with the part that says so.
    #[must_use]
    pub fn stops(&self) -> Vec<(&'static str, Word)> {
        let words = self.parts().into_iter();
        let words = words.flat_map(|(name, part)| part.words.into_iter().map(move |w| (name, w)));
        words.filter(|(_, word)| word.state == State::Stop).collect()
    }
}
