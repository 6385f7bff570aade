//! What waits for a person: questions, reviews, decisions, infrastructure to be mended; each with the exact
//! command to type next.

use std::io::{self, Write};

use schemars::JsonSchema;
use serde::Serialize;

use super::cells::width;
use super::commands;
use super::delivery::{Delivered, DeliveredItem};
use super::line::{Flow, Line};
use super::narrate::{one, through};
use super::outlook::taken_at;
use super::palette::{Look, Tone};
use super::words;
use crate::ledger::{Fork, GatePhase, Ledger, Phase, WpState};
use crate::model::approval::Cover;
use crate::model::delivery::WaitsFor;
use crate::model::ids::{RunId, WpId};
use crate::model::plan::Plan;
use crate::model::time::Timestamp;

/// What stands before another command that could be typed.
const OR: &str = "# or: ";

/// One thing that waits.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Item {
    /// The run.
    pub run: RunId,
    /// The WP, where it is about one.
    pub wp: Option<WpId>,
    /// What it is.
    pub kind: Kind,
    /// A question's name, as `sop answer` takes it.
    pub id: Option<String>,
    /// What it is about.
    pub text: String,
    /// What the worker would do.
    pub default: Option<String>,
    /// When that is taken, if nobody answers.
    pub default_at: Option<Timestamp>,
    /// Since when it waits.
    pub since: Option<Timestamp>,
    /// What to type.
    pub command: String,
    /// What else could be typed.
    pub or: Option<String>,
}

/// What waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// A worker asks.
    Question,
    /// Work wants to be looked at.
    Review,
    /// A WP did not get through; a person decides.
    Escalation,
    /// The lead has it in their own hands.
    Taken,
    /// Infrastructure is in the way of a WP.
    Blocked,
    /// A stage does not hold together.
    Gate,
    /// The last look found something, or cannot go on.
    Verify,
    /// A delivery goes no further by itself.
    Delivery,
    /// There is more to do than the approval covers.
    Approval,
    /// The run goes on when an engine takes it.
    Resume,
}

impl Kind {
    fn word(self) -> (&'static str, Tone) {
        match self {
            Self::Question => ("asks", Tone::Warn),
            Self::Review => (words::state(Phase::AwaitingReview), Tone::Warn),
            Self::Escalation => ("escalated", Tone::Bad),
            Self::Taken => ("is in your hands", Tone::Warn),
            Self::Blocked => ("blocked", Tone::Bad),
            Self::Gate => ("does not hold together", Tone::Bad),
            Self::Verify => ("last look", Tone::Bad),
            Self::Delivery => ("delivery", Tone::Warn),
            Self::Approval => ("awaits approval", Tone::Warn),
            Self::Resume => ("goes on with `sop resume`", Tone::Warn),
        }
    }
}

/// A run as its inbox sees it.
#[derive(Debug, Clone, Copy)]
pub struct Waiting<'a> {
    /// The run.
    pub ledger: &'a Ledger,
    /// Its plan, where that can be read.
    pub plan: Option<&'a Plan>,
    /// Questions whose answer waits for an engine.
    pub answered: &'a [u32],
    /// WPs whose review, or other try, waits for an engine.
    pub decided: &'a [WpId],
    /// Whether anything waits for an engine.
    pub requests: usize,
    /// Whether an engine has the run.
    pub held: bool,
}

impl Waiting<'_> {
    /// Everything that waits, in the order of the run.
    #[must_use]
    pub fn items(&self) -> Vec<Item> {
        let mut items = Vec::new();
        for wp in &self.ledger.wps {
            if wp.phase == Phase::AwaitingAnswer {
                let open = wp.unanswered().filter(|it| !self.answered.contains(&it.number));
                items.extend(open.map(|fork| self.question(wp, fork)));
            } else if !self.decided.contains(&wp.id) {
                items.extend(self.of_wp(wp));
            }
        }
        items.extend(self.gate());
        items.extend(self.verify());
        items.extend(self.deliveries());
        items.extend(self.approval());
        items.extend(self.resume(&items));
        items
    }

    /// A stage that only another yes lets be merged.
    fn approval(&self) -> Option<Item> {
        if self.held || !self.ledger.uncovered_gate() || self.ledger.goes_on() {
            return None;
        }
        let text = "a stage is ready to be merged, which its approval does not cover".to_owned();
        let command = commands::cover(&self.ledger.run, Cover::Integration);
        Some(Item { command, ..self.item(Kind::Approval, None, text) })
    }

    /// That an engine has something to do: what was asked for, or what the last one left.
    fn resume(&self, before: &[Item]) -> Option<Item> {
        let command = commands::resume(&self.ledger.run);
        let text = if self.held {
            return None;
        } else if self.requests > 0 {
            let n = words::count(self.requests as u64, "request");
            format!("{n} noted, and no engine has the run")
        } else if !self.ledger.goes_on() || before.iter().any(|item| item.command == command) {
            return None;
        } else if self.ledger.unbegun() {
            "it is approved, and nothing has begun".to_owned()
        } else {
            let of = words::count(self.ledger.wps.len() as u64, "WP");
            format!("{} of {of} through, and no engine has the run", through(self.ledger))
        };
        let since = Some(self.ledger.updated_at);
        Some(Item { command, since, ..self.item(Kind::Resume, None, text) })
    }

    /// Deliveries that wait for somebody, or for infrastructure. What stays open as planned waits for nobody.
    fn deliveries(&self) -> Vec<Item> {
        let delivered = Delivered::of(self.ledger).filter(|_| !self.held);
        let all = delivered.into_iter().flat_map(|delivered| delivered.items);
        let waits = all.filter(|it| it.held.is_some_and(|why| why.waits_for() != WaitsFor::Nobody));
        let item = |it: DeliveredItem| {
            let wp = it.wp.as_ref().and_then(|wp| self.ledger.wp(wp));
            let why = it.why.unwrap_or_default();
            let text = it.url.map_or_else(|| why.clone(), |url| format!("{why} ({url})"));
            let command = commands::resume(&self.ledger.run);
            Item { command, ..self.item(Kind::Delivery, wp, text) }
        };
        waits.map(item).collect()
    }

    fn item(&self, kind: Kind, wp: Option<&WpState>, text: String) -> Item {
        Item {
            run: self.ledger.run.clone(),
            wp: wp.map(|wp| wp.id.clone()),
            kind,
            id: None,
            text,
            default: None,
            default_at: None,
            since: wp.and_then(|wp| wp.since),
            command: String::new(),
            or: None,
        }
    }

    fn question(&self, wp: &WpState, fork: &Fork) -> Item {
        let (run, number) = (&self.ledger.run, fork.number);
        let answer = commands::answer(run, number);
        let (command, or) = match &fork.default {
            Some(_) => (commands::take_default(run, number), Some(answer)),
            None => (answer, None),
        };
        Item {
            id: Some(format!("q{number}")),
            default: fork.default.clone(),
            default_at: taken_at(self.plan, wp),
            since: Some(fork.asked_at),
            command,
            or,
            ..self.item(Kind::Question, Some(wp), fork.question.clone())
        }
    }

    fn of_wp(&self, wp: &WpState) -> Option<Item> {
        let run = &self.ledger.run;
        match wp.phase {
            Phase::AwaitingReview => {
                let look = match (&wp.against, &wp.tree) {
                    (Some(against), Some(tree)) => commands::diff(against.short(), tree.short()),
                    _ => String::new(),
                };
                let text = format!("{} ({look})", wp.title);
                Some(Item {
                    command: commands::approve(run, &wp.id),
                    or: Some(commands::request_changes(run, &wp.id)),
                    ..self.item(Kind::Review, Some(wp), text)
                })
            }
            Phase::Escalated => {
                let text = wp.carried().first().map(one).unwrap_or_default();
                Some(Item {
                    command: commands::retry(run, &wp.id),
                    or: Some(commands::cancel(run, &wp.id)),
                    ..self.item(Kind::Escalation, Some(wp), text)
                })
            }
            Phase::Taken => {
                let hands = wp.hands.as_ref()?;
                let what = hands.problems.first().map(one).unwrap_or_else(|| wp.title.clone());
                Some(Item {
                    command: commands::recheck(run, &wp.id),
                    or: Some(commands::give_back(run, &wp.id)),
                    ..self.item(Kind::Taken, Some(wp), format!("taken by {}: {what}", hands.by))
                })
            }
            Phase::Blocked => {
                let text = wp.blocked_by.as_ref().map(one).unwrap_or_default();
                let command = commands::resume(run);
                Some(Item { command, ..self.item(Kind::Blocked, Some(wp), text) })
            }
            _ => None,
        }
    }

    fn gate(&self) -> Option<Item> {
        let (ledger, gate) = (self.ledger, self.ledger.gates.last()?);
        let stage = &ledger.wps.iter().find(|wp| wp.level == gate.level)?.stage;
        if let Some(problem) = &gate.halted {
            let text = format!("stage {stage} cannot be merged now: {}", one(problem));
            let command = commands::resume(&ledger.run);
            return Some(Item { command, ..self.item(Kind::Gate, None, text) });
        }
        if gate.phase != GatePhase::Failed {
            return None;
        }
        let named = if gate.named.is_empty() { &gate.wps } else { &gate.named };
        let first = named.iter().find(|wp| !self.decided.contains(wp))?;
        let why = gate.problems.first().map(one).unwrap_or_default();
        let command = commands::retry(&ledger.run, first);
        Some(Item { command, ..self.item(Kind::Gate, None, format!("stage {stage}: {why}")) })
    }

    fn verify(&self) -> Option<Item> {
        let state = self.ledger.verify.as_ref()?;
        let (text, command) = match &state.halted {
            Some(problem) => {
                (format!("it cannot go on: {}", one(problem)), commands::resume(&self.ledger.run))
            }
            None if state.failed() => (
                state.problems.first().map(one).unwrap_or_default(),
                commands::status(&self.ledger.run),
            ),
            None => return None,
        };
        Some(Item { command, ..self.item(Kind::Verify, None, text) })
    }
}

/// Writes what waits, at `now`.
///
/// # Errors
/// When `out` cannot be written.
pub fn write(items: &[Item], now: Timestamp, out: &mut impl Write, look: &Look) -> io::Result<()> {
    if items.is_empty() {
        return writeln!(out, "Nothing waits for you.");
    }
    for (n, item) in items.iter().enumerate() {
        if n > 0 {
            writeln!(out)?;
        }
        item.write(now, out, look)?;
    }
    Ok(())
}

impl Item {
    fn write(&self, now: Timestamp, out: &mut impl Write, look: &Look) -> io::Result<()> {
        let (word, tone) = self.kind.word();
        let mut line = Line::new(look).then(tone, words::tone_mark(tone, look)).gap(1);
        if let Some(id) = &self.id {
            line = line.then(Tone::Strong, id).gap(1);
        }
        line = line.then(Tone::Strong, self.run.as_str());
        if let Some(wp) = &self.wp {
            line = line.gap(1).then(Tone::Strong, wp.as_str());
        }
        line = line.gap(1).then(tone, word);
        if let Some(since) = self.since {
            let waited = words::clock(now.since(since));
            line = line.then(Tone::Faint, look.dot()).then(Tone::Faint, &format!("{waited} ago"));
        }
        writeln!(out, "{}", line.done().trimmed())?;
        // A question may have several lines: its options.
        for text in self.text.lines() {
            Flow::after(Line::new(look).gap(4)).then(Tone::Normal, text).write(out)?;
        }
        if let Some(default) = &self.default {
            let when = self.default_at.map(|at| format!(" (taken {})", words::due(at, now)));
            let head = Line::new(look).gap(4).then(Tone::Faint, "default: ");
            let text = Flow::after(head).then(Tone::Normal, default);
            text.then(Tone::Faint, &when.unwrap_or_default()).write(out)?;
        }
        // What is to be typed is never broken.
        let wide = &Look { width: None, ..*look };
        let line = Line::new(wide).gap(4).then(Tone::Command, &self.command);
        let Some(or) = &self.or else { return writeln!(out, "{}", line.done().trimmed()) };
        let beside = 4 + width(&self.command) + width(OR) + 2 + width(or);
        if look.width.is_none_or(|room| beside <= room) {
            let line = line.gap(2).then(Tone::Faint, OR).then(Tone::Faint, or);
            return writeln!(out, "{}", line.done().trimmed());
        }
        writeln!(out, "{}", line.done().trimmed())?;
        let line = Line::new(wide).gap(4).then(Tone::Faint, OR).then(Tone::Faint, or);
        writeln!(out, "{}", line.done().trimmed())
    }
}
