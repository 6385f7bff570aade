//! A work package as resolved: what it may touch, what proves it, who judges it.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Budget, Command};
use crate::model::ids::{StageId, TierId, WpId};
use crate::model::outcome::DodClass;
use crate::model::time::Length;
use crate::model::verdict::ReviewSeverity;

/// A work package.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Wp {
    /// Its name.
    pub id: WpId,
    /// The stage it belongs to.
    pub stage: StageId,
    /// One line for people.
    pub title: String,
    /// What it leaves behind.
    pub kind: Kind,
    /// Who works on it first.
    pub tier: TierId,
    /// How much can go wrong.
    pub risk: Risk,
    /// The paths it may create, change, delete or rename; `!` subtracts.
    pub whitelist: Vec<String>,
    /// What must exit 0 in its worktree.
    pub dod: Vec<Dod>,
    /// The task, as read when the run was made.
    pub brief: String,
    /// Name of the template that the brief is rendered with.
    pub template: String,
    /// What it waits for: `None` is everything in the stage before.
    pub needs: Option<Vec<WpId>>,
    /// Resources that two WPs may not use at once.
    pub locks: Vec<String>,
    /// Who judges the work after the DoD.
    pub review: Review,
    /// Rounds before a person decides.
    pub rounds: u32,
    /// Whether finishing without a change is fine.
    pub allow_empty: bool,
    /// Design choices settled beforehand.
    pub forks: Vec<Fork>,
    /// Values for the template.
    pub vars: BTreeMap<String, String>,
    /// What its workers and reviewers may use together.
    #[serde(default)]
    pub budget: Budget,
    /// The stage whose shared files it alone may touch: the consolidation WP that the stage ends with.
    #[serde(default)]
    pub consolidates: Option<StageId>,
    /// What its report must be.
    #[serde(default)]
    pub report: ReportForm,
    /// Findings that it deals with, by the names that an audit or a tracker has for them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<String>,
}

/// What a report must be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ReportForm {
    /// Any text.
    #[default]
    Text,
    /// What a scout of an audit found (`sop schema leads`). A report that is something else goes back.
    Leads,
    /// What a critic says of a plan (`sop schema remarks`). A report that is something else goes back.
    Remarks,
}

/// What a WP leaves behind.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// A change.
    #[default]
    Change,
    /// A report: the WP is read-only.
    Scout,
}

/// How much can go wrong: decides what may merge by itself.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Risk {
    /// May merge by itself.
    Low,
    /// Merges after a look.
    #[default]
    Medium,
    /// A person merges it.
    High,
}

/// One Definition-of-Done command.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Dod {
    /// As the plan has it, for people.
    pub text: String,
    /// What is run.
    pub command: Command,
    /// Its limit.
    pub timeout: Length,
    /// What it must say on the base, where the plan makes that a rule.
    pub expect: Option<DodClass>,
}

/// Who judges the work after the DoD.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Review {
    /// The DoD is enough.
    #[default]
    None,
    /// A person, through `sop review`.
    Human,
    /// A command that prints a verdict, or writes it to `SOP_VERDICT`.
    Command {
        /// Argument vector; each argument is a template like a worker's.
        command: Vec<String>,
        /// Its limit.
        timeout: Length,
    },
    /// Sessions of another worker, one for each lens, read-only and side by side.
    Worker {
        /// Who reviews.
        tier: TierId,
        /// What to look for: names of the templates `review-NAME`.
        lenses: Vec<String>,
        /// Least severity that blocks.
        block_from: ReviewSeverity,
    },
}

/// A design choice that the plan settles, or gives a default for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fork {
    /// What may come up.
    pub question: String,
    /// The answer.
    pub default: String,
}
