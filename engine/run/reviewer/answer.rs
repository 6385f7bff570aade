//! What a reviewer's session came to: its verdict, or why it gave none, and whether it only read.

use std::path::Path;

use crate::event::Event;
use crate::launch::Outcome;
use crate::ledger::Sitting;
use crate::model::outcome::{Check, End, Problem, Ran};
use crate::model::plan::Does;
use crate::model::turn::Turn;
use crate::model::verdict::Verdict;
use crate::plain_file;
use crate::run::beside;
use crate::run::directory::write_whole;
use crate::run::site::Halt;
use crate::run::unit::told::fault_of;
use crate::worker;

use super::session::ANSWER_LIMIT;
use super::{Bench, blocked};

impl Bench {
    /// The event of a session's end.
    pub(super) async fn account(
        &self,
        lens: &str,
        sitting: &Sitting,
        folder: &Path,
        outcome: &Outcome,
        ran: Ran,
    ) -> Result<Event, Halt> {
        let is_agent = matches!(self.worker(&sitting.tier).does, Does::Agent { .. });
        let turn = worker::read_turn(&folder.join("turn.json")).unwrap_or_else(|error| {
            tracing::warn!(?folder, %error, "no turn");
            None
        });
        let log = self.site.dir.named(&ran.log);
        let fault = fault_of(is_agent, outcome, &ran.end, turn.as_ref(), &log);
        // An agent's exit code says nothing of its answer; a command's does.
        let answered = match is_agent {
            true => matches!(ran.end, End::Exit { .. }) && !ran.end.broken(),
            false => ran.end.success(),
        };
        let said = (answered && fault.is_none()).then(|| verdict(is_agent, folder, turn.as_ref()));
        let touched = self.touched().await?;
        let (verdict, unread) = match said {
            Some(Ok(verdict)) => (Some(verdict), None),
            Some(Err(why)) => (None, Some(why)),
            None => (None, None),
        };
        if let Some(verdict) = &verdict {
            let kept = self.site.dir.named(&format!("{}.{lens}.json", self.name()));
            let bytes = serde_json::to_vec_pretty(verdict).unwrap_or_default();
            write_whole(&kept, &bytes).map_err(|error| blocked(error.to_string()))?;
        }
        Ok(Event::ReviewerEnded {
            wp: self.subject.wp.clone(),
            round: self.subject.round,
            lens: lens.to_owned(),
            tier: sitting.tier.clone(),
            worker: sitting.worker.clone(),
            ran,
            turn,
            fault,
            verdict,
            unread,
            touched,
        })
    }

    /// What is not as it was when reviewers were let in.
    async fn touched(&self) -> Result<Vec<Problem>, Halt> {
        let review = self.seen.lock().await.review.clone();
        let taken_down = (review.guard.as_deref(), review.taken_before);
        let mut touched: Vec<Problem> = self
            .changed()
            .await?
            .into_iter()
            .map(|path| Problem::new(Check::Scope, "was changed in the worktree").about(path))
            .collect();
        let (site, worktree) = (&self.site, &self.subject.worktree);
        let who = "a reviewer";
        // A reviewer of someone else's work is on no branch of its own: what it pushed is a moved ref.
        let (seen, _) =
            beside::touched(site, worktree, &self.guard(), taken_down, None, who).await?;
        touched.extend(seen);
        Ok(touched)
    }
}

/// The verdict in what was said. A command may also leave it in its file.
fn verdict(is_agent: bool, folder: &Path, turn: Option<&Turn>) -> Result<Verdict, String> {
    if let Some(limit) = turn.and_then(|turn| turn.stopped_at) {
        return Err(format!("the session was ended at {limit}, before it had answered"));
    }
    if is_agent {
        let answer = worker::read_answer(&folder.join("answer.md"));
        let answer = answer.map_err(|error| format!("the answer cannot be read: {error}"))?;
        return Verdict::in_answer(&answer.unwrap_or_default());
    }
    let written = folder.join("verdict.json");
    if written.symlink_metadata().is_ok() {
        return Verdict::in_answer(&text(&written)?);
    }
    Verdict::in_answer(&text(&folder.join("printed")).unwrap_or_default())
}

fn text(path: &Path) -> Result<String, String> {
    let bytes = plain_file::read(path, ANSWER_LIMIT + 1)
        .map_err(|error| format!("the answer cannot be read: {error}"))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
