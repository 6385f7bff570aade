//! Merging a request that may merge by itself, once its checks are green; and the proof that it landed.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;

use crate::event::Event;
use crate::forge::{Checks, Look, MergeState, State, back_off, of_git};
use crate::model::approval::Cover;
use crate::model::delivery::{DeliveryStep, Hold};
use crate::model::ids::CommitId;
use crate::model::outcome::Check;
use crate::process::escape;

use super::Stop;
use super::course::{Course, Open};
use super::reach::{Reach, stopped};

/// The first wait between two looks, and the longest.
const LOOK: (Duration, Duration) = (Duration::from_millis(500), Duration::from_secs(15));
/// How long what may still change has to stay the same: a forge needs a moment before it knows of a request's
/// checks.
const SETTLED: Duration = Duration::from_secs(3);

/// What a look at a request comes to.
enum Next {
    /// Merge it.
    Merge,
    /// Merge it, or give up, if it says the same for a while.
    Unless(Option<(Hold, String)>),
    /// Look again.
    Wait(String),
    /// Go no further.
    Held(Hold, String),
}

impl Course {
    /// Merges the request if that is for the run to do.
    pub(super) async fn merge(
        &mut self,
        reach: &Arc<Reach>,
        open: &Open,
        branch: &str,
    ) -> Result<(), Stop> {
        let delivery = self.delivery();
        let (merges, why) = delivery.merges(self.what.risk);
        if !merges {
            let hold = match delivery.auto_merge_risk {
                None => Hold::AsPlanned,
                Some(_) if delivery.draft => Hold::Draft,
                Some(_) => Hold::Risk,
            };
            return Err(Stop::Held(hold, why));
        }
        self.covered(Cover::Merge, "it is not merged")?;
        let into = self.ledger.delivery.as_ref().and_then(|state| state.into.clone());
        let required = match into.clone() {
            Some(into) => self.ask(reach, move |reach| reach.forge()?.base(&into)).await?.required,
            None => Vec::new(),
        };
        let wait = delivery.wait_for_checks.0;
        if !self.until_mergeable(reach, open, into.as_deref(), &required, wait).await? {
            return self.merged(open).await;
        }
        self.announce(DeliveryStep::Merge, branch).await?;
        let (number, how, head) = (open.number, delivery.merge_method, self.what.commit.clone());
        let merged = self
            .ask(reach, move |reach| {
                let forge = reach.forge()?;
                let asked = forge.merge(number, how, &head);
                // What went wrong on the way back need not have gone wrong on the way there, and a yes may
                // be no more than a place in a queue.
                match (asked, forge.look(number).map(|look| look.state == State::Merged)) {
                    (_, Ok(true)) => Ok(true),
                    (Ok(()), looked) => looked,
                    (Err(error), _) => Err(error),
                }
            })
            .await?;
        if !merged {
            let text = "the forge has taken it to be merged when its turn comes".to_owned();
            return Err(Stop::Held(Hold::ChecksPending, text));
        }
        self.merged(open).await
    }

    async fn merged(&self, open: &Open) -> Result<(), Stop> {
        let (wp, number) = (self.what.wp.clone(), open.number);
        self.record(Event::RequestMerged { wp, number }).await
    }

    /// Looks at a request until it can be merged; `false` when somebody else has done that.
    async fn until_mergeable(
        &mut self,
        reach: &Arc<Reach>,
        open: &Open,
        into: Option<&str>,
        required: &[String],
        wait: Duration,
    ) -> Result<bool, Stop> {
        let (number, until) = (open.number, Instant::now() + wait);
        let mut pause = LOOK.0;
        let mut same_since: Option<Instant> = None;
        loop {
            let look = self.ask(reach, move |reach| reach.forge()?.look(number)).await?;
            if look.state == State::Merged {
                return Ok(false);
            }
            if let Some(into) = into.filter(|into| look.state == State::Open && look.base != **into)
            {
                let base = escape(look.base.as_bytes());
                let text = format!(
                    "it asks to be merged into `{base}` by now, and the yes was to `{into}`: turn it back, or merge \
                     it by hand"
                );
                return Err(Stop::Held(Hold::Conflict, text));
            }
            let waits = match next(&look, &self.what.commit, required) {
                Next::Merge => return Ok(true),
                Next::Held(why, text) => return Err(Stop::Held(why, text)),
                Next::Unless(given_up) => {
                    let since = *same_since.get_or_insert_with(Instant::now);
                    match (since.elapsed() >= SETTLED, given_up) {
                        (true, None) => return Ok(true),
                        (true, Some((why, text))) => return Err(Stop::Held(why, text)),
                        (false, _) => None,
                    }
                }
                Next::Wait(what) => {
                    same_since = None;
                    Some(what)
                }
            };
            if let Some(what) = waits.filter(|_| Instant::now() >= until) {
                return Err(Stop::Held(Hold::ChecksPending, what));
            }
            tokio::select! {
                () = tokio::time::sleep(pause) => {}
                () = stopped(&mut self.orders) => return Err(Stop::Engine),
            }
            pause = (pause * 2).min(LOOK.1);
        }
    }

    /// Finds what a merged request holds in the branch that it was merged into. `recorded`: that it is merged
    /// is on record.
    pub(super) async fn land(
        &mut self,
        reach: &Arc<Reach>,
        open: &Open,
        recorded: bool,
    ) -> Result<CommitId, Stop> {
        if !recorded {
            self.merged(open).await?;
        }
        let into = self.ledger.delivery.as_ref().and_then(|state| state.into.clone());
        let into = into.ok_or_else(|| Stop::Held(Hold::Refused, super::target::no_base()))?;
        for failed in 1.. {
            let branch = into.clone();
            let tip = self
                .ask(reach, move |reach| {
                    let tip = reach.repo.fetch_head(&reach.remote.fetch, &branch);
                    tip.map_err(|error| of_git(&error))
                })
                .await?;
            if let Some(tip) = tip {
                let (commit, onto) = (self.what.commit.clone(), tip.clone());
                let there =
                    self.site.blocking(Check::Merge, move |site| site.repo.landed(&commit, &onto));
                if there.await?.is_some() {
                    return Ok(tip);
                }
            }
            // A forge may say that it is merged a moment before the branch shows it.
            let Some(pause) = back_off::after(failed).filter(|_| failed < 5) else { break };
            tokio::select! {
                () = tokio::time::sleep(pause) => {}
                () = stopped(&mut self.orders) => return Err(Stop::Engine),
            }
        }
        let text = format!(
            "it is merged, but what it holds is not found in {into}: {} stays as it is",
            self.what.branch
        );
        Err(Stop::Held(Hold::NotProven, text))
    }
}

/// What a look comes to, for a request that was pushed at `pushed`.
fn next(look: &Look, pushed: &CommitId, required: &[String]) -> Next {
    if look.state == State::Closed {
        return Next::Held(Hold::Closed, "somebody closed the request".to_owned());
    }
    if look.at != *pushed {
        let at = look.at.short();
        let text = format!("somebody else pushed to its branch, which is at {at} now");
        return Next::Held(Hold::HeadMoved, text);
    }
    if look.merge == MergeState::Conflict {
        let text = "it conflicts with what its base has become: resolve that by hand, or apply the plan \
                    anew from the new base";
        return Next::Held(Hold::Conflict, text.to_owned());
    }
    let missing = match &look.checks {
        Checks::Failed(names) => {
            return Next::Held(Hold::ChecksFailed, format!("failed: {}", names.join(", ")));
        }
        Checks::Pending(names) => {
            return Next::Wait(format!("checks are not over: {}", names.join(", ")));
        }
        Checks::None if !required.is_empty() => {
            return Next::Wait(format!("checks have not begun: {}", required.join(", ")));
        }
        Checks::None => true,
        Checks::Passed => false,
    };
    match &look.merge {
        MergeState::Clean if missing => Next::Unless(None),
        MergeState::Clean => Next::Merge,
        MergeState::Blocked(what) => {
            let asks = if what.is_empty() { "more than its checks" } else { what.as_str() };
            let text = format!("the protection of its base asks for more: {asks}");
            Next::Unless(Some((Hold::Protected, text)))
        }
        MergeState::Behind => {
            let text =
                "its base moved on, and the protection of that wants it brought up to date first";
            Next::Held(Hold::Behind, text.to_owned())
        }
        MergeState::Draft => Next::Held(Hold::Draft, "it is a draft".to_owned()),
        MergeState::Conflict => unreachable!("asked before"),
        MergeState::Unknown => {
            Next::Wait("the forge does not know yet whether it can be merged".to_owned())
        }
    }
}
