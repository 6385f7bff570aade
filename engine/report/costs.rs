//! What sessions used, by WP and by tier. Where nothing was told (a plan of plain commands) there is
//! nothing to show.

use std::io::{self, Write};

use schemars::JsonSchema;
use serde::Serialize;

use super::cells::width;
use super::line::Line;
use super::palette::{Look, Tone};
use super::words;
use crate::ledger::{Cost, Ledger, Role, WpState};
use crate::model::ids::WorkerId;
use crate::model::time::Length;
use crate::model::turn::{Usage, Usd};

/// Widest that a name is shown.
const WIDEST: usize = 32;

/// What was used, by WP and by tier.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, JsonSchema)]
pub struct Costs {
    /// WPs in the run's order, those that had a session.
    pub wps: Vec<CostLine>,
    /// Tiers in the order in which they came in; the work apart from the reviews.
    pub tiers: Vec<CostLine>,
    /// All together.
    pub total: CostLine,
}

/// What some sessions used together.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, JsonSchema)]
pub struct CostLine {
    /// The WP or the tier.
    pub name: String,
    /// A tier's worker.
    pub worker: Option<WorkerId>,
    /// Rounds; of a tier, those that were worked on it.
    pub rounds: u32,
    /// Sessions.
    pub sessions: u32,
    /// How many of them infrastructure spoilt.
    pub spoilt: u32,
    /// Tokens, as far as they were told.
    pub usage: Usage,
    /// Money, as far as it was told.
    pub cost_usd: Option<Usd>,
    /// How long they took together.
    pub took: Length,
}

impl CostLine {
    /// An empty line of this name.
    #[must_use]
    pub fn named(name: impl Into<String>) -> Self {
        Self { name: name.into(), ..Self::default() }
    }

    /// Adds what sessions of one tier in one role used.
    pub fn add(&mut self, cost: &Cost) {
        self.sessions += cost.sessions;
        self.spoilt += cost.spoilt;
        self.usage += cost.usage;
        self.took = Length(self.took.0.saturating_add(cost.took.0));
        if let Some(usd) = cost.cost_usd {
            let before = self.cost_usd.unwrap_or_default();
            self.cost_usd = Some(Usd(before.0.saturating_add(usd.0)));
        }
    }

    /// Whether any of it was told.
    #[must_use]
    pub fn told(&self) -> bool {
        self.usage != Usage::default() || self.cost_usd.is_some()
    }
}

/// The line of this name and worker, begun if there is none.
fn line_of<'a>(lines: &'a mut Vec<CostLine>, name: &str, worker: &WorkerId) -> &'a mut CostLine {
    let same = |line: &CostLine| line.name == name && line.worker.as_ref() == Some(worker);
    let n = lines.iter().position(same).unwrap_or_else(|| {
        lines.push(CostLine { worker: Some(worker.clone()), ..CostLine::named(name) });
        lines.len() - 1
    });
    &mut lines[n]
}

impl Costs {
    /// What `ledger` knows; `None` where no session told anything.
    #[must_use]
    pub fn of(ledger: &Ledger) -> Option<Self> {
        let mut costs = Self::default();
        costs.add(ledger, |wp| wp.id.to_string());
        costs.total.told().then_some(costs)
    }

    /// Adds a run, each WP under the name that `name` gives it.
    pub fn add(&mut self, ledger: &Ledger, name: impl Fn(&WpState) -> String) {
        "all".clone_into(&mut self.total.name);
        for wp in &ledger.wps {
            if wp.costs.is_empty() {
                continue;
            }
            let name = name(wp);
            let n = self.wps.iter().position(|line| line.name == name).unwrap_or_else(|| {
                self.wps.push(CostLine::named(name));
                self.wps.len() - 1
            });
            self.wps[n].rounds += wp.round;
            self.total.rounds += wp.round;
            wp.costs.iter().for_each(|cost| self.wps[n].add(cost));
        }
        for cost in ledger.costs() {
            line_of(&mut self.tiers, &tier_name(cost), &cost.worker).add(cost);
            self.total.add(cost);
        }
        for wp in &ledger.wps {
            // One that a budget ended is in the list twice; one that is not over is not in it.
            let mut rounds: Vec<_> = wp.rounds.iter().map(|it| (it.round, &it.tier)).collect();
            rounds.extend((wp.round > 0).then_some((wp.round, &wp.tier)));
            rounds.dedup_by_key(|(round, _)| *round);
            for (_, tier) in rounds {
                let worked = |line: &&mut CostLine| line.name == tier.as_str();
                if let Some(line) = self.tiers.iter_mut().find(worked) {
                    line.rounds += 1;
                }
            }
        }
    }

    /// The same, with no more than `most` WPs, the costliest first.
    #[must_use]
    pub fn costliest(mut self, most: usize) -> Self {
        self.wps.sort_by_key(|line| std::cmp::Reverse((line.cost_usd, line.usage.total())));
        self.wps.truncate(most);
        self
    }

    /// Writes the two tables.
    ///
    /// # Errors
    /// When `out` cannot be written.
    pub fn write(&self, out: &mut impl Write, look: &Look) -> io::Result<()> {
        // A figure that is cut is a wrong one.
        let look = &Look { width: None, ..*look };
        let rows: Vec<&CostLine> = self.wps.iter().chain(&self.tiers).collect();
        let widest = rows.iter().map(|line| width(&line.full_name())).max().unwrap_or(0);
        let names = widest.clamp(10, WIDEST);
        title(out, look, "COST BY WP", names)?;
        for line in &self.wps {
            line.write(out, look, names)?;
        }
        title(out, look, "BY TIER", names)?;
        for line in &self.tiers {
            line.write(out, look, names)?;
        }
        self.total.write(out, look, names)
    }
}

fn tier_name(cost: &Cost) -> String {
    match cost.role {
        Role::Work => cost.tier.to_string(),
        Role::Review => format!("{} (review)", cost.tier),
    }
}

fn title(out: &mut impl Write, look: &Look, name: &str, names: usize) -> io::Result<()> {
    let line = Line::new(look)
        .gap(2)
        .cell(Tone::Faint, name, names + 2)
        .cell(Tone::Faint, &format!("{:>6}", "ROUNDS"), 8)
        .cell(Tone::Faint, &format!("{:>8}", "SESSIONS"), 10)
        .cell(Tone::Faint, &format!("{:>7}", "IN"), 9)
        .cell(Tone::Faint, &format!("{:>7}", "CACHED"), 9)
        .cell(Tone::Faint, &format!("{:>7}", "OUT"), 9)
        .cell(Tone::Faint, &format!("{:>9}", "COST"), 11)
        .then(Tone::Faint, &format!("{:>6}", "TIME"));
    writeln!(out, "{}", line.done().trimmed())
}

impl CostLine {
    fn full_name(&self) -> String {
        match &self.worker {
            Some(worker) if worker.as_str() != self.name => format!("{}, {worker}", self.name),
            _ => self.name.clone(),
        }
    }

    /// Writes one row.
    ///
    /// # Errors
    /// When `out` cannot be written.
    pub fn write(&self, out: &mut impl Write, look: &Look, names: usize) -> io::Result<()> {
        let Usage { input, cached, output } = self.usage;
        let usd = self.cost_usd.map(|usd| usd.to_string()).unwrap_or_default();
        let tokens = |n: u64| if n == 0 { String::new() } else { words::about(n) };
        let rounds = if self.rounds == 0 { String::new() } else { self.rounds.to_string() };
        let line = Line::new(look)
            .gap(2)
            .cell(Tone::Strong, &self.full_name(), names + 2)
            .cell(Tone::Normal, &format!("{rounds:>6}"), 8)
            .cell(Tone::Normal, &format!("{:>8}", self.sessions), 10)
            .cell(Tone::Normal, &format!("{:>7}", tokens(input)), 9)
            .cell(Tone::Normal, &format!("{:>7}", tokens(cached)), 9)
            .cell(Tone::Normal, &format!("{:>7}", tokens(output)), 9)
            .cell(Tone::Normal, &format!("{usd:>9}"), 11)
            .cell(Tone::Normal, &format!("{:>6}", words::clock(self.took)), 6);
        let line = match self.spoilt {
            0 => line,
            n => line.then(Tone::Warn, &format!("  {n} spoilt")),
        };
        writeln!(out, "{}", line.done().trimmed())
    }
}
