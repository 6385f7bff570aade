//! What a unit must know of the rest of the run before it starts a session: providers that are out,
//! what is spent, and the corrections of the plan's facts. The dispatcher says; units look.

use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::event::Event;
use crate::ledger::{Ledger, Note, Outage, WpState};
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
}

impl Lookout {
    /// Takes over what a ledger knows.
    pub fn take_over(&self, ledger: &Ledger) {
        *self.lock() = Seen {
            outages: ledger.outages.clone(),
            notes: ledger.notes.clone(),
            spent: ledger.spent(),
        };
    }

    /// Takes over what an event, which the ledger has already, changed.
    pub fn follow(&self, event: &Event, ledger: &Ledger) {
        if matches!(
            event,
            Event::AttemptEnded { .. }
                | Event::ReviewerEnded { .. }
                | Event::WpRetried { .. }
                | Event::EngineStarted { .. }
                | Event::NoteAdded { .. }
        ) {
            self.take_over(ledger);
        }
    }

    /// Providers that fail.
    #[must_use]
    pub fn outages(&self) -> Vec<Outage> {
        self.lock().outages.clone()
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
        let of_wp = left(wp.budget, state.spent()).map_err(|spent| (spent, false))?;
        let of_run = left(plan.budget, self.lock().spent).map_err(|spent| (spent, true))?;
        Ok(Budget { usd: less(of_wp.usd, of_run.usd), tokens: less(of_wp.tokens, of_run.tokens) })
    }

    /// What the run's next session may use that is of no WP.
    ///
    /// # Errors
    /// The limit that is used up.
    pub fn left_of_run(&self, plan: &Plan) -> Result<Budget, Spent> {
        left(plan.budget, self.lock().spent)
    }

    fn lock(&self) -> MutexGuard<'_, Seen> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn left(most: Budget, (tokens, usd): (u64, Usd)) -> Result<Budget, Spent> {
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
