//! What is left when a run is over: the user's checkout, what got through and what did not and why, worktrees
//! and branches that are gone, and what remains with the command for it.

use std::io::{self, Write};

use schemars::JsonSchema;
use serde::Serialize;

use super::Findings;
use crate::ledger::{Ledger, Phase, WpState};
use crate::model::approval::Cover;
use crate::model::baseline::Compared;
use crate::model::ids::WpId;
use crate::report::commands;
use crate::report::line::{Flow, Line};
use crate::report::palette::{Look, Tone};
use crate::report::words;

/// Columns of the words that stand before facts.
pub(super) const NAMES: usize = 11;

/// Paths of the checkout that are listed.
const PATHS: usize = 8;

/// What commands begin with that clear what is left.
const CLEAN: &str = "sop run clean";

/// The end of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Closing {
    /// The user's checkout, when the run was made and when it was over; absent while it is not.
    pub checkout: Option<Compared>,
    /// WPs that are dealt with.
    pub done: Vec<WpId>,
    /// WPs that were put off because another one did not get through.
    pub deferred: Vec<Deferred>,
    /// WPs that did not get through themselves.
    pub stuck: Vec<WpId>,
    /// What became of the findings that the plan deals with; nothing where it names none.
    pub findings: Option<Findings>,
    /// WPs whose worktrees the run cleared away, with nothing lost.
    pub cleaned: Vec<WpId>,
    /// WPs whose worktrees have gone since: by `sop run clean`, or somebody's hand.
    pub gone_since: Vec<WpId>,
    /// Local branches that are gone, since their work has landed.
    pub branches_removed: Vec<String>,
    /// What remains, with the command for it.
    pub remains: Vec<Remains>,
}

/// A WP that was put off.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Deferred {
    /// The WP.
    pub wp: WpId,
    /// The one that it needs.
    pub because: Option<WpId>,
}

/// Something that remains.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Remains {
    /// The WP that it is of.
    pub wp: WpId,
    /// The worktree.
    pub worktree: String,
    /// How far its last session came: `launched` and never settled, or `settled` and never cleaned.
    pub session: SessionEnd,
    /// Why it is there.
    pub why: String,
    /// What sees to it.
    pub command: String,
}

/// How far a session came on its way from launched over settled to cleaned.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SessionEnd {
    /// Nothing was started yet.
    None,
    /// It was started, and how it ended is not known.
    Launched,
    /// It has ended, and its worktree is still there.
    Settled,
}

impl Closing {
    pub(super) fn of(ledger: &Ledger) -> Self {
        let ids = |so: &dyn Fn(&WpState) -> bool| {
            let found = ledger.wps.iter().filter(|wp| so(wp));
            found.map(|wp| wp.id.clone()).collect()
        };
        let deferred = ledger.wps.iter().filter(|wp| wp.phase == Phase::Deferred);
        let put_off = |wp: &WpState| Deferred { wp: wp.id.clone(), because: wp.because.clone() };
        Self {
            checkout: ledger.checkout.clone(),
            done: ids(&|wp| wp.phase.got_through()),
            deferred: deferred.map(put_off).collect(),
            stuck: ids(&|wp| wp.phase.stuck() && wp.phase != Phase::Deferred),
            findings: Findings::of(ledger),
            cleaned: ids(&|wp| wp.attempt > 0 && wp.worktree.is_none()),
            gone_since: Vec::new(),
            branches_removed: ledger.delivery.iter().flat_map(|it| it.removed.clone()).collect(),
            remains: ledger.wps.iter().filter_map(|wp| remains(wp, ledger)).collect(),
        }
    }
}

fn remains(wp: &WpState, ledger: &Ledger) -> Option<Remains> {
    let worktree = wp.worktree.clone()?;
    let run = &ledger.run;
    let session = match (wp.attempt, wp.phase) {
        (0, _) => SessionEnd::None,
        (_, Phase::Working) => SessionEnd::Launched,
        _ => SessionEnd::Settled,
    };
    let (why, command) = match (&wp.kept, wp.phase) {
        (Some(why), _) => (why.clone(), clean(ledger)),
        (None, Phase::AwaitingReview) => {
            ("it waits for your review".to_owned(), commands::approve(run, &wp.id))
        }
        (None, Phase::AwaitingAnswer) => {
            ("it waits for your answer".to_owned(), commands::inbox(run))
        }
        (None, phase) if phase.stuck() => (
            "its work did not get through, and is only here".to_owned(),
            commands::retry(run, &wp.id),
        ),
        (None, phase)
            if phase.got_through()
                && ledger.outcome.is_some()
                && !ledger.covers.has(Cover::Cleanup) =>
        {
            ("the approval does not cover cleanup".to_owned(), commands::cover(run, Cover::Cleanup))
        }
        (None, phase) if phase.settled() && ledger.outcome.is_some() => {
            ("it was not cleaned".to_owned(), clean(ledger))
        }
        (None, _) => ("the run is not over".to_owned(), commands::resume(run)),
    };
    Some(Remains { wp: wp.id.clone(), worktree, session, why, command })
}

fn clean(ledger: &Ledger) -> String {
    commands::clean(&ledger.run)
}

impl Closing {
    /// Writes what the lines of the WPs do not say already.
    pub(super) fn write(&self, out: &mut impl Write, look: &Look) -> io::Result<()> {
        let row = |name: &str| row(look, name);
        if let Some(findings) = &self.findings {
            findings.write(out, look)?;
        }
        if let Some(compared) = &self.checkout {
            let tone = if compared.matches() { Tone::Normal } else { Tone::Warn };
            row("checkout").then(tone, &compared.to_string()).write(out)?;
            let shown = compared.paths.iter().take(PATHS);
            for path in shown.clone() {
                row("").then(Tone::Warn, &path.to_string()).write(out)?;
            }
            let more = compared.paths.len() - shown.len();
            if more > 0 || compared.cut {
                let text = format!("{} and {more} more", look.ellipsis());
                row("").then(Tone::Faint, &text).write(out)?;
            }
            if !compared.matches() && compared.after.is_some() {
                let text = "nobody is blamed for it, and nothing was put back";
                row("").then(Tone::Faint, text).write(out)?;
            }
        }
        if let Some(text) = self.gone() {
            row("cleaned").then(Tone::Normal, &text).write(out)?;
        }
        // What a person has to do about a WP is in the list of what to type.
        let left: Vec<&Remains> =
            self.remains.iter().filter(|it| it.command.starts_with(CLEAN)).collect();
        if let Some(first) = left.first() {
            let text = match left.len() {
                1 => "1 worktree, which stays until somebody has looked".to_owned(),
                n => format!("{n} worktrees, which stay until somebody has looked"),
            };
            row("remains").then(Tone::Warn, &text).write(out)?;
            let wide = Look { width: None, ..*look };
            let line = Line::new(&wide).gap(NAMES).then(Tone::Command, &first.command);
            writeln!(out, "{}", line.done().trimmed())?;
        }
        Ok(())
    }

    /// What was cleared away, in words.
    fn gone(&self) -> Option<String> {
        let names = |wps: &[WpId]| wps.iter().map(WpId::as_str).collect::<Vec<_>>().join(", ");
        let mut parts = Vec::new();
        if !self.cleaned.is_empty() {
            let worktrees = words::count(self.cleaned.len() as u64, "worktree");
            parts.push(format!("{worktrees} ({})", names(&self.cleaned)));
        }
        match self.branches_removed.as_slice() {
            [] => {}
            [branch] => parts.push(format!("the landed branch {branch}")),
            branches => parts.push(format!("the landed branches {}", branches.join(", "))),
        }
        if !self.gone_since.is_empty() {
            parts.push(format!("gone since the run: {}", names(&self.gone_since)));
        }
        (!parts.is_empty()).then(|| parts.join("; "))
    }

    /// The same, where only these worktrees are still there.
    pub(super) fn found(&mut self, is_there: impl Fn(&str) -> bool) {
        let (there, gone): (Vec<Remains>, Vec<Remains>) =
            std::mem::take(&mut self.remains).into_iter().partition(|it| is_there(&it.worktree));
        self.remains = there;
        self.gone_since.extend(gone.into_iter().map(|it| it.wp));
    }
}

/// A row of what is said of the whole run, after its name.
pub(super) fn row<'a>(look: &'a Look, name: &str) -> Flow<'a> {
    Flow::after(Line::new(look).cell(Tone::Faint, name, NAMES))
}
