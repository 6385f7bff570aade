//! What an agent was still trying again when it was ended: a provider that fails, of which it tells only
//! on standard error. gemini does so for minutes, headless and over the Agent Client Protocol alike.

use super::fault as faults;
use super::seam::Ended;
use crate::model::turn::Fault;

/// Its words before the status.
const WORDS: &str = "failed with status ";

/// The fault of the last call that failed, if standard error ends with one that was tried again.
pub(super) fn fault(ended: &Ended<'_>) -> Option<Fault> {
    let errors = String::from_utf8_lossy(ended.errors);
    let at = errors.rfind(WORDS)?;
    let start = errors[..at].rfind('\n').map_or(0, |end| end + 1);
    let line = errors[start..].lines().next()?;
    let status = errors[at + WORDS.len()..].split(|c: char| !c.is_ascii_digit()).next()?;
    let class = faults::of_status(status.parse().ok()?)?;
    Some(faults::told(line, Some(class), ended.now))
}
