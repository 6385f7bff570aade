//! The graph of a plan as a picture: [`dot`] for Graphviz, [`mermaid`] for Markdown, [`svg`] to look
//! at as it is. All three show stages as boxes around their WPs, an arrow for each written need, and
//! one arrow from a stage to the next where somebody waits for all of it.

pub mod dot;
pub mod mermaid;
pub mod svg;

use std::collections::BTreeMap;

use crate::graph::{Sealed, Waits};
use crate::model::ids::{StageId, WpId};
use crate::model::plan::{Kind, Mode, Plan, Risk};

/// What is drawn.
#[derive(Debug, Clone, Copy)]
pub struct Drawing<'a> {
    /// The plan.
    pub plan: &'a Plan,
    /// Its graph.
    pub sealed: &'a Sealed,
    /// How far each WP is, where a run is drawn and not a plan alone.
    pub states: Option<&'a BTreeMap<WpId, State>>,
}

/// How far a WP is, as the picture shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct State {
    /// A word or two.
    pub name: String,
    /// What it means to a person.
    pub tone: Tone,
}

/// What a state means to a person: decides the colour, which never stands alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Tone {
    /// Not begun, or put off.
    Idle,
    /// At work.
    Active,
    /// Somebody has to answer.
    Waiting,
    /// Finished and checked.
    Done,
    /// Failed.
    Bad,
}

impl Tone {
    const ALL: [Self; 5] = [Self::Idle, Self::Active, Self::Waiting, Self::Done, Self::Bad];

    /// Name of the class in style sheets.
    fn class(self) -> &'static str {
        match self {
            Self::Idle => "idle",
            Self::Active => "active",
            Self::Waiting => "waiting",
            Self::Done => "done",
            Self::Bad => "bad",
        }
    }
}

impl<'a> Drawing<'a> {
    /// A plan that is not running.
    #[must_use]
    pub fn of(plan: &'a Plan, sealed: &'a Sealed) -> Self {
        Self { plan, sealed, states: None }
    }

    fn state(&self, wp: usize) -> Option<&'a State> {
        self.states?.get(&self.plan.wps[wp].id)
    }

    /// Kind, tier and risk of a WP in a few words.
    fn facts(&self, wp: usize, between: &str) -> String {
        let wp = &self.plan.wps[wp];
        let risk = format!("{} risk", risk(wp.risk));
        match wp.kind {
            Kind::Scout => ["scout", wp.tier.as_str(), &risk].join(between),
            Kind::Change => [wp.tier.as_str(), &risk].join(between),
        }
    }

    /// What is written over a stage.
    fn heading(&self, stage: &'a StageId) -> &'a str {
        match self.plan.mode {
            Mode::Independent => "independent",
            Mode::Staged => stage.as_str(),
        }
    }

    /// Each written need, as what is waited for and what waits.
    fn needs(&self) -> impl Iterator<Item = (usize, usize)> {
        (0..self.sealed.len()).flat_map(|wp| match self.sealed.waits(wp) {
            Waits::Wps(wps) => wps.iter().map(|&need| (need, wp)).collect(),
            Waits::Nothing | Waits::Stage(_) => Vec::new(),
        })
    }

    /// Those of `wps` that wait for the whole stage before.
    fn wait_for_stage(&self, wps: &'a [usize]) -> impl Iterator<Item = usize> {
        let waits = |wp: &usize| matches!(self.sealed.waits(*wp), Waits::Stage(_));
        wps.iter().copied().filter(waits)
    }
}

fn risk(risk: Risk) -> &'static str {
    match risk {
        Risk::Low => "low",
        Risk::Medium => "medium",
        Risk::High => "high",
    }
}
