//! The name of one start of one command: run, unit, step, attempt.

use std::fmt;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::model::ids::{self, IdError, RunId};

/// Names one start. A second attempt is a second key: a key starts once, ever.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Key {
    /// The run it belongs to.
    run: RunId,
    /// Whose step it is: a WP, a stage, or the run itself; the caller keeps these apart.
    unit: String,
    /// Which step: `worker`, `dod-2`, `setup-1`, `review`, …
    step: String,
    /// Counted from 1.
    attempt: u32,
}

impl Key {
    /// Takes names that are safe as path components.
    ///
    /// # Errors
    /// Says why `unit` or `step` cannot be one.
    pub fn new(run: &RunId, unit: &str, step: &str, attempt: u32) -> Result<Self, IdError> {
        ids::check(unit)?;
        ids::check(step)?;
        Ok(Self { run: run.clone(), unit: unit.to_owned(), step: step.to_owned(), attempt })
    }

    /// The step's folder below a launcher's root: `<run>/steps/<unit>/<step>-<attempt>`. No two keys
    /// share one, since the attempt is what follows the last dash.
    #[must_use]
    pub fn folder(&self) -> PathBuf {
        let Self { run, unit, step, attempt } = self;
        PathBuf::from(format!("{run}/steps/{unit}/{step}-{attempt}"))
    }

    /// The unit.
    #[must_use]
    pub fn unit(&self) -> &str {
        &self.unit
    }

    /// The step.
    #[must_use]
    pub fn step(&self) -> &str {
        &self.step
    }

    /// The attempt, from 1.
    #[must_use]
    pub fn attempt(&self) -> u32 {
        self.attempt
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { run, unit, step, attempt } = self;
        write!(f, "{run}/{unit}/{step}-{attempt}")
    }
}
