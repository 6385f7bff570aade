//! `[review]`, `[verify]` and `[critic]`: what workers judge that did not do the work.

use schemars::JsonSchema;
use serde::Deserialize;

use super::super::scalar::Name;
use super::super::shape::Word;
use super::Dod;
use crate::model::critic::When;
use crate::model::verdict::ReviewSeverity;

/// Review by sessions of another worker: one for each lens, side by side and read-only.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "review_table")]
pub struct ReviewTable {
    /// Tier that reviews.
    #[schemars(example = &"lead")]
    pub tier: Name,

    /// What to look for: one session each. LENS is the template `review-LENS`, built in or
    /// `.sop/templates/review-LENS.md.j2`.
    #[schemars(extend("default" = ["quality"]))]
    #[schemars(example = serde_json::json!(["quality", "security", "tests"]))]
    pub lenses: Option<Vec<Name>>,

    /// Least severity of a finding that blocks; those below are recorded.
    #[schemars(extend("default" = "minor"))]
    #[schemars(example = &"major")]
    pub block_from: Option<Word<ReviewSeverity>>,
}

/// The last look at the whole, after everything is integrated.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "verify")]
pub struct Verify {
    /// Tier that reads the whole diff against the briefs and runs every Definition of Done again. Default: nobody
    /// reads it.
    #[schemars(example = &"lead")]
    pub review_tier: Option<Name>,

    /// Least severity of a finding of that tier from which the whole does not hold; those below are recorded and
    /// told. Default: as `[review]` says, or `minor`.
    #[schemars(example = &"major")]
    pub block_from: Option<Word<ReviewSeverity>>,

    /// End-to-end commands that must all exit 0 on the integrated tree.
    #[serde(default)]
    #[schemars(extend("default" = []))]
    #[schemars(example = serde_json::json!([{ "run": "npm run e2e", "timeout": "20m" }]))]
    pub live: Vec<Dod>,
}

/// Who reads a plan before anybody says yes to it: one session, read-only, once. Each of its remarks is taken or
/// refused with a reason before the run starts.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "critic")]
pub struct Critic {
    /// Tier that reads. Default: the tier called `critic`, where there is one.
    #[schemars(example = &"lead")]
    pub tier: Option<Name>,

    /// Which plans are read. `auto`: those with two or more work packages, with stages, or with a high risk.
    #[schemars(extend("default" = "auto"))]
    #[schemars(example = &"always")]
    pub when: Option<Word<When>>,
}
