//! What each work package that is settled has used: what later ones are estimated by.

use std::time::Duration;

use super::cost::total;
use super::{Ledger, Phase};
use crate::model::estimate::Sample;
use crate::model::ids::TierId;
use crate::model::plan::Kind;
use crate::model::time::Length;

impl Ledger {
    /// What settled work packages used, each with its kind and the tier that its first round began on. One that was cut short, by
    /// a person or by infrastructure, says nothing of what such work takes.
    pub fn used(&self) -> impl Iterator<Item = (Kind, &TierId, Sample)> {
        let settled = |phase: Phase| phase.got_through() || phase == Phase::Escalated;
        let settled = self.wps.iter().filter(move |wp| settled(wp.phase) && !wp.costs.is_empty());
        settled.map(|wp| {
            let (usage, usd) = total(&wp.costs);
            let took =
                wp.costs.iter().fold(Duration::ZERO, |sum, cost| sum.saturating_add(cost.took.0));
            let sample = Sample {
                usd,
                tokens: Some(usage.total()).filter(|tokens| *tokens > 0),
                took: Some(Length(took)).filter(|took| *took > Length::default()),
            };
            (wp.kind, wp.rounds.first().map_or(&wp.tier, |round| &round.tier), sample)
        })
    }
}
