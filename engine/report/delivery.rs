//! What left the machine: each branch and request with its state, and why one goes no further.

use std::io::{self, Write};

use schemars::JsonSchema;
use serde::Serialize;

use super::commands;
use super::line::{Flow, Line};
use super::narrate::Words;
use super::palette::{Look, Tone};
use super::words;
use crate::event::Event;
use crate::ledger::{AfterRan, Deliverable, Item, Ledger};
use crate::model::approval::Cover;
use crate::model::delivery::{DeliveryStep, Hold, WaitsFor};
use crate::model::ids::{CommitId, WpId};

/// A run's delivery.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Delivered {
    /// The remote's name.
    pub remote: String,
    /// The branch that requests ask to be merged into.
    pub into: Option<String>,
    /// What is to be delivered, and what became of it.
    pub items: Vec<DeliveredItem>,
    /// Local branches that are gone, since their work has landed.
    pub removed: Vec<String>,
    /// Commands that a person had run after the merge.
    pub after: Vec<AfterRan>,
}

/// A branch, and its request where it has one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct DeliveredItem {
    /// The WP; nothing for the whole.
    pub wp: Option<WpId>,
    /// How it stands.
    pub state: Stands,
    /// The branch at the remote, or the one here that is to go there.
    pub branch: String,
    /// The commit.
    pub commit: CommitId,
    /// The request's number.
    pub number: Option<u64>,
    /// Where a person looks at it.
    pub url: Option<String>,
    /// Whether an earlier run opened it.
    pub earlier: bool,
    /// Why it goes no further.
    pub held: Option<Hold>,
    /// The same in words.
    pub why: Option<String>,
}

/// How something that is delivered stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Stands {
    /// Only here.
    Here,
    /// Pushed.
    Pushed,
    /// Its request is open.
    Open,
    /// Its request was closed and not merged.
    Closed,
    /// Its request is merged.
    Merged,
    /// Merged, and found in the branch that it was merged into.
    Landed,
}

impl Stands {
    fn of(item: Option<&Item>) -> Self {
        let Some(item) = item else { return Self::Here };
        let closed = item.held.as_ref().is_some_and(|held| held.why == Hold::Closed);
        match item {
            Item { landed: Some(_), .. } => Self::Landed,
            Item { merged: true, .. } => Self::Merged,
            _ if closed => Self::Closed,
            Item { number: Some(_), .. } => Self::Open,
            Item { pushed: Some(_), .. } => Self::Pushed,
            _ => Self::Here,
        }
    }

    fn word(self) -> &'static str {
        match self {
            Self::Here => "not pushed",
            Self::Pushed => "pushed",
            Self::Open => "open",
            Self::Closed => "closed",
            Self::Merged => "merged",
            Self::Landed => "landed",
        }
    }
}

impl Delivered {
    /// The delivery of `ledger`'s run; nothing where its plan has none.
    #[must_use]
    pub fn of(ledger: &Ledger) -> Option<Self> {
        let state = ledger.delivery.as_ref()?;
        let of = |what: Deliverable| {
            let item = state.item(what.wp.as_ref());
            let held = item.and_then(|item| item.held.as_ref());
            DeliveredItem {
                state: Stands::of(item),
                branch: item.and_then(|item| item.branch.clone()).unwrap_or(what.branch),
                commit: what.commit,
                number: item.and_then(|item| item.number),
                url: item.and_then(|item| item.url.clone()),
                earlier: item.is_some_and(|item| item.earlier),
                held: held.map(|held| held.why),
                why: held.map(|held| held.text.clone()),
                wp: what.wp,
            }
        };
        Some(Self {
            remote: state.remote.clone(),
            into: state.into.clone(),
            items: ledger.deliverables().into_iter().map(of).collect(),
            removed: state.removed.clone(),
            after: state.after.clone(),
        })
    }

    /// Writes it, a line or two for each that is delivered.
    ///
    /// # Errors
    /// When `out` cannot be written.
    pub fn write(&self, out: &mut impl Write, look: &Look) -> io::Result<()> {
        if self.items.is_empty() {
            let head = Line::new(look).then(Tone::Faint, look.pick("–", "-"));
            let head = head.then(Tone::Strong, " delivery ");
            Flow::after(head).then(Tone::Faint, "nothing is there to deliver yet").write(out)?;
        }
        for item in &self.items {
            item.write(out, look)?;
        }
        for after in &self.after {
            let (tone, end) = match &after.ran {
                Some(ran) if ran.end.success() => (Tone::Good, ran.end.to_string()),
                Some(ran) => (Tone::Bad, ran.end.to_string()),
                None => (Tone::Warn, "nobody knows how it ended".to_owned()),
            };
            let head = Line::new(look).then(tone, words::tone_mark(tone, look));
            let head = head.then(Tone::Strong, " after merge ");
            let text = format!("{}: {end} (for {})", after.run, after.by);
            Flow::after(head).then(Tone::Normal, &text).write(out)?;
        }
        Ok(())
    }
}

impl DeliveredItem {
    fn tone(&self) -> Tone {
        match (self.state, self.held.map(Hold::waits_for)) {
            (Stands::Landed, _) => Tone::Good,
            (_, Some(WaitsFor::Infrastructure)) => Tone::Bad,
            (_, Some(WaitsFor::Somebody)) => Tone::Warn,
            (Stands::Merged, _) => Tone::Good,
            _ => Tone::Active,
        }
    }

    fn write(&self, out: &mut impl Write, look: &Look) -> io::Result<()> {
        let tone = self.tone();
        let head = Line::new(look).then(tone, words::tone_mark(tone, look)).gap(1);
        let who = self.wp.as_ref().map_or("the whole", WpId::as_str);
        let mut text = Flow::after(head).then(Tone::Strong, &format!("delivery of {who} "));
        text = text.then(tone, self.state.word());
        if let Some(number) = self.number {
            let earlier = if self.earlier { " of an earlier run" } else { "" };
            text = text.dot().then(Tone::Normal, &format!("request #{number}{earlier}"));
        }
        text =
            text.dot().then(Tone::Normal, &format!("{} at {}", self.branch, self.commit.short()));
        if let Some(url) = self.url.as_ref().filter(|url| !url.is_empty()) {
            text = text.dot().then(Tone::Normal, url);
        }
        text.write(out)?;
        match &self.why {
            Some(why) => Flow::after(Line::new(look).gap(4)).then(tone, why).write(out),
            None => Ok(()),
        }
    }
}

/// Whether somebody takes this work at the forge.
#[must_use]
pub fn has_request(ledger: &Ledger, wp: Option<&WpId>) -> bool {
    let item = ledger.delivery.as_ref().and_then(|state| state.item(wp));
    item.is_some_and(|item| {
        item.number.is_some() && !matches!(Stands::of(Some(item)), Stands::Closed)
    })
}

/// What to type next about delivery, and why.
#[must_use]
pub fn next(ledger: &Ledger) -> Vec<(String, String)> {
    let run = &ledger.run;
    let Some(delivered) = Delivered::of(ledger) else { return Vec::new() };
    let mut next: Vec<(String, String)> = Vec::new();
    let held = |so: &dyn Fn(&DeliveredItem) -> bool| delivered.items.iter().find(|item| so(item));
    let uncovered = |item: &DeliveredItem| item.held == Some(Hold::NotCovered);
    if held(&|it| uncovered(it) && it.number.is_none()).is_some() {
        let why = "push, and open requests: the approval does not cover that".to_owned();
        next.push((commands::deliver(run), why));
    } else if held(&uncovered).is_some() {
        let why = format!("merge what may: the approval does not cover `{}`", Cover::Merge);
        next.push((commands::deliver_merge(run), why));
    }
    let waits =
        |item: &DeliveredItem| item.held.is_some_and(|hold| hold.waits_for() != WaitsFor::Nobody);
    if held(&waits).is_some() {
        let why = "once what is in the way of delivery is out of it".to_owned();
        next.push((commands::resume(run), why));
    }
    let theirs = |item: &DeliveredItem| {
        item.state == Stands::Open && !waits(item) && !uncovered(item) && item.held.is_some()
    };
    if let Some(url) = held(&theirs).and_then(|item| item.url.clone()) {
        let why = format!("once somebody has merged it ({url}): see that it landed, and tidy up");
        next.push((commands::deliver(run), why));
    }
    let state = ledger.delivery.as_ref();
    let to_run = state.is_some_and(|state| state.to_run > 0 && state.after.is_empty());
    let landed = delivered.items.iter().all(|item| item.state == Stands::Landed);
    if to_run && landed && !delivered.items.is_empty() {
        let why = "the plan's commands for after the merge: each is asked about".to_owned();
        next.push((commands::after_merge(run), why));
    }
    next
}

/// What an event of delivery is in words.
pub(super) fn told(event: &Event, ledger: &Ledger) -> Words {
    let of = |wp: &Option<WpId>| match wp {
        Some(_) => String::new(),
        None => "delivery: ".to_owned(),
    };
    let step = |tone, text| Some((tone, text, false));
    let milestone = |tone, text| Some((tone, text, true));
    match event {
        Event::DeliveryStarted { wp, step: at, branch, .. } => match at {
            DeliveryStep::Push => step(Tone::Active, format!("{}pushing {branch}", of(wp))),
            DeliveryStep::Merge => step(Tone::Active, format!("{}merging its request", of(wp))),
            DeliveryStep::Request => None,
        },
        Event::BranchPushed { wp, branch, commit } => {
            step(Tone::Good, format!("{}pushed {branch} at {}", of(wp), commit.short()))
        }
        Event::RequestOpened { wp, number, url } => {
            milestone(Tone::Good, format!("{}request #{number} is open: {url}", of(wp)))
        }
        Event::RequestUpdated { wp, number, url } => milestone(
            Tone::Good,
            format!("{}request #{number} of an earlier run is updated: {url}", of(wp)),
        ),
        Event::RequestMerged { wp, number } => {
            step(Tone::Good, format!("{}request #{number} is merged", of(wp)))
        }
        Event::DeliveryLanded { wp, onto } => {
            let state = ledger.delivery.as_ref();
            let into = state.and_then(|state| state.into.as_deref()).unwrap_or_default();
            milestone(Tone::Good, format!("{}landed in {into} at {}", of(wp), onto.short()))
        }
        Event::DeliveryHeld { wp, why, text } => {
            let tone = match why.waits_for() {
                WaitsFor::Nobody => Tone::Normal,
                WaitsFor::Somebody => Tone::Warn,
                WaitsFor::Infrastructure => Tone::Bad,
            };
            let what = if *why == Hold::AsPlanned { "delivered as planned" } else { "not further" };
            milestone(tone, format!("{}{what}: {text}", of(wp)))
        }
        Event::BranchRemoved { branch } => {
            step(Tone::Normal, format!("{branch} has landed, and is gone here"))
        }
        Event::AfterMergeStarted { by, run } => {
            step(Tone::Active, format!("after the merge, for {by}: {run}"))
        }
        Event::AfterMergeRan { ran, .. } => {
            let tone = if ran.end.success() { Tone::Good } else { Tone::Bad };
            milestone(tone, format!("after the merge: {}: {}", ran.run, ran.end))
        }
        _ => None,
    }
}
