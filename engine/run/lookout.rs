//! What a unit must know of the rest of the run before it starts a session: providers that are out,
//! what is spent, and the corrections of the plan's facts. The dispatcher says; units look.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::event::Event;
use crate::ledger::{Accepted, Ledger, Note, Outage, WpState};
use crate::model::ids::WpId;
use crate::model::plan::{Budget, Plan, Wp};
use crate::model::turn::{Spent, Usd};

/// The rest of the run, as it is now.
#[derive(Debug, Default)]
pub struct Lookout(Mutex<Seen>);

/// What is seen.
#[derive(Debug, Clone, Default)]
struct Seen {
    outages: Vec<Outage>,
    notes: Vec<Note>,
    spent: (u64, Usd),
    lead_was_in: bool,
    accepted: Vec<Accepted>,
    /// What sessions at work have used on top, as far as they have told.
    at_work: HashMap<SessionOf, (u64, Usd)>,
}

/// Whose session it is. None has two at work.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct SessionOf {
    /// The WP; nothing for the whole.
    pub wp: Option<WpId>,
    /// What a reviewer looks for; nothing for the worker.
    pub lens: Option<String>,
}

impl Lookout {
    /// Takes over what a ledger knows.
    pub fn take_over(&self, ledger: &Ledger) {
        let mut seen = self.lock();
        seen.outages.clone_from(&ledger.outages);
        seen.notes.clone_from(&ledger.notes);
        seen.spent = ledger.spent();
        seen.accepted.clone_from(&ledger.accepted);
        seen.lead_was_in = ledger.wps.iter().any(|wp| wp.hands.is_some());
    }

    /// Takes over what sessions at work have used so far.
    pub fn at_work(&self, used: impl IntoIterator<Item = (SessionOf, (u64, Usd))>) {
        self.lock().at_work = used.into_iter().collect();
    }

    /// Takes over what an event, which the ledger has already, changed.
    pub fn follow(&self, event: &Event, ledger: &Ledger) {
        let over = match event {
            Event::AttemptEnded { wp, .. } => Some(SessionOf { wp: Some(wp.clone()), lens: None }),
            Event::ReviewerEnded { wp, lens, .. } => {
                Some(SessionOf { wp: wp.clone(), lens: Some(lens.clone()) })
            }
            _ => None,
        };
        if let Some(session) = over {
            // What it used is spent from now on.
            self.lock().at_work.remove(&session);
        }
        if matches!(
            event,
            Event::AttemptEnded { .. }
                | Event::ReviewerEnded { .. }
                | Event::WpRetried { .. }
                | Event::EngineStarted { .. }
                | Event::NoteAdded { .. }
                | Event::WpTaken { .. }
        ) {
            self.take_over(ledger);
        }
    }

    /// Providers that fail.
    #[must_use]
    pub fn outages(&self) -> Vec<Outage> {
        self.lock().outages.clone()
    }

    /// Whether the lead has had a worktree of the run in its own hands.
    #[must_use]
    pub fn lead_was_in(&self) -> bool {
        self.lock().lead_was_in
    }

    /// What became of the repository and was taken as it is, but for the first `before` times.
    #[must_use]
    pub fn accepted_since(&self, before: usize) -> Vec<Accepted> {
        self.lock().accepted.iter().skip(before).cloned().collect()
    }

    /// Tokens and money that a session at work has used so far, as far as it has told.
    #[must_use]
    pub fn used(&self, session: &SessionOf) -> (u64, Usd) {
        self.lock().at_work.get(session).copied().unwrap_or_default()
    }

    /// Corrections of the plan's facts, oldest first.
    #[must_use]
    pub fn notes(&self) -> Vec<Note> {
        self.lock().notes.clone()
    }

    /// What the WP's next session may use, or which limit leaves nothing (and whether it is the run's).
    ///
    /// # Errors
    /// The limit that is used up.
    pub fn left(&self, plan: &Plan, wp: &Wp, state: &WpState) -> Result<Budget, (Spent, bool)> {
        let its = |session: &SessionOf| session.wp.as_ref() == Some(&wp.id);
        let of_wp = left(wp.budget, self.lock().with_at_work(state.spent(), its))
            .map_err(|spent| (spent, false))?;
        let of_run = self.left_of_run(plan).map_err(|spent| (spent, true))?;
        Ok(Budget { usd: less(of_wp.usd, of_run.usd), tokens: less(of_wp.tokens, of_run.tokens) })
    }

    /// What the run's next session may use that is of no WP.
    ///
    /// # Errors
    /// The limit that is used up.
    pub fn left_of_run(&self, plan: &Plan) -> Result<Budget, Spent> {
        let seen = self.lock();
        left(plan.budget, seen.with_at_work(seen.spent, |_| true))
    }

    fn lock(&self) -> MutexGuard<'_, Seen> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Seen {
    /// What is spent, and what those at work have used on top.
    fn with_at_work(&self, spent: (u64, Usd), which: impl Fn(&SessionOf) -> bool) -> (u64, Usd) {
        let used = self.at_work.iter().filter(|(session, _)| which(session));
        used.fold(spent, |(tokens, usd), (_, (more, cost))| {
            (tokens.saturating_add(*more), Usd(usd.0.saturating_add(cost.0)))
        })
    }
}

/// What is left of a budget when this is spent.
///
/// # Errors
/// The limit that is used up.
pub(super) fn left(most: Budget, (tokens, usd): (u64, Usd)) -> Result<Budget, Spent> {
    if let Some(most) = most.usd.filter(|most| usd >= *most) {
        return Err(Spent::Usd { most });
    }
    if let Some(most) = most.tokens.filter(|most| tokens >= *most) {
        return Err(Spent::Tokens { most });
    }
    Ok(Budget {
        usd: most.usd.map(|most| Usd(most.0 - usd.0)),
        tokens: most.tokens.map(|most| most - tokens),
    })
}

fn less<T: Ord>(a: Option<T>, b: Option<T>) -> Option<T> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.min(b)),
        (a, b) => a.or(b),
    }
}
