//! What work is likely to cost, from what like work has cost: the median of that, and its range. Arithmetic and no
//! more; what has been is found by `run::past`, and drawn by `report::estimate`.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::ids::TierId;
use super::plan::Kind;
use super::time::Length;
use super::turn::Usd;

/// What work packages of earlier runs used, by what they leave behind and the tier of their first round: a scout reads
/// and reports, and says nothing of what a change takes.
pub type Past = BTreeMap<(Kind, TierId), Vec<Sample>>;

/// What one work package used, its reviewers and later tiers included.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Sample {
    /// Money, where any was told.
    pub usd: Option<Usd>,
    /// Tokens, input and output, where any were told.
    pub tokens: Option<u64>,
    /// How long its sessions took together.
    pub took: Option<Length>,
}

/// The middle and the ends of some amounts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "spread_of_{T}")]
pub struct Spread<T> {
    /// How many work packages it is made of.
    pub of: u32,
    /// The least.
    pub low: T,
    /// The middle one, or halfway between the two that are in the middle.
    pub median: T,
    /// The most.
    pub high: T,
}

/// What work is likely to use. Each part is absent where nobody told any of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Estimate {
    /// Work packages that it is made of: of a work package, those of its tier in earlier runs; of a run, those of
    /// its own that have an estimate.
    pub of: u32,
    /// Money.
    pub usd: Option<Spread<Usd>>,
    /// Tokens, input and output.
    pub tokens: Option<Spread<u64>>,
    /// Time of sessions, one after the other.
    pub took: Option<Spread<Length>>,
}

/// What has a middle and can be added.
trait Amount: Copy + Ord {
    fn plus(self, other: Self) -> Self;
    fn half(self) -> Self;
}

impl Amount for u64 {
    fn plus(self, other: Self) -> Self {
        self.saturating_add(other)
    }
    fn half(self) -> Self {
        self / 2
    }
}

impl Amount for Usd {
    fn plus(self, other: Self) -> Self {
        Self(self.0.plus(other.0))
    }
    fn half(self) -> Self {
        Self(self.0 / 2)
    }
}

impl Amount for Length {
    fn plus(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
    fn half(self) -> Self {
        Self(self.0 / 2)
    }
}

/// The middle and the ends of these; nothing where there are none.
fn spread<T: Amount>(amounts: impl Iterator<Item = T>) -> Option<Spread<T>> {
    let mut amounts: Vec<T> = amounts.collect();
    amounts.sort_unstable();
    let (low, high) = (*amounts.first()?, *amounts.last()?);
    let upper = amounts[amounts.len() / 2];
    let median = match amounts.len() % 2 {
        0 => amounts[amounts.len() / 2 - 1].plus(upper).half(),
        _ => upper,
    };
    Some(Spread { of: count(amounts.len()), low, median, high })
}

/// All of them together: the ends are those of a run in which everything is cheap, or dear.
fn together<T: Amount>(parts: impl Iterator<Item = Spread<T>>) -> Option<Spread<T>> {
    let parts: Vec<Spread<T>> = parts.collect();
    let sum = parts.iter().copied().reduce(|sum, part| Spread {
        of: 0,
        low: sum.low.plus(part.low),
        median: sum.median.plus(part.median),
        high: sum.high.plus(part.high),
    })?;
    Some(Spread { of: count(parts.len()), ..sum })
}

impl Estimate {
    /// What `samples` say of one more like them; nothing where there are none.
    #[must_use]
    pub fn of(samples: &[Sample]) -> Option<Self> {
        (!samples.is_empty()).then(|| Self {
            of: count(samples.len()),
            usd: spread(samples.iter().filter_map(|sample| sample.usd)),
            tokens: spread(samples.iter().filter_map(|sample| sample.tokens)),
            took: spread(samples.iter().filter_map(|sample| sample.took)),
        })
    }

    /// What all of them together come to; nothing where there are none.
    #[must_use]
    pub fn sum(parts: &[Self]) -> Option<Self> {
        (!parts.is_empty()).then(|| Self {
            of: count(parts.len()),
            usd: together(parts.iter().filter_map(|part| part.usd)),
            tokens: together(parts.iter().filter_map(|part| part.tokens)),
            took: together(parts.iter().filter_map(|part| part.took)),
        })
    }
}

fn count(n: usize) -> u32 {
    u32::try_from(n).unwrap_or(u32::MAX)
}
