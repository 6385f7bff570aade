//! A hold on a step, for whoever waits for it.

use std::path::{Path, PathBuf};

use tokio::sync::watch;

use super::{Key, LaunchError, Outcome};

/// What a follower reports once the step is over.
pub(super) type Report = Option<Result<Outcome, LaunchError>>;

/// A step that was submitted. To drop it changes nothing about the step: stopping is an order
/// ([`super::Launcher::cancel`]).
#[derive(Debug, Clone)]
pub struct Handle {
    key: Key,
    log: PathBuf,
    report: watch::Receiver<Report>,
}

impl Handle {
    pub(super) fn new(key: Key, log: PathBuf, report: watch::Receiver<Report>) -> Self {
        Self { key, log, report }
    }

    /// Which step.
    #[must_use]
    pub fn key(&self) -> &Key {
        &self.key
    }

    /// Its log, which grows while it runs.
    #[must_use]
    pub fn log(&self) -> &Path {
        &self.log
    }

    /// The outcome, once nothing of the step is alive any more. May be called again, by anyone who
    /// has a clone; the future may be dropped at any time.
    ///
    /// # Errors
    /// If the step's holder could not do its work, or its files cannot be read.
    pub async fn wait(&self) -> Result<Outcome, LaunchError> {
        let mut report = self.report.clone();
        match report.wait_for(Option::is_some).await {
            Ok(report) => {
                report.clone().unwrap_or_else(|| Err(LaunchError::Abandoned(self.key.clone())))
            }
            Err(_) => Err(LaunchError::Abandoned(self.key.clone())),
        }
    }
}
