//! A plan drafted from a gap report, as it is told.

use crate::model::plan::Risk;

/// A plan, and what is left for the lead.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Draft {
    /// The plan's text.
    pub plan: String,
    /// Its work packages.
    pub wps: Vec<Drafted>,
    /// What no rule decides, in the order of the plan.
    pub undecided: Vec<Undecided>,
    /// Findings that no work package could be made of.
    pub left_out: Vec<String>,
}

/// One work package of a draft.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Drafted {
    /// Its id.
    pub id: String,
    /// One line for people.
    pub title: String,
    /// Findings that it mends.
    pub findings: Vec<String>,
    /// Paths that it may touch, as patterns.
    pub whitelist: Vec<String>,
    /// Who works on it.
    pub tier: String,
    /// How much can go wrong.
    pub risk: Risk,
    /// What it waits for.
    pub needs: Vec<String>,
    /// The task.
    pub brief: String,
}

/// Something for the lead to decide.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Undecided {
    /// The work package, where it is about one.
    pub wp: Option<String>,
    /// What.
    pub what: String,
}
