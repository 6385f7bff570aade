//! What a scout of a run handed in, for whoever the run was made for.

use super::directory::RunDir;
use crate::ledger::{Ledger, Phase, WpState};
use crate::model::ids::WpId;
use crate::plain_file;

/// The report of the scout `wp`, as text.
///
/// # Errors
/// Why there is none, in words for a person.
pub fn report(wp: &WpId, ledger: &Ledger, dir: &RunDir) -> Result<String, String> {
    let state = ledger.wp(wp).ok_or("the run has no such scout")?;
    if !state.phase.got_through() {
        return Err(why_not(state));
    }
    let name = state.report.as_deref().ok_or("it left no report")?;
    let bytes = plain_file::read(&dir.named(name), plain_file::DOCUMENT)
        .map_err(|error| format!("its report cannot be read: {error}"))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

fn why_not(state: &WpState) -> String {
    let last = state.rounds.last().and_then(|round| round.problems.first());
    let problem = match state.phase {
        Phase::Blocked => state.blocked_by.as_ref(),
        Phase::Escalated => state.problems.first().or(last),
        Phase::Cancelled => return "its scout was cancelled".to_owned(),
        Phase::AwaitingAnswer => return "its scout asks something and waits".to_owned(),
        _ => return "its scout has not come to an end".to_owned(),
    };
    problem.map_or_else(|| "its scout failed".to_owned(), |problem| problem.message.clone())
}
