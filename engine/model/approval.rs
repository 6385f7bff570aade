//! What a yes to a plan covers, by name: what it does not name is not done.

use std::collections::BTreeSet;
use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::plan::{Mode, Plan};

/// One thing that a run does and that somebody has to have said yes to.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Cover {
    /// Work that was checked is committed, on branches of the run's own.
    Commits,
    /// Stages are merged, on branches of the run's own.
    Integration,
    /// Branches of the run go to the remote.
    Push,
    /// Requests are opened at the forge, and updated.
    PullRequest,
    /// Requests are merged, as far as risk and the forge allow.
    Merge,
    /// Worktrees whose work is safe are removed, and local branches whose landing is proven.
    Cleanup,
}

impl Cover {
    /// All of them, in the order in which a run comes to them.
    pub const ALL: [Self; 6] = [
        Self::Commits,
        Self::Integration,
        Self::Push,
        Self::PullRequest,
        Self::Merge,
        Self::Cleanup,
    ];

    /// The name, as a person types it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Commits => "commits",
            Self::Integration => "integration",
            Self::Push => "push",
            Self::PullRequest => "pull_request",
            Self::Merge => "merge",
            Self::Cleanup => "cleanup",
        }
    }

    /// The one of this name; a `-` does for a `_`.
    #[must_use]
    pub fn named(text: &str) -> Option<Self> {
        let text = text.trim().replace('-', "_");
        Self::ALL.into_iter().find(|cover| cover.name() == text)
    }
}

impl fmt::Display for Cover {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// All that a yes covers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct Covers(BTreeSet<Cover>);

/// What a yes covered before it was asked for by name: all that stays on the machine.
impl Default for Covers {
    fn default() -> Self {
        Self::of([Cover::Commits, Cover::Integration, Cover::Cleanup])
    }
}

impl Covers {
    /// Exactly these.
    #[must_use]
    pub fn of(covers: impl IntoIterator<Item = Cover>) -> Self {
        Self(covers.into_iter().collect())
    }

    /// All that `plan` asks for.
    #[must_use]
    pub fn asked_by(plan: &Plan) -> Self {
        let mut asked = vec![Cover::Commits];
        if plan.mode == Mode::Staged {
            asked.push(Cover::Integration);
        }
        if let Some(delivery) = plan.delivery.as_ref().filter(|delivery| delivery.push) {
            asked.push(Cover::Push);
            if delivery.pull_request {
                asked.push(Cover::PullRequest);
                asked.extend(delivery.auto_merge_risk.map(|_| Cover::Merge));
            }
        }
        if plan.delivery.as_ref().is_none_or(|delivery| delivery.cleanup) {
            asked.push(Cover::Cleanup);
        }
        Self::of(asked)
    }

    /// Whether it is covered.
    #[must_use]
    pub fn has(&self, cover: Cover) -> bool {
        self.0.contains(&cover)
    }

    /// These and `others`.
    #[must_use]
    pub fn with(&self, others: &Self) -> Self {
        Self(self.0.union(&others.0).copied().collect())
    }

    /// Those of these that are not among `others`.
    #[must_use]
    pub fn without(&self, others: &Self) -> Self {
        Self(self.0.difference(&others.0).copied().collect())
    }

    /// Whether nothing is covered.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl fmt::Display for Covers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (n, cover) in self.0.iter().enumerate() {
            let comma = if n > 0 { "," } else { "" };
            write!(f, "{comma}{cover}")?;
        }
        Ok(())
    }
}
