//! Who would work: tiers by role, whether their programs are there, and how they are logged in.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Auth, Said};

/// Who would work, and whether they are there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Runtime {
    /// Who leads: the tier `lead`.
    pub lead: Option<RoleTier>,
    /// Who leads once the plan is approved: the tier `lead_phase2`, else `lead`.
    pub lead_phase2: Option<RoleTier>,
    /// Who works: the tier `standard`.
    pub worker: Option<RoleTier>,
    /// Who does what is small: the tier `light`.
    pub worker_light: Option<RoleTier>,
    /// Who only reads: the tier `scout`.
    pub scout: Option<RoleTier>,
    /// Tiers beside those that the plan's packages start on, by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub others: BTreeMap<String, RoleTier>,
    /// Whether a run goes on in another session once its plan is approved.
    pub session_split: Said<String>,
}

/// A tier, and who stands behind it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RoleTier {
    /// The tier.
    pub tier: String,
    /// Its worker.
    pub worker: String,
    /// Who drives it; absent for a command.
    pub adapter: Option<String>,
    /// Its model, where the tier names one.
    pub model: Option<String>,
    /// Its effort, where the tier names one.
    pub effort: Option<String>,
    /// The program that is started.
    pub program: String,
    /// Where that is; absent where it is not found, or lies in the worktree.
    pub path: Option<String>,
    /// Whether it is there; absent where only a worktree would tell.
    pub found: Option<bool>,
    /// What it calls itself, where it was asked.
    pub version: Option<String>,
    /// Whether it is logged in; absent for a command.
    pub auth: Option<Auth>,
    /// Whether the plan at hand starts it.
    pub used: bool,
}
