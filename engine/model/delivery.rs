//! Delivery: what a plan wants of it, what a run says of it before it starts, and why it holds.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::ids::WpId;
use super::plan::{Command, Risk};
use super::time::Length;

/// `[delivery]` with its defaults in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Delivery {
    /// How the forge is spoken to.
    pub forge: ForgeKind,
    /// The remote's name.
    pub remote: String,
    /// Whether branches go to the remote.
    pub push: bool,
    /// Whether requests are opened.
    pub pull_request: bool,
    /// The highest risk that merges by itself; nothing does without.
    pub auto_merge_risk: Option<Risk>,
    /// How requests are merged.
    pub merge_method: MergeMethod,
    /// Whether requests are opened as drafts.
    pub draft: bool,
    /// Whether a request says what made it.
    pub attribution: bool,
    /// How long one that would merge by itself waits for its checks.
    pub wait_for_checks: Length,
    /// Commands that a person may have run once all has landed.
    pub after_merge: Vec<AfterMerge>,
    /// Whether worktrees, and local branches that are proven to have landed, are removed.
    pub cleanup: bool,
}

/// A command for after the merge: what a person is asked about, each time.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AfterMerge {
    /// As the plan has it.
    pub text: String,
    /// What is run.
    pub command: Command,
}

/// How a forge is spoken to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ForgeKind {
    /// GitHub's own program.
    #[default]
    Gh,
}

impl ForgeKind {
    /// The program.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Gh => "gh",
        }
    }
}

/// How a request is merged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum MergeMethod {
    /// With a merge commit.
    Merge,
    /// As one commit.
    #[default]
    Squash,
    /// Its commits, one by one.
    Rebase,
}

impl MergeMethod {
    /// The word for it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Merge => "merge",
            Self::Squash => "squash",
            Self::Rebase => "rebase",
        }
    }
}

/// Where a run delivers to: pinned when it is made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DeliveryShape {
    /// The remote's name.
    pub remote: String,
    /// The branch that requests ask to be merged into; none where the plan's base is no branch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub into: Option<String>,
    /// Commands that there are for after the merge.
    #[serde(default)]
    pub after: u32,
}

/// Where a yes to pushing was said to, as the person who said it read it: without passwords.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Destination {
    /// Where branches are pushed to.
    pub push: String,
    /// Where they are looked for, and whose forge is asked.
    pub fetch: String,
}

/// A step of delivery, announced before it is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum DeliveryStep {
    /// The branch is pushed.
    Push,
    /// A request is opened, or its title and body are set.
    Request,
    /// The request is merged.
    Merge,
}

/// Why a delivery goes no further.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Hold {
    /// The approval does not cover the next step.
    NotCovered,
    /// The plan asks for no more.
    AsPlanned,
    /// Its risk is above what merges by itself.
    Risk,
    /// It is a draft.
    Draft,
    /// Somebody closed the request.
    Closed,
    /// Checks have not come to an end.
    ChecksPending,
    /// A check failed.
    ChecksFailed,
    /// The branch's protection asks for more.
    Protected,
    /// The base moved on, and its protection wants the request brought up to date.
    Behind,
    /// It cannot be merged as it is.
    Conflict,
    /// Somebody else pushed to the branch.
    HeadMoved,
    /// It is merged, and what it holds is not found in the base.
    NotProven,
    /// The forge said no.
    Refused,
    /// Nobody is logged in.
    NoToken,
    /// The forge's program is not there.
    NoProgram,
    /// The forge, or the remote, does not answer.
    Unreachable,
}

/// Who a held delivery waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum WaitsFor {
    /// Nobody: that was all that was to be done by itself.
    Nobody,
    /// A person, or somebody else's work.
    Somebody,
    /// The machine, the network, the forge.
    Infrastructure,
}

impl Hold {
    /// Who it waits for.
    #[must_use]
    pub fn waits_for(self) -> WaitsFor {
        match self {
            Self::NotCovered | Self::AsPlanned | Self::Risk | Self::Draft | Self::Closed => {
                WaitsFor::Nobody
            }
            Self::NoToken | Self::NoProgram | Self::Unreachable => WaitsFor::Infrastructure,
            _ => WaitsFor::Somebody,
        }
    }
}

/// What the checkpoint report says of delivery.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PlannedDelivery {
    /// The forge's program.
    pub forge: ForgeKind,
    /// The remote's name.
    pub remote: String,
    /// Where that is, without a password; nothing when there is no such remote.
    pub url: Option<String>,
    /// The branch that requests ask to be merged into.
    pub into: Option<String>,
    /// Whether the forge protects that branch, where it can be read.
    pub protected: Option<bool>,
    /// What is pushed.
    pub branches: Vec<String>,
    /// Requests that are opened, or updated where an earlier run has opened them.
    pub requests: Vec<PlannedRequest>,
    /// How requests are merged.
    pub merge_method: MergeMethod,
    /// Commands for afterwards, of which each is asked about each time.
    pub after_merge: Vec<String>,
    /// What keeps it from being delivered, each with what to do about it.
    pub stops: Vec<String>,
    /// What could not be found out.
    pub unknown: Vec<String>,
}

/// A request that is to be opened.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PlannedRequest {
    /// The WP; nothing for the whole.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wp: Option<WpId>,
    /// Its branch.
    pub branch: String,
    /// Whether it merges by itself.
    pub merges: bool,
    /// Why, or why not.
    pub why: String,
}

impl fmt::Display for MergeMethod {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl Delivery {
    /// Whether work of this risk merges by itself, and why, or why not.
    #[must_use]
    pub fn merges(&self, risk: Risk) -> (bool, String) {
        let word = |risk| match risk {
            Risk::Low => "low",
            Risk::Medium => "medium",
            Risk::High => "high",
        };
        match self.auto_merge_risk {
            None => (false, "nothing merges by itself (auto_merge_risk = \"none\")".to_owned()),
            Some(_) if self.draft => (false, "it is a draft".to_owned()),
            Some(most) if risk > most => (
                false,
                format!("its risk is {}, and up to {} merges by itself", word(risk), word(most)),
            ),
            Some(_) => (true, format!("its risk is {}; once its checks are green", word(risk))),
        }
    }
}
