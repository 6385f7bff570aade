//! What an audit has to know when its scouts are done: kept in the run's directory, so that the report can
//! be written by another process than the one that began.

use bstr::BString;
use serde::{Deserialize, Serialize};

use super::ground::Asked;
use super::scope::Scope;
use crate::model::gap::{Concern, LeftOut, Slice};
use crate::model::ids::{CommitId, TierId};
use crate::plain_file;
use crate::run::directory::RunDir;
use crate::run::freeze;

/// An audit that has begun.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Audit {
    /// The version of this record: 1.
    pub version: u32,
    /// The revision that was asked for.
    pub base: String,
    /// The commit that it named.
    pub commit: CommitId,
    /// The scope.
    pub scope: Vec<BString>,
    /// What is looked for.
    pub concerns: Vec<Concern>,
    /// The tier of the scouts.
    pub tier: TierId,
    /// The project's own commands that were run. How they went is among what the run keeps of its base.
    pub ground: Vec<Asked>,
    /// What they left in the tree.
    pub left_behind: Option<String>,
    /// What each scout reads.
    pub slices: Vec<Slice>,
    /// What is read by nobody.
    pub left_out: Vec<LeftOut>,
    /// Where the report goes, for whoever goes on with the audit; absent where the path is no text.
    #[serde(default)]
    pub output: Option<String>,
}

impl Audit {
    /// The version that is written.
    pub const VERSION: u32 = 1;

    /// The audit that the run in `dir` is; `None` for a run that is none.
    ///
    /// # Errors
    /// What is kept of it cannot be read.
    pub fn of(dir: &RunDir) -> Result<Option<Self>, String> {
        let path = dir.named(freeze::AUDIT);
        if path.symlink_metadata().is_err() {
            return Ok(None);
        }
        let bytes = plain_file::read_own(&path).map_err(|error| error.to_string())?;
        let audit: Self = serde_json::from_slice(&bytes).map_err(|error| error.to_string())?;
        match audit.version {
            Self::VERSION => Ok(Some(audit)),
            other => Err(format!("it is of version {other}, and this sop knows {}", Self::VERSION)),
        }
    }

    /// The record as it is kept.
    #[must_use]
    pub fn bytes(&self) -> Vec<u8> {
        serde_json::to_vec_pretty(self).unwrap_or_default()
    }

    /// The scope.
    #[must_use]
    pub fn scope(&self) -> Scope {
        Scope::new(self.scope.clone())
    }
}
