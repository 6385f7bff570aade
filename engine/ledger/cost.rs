//! What sessions used: tokens, money, time, by tier and role.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::model::ids::{TierId, WorkerId};
use crate::model::outcome::Ran;
use crate::model::time::Length;
use crate::model::turn::{Turn, Usage, Usd};

/// What a session was for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// It did the work.
    Work,
    /// It reviewed.
    Review,
}

/// What the sessions of one tier in one role used.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Cost {
    /// The tier.
    pub tier: TierId,
    /// Its worker.
    pub worker: WorkerId,
    /// What they were for.
    pub role: Role,
    /// How many there were.
    pub sessions: u32,
    /// How many of them infrastructure spoilt.
    pub spoilt: u32,
    /// Model calls, as far as they were told.
    pub turns: u32,
    /// Tokens, as far as they were told.
    pub usage: Usage,
    /// Money, as far as it was told; nothing where none of them told any.
    pub cost_usd: Option<Usd>,
    /// How long they took together.
    pub took: Length,
}

/// One session.
#[derive(Debug, Clone, Copy)]
pub(super) struct Session<'a> {
    pub tier: &'a TierId,
    pub worker: &'a WorkerId,
    pub role: Role,
    pub ran: &'a Ran,
    pub turn: Option<&'a Turn>,
    pub spoilt: bool,
}

/// Adds a session to its tier's line, or begins that.
pub(super) fn add(costs: &mut Vec<Cost>, session: Session<'_>) {
    let same = |cost: &Cost| {
        (&cost.tier, &cost.worker, cost.role) == (session.tier, session.worker, session.role)
    };
    let n = costs.iter().position(same).unwrap_or_else(|| {
        costs.push(Cost {
            tier: session.tier.clone(),
            worker: session.worker.clone(),
            role: session.role,
            sessions: 0,
            spoilt: 0,
            turns: 0,
            usage: Usage::default(),
            cost_usd: None,
            took: Length::default(),
        });
        costs.len() - 1
    });
    let cost = &mut costs[n];
    cost.sessions += 1;
    cost.spoilt += u32::from(session.spoilt);
    cost.took = Length(cost.took.0.saturating_add(session.ran.took.0));
    if let Some(turn) = session.turn {
        cost.turns = cost.turns.saturating_add(turn.turns);
        cost.usage += turn.usage;
        if let Some(usd) = turn.cost_usd {
            let before = cost.cost_usd.unwrap_or_default();
            cost.cost_usd = Some(Usd(before.0.saturating_add(usd.0)));
        }
    }
}

/// What was used before a budget was given anew.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Allowed {
    /// Tokens, input and output.
    pub tokens: u64,
    /// Money.
    pub usd: Usd,
}

impl Allowed {
    /// Everything so far.
    pub(super) fn all((usage, usd): (Usage, Option<Usd>)) -> Self {
        Self { tokens: usage.total(), usd: usd.unwrap_or_default() }
    }

    /// Tokens and money beyond it.
    pub(super) fn beyond(self, (usage, usd): (Usage, Option<Usd>)) -> (u64, Usd) {
        let usd = usd.unwrap_or_default().0.saturating_sub(self.usd.0);
        (usage.total().saturating_sub(self.tokens), Usd(usd))
    }
}

/// Tokens and money of several lines together.
#[must_use]
pub fn total<'a>(costs: impl IntoIterator<Item = &'a Cost>) -> (Usage, Option<Usd>) {
    let (mut usage, mut usd) = (Usage::default(), None);
    for cost in costs {
        usage += cost.usage;
        if let Some(more) = cost.cost_usd {
            usd = Some(Usd(usd.map_or(0, |Usd(sum)| sum).saturating_add(more.0)));
        }
    }
    (usage, usd)
}
