//! The gap report: what an audit found, each finding with the place that shows it. What its scouts hand in
//! is in [`lead`], the plan that is made of it in [`draft`].

pub mod draft;
pub mod lead;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::ids::{CommitId, RunId, TierId, WpId};
use super::outcome::{DodClass, Ran};

pub use lead::{Lead, Leads};

/// What an audit found (`sop schema gap-report`).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GapReport {
    /// What this document is.
    pub format: Format,
    /// The version of this format. Always 1.
    pub version: u32,
    /// The run of the scouts.
    pub run: RunId,
    /// The revision that was asked for: a branch where one was checked out.
    pub base: String,
    /// The commit that it named. All lines are of this commit.
    pub commit: CommitId,
    /// Paths from the repository's root that were looked at, escaped; empty for everything.
    pub scope: Vec<String>,
    /// What was looked for.
    pub concerns: Vec<Concern>,
    /// The tier of the scouts.
    pub tier: TierId,
    /// The project's own commands, run once on the commit.
    pub ground: Vec<Ground>,
    /// What those commands left in the tree that the base does not ignore, escaped.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub left_behind: Option<String>,
    /// The portions that were given to scouts.
    pub slices: Vec<Slice>,
    /// Files in scope that were given to nobody.
    pub left_out: Vec<LeftOut>,
    /// What was found, the most severe first.
    pub findings: Vec<Gap>,
    /// Leads that did not stand up to a look at the commit.
    pub rejected: Vec<Rejected>,
}

impl GapReport {
    /// The version that is written.
    pub const VERSION: u32 = 1;

    /// Slices that no scout has told of.
    pub fn unread(&self) -> impl Iterator<Item = &Slice> {
        self.slices.iter().filter(|slice| slice.unread.is_some())
    }
}

/// What the document is: one word, so that no other file is taken for one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum Format {
    /// A gap report.
    #[serde(rename = "sop-gap-report")]
    GapReport,
}

/// What scouts look for.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Concern {
    /// What somebody could make it do.
    Security,
    /// What is slower, or takes more, than it has to.
    Performance,
    /// What makes the next change harder than it has to be.
    Debt,
    /// What is promised and not done, or done and promised otherwise.
    SpecGaps,
}

impl Concern {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Security, Self::Performance, Self::Debt, Self::SpecGaps];

    /// The name as in a report.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Security => "security",
            Self::Performance => "performance",
            Self::Debt => "debt",
            Self::SpecGaps => "spec-gaps",
        }
    }
}

/// How much a finding matters, the most first.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// Harm is done, or can be done by anybody.
    Critical,
    /// It is wrong, and will be met.
    High,
    /// It should be mended before anybody builds on it.
    Medium,
    /// It would be better otherwise.
    Low,
}

impl Severity {
    /// All of them, the most severe first.
    pub const ALL: [Self; 4] = [Self::Critical, Self::High, Self::Medium, Self::Low];

    /// The name as in a report.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Critical => "critical",
            Self::High => "high",
            Self::Medium => "medium",
            Self::Low => "low",
        }
    }
}

/// One finding. The commit has the lines, and they say what is quoted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Gap {
    /// `G1`, `G2`, …: by severity, then by place.
    pub id: String,
    /// Path from the repository's root, escaped where it holds what does not show.
    pub path: String,
    /// Its first line, from 1.
    pub line: u32,
    /// Its last line.
    pub end_line: u32,
    /// How much it matters.
    pub severity: Severity,
    /// What it is about.
    pub concerns: Vec<Concern>,
    /// What it is, in a few words.
    pub title: String,
    /// What the lines say, as they are in the commit.
    pub quote: String,
    /// Why that is a gap.
    pub evidence: String,
    /// What would mend it.
    pub fix: String,
    /// Every path that mending it touches, escaped; the finding's own is the first.
    pub files: Vec<String>,
    /// Findings that have to be mended before this one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub depends_on: Vec<String>,
    /// The slices whose scouts found it.
    pub found_in: Vec<WpId>,
    /// What was put right of the lead.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// One of the project's own commands, and how it went on the commit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Ground {
    /// What it is for.
    pub kind: GroundKind,
    /// How it was found: the file that asks for it, or `--run`.
    pub from: String,
    /// Whether it passes, fails, or could not run.
    pub class: DodClass,
    /// How it ended, and where its log is within the run's directory.
    pub ran: Ran,
    /// The last lines of its output, escaped, where it did not pass.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tail: Vec<String>,
}

/// What one of the project's own commands is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum GroundKind {
    /// Fetches what the others need.
    Setup,
    /// Looks for what is wrong by rule.
    Lint,
    /// Checks types.
    Types,
    /// Runs tests.
    Test,
    /// What was named with `--run`.
    Named,
}

impl GroundKind {
    /// The name as in a report.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Setup => "setup",
            Self::Lint => "lint",
            Self::Types => "types",
            Self::Test => "test",
            Self::Named => "named",
        }
    }
}

/// A portion of the tree that one scout was to read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Slice {
    /// The scout's name in the run.
    pub wp: WpId,
    /// What was to be read, escaped: a path, or a path and lines (`big.c:1-4000`).
    pub files: Vec<String>,
    /// Lines in all.
    pub lines: u64,
    /// Why nobody has told what is in it; absent where somebody has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unread: Option<String>,
}

/// A file in scope that was given to nobody.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LeftOut {
    /// The path, escaped.
    pub path: String,
    /// Why.
    pub why: String,
}

/// A lead that is no finding.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Rejected {
    /// The slice whose scout gave it.
    pub wp: WpId,
    /// The place as the scout gave it, escaped; empty where it gave none.
    pub place: String,
    /// What it said, escaped and cut short.
    pub said: String,
    /// Why it does not stand.
    pub why: String,
}
