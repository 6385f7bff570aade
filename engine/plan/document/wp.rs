//! `[[wp]]`: a work package.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::super::scalar::{Filled, Money, Name, Time, Variable, Whole};
use super::super::shape::{Either, Named, Table, Word};
use super::{Argv, Run, Tokens};
use crate::model::plan::{Kind, ReportForm, Risk};

/// A work package: the unit of work.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "wp")]
pub struct Wp {
    /// Name of the work package: its branch and its files carry it. Unique in the plan, whatever the case.
    #[schemars(example = &"client")]
    pub id: Name,

    /// Stage that it belongs to. Needed if, and only if, the plan has stages. Default: none.
    #[schemars(example = &"foundation")]
    pub stage: Option<Name>,

    /// One line for people. Default: the id.
    #[schemars(example = &"Typed settings client")]
    pub title: Option<Filled>,

    /// What it leaves behind: a change to files, or only a report.
    #[serde(default)]
    #[schemars(example = &"scout")]
    pub kind: Word<Kind>,

    /// Tier that works on it first. Default: `[plan] tier`, or the only tier there is.
    #[schemars(example = &"standard")]
    pub tier: Option<Name>,

    /// How much can go wrong. It decides what may merge by itself.
    #[serde(default)]
    #[schemars(example = &"low")]
    pub risk: Word<Risk>,

    /// Path patterns that it may create, change, delete or rename; `!` subtracts. A scout has none.
    #[serde(default)]
    #[schemars(example = serde_json::json!(["src/client/**", "!src/client/legacy/**"]))]
    pub whitelist: Vec<Filled>,

    /// Definition of Done: commands that must all exit 0 in its worktree.
    #[serde(default)]
    #[schemars(extend("default" = []))]
    #[schemars(example = serde_json::json!(["npm run -s typecheck", { "run": "npm test -- client", "expect": "red" }]))]
    pub dod: Vec<Dod>,

    /// The task: a file, named from the folder of the plan file. Default: none, and then `brief_text` says it.
    #[schemars(example = &"briefs/client.md")]
    pub brief: Option<Filled>,

    /// The task itself, in place of a `brief` file. Default: none, and then `brief` says it.
    #[schemars(example = &"Rename `load` to `open` in every module under src/client.")]
    pub brief_text: Option<Filled>,

    /// Template that the brief is rendered with. Default: `[plan] template`; for a scout, `scout`.
    #[schemars(example = &"migration")]
    pub template: Option<Name>,

    /// Work packages whose result it starts from. Default: all of the stage before.
    #[schemars(example = serde_json::json!(["client"]))]
    pub needs: Option<Vec<Name>>,

    /// Resources that no two work packages may use at once, by any name.
    #[serde(default)]
    #[schemars(extend("default" = []))]
    #[schemars(example = serde_json::json!(["port-3000"]))]
    pub locks: Vec<Name>,

    /// Who judges the work after the Definition of Done has passed. Default: `[plan] review`.
    #[schemars(example = serde_json::json!({ "command": ["scripts/review.sh", "{{ wp.id }}"], "timeout": "20m" }))]
    pub review: Option<Review>,

    /// Rounds before a person decides. Default: `[plan] rounds`.
    #[schemars(example = 2)]
    pub rounds: Option<Whole<1, 3>>,

    /// Whether it may finish without having changed anything.
    #[serde(default)]
    #[schemars(example = true)]
    pub allow_empty: bool,

    /// What its report must be. One that is something else is asked for again, in the next round.
    #[serde(default)]
    #[schemars(example = &"leads")]
    pub report: Word<ReportForm>,

    /// Findings that it deals with, by the names that an audit or a tracker has for them. The report of the
    /// plan and the summary of the run say what becomes of each.
    #[serde(default)]
    #[schemars(extend("default" = []))]
    #[schemars(example = serde_json::json!(["G1", "G4"]))]
    pub findings: Vec<Filled>,

    /// Design choices that may come up, with the answer.
    #[serde(default)]
    #[schemars(extend("default" = []))]
    #[schemars(example = serde_json::json!([{ "question": "Keep the v1 endpoint?", "default": "yes" }]))]
    pub forks: Vec<Table<Fork>>,

    /// Values for the brief's template, as `vars.NAME`.
    #[serde(default)]
    #[schemars(extend("default" = {}))]
    #[schemars(example = serde_json::json!({ "module": "settings" }))]
    pub vars: Named<Variable, String>,

    /// Dollars that its workers and reviewers may cost together. codex and gemini never tell what they
    /// cost: it does not hold them, and `budget_tokens` does. Default: no limit.
    #[schemars(example = 2.5)]
    pub budget_usd: Option<Money>,

    /// Tokens, input and output, that its workers and reviewers may use together. Default: no limit.
    #[schemars(example = 500_000)]
    pub budget_tokens: Option<Tokens>,
}

/// One Definition-of-Done command: a line, or a table.
pub type Dod = Either<Filled, Table<DodTable>>;

/// A Definition-of-Done command with its limits.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "dod")]
pub struct DodTable {
    /// The command: a line, or the program and its arguments.
    #[schemars(example = &"npm test -- client")]
    pub run: Run,

    /// How long it may take.
    #[schemars(extend("default" = "10m"))]
    #[schemars(example = &"5m")]
    pub timeout: Option<Time>,

    /// What it must say on the base, before any work. Default: anything but broken.
    #[schemars(example = &"red")]
    pub expect: Option<Word<Expect>>,
}

/// What a DoD command must say on the base.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Expect {
    /// It fails: it will prove something.
    Red,
    /// It passes: it guards.
    Green,
}

/// Who judges the work: a word, or a table.
pub type Review = Either<Word<ReviewWord>, Table<Reviewer>>;

/// Who judges the work, in a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ReviewWord {
    /// Nobody: the Definition of Done is enough.
    None,
    /// A person, with `sop review`.
    Human,
    /// Sessions of another worker, as `[review]` says.
    Worker,
}

/// A command that judges the work.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "reviewer")]
pub struct Reviewer {
    /// The program and its arguments, each a template like a worker's. It writes a verdict to the path in `SOP_VERDICT`, or prints it.
    #[schemars(example = serde_json::json!(["scripts/review.sh", "{{ wp.id }}"]))]
    pub command: Argv,

    /// How long it may take.
    #[schemars(extend("default" = "30m"))]
    #[schemars(example = &"20m")]
    pub timeout: Option<Time>,
}

/// A design choice that may come up, with the answer.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "fork")]
pub struct Fork {
    /// What may come up.
    #[schemars(example = &"Keep the v1 endpoint?")]
    pub question: Filled,

    /// The answer, unless a person says otherwise.
    #[schemars(example = &"yes")]
    pub default: Filled,
}
