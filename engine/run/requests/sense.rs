//! Whether what is asked makes sense, as the run stands and beside what waits already.

use super::{Ask, Request};
use crate::ledger::{Fork, Ledger, Note, Phase, WpState};
use crate::model::ids::{RunId, WpId};
use crate::model::verdict::Judgment;
use crate::run::hands;

/// So many WPs are named to somebody who named none of them.
const NAMED: usize = 20;

/// Why a request makes no sense now.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    /// No such WP.
    #[error("`{run}` has no WP `{wp}`; it has {known}")]
    Unknown {
        /// The run.
        run: RunId,
        /// What was named.
        wp: String,
        /// What there is.
        known: String,
    },
    /// It is not in a phase in which this can be asked.
    #[error("`{wp}` is {phase}; {why}")]
    Phase {
        /// The WP.
        wp: WpId,
        /// Where it is.
        phase: &'static str,
        /// What would have to be.
        why: &'static str,
    },
    /// Somebody else has it in their own hands.
    #[error(
        "`{wp}` was taken by {by}, and is theirs until they give it back (`sop take {wp} --back`)"
    )]
    Taken {
        /// The WP.
        wp: WpId,
        /// Who.
        by: String,
    },
    /// Somebody else has judged it.
    #[error(
        "`{wp}` has a review already, by {by} ({judgment}), which the run takes up next; this one was not recorded"
    )]
    Reviewed {
        /// The WP.
        wp: WpId,
        /// Who was first.
        by: String,
        /// What they said.
        judgment: &'static str,
    },
    /// No such question.
    #[error("the run has no question q{number}; {open}")]
    NoQuestion {
        /// Its number.
        number: u32,
        /// What is open instead.
        open: String,
    },
    /// The question is answered, or nobody waits for its answer any more.
    #[error("q{number} (`{wp}`) {state}; this answer was not recorded")]
    Closed {
        /// Its number.
        number: u32,
        /// The WP.
        wp: WpId,
        /// What became of it.
        state: String,
    },
    /// The question has no default that could be taken.
    #[error("q{0} has no default")]
    NoDefault(u32),
    /// The same correction, by the same person.
    #[error("that is noted already")]
    Noted,
}

/// Refuses a second review of a round, or a second answer to a question. Of the others it makes no
/// difference who asks again.
///
/// # Errors
/// Who was first.
pub fn is_first(ledger: &Ledger, waiting: &[Request], wanted: &Request) -> Result<(), Refused> {
    let makes_sense = |other: &Request| {
        make(ledger, other.wp.as_ref(), &other.by, other.ask.clone()).is_ok()
            && other.wp == wanted.wp
    };
    let by = |other: &Request| crate::process::escape(other.by.as_bytes());
    for other in waiting.iter().filter(|other| makes_sense(other)) {
        match (&other.ask, &wanted.ask, &wanted.wp) {
            (Ask::Review(verdict), Ask::Review(_), Some(wp)) if other.round == wanted.round => {
                return Err(Refused::Reviewed {
                    wp: wp.clone(),
                    by: by(other),
                    judgment: match verdict.verdict {
                        Judgment::Approve => "approved",
                        Judgment::RequestChanges => "changes requested",
                    },
                });
            }
            (Ask::Answer { number: first, .. }, Ask::Answer { number, .. }, Some(wp))
                if first == number =>
            {
                let state = format!("has an answer by {}, which the run takes up next", by(other));
                return Err(Refused::Closed { number: *number, wp: wp.clone(), state });
            }
            (Ask::Take, Ask::Take, Some(wp)) if other.by != wanted.by => {
                return Err(Refused::Taken { wp: wp.clone(), by: by(other) });
            }
            (Ask::Note { text: first }, Ask::Note { text }, _)
                if (first, &other.by) == (text, &wanted.by) =>
            {
                return Err(Refused::Noted);
            }
            _ => {}
        }
    }
    Ok(())
}

/// The request about a WP, or about the run, as it stands now.
///
/// # Errors
/// Why it makes no sense.
pub fn make(ledger: &Ledger, wp: Option<&WpId>, by: &str, ask: Ask) -> Result<Request, Refused> {
    let by = by.to_owned();
    let wp = match &ask {
        Ask::Note { text } => {
            let same = |note: &Note| (&note.text, &note.by) == (text, &by);
            return match ledger.notes.iter().any(same) {
                true => Err(Refused::Noted),
                false => Ok(Request { wp: None, round: 0, by, ask }),
            };
        }
        Ask::Answer { number, .. } => Some(&open_question(ledger, *number)?.0.id),
        _ => wp,
    };
    let state = wp
        .and_then(|wp| ledger.wp(wp))
        .ok_or_else(|| unknown(ledger, wp.map_or("", WpId::as_str)))?;
    let refused =
        |why| Err(Refused::Phase { wp: state.id.clone(), phase: state.phase.name(), why });
    if let Some(why) = hands::refused(ledger, state, &by, &ask) {
        return Err(why);
    }
    match &ask {
        Ask::Review(_) if state.phase != Phase::AwaitingReview => {
            return refused("only work that awaits a review can be reviewed");
        }
        Ask::Cancel if state.phase.got_through() => return refused("its work is done already"),
        Ask::Cancel if state.phase == Phase::Cancelled => return refused("there is nothing to do"),
        Ask::Retry if !ledger.may_retry(state) => {
            return refused(
                "only what was escalated, blocked, deferred or cancelled, or whose stage does not \
                 hold together, can be tried again",
            );
        }
        Ask::Interrupt { attempt, .. }
            if (state.phase, state.attempt) != (Phase::Working, *attempt) =>
        {
            return refused("no worker is at work on it that could be told anything");
        }
        _ => {}
    }
    Ok(Request { wp: Some(state.id.clone()), round: state.round, by, ask })
}

/// That the run has no such WP.
#[must_use]
pub fn unknown(ledger: &Ledger, wp: &str) -> Refused {
    let mut known: Vec<String> =
        ledger.wps.iter().take(NAMED).map(|wp| format!("`{}`", wp.id)).collect();
    if let more @ 1.. = ledger.wps.len().saturating_sub(NAMED) {
        known.push(format!("{more} more"));
    }
    Refused::Unknown { run: ledger.run.clone(), wp: wp.to_owned(), known: known.join(", ") }
}

/// The question of this number, whose answer is waited for, and its WP.
///
/// # Errors
/// There is none, or it is closed.
pub fn open_question(ledger: &Ledger, number: u32) -> Result<(&WpState, &Fork), Refused> {
    let mut forks = ledger.wps.iter().flat_map(|wp| wp.forks.iter().map(move |fork| (wp, fork)));
    let Some((wp, fork)) = forks.find(|(_, fork)| fork.number == number) else {
        let waits = |wp: &&WpState| wp.phase == Phase::AwaitingAnswer;
        let open = ledger.wps.iter().filter(waits).flat_map(WpState::unanswered);
        let open: Vec<String> = open.map(|fork| format!("q{}", fork.number)).collect();
        let open = match open.is_empty() {
            true => "none is open".to_owned(),
            false => format!("open: {}", open.join(", ")),
        };
        return Err(Refused::NoQuestion { number, open });
    };
    let closed = |state| Err(Refused::Closed { number, wp: wp.id.clone(), state });
    match (&fork.answer, &fork.by) {
        (Some(_), Some(by)) => {
            closed(format!("was answered by {}", crate::process::escape(by.as_bytes())))
        }
        (Some(_), None) => closed("was answered".to_owned()),
        (None, _) if wp.phase != Phase::AwaitingAnswer => {
            closed(format!("is not waited for: its WP is {}", wp.phase.name()))
        }
        (None, _) => Ok((wp, fork)),
    }
}
