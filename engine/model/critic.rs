//! A critic reads a plan before anybody says yes to it. What it says are remarks, each of which the lead takes or
//! refuses with a reason. There is one round: whoever changes the plan for a remark is not read again.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::ids::{RunId, TierId, WorkerId};
use super::time::Timestamp;
use super::verdict::{ReviewSeverity, json_in};

/// Remarks that one answer is heard out for: more than this nobody answers one by one.
pub const MOST_REMARKS: usize = 50;

/// Work packages from which on a critic reads a plan by itself.
pub const MANY: usize = 2;

/// The tier that reads plans where none is named for it.
pub const TIER: &str = "critic";

/// Who reads a plan before anybody says yes to it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Critic {
    /// The tier; nothing where no plan is read.
    pub tier: Option<TierId>,
    /// Which plans.
    #[serde(default)]
    pub when: When,
}

/// Which plans a critic reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum When {
    /// Those with two or more work packages, with stages, or with a high risk.
    #[default]
    Auto,
    /// All.
    Always,
    /// None.
    Never,
}

/// What a critic answers (`sop schema remarks`).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Remarks {
    /// What it has to say, the weightiest first; empty where the plan stands.
    pub remarks: Vec<Remark>,
}

/// One thing that a critic has to say of a plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Remark {
    /// The work package that it is about, by its id; nothing for the plan as a whole.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wp: Option<String>,
    /// How much it matters.
    #[serde(default)]
    pub severity: ReviewSeverity,
    /// What is wrong with the plan there.
    pub text: String,
    /// What would be right.
    pub proposal: String,
}

impl Remarks {
    /// The remarks in an answer: its last fenced block of JSON, or else the whole text.
    ///
    /// # Errors
    /// What is wrong with the answer, for the critic to read.
    pub fn in_answer(answer: &str) -> Result<Vec<Remark>, String> {
        let value = json_in(answer)?;
        let Some(entries) = value.get("remarks").and_then(Value::as_array) else {
            return Err("it has no list `remarks`, which is empty where the plan stands".into());
        };
        if entries.len() > MOST_REMARKS {
            return Err(format!("it has {} remarks; at most {MOST_REMARKS}", entries.len()));
        }
        let read = entries.iter().enumerate().map(|(n, entry)| {
            let remark = Remark::deserialize(entry);
            let remark = remark.map_err(|error| format!("remark {} is none: {error}", n + 1))?;
            match remark.text.trim().is_empty() {
                true => Err(format!("remark {} says nothing: its `text` is empty", n + 1)),
                false => Ok(remark),
            }
        });
        read.collect()
    }
}

/// A plan that a critic has read, or reads, and what the lead answered: `critic.json` of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Reading {
    /// The version of this document: 1.
    pub version: u32,
    /// The plan's name.
    pub plan: RunId,
    /// SHA-256 of the plan that was read.
    pub plan_sha256: String,
    /// The run in which the critic read it.
    pub run: RunId,
    /// Who reads.
    pub tier: TierId,
    /// The worker of that tier.
    pub worker: WorkerId,
    /// When it was begun.
    pub at: Timestamp,
    /// What the critic said, in its order; nothing while it reads.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remarks: Option<Vec<Answered>>,
    /// SHA-256 of the plan that a run was made of in the end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approved_sha256: Option<String>,
}

/// A remark, and what the lead said to it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Answered {
    /// Its number, from 1.
    pub number: u32,
    /// The remark.
    #[serde(flatten)]
    pub remark: Remark,
    /// What the lead said; nothing while it waits for that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<Answer>,
}

/// What a lead said to a remark.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum Answer {
    /// It is right: the plan is changed for it.
    Taken {
        /// Who said so.
        by: String,
        /// When.
        at: Timestamp,
    },
    /// The plan stays as it is.
    Refused {
        /// Why.
        reason: String,
        /// Who said so.
        by: String,
        /// When.
        at: Timestamp,
    },
}

/// Where the round of a plan stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Round {
    /// Nobody has read the plan as it is, and its round is not another's.
    Unread,
    /// A critic reads it, or did when its engine ended.
    Reading,
    /// Remarks wait for an answer.
    Open,
    /// Remarks were taken, and the plan is the one that was read.
    Unchanged,
    /// Every remark is answered, and the plan is as the answers have it.
    Over,
}

impl Reading {
    /// The version that is written.
    pub const VERSION: u32 = 1;

    /// Where the round stands for the plan of this SHA-256. A plan that was changed while remarks of it were open, or
    /// after one was taken, is not read again: it was changed for them.
    #[must_use]
    pub fn round(&self, plan_sha256: &str) -> Round {
        let same = self.plan_sha256 == plan_sha256;
        let Some(remarks) = &self.remarks else {
            return if same { Round::Reading } else { Round::Unread };
        };
        if let Some(approved) = &self.approved_sha256
            && !same
        {
            return if approved == plan_sha256 { Round::Over } else { Round::Unread };
        }
        let open = remarks.iter().any(|remark| remark.answer.is_none());
        let taken = self.taken().next().is_some();
        match (open, taken, same) {
            (true, _, _) => Round::Open,
            (false, true, true) => Round::Unchanged,
            (false, false, false) => Round::Unread,
            (false, true, false) | (false, false, true) => Round::Over,
        }
    }

    /// Answers a remark, in the place of what was answered before.
    ///
    /// # Errors
    /// There is no remark of this number: how many there are.
    pub fn answer(&mut self, number: u32, answer: Answer) -> Result<(), usize> {
        let remarks = self.remarks.as_deref_mut().unwrap_or_default();
        let count = remarks.len();
        let remark = remarks.iter_mut().find(|it| it.number == number).ok_or(count)?;
        remark.answer = Some(answer);
        Ok(())
    }

    /// Remarks that wait for an answer.
    pub fn open(&self) -> impl Iterator<Item = &Answered> {
        self.all().filter(|remark| remark.answer.is_none())
    }

    /// Remarks that were taken.
    pub fn taken(&self) -> impl Iterator<Item = &Answered> {
        self.all().filter(|remark| matches!(remark.answer, Some(Answer::Taken { .. })))
    }

    /// Remarks that were refused, and why.
    pub fn refused(&self) -> impl Iterator<Item = (&Answered, &str)> {
        self.all().filter_map(|remark| match &remark.answer {
            Some(Answer::Refused { reason, .. }) => Some((remark, reason.as_str())),
            _ => None,
        })
    }

    /// Every remark, in the critic's order.
    pub fn all(&self) -> impl Iterator<Item = &Answered> {
        self.remarks.iter().flatten()
    }
}

/// The critic's part of a checkpoint report.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PlannedCritic {
    /// Who reads the plan before anybody says yes: tier and worker. Nothing where no tier is named for it.
    pub who: Option<String>,
    /// Why it is read.
    pub why: String,
    /// The reading that counts for the plan as it is; nothing where it is yet to be read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reading: Option<Reading>,
}
