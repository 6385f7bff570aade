//! What all runs of a repository together say: who gets it right at once, who must be followed by another,
//! which provider fails and how, what it cost.

use std::collections::BTreeMap;
use std::io::{self, Write};

use schemars::JsonSchema;
use serde::Serialize;

use super::cells::width;
use super::costs::Costs;
use super::line::{Flow, Line};
use super::palette::{Look, Tone};
use super::words;
use crate::event::{Event, NextStep, Record};
use crate::ledger::{Ledger, WpState};
use crate::model::ids::{TierId, WorkerId, WpId};
use crate::model::outcome::End;
use crate::model::time::Length;
use crate::model::turn::Fault;

/// WPs whose cost is shown to people, the costliest first; programs get all.
const SHOWN: usize = 10;

/// Widest that a name is shown.
const WIDEST: usize = 32;

/// What the runs say.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, JsonSchema)]
pub struct Stats {
    /// Runs that were looked at.
    pub runs: u32,
    /// Their WPs.
    pub wps: u32,
    /// Of those, the ones that got through.
    pub through: u32,
    /// WPs that a person had to decide about.
    pub escalated: u32,
    /// Questions that workers asked.
    pub questions: u32,
    /// Times that a review asked for changes.
    pub changes_requested: u32,
    /// Rounds by tier.
    pub tiers: Vec<TierStats>,
    /// Sessions that infrastructure spoilt, by worker.
    pub workers: Vec<WorkerStats>,
    /// What was used, WPs as `run/wp`.
    pub costs: Costs,
}

/// Rounds of one tier.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct TierStats {
    /// The tier.
    pub tier: TierId,
    /// First rounds of a WP that were judged.
    pub first_rounds: u32,
    /// Of those, the ones that passed.
    pub first_passed: u32,
    /// All rounds that were judged.
    pub rounds: u32,
    /// Of those, the ones that passed.
    pub passed: u32,
    /// Rounds that failed and were followed by one on another tier.
    pub handed_on: u32,
    /// Rounds after which a person had to decide.
    pub escalated: u32,
}

/// Sessions of one worker.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct WorkerStats {
    /// The worker: whose provider it is.
    pub worker: WorkerId,
    /// Sessions that ended.
    pub sessions: u32,
    /// Those that infrastructure spoilt, by what it was: a fault's class, `killed` or `not_started`; of
    /// reviewers also `timeout`, `failed` and `no_verdict`.
    pub spoilt: BTreeMap<&'static str, u32>,
    /// How long all of them took together.
    pub took: Length,
}

impl Stats {
    /// Adds a run: its records, and the ledger that they fold to.
    pub fn add(&mut self, records: &[Record], ledger: &Ledger) {
        self.runs += 1;
        self.wps += u32::try_from(ledger.wps.len()).unwrap_or(u32::MAX);
        let through = ledger.wps.iter().filter(|wp| wp.phase.got_through()).count();
        self.through += u32::try_from(through).unwrap_or(u32::MAX);
        self.questions += ledger.questions;
        self.costs.add(ledger, |wp: &WpState| format!("{}/{}", ledger.run, wp.id));
        let mut course = Course::default();
        for record in records {
            self.follow(&record.event, &mut course);
        }
    }

    fn follow<'a>(&mut self, event: &'a Event, course: &mut Course<'a>) {
        match event {
            Event::RoundStarted { wp, tier, .. } => {
                course.tier.insert(wp, tier);
            }
            Event::AttemptStarted { wp, tier, worker, .. } => {
                // A fallback that stands in is who works.
                course.tier.insert(wp, tier);
                course.worker.insert(wp, worker);
            }
            Event::AttemptEnded { wp, ran, fault, .. } => {
                let Some(worker) = course.worker.get(wp).copied() else { return };
                self.session(worker, spoilt(fault.as_ref(), &ran.end), ran.took);
            }
            Event::ReviewerEnded { worker, ran, turn, fault, verdict, unread, .. } => {
                let limit = turn.as_ref().and_then(|turn| turn.stopped_at);
                // Nobody looks at the work of one that has not answered: it is spoilt, whatever the reason.
                let silent = || match (verdict, unread, &ran.end) {
                    (Some(_), ..) | (_, _, End::Cancelled) => None,
                    (None, Some(_), _) => limit.is_none().then_some("no_verdict"),
                    (None, None, End::Timeout { .. } | End::Idle { .. }) => Some("timeout"),
                    (None, None, _) => Some("failed"),
                };
                let spoilt = spoilt(fault.as_ref(), &ran.end).or_else(silent);
                self.session(worker, spoilt, ran.took);
            }
            Event::Reviewed { verdict, .. } => {
                let asked = verdict.verdict == crate::model::verdict::Judgment::RequestChanges;
                self.changes_requested += u32::from(asked);
            }
            Event::RoundEnded { wp, round, class, next, .. } => {
                let Some(tier) = course.tier.get(wp).copied() else { return };
                let passed = u32::from(class.is_none());
                let line = self.tier(tier);
                line.rounds += 1;
                line.passed += passed;
                if *round == 1 {
                    line.first_rounds += 1;
                    line.first_passed += passed;
                }
                match next {
                    NextStep::Round { tier: next } => line.handed_on += u32::from(next != tier),
                    NextStep::Escalate => {
                        line.escalated += 1;
                        self.escalated += 1;
                    }
                    NextStep::Commit => {}
                }
            }
            Event::BudgetSpent { wp, .. } => {
                self.escalated += 1;
                if let Some(tier) = course.tier.get(wp).copied() {
                    self.tier(tier).escalated += 1;
                }
            }
            // Nothing of who works and how well.
            _ => {}
        }
    }

    fn tier(&mut self, tier: &TierId) -> &mut TierStats {
        let n = self.tiers.iter().position(|line| &line.tier == tier).unwrap_or_else(|| {
            self.tiers.push(TierStats {
                tier: tier.clone(),
                first_rounds: 0,
                first_passed: 0,
                rounds: 0,
                passed: 0,
                handed_on: 0,
                escalated: 0,
            });
            self.tiers.len() - 1
        });
        &mut self.tiers[n]
    }

    fn session(&mut self, worker: &WorkerId, spoilt: Option<&'static str>, took: Length) {
        let n = self.workers.iter().position(|line| &line.worker == worker).unwrap_or_else(|| {
            self.workers.push(WorkerStats {
                worker: worker.clone(),
                sessions: 0,
                spoilt: BTreeMap::new(),
                took: Length::default(),
            });
            self.workers.len() - 1
        });
        let line = &mut self.workers[n];
        line.sessions += 1;
        line.took = Length(line.took.0.saturating_add(took.0));
        if let Some(what) = spoilt {
            *line.spoilt.entry(what).or_default() += 1;
        }
    }

    /// Writes it for people.
    ///
    /// # Errors
    /// When `out` cannot be written.
    pub fn write(&self, out: &mut impl Write, look: &Look) -> io::Result<()> {
        let facts = [
            words::count(u64::from(self.runs), "run"),
            format!("{} of {} through", self.through, words::count(u64::from(self.wps), "WP")),
            format!("{} escalated", self.escalated),
            words::count(u64::from(self.questions), "question"),
            format!("changes asked for {} in review", times(self.changes_requested)),
        ];
        let head = Flow::after(Line::new(look)).then(Tone::Normal, &facts[0]);
        let all = facts[1..].iter().fold(head, |text, fact| text.dot().then(Tone::Normal, fact));
        all.write(out)?;
        // A figure that is cut is a wrong one.
        let wide = &Look { width: None, ..*look };
        if !self.tiers.is_empty() {
            writeln!(out)?;
            self.write_tiers(out, wide)?;
        }
        if !self.workers.is_empty() {
            writeln!(out)?;
            self.write_workers(out, look)?;
        }
        if self.costs.total.told() {
            writeln!(out)?;
            self.costs.clone().costliest(SHOWN).write(out, wide)?;
            match self.costs.wps.len().saturating_sub(SHOWN) {
                0 => {}
                more => writeln!(out, "  {} {more} WPs that cost less", look.ellipsis())?,
            }
        }
        Ok(())
    }

    fn write_tiers(&self, out: &mut impl Write, look: &Look) -> io::Result<()> {
        let names = names(self.tiers.iter().map(|line| line.tier.as_str()));
        let title = Line::new(look).gap(2).cell(Tone::Faint, "TIER", names);
        let titles = ["FIRST ROUND", "ALL ROUNDS", "HANDED ON", "ESCALATED"];
        writeln!(out, "{}", columns(title, Tone::Faint, titles.map(str::to_owned)))?;
        for tier in &self.tiers {
            let line = Line::new(look).gap(2).cell(Tone::Strong, tier.tier.as_str(), names);
            let cells = [
                rate(tier.first_passed, tier.first_rounds),
                rate(tier.passed, tier.rounds),
                tier.handed_on.to_string(),
                tier.escalated.to_string(),
            ];
            writeln!(out, "{}", columns(line, Tone::Normal, cells))?;
        }
        Ok(())
    }

    fn write_workers(&self, out: &mut impl Write, look: &Look) -> io::Result<()> {
        let names = names(self.workers.iter().map(|line| line.worker.as_str()));
        let title = Line::new(look)
            .gap(2)
            .cell(Tone::Faint, "WORKER", names)
            .cell(Tone::Faint, "SESSIONS", 10)
            .cell(Tone::Faint, "TIME", 8)
            .then(Tone::Faint, "INFRASTRUCTURE");
        writeln!(out, "{}", title.done().trimmed())?;
        for worker in &self.workers {
            let spoilt: Vec<String> =
                worker.spoilt.iter().map(|(what, n)| format!("{n} {what}")).collect();
            let spoilt = if spoilt.is_empty() { "no fault".to_owned() } else { spoilt.join(", ") };
            let line = Line::new(look)
                .gap(2)
                .cell(Tone::Strong, worker.worker.as_str(), names)
                .cell(Tone::Normal, &worker.sessions.to_string(), 10)
                .cell(Tone::Normal, &words::clock(worker.took), 8);
            Flow::after(line).then(Tone::Normal, &spoilt).write(out)?;
        }
        Ok(())
    }
}

/// What spoilt a session, if anything of infrastructure did.
fn spoilt(fault: Option<&Fault>, end: &End) -> Option<&'static str> {
    match (fault, end) {
        (_, End::Cancelled) => None,
        (Some(fault), _) => Some(fault.class.name()),
        (None, End::Signal { .. } | End::Lost) => Some("killed"),
        (None, end) => end.broken().then_some("not_started"),
    }
}

/// Who is at work, while records are read.
#[derive(Debug, Default)]
struct Course<'a> {
    tier: BTreeMap<&'a WpId, &'a TierId>,
    worker: BTreeMap<&'a WpId, &'a WorkerId>,
}

fn names<'a>(names: impl Iterator<Item = &'a str>) -> usize {
    names.map(width).max().unwrap_or(0).clamp(6, WIDEST) + 2
}

fn columns(mut line: Line<'_>, tone: Tone, cells: [String; 4]) -> String {
    for cell in cells {
        line = line.cell(tone, &cell, 16);
    }
    line.done().trimmed().to_owned()
}

/// `3 of 4 (75%)`.
fn rate(some: u32, all: u32) -> String {
    match (u64::from(some) * 100).checked_div(u64::from(all)) {
        Some(percent) => format!("{some} of {all} ({percent}%)"),
        None => "none".to_owned(),
    }
}

fn times(n: u32) -> String {
    match n {
        1 => "once".to_owned(),
        n => format!("{n} times"),
    }
}
