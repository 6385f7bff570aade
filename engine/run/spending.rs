//! What sessions at work have used so far, together. Each is given what was left of a budget when it began,
//! so several that work side by side could use it several times over. Once a second what their drivers
//! have noted is summed, and when a budget is passed all that use it are ended.
//!
//! They are ended by their drivers, at a limit that is left in their folders, and it is the driver's
//! account of the turn that says why: an engine that dies in between loses nothing of it.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use super::directory::RunDir;
use super::lookout::{SessionOf, left};
use super::site::Site;
use crate::ledger::{Ledger, Phase, ReviewState, WpState};
use crate::model::ids::WpId;
use crate::model::plan::{Budget, Plan};
use crate::model::turn::{Spent, Usd};
use crate::worker;

/// How often is looked.
const EVERY: Duration = Duration::from_secs(1);

/// Looks at what is spent, as long as there is a budget.
#[derive(Debug)]
pub struct Spending {
    budgeted: bool,
    looked: Option<Instant>,
}

/// A session at work.
struct AtWork {
    of: SessionOf,
    folder: PathBuf,
    used: (u64, Usd),
}

impl Spending {
    /// For the budgets of this plan.
    #[must_use]
    pub fn new(plan: &Plan) -> Self {
        let limits = |budget: &Budget| budget.usd.is_some() || budget.tokens.is_some();
        let budgeted = limits(&plan.budget) || plan.wps.iter().any(|wp| limits(&wp.budget));
        Self { budgeted, looked: None }
    }

    /// Sums what sessions at work have used, where it is time to; ends those whose budget is passed.
    pub fn look(&mut self, site: &Site, ledger: &Ledger) {
        if !self.budgeted || self.looked.is_some_and(|at| at.elapsed() < EVERY) {
            return;
        }
        self.looked = Some(Instant::now());
        let sessions = at_work(&site.dir, ledger);
        site.lookout.at_work(sessions.iter().map(|session| (session.of.clone(), session.used)));
        let of_run = sum(ledger.spent(), &sessions, |_| true);
        if let Err(limit) = left(site.plan.budget, of_run) {
            end(&sessions, limit.of_run(), |_| true);
        }
        for wp in &ledger.wps {
            let its = |session: &AtWork| session.of.wp.as_ref() == Some(&wp.id);
            if sessions.iter().any(its)
                && let Err(limit) = left(site.wp(&wp.id).budget, sum(wp.spent(), &sessions, its))
            {
                end(&sessions, limit, its);
            }
        }
    }
}

/// What is spent, and what those of `sessions` have used on top.
fn sum(
    (mut tokens, mut usd): (u64, Usd),
    sessions: &[AtWork],
    which: impl Fn(&AtWork) -> bool,
) -> (u64, Usd) {
    for session in sessions.iter().filter(|session| which(session)) {
        tokens = tokens.saturating_add(session.used.0);
        usd = Usd(usd.0.saturating_add(session.used.1.0));
    }
    (tokens, usd)
}

fn end(sessions: &[AtWork], limit: Spent, which: impl Fn(&AtWork) -> bool) {
    for session in sessions.iter().filter(|session| which(session)) {
        if let Err(error) = worker::spent::leave(&session.folder, limit) {
            tracing::warn!(folder = ?session.folder, %error, "a session cannot be ended at its limit");
        }
    }
}

/// Every session that the ledger has at work, with what its driver (or the command itself) has noted.
fn at_work(dir: &RunDir, ledger: &Ledger) -> Vec<AtWork> {
    let mut found = Vec::new();
    for wp in &ledger.wps {
        match wp.phase {
            Phase::Working => found.push(worker_of(dir, wp)),
            Phase::Reviewing => {
                let stem = RunDir::review_stem(&wp.id, wp.round);
                reviewers(dir, Some(&wp.id), &stem, &wp.review, &mut found);
            }
            _ => {}
        }
    }
    if let Some(verify) = &ledger.verify {
        let stem = RunDir::verify_stem(verify.look);
        reviewers(dir, None, &stem, &verify.review, &mut found);
    }
    found
}

fn worker_of(dir: &RunDir, wp: &WpState) -> AtWork {
    let of = SessionOf { wp: Some(wp.id.clone()), lens: None };
    AtWork::noted(of, dir.named(&RunDir::turn_name(&wp.id, wp.attempt)))
}

fn reviewers(
    dir: &RunDir,
    wp: Option<&WpId>,
    stem: &str,
    review: &ReviewState,
    found: &mut Vec<AtWork>,
) {
    for reviewer in &review.reviewers {
        if let Some(sitting) = &reviewer.at_work {
            let name = RunDir::sitting_name(stem, &reviewer.lens, sitting.number);
            let of = SessionOf { wp: wp.cloned(), lens: Some(reviewer.lens.clone()) };
            found.push(AtWork::noted(of, dir.named(&name)));
        }
    }
}

impl AtWork {
    /// What is not there or cannot be read is nothing yet.
    fn noted(of: SessionOf, folder: PathBuf) -> Self {
        let turn = worker::read_turn(&folder.join("turn.json")).ok().flatten().unwrap_or_default();
        let used = (turn.usage.total(), turn.cost_usd.unwrap_or_default());
        Self { of, folder, used }
    }
}
