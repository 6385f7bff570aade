//! What events are made of: the sealed graph as data, and the words for how things were approved, stopped
//! and ended.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::model::ids::{CommitId, StageId, TierId, WpId};
use crate::model::outcome::{DodClass, Ran};
use crate::model::plan::{Kind, Risk};

/// WPs that may run side by side.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LevelShape {
    /// The stage it belongs to; a stage whose WPs need each other has several levels.
    pub stage: StageId,
    /// Its WPs in the plan's order.
    pub wps: Vec<WpShape>,
}

/// What the ledger has to know of a WP.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WpShape {
    /// Its id.
    pub id: WpId,
    /// One line for people.
    pub title: String,
    /// Who works first.
    pub tier: TierId,
    /// How much can go wrong.
    pub risk: Risk,
    /// What it leaves behind.
    pub kind: Kind,
    /// Rounds before a person decides.
    pub rounds: u32,
    /// DoD commands it has.
    pub dods: u32,
    /// Whether a reviewer looks at it.
    pub reviewed: bool,
    /// Whether finishing without a change is fine.
    pub allow_empty: bool,
    /// What it waits for.
    pub after: After,
    /// Findings that it deals with.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<String>,
}

/// What a WP waits for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum After {
    /// Nothing but the run's start.
    Base,
    /// Every WP of this level and, where the stage has several, of its other levels: the whole
    /// stage before.
    Stage(StageId),
    /// Exactly these.
    Wps(Vec<WpId>),
}

impl After {
    /// Whether the WP `id` of `stage` is waited for.
    #[must_use]
    pub fn names(&self, id: &WpId, stage: &StageId) -> bool {
        match self {
            Self::Base => false,
            Self::Stage(name) => name == stage,
            Self::Wps(needs) => needs.contains(id),
        }
    }
}

/// A DoD command's class on the base.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Classed {
    /// What it said.
    pub class: DodClass,
    /// How it went.
    pub ran: Ran,
}

/// A question of a worker, and the answer where the plan has it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Asked {
    /// The choice.
    pub question: String,
    /// What the worker would do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default: Option<String>,
    /// The plan's own answer (`forks`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<String>,
}

/// How a run was approved.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ApprovedBy {
    /// A person answered the question.
    Prompt,
    /// `--yes`.
    Flag,
    /// `[plan] approval = "auto"`.
    Plan,
    /// The same setting in the config of whoever started the run.
    UserConfig,
    /// The same setting in the repository's config.
    RepositoryConfig,
    /// The same setting in a variable of the environment.
    Environment,
}

/// What follows a round.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum NextStep {
    /// Everything passed: commit it.
    Commit,
    /// Another round, on this tier.
    Round {
        /// Who works in it.
        tier: TierId,
    },
    /// A person decides.
    Escalate,
}

/// Why an engine lets a run go.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum StopReason {
    /// Somebody pressed Ctrl-C or sent TERM.
    Interrupted,
    /// Only a person can go on.
    Waiting,
    /// Infrastructure failed in a way that concerns every WP.
    Halted,
}

/// How a run stands at its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// Every WP got through.
    Done,
    /// A WP failed, was escalated or cancelled, or a stage does not hold together.
    Failed,
    /// Somebody is waited for.
    Waiting,
    /// Infrastructure is in the way.
    Blocked,
}

/// A branch that somebody moved or deleted after its work was checked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MovedBranch {
    /// Its short name.
    pub branch: String,
    /// The commit that was checked.
    pub checked: CommitId,
    /// Where it stands instead: a commit, or another ref that it is an alias of. Nothing when it is gone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stands: Option<String>,
}

impl std::fmt::Display for MovedBranch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.stands {
            Some(stands) => write!(f, "is at {stands}")?,
            None => f.write_str("is gone")?,
        }
        write!(f, ", and the commit that was checked is {}", self.checked.short())
    }
}

/// Something of the repository that is nobody's to touch, and is not as it was when the run began.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Standing {
    /// Which place.
    pub place: String,
    /// What became of it.
    pub what: String,
    /// WPs whose workers were at work when it was first seen; none where nobody was.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub seen_with: Vec<WpId>,
    /// The command that puts it back, where there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub put_back: Option<String>,
}

impl std::fmt::Display for Standing {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {}", self.place, self.what)?;
        let with: Vec<String> = self.seen_with.iter().map(|wp| format!("`{wp}`")).collect();
        match with.is_empty() {
            true => Ok(()),
            false => write!(f, " (first seen when {} was at work)", with.join(", ")),
        }
    }
}

/// Something of the repository that has changed and is taken as it is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Taken {
    /// Which place.
    pub place: String,
    /// What became of it.
    pub became: String,
    /// Settings that changed, by their names, where it is a file of settings.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub settings: Vec<String>,
}

impl std::fmt::Display for Taken {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.settings.is_empty() {
            true => write!(f, "{} {}", self.place, self.became),
            false => write!(f, "{} in {}", self.settings.join(", "), self.place),
        }
    }
}
