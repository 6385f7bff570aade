//! What is done for one delivery, in its order.

use std::sync::Arc;

use crate::event::Event;
use crate::forge::{ForgeError, State};
use crate::ledger::{Deliverable, Item, Ledger};
use crate::model::approval::Cover;
use crate::model::delivery::{Delivery, DeliveryStep, Hold};
use crate::model::ids::CommitId;
use crate::run::site::Site;
use crate::run::step::Orders;
use crate::run::unit::Line;

use super::Stop;
use super::reach::{Reach, patiently};

/// One delivery on its way.
pub(super) struct Course {
    pub site: Arc<Site>,
    line: Line,
    pub orders: Orders,
    pub what: Deliverable,
    /// The run as it stood when this began.
    pub ledger: Ledger,
    /// What earlier engines recorded of it.
    pub item: Option<Item>,
}

/// The request that it has.
#[derive(Debug, Clone)]
pub(super) struct Open {
    pub number: u64,
    pub url: String,
}

impl Course {
    pub fn new(
        site: Arc<Site>,
        line: Line,
        orders: Orders,
        what: Deliverable,
        ledger: Ledger,
    ) -> Self {
        let state = ledger.delivery.as_ref();
        let item = state.and_then(|state| state.item(what.wp.as_ref())).cloned();
        Self { site, line, orders, what, ledger, item }
    }

    /// Goes as far as it may; where the branch stands in which it landed.
    pub async fn go(mut self) -> Result<CommitId, Stop> {
        self.covered(Cover::Push, "its branch is not pushed")?;
        let state = self.ledger.delivery.clone();
        let state = state.ok_or(Stop::Engine)?;
        let reach = Arc::new(Reach::of(&self.site, &state.remote)?);
        let known = self.item.as_ref().and_then(|item| {
            let (number, url) = (item.number?, item.url.clone().unwrap_or_default());
            Some((Open { number, url }, item.merged))
        });
        if let Some((open, merged)) = known {
            let state = if merged { State::Merged } else { self.state(&reach, &open).await? };
            match state {
                State::Merged => return self.land(&reach, &open, merged).await,
                State::Closed => {
                    let text = format!("somebody closed the request: {}", open.url);
                    return Err(Stop::Held(Hold::Closed, text));
                }
                State::Open => {}
            }
        }
        let (branch, fresh) = self.push(&reach).await?;
        let delivery = self.delivery();
        if !delivery.pull_request {
            let text = format!("{branch} is pushed; the plan asks for no pull request");
            return Err(Stop::Held(Hold::AsPlanned, text));
        }
        self.covered(Cover::PullRequest, "no pull request is opened")?;
        let open = self.request(&reach, &branch, fresh).await?;
        self.merge(&reach, &open, &branch).await?;
        self.land(&reach, &open, true).await
    }

    async fn state(&mut self, reach: &Arc<Reach>, open: &Open) -> Result<State, Stop> {
        let number = open.number;
        Ok(self.ask(reach, move |reach| reach.forge()?.look(number)).await?.state)
    }

    /// Stops unless the approval covers the next step.
    pub fn covered(&self, cover: Cover, without: &str) -> Result<(), Stop> {
        if self.site.covers.has(cover) {
            return Ok(());
        }
        let text = format!("{without}: the approval does not cover `{cover}`");
        Err(Stop::Held(Hold::NotCovered, text))
    }

    /// What the plan says of delivery.
    pub fn delivery(&self) -> Delivery {
        self.site.plan.delivery.clone().expect("what is delivered has a plan for it")
    }

    /// Asks the remote or the forge, and is held by what it fails with.
    pub async fn ask<T: Send + 'static>(
        &mut self,
        reach: &Arc<Reach>,
        call: impl Fn(&Reach) -> Result<T, ForgeError> + Send + Sync + 'static,
    ) -> Result<T, Stop> {
        let answer = patiently(&self.site, reach, &mut self.orders, call).await?;
        answer.map_err(|error| Stop::Held(error.hold(), error.text))
    }

    /// Announces a step.
    pub async fn announce(&self, step: DeliveryStep, branch: &str) -> Result<(), Stop> {
        let (wp, commit) = (self.what.wp.clone(), self.what.commit.clone());
        let branch = branch.to_owned();
        self.record(Event::DeliveryStarted { wp, step, branch, commit }).await
    }

    pub async fn record(&self, event: Event) -> Result<(), Stop> {
        self.line.record(event).await.map(drop).map_err(Stop::from)
    }
}
