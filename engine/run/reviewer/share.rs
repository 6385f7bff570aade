//! What a reviewer's session may use. Those who work side by side are given even parts of what is left, so
//! that together they are given no more than there is; what one of them leaves is for those who come
//! after. One that was ended at its part is asked once more when the others are done, if they have left
//! enough for that.

use super::{Bench, Sat, Seen};
use crate::model::plan::Budget;
use crate::model::turn::{Spent, Usd};

/// Sessions in a row that may be ended at their part of the budget.
const ENDED: u32 = 2;

/// What there is for the next session of a lens.
pub(super) enum Share {
    /// So much.
    Given(Budget),
    /// Others are at work, and may leave some.
    Later,
    /// Too little.
    Spent(Sat),
}

impl Bench {
    /// What the next session of `lens` may use.
    pub(super) fn share(&self, seen: &Seen, lens: &str) -> Share {
        let ended = seen.review.reviewer(lens).and_then(|it| Some((it.ended_at?, it.ended)));
        let left = match self.left(seen) {
            Ok(left) => left,
            Err((limit, of_run)) => {
                let reviewer = ended.map(|_| lens.to_owned());
                let limit = ended.map_or(limit, |(limit, _)| limit);
                return Share::Spent(Sat::Spent { limit, of_run, reviewer });
            }
        };
        let reserved = seen.given.iter().fold(Budget::default(), |sum, (other, given)| {
            add(sum, less(*given, self.site.lookout.used(&self.session_of(other))))
        });
        let waiting = self.subject.lenses.iter().filter(|other| {
            let reviewer = seen.review.reviewer(other);
            reviewer.is_none_or(|it| it.at_work.is_none() && it.verdict.is_none())
        });
        let free = less(left, (reserved.tokens.unwrap_or(0), reserved.usd.unwrap_or_default()));
        let share = part(free, waiting.count().max(1) as u64);
        let alone = seen.given.is_empty();
        if let Some((limit, times)) = ended {
            if !alone {
                return Share::Later;
            }
            if times >= ENDED || !is_enough(share, limit) {
                let (of_run, reviewer) = (self.runs_out(left, limit), Some(lens.to_owned()));
                return Share::Spent(Sat::Spent { limit, of_run, reviewer });
            }
        }
        let nothing = share.usd == Some(Usd(0)) || share.tokens == Some(0);
        match (nothing, alone) {
            (false, _) => Share::Given(share),
            (true, false) => Share::Later,
            // So little that it cannot be parted.
            (true, true) => Share::Given(left),
        }
    }

    /// Whether it is the run, and not the package, that has no more than `left` of what `limit` counts.
    fn runs_out(&self, left: Budget, limit: Spent) -> bool {
        let run = self.site.lookout.left_of_run(&self.site.plan).unwrap_or_default();
        match limit {
            Spent::Usd { .. } | Spent::RunUsd { .. } => {
                run.usd.is_some_and(|it| Some(it) == left.usd)
            }
            _ => run.tokens.is_some_and(|it| Some(it) == left.tokens),
        }
    }
}

/// Whether it may help one that was ended at `limit`: half of that, and it goes on where it was.
fn is_enough(share: Budget, limit: Spent) -> bool {
    match limit {
        Spent::Usd { most } | Spent::RunUsd { most } => {
            share.usd.is_none_or(|share| share.0.saturating_mul(2) >= most.0)
        }
        Spent::Tokens { most } | Spent::RunTokens { most } => {
            share.tokens.is_none_or(|share| share.saturating_mul(2) >= most)
        }
        Spent::Turns { .. } => true,
    }
}

fn less(budget: Budget, (tokens, usd): (u64, Usd)) -> Budget {
    Budget {
        usd: budget.usd.map(|most| Usd(most.0.saturating_sub(usd.0))),
        tokens: budget.tokens.map(|most| most.saturating_sub(tokens)),
    }
}

fn add(sum: Budget, more: Budget) -> Budget {
    let usd = sum.usd.unwrap_or_default().0.saturating_add(more.usd.unwrap_or_default().0);
    let tokens = sum.tokens.unwrap_or(0).saturating_add(more.tokens.unwrap_or(0));
    Budget { usd: Some(Usd(usd)), tokens: Some(tokens) }
}

fn part(budget: Budget, parts: u64) -> Budget {
    Budget {
        usd: budget.usd.map(|most| Usd(most.0 / parts)),
        tokens: budget.tokens.map(|most| most / parts),
    }
}
