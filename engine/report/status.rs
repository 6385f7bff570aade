//! How a run stands, for people: a table. For programs it is [`standing`](super::standing).

use std::io::{self, Write};

use super::cells::width;
use super::commands;
use super::costs::Costs;
use super::delivery::Delivered;
use super::line::{Flow, Line};
use super::narrate::{length_of, one, question, through};
use super::outlook::{Pause, paused_reviewers, taken_at};
use super::palette::{Look, Tone};
use super::standing::Trouble;
use super::whole::Whole;
use super::words;
use crate::ledger::{Faulted, GatePhase, Ledger, Means, Phase, ReviewState, WpState};
use crate::model::ids::{RunId, WpId};
use crate::model::plan::Plan;
use crate::model::time::Timestamp;

/// Widest that a name or a stage is shown.
const WIDEST: usize = 24;

/// Columns of a round, at least.
const ROUND: usize = 7;

/// Who is at work on a run, as far as its journal cannot say.
#[derive(Debug, Clone, Copy, Default)]
pub struct AtWork<'a> {
    /// An engine has it.
    pub engine: bool,
    /// Steps that are alive, the unit and the step of each: they outlive their engine.
    pub steps: &'a [(String, String)],
}

impl AtWork<'_> {
    /// Whether anything is done for `wp`.
    fn on(&self, wp: &WpState) -> bool {
        self.engine || self.steps.iter().any(|(unit, _)| unit == wp.id.as_str())
    }

    fn state(&self, wp: &WpState) -> &'static str {
        words::state_of(wp.phase, self.on(wp))
    }
}

/// Writes the table of `ledger` as it stands at `now`, then what agents at work are in trouble with, then what is
/// asked, what failed last in its own words, and what was used. The plan says what happens by itself, and when.
///
/// # Errors
/// When `out` cannot be written.
pub fn write(
    ledger: &Ledger,
    plan: Option<&Plan>,
    now: Timestamp,
    at_work: AtWork<'_>,
    troubles: &[Trouble],
    out: &mut impl Write,
    look: &Look,
) -> io::Result<()> {
    let held = at_work.engine;
    writeln!(out, "{}", head(ledger, now, held, look).done().trimmed())?;
    let goal = Line::new(look).gap(2).then(Tone::Normal, &ledger.goal).done();
    writeln!(out, "{}\n", goal.trimmed())?;
    let widest = |text: &dyn Fn(&WpState) -> String, title: &str| {
        let widths = ledger.wps.iter().map(|wp| width(&text(wp)));
        widths.max().unwrap_or(0).min(WIDEST).max(title.len())
    };
    let columns = Columns {
        id: widest(&|wp| wp.id.to_string(), "WP"),
        stage: widest(&|wp| wp.stage.to_string(), "STAGE"),
        state: widest(&|wp| at_work.state(wp).to_owned(), "STATE"),
        tier: widest(&|wp| wp.tier.to_string(), "TIER"),
        round: ledger.wps.iter().map(|wp| width(&round(wp)) + 2).max().unwrap_or(0).max(ROUND),
    };
    writeln!(out, "{}", columns.title(look))?;
    // Where no engine is at work, no time is spent.
    let until = if held { now } else { ledger.updated_at };
    for wp in &ledger.wps {
        let what = what(wp, ledger, plan, now);
        writeln!(out, "{}", columns.row(wp, at_work, until, look, &what))?;
    }
    for gate in &ledger.gates {
        let Some(wp) = ledger.wps.iter().find(|wp| wp.level == gate.level) else { continue };
        let (tone, word) = match gate.phase {
            GatePhase::Passed => (Tone::Good, "holds together"),
            GatePhase::Failed => (Tone::Bad, "does not hold together"),
            GatePhase::Superseded => continue,
            GatePhase::Merging => (Tone::Active, "merging"),
            GatePhase::Proving => (Tone::Active, "DoD on the merged tree"),
        };
        let mut line = Line::new(look)
            .then(tone, words::tone_mark(tone, look))
            .then(Tone::Strong, &format!(" stage {}  ", wp.stage))
            .then(tone, word);
        if let (Some(branch), Some(commit)) = (&gate.branch, &gate.commit) {
            line = line.then(Tone::Normal, &format!("  {branch} at {}", commit.short()));
        }
        writeln!(out, "{}", line.done().trimmed())?;
    }
    match Whole::of(ledger) {
        Some(verify) => verify.write(out, look)?,
        None => Whole::write_none(out, look)?,
    }
    if let Some(delivery) = Delivered::of(ledger) {
        delivery.write(out, look)?;
    }
    let told = asked(ledger, plan, now).chain(in_trouble(ledger, troubles, now));
    let told = tampering(ledger).chain(told).chain(paused(ledger, plan, now));
    let told = told.chain(faults(ledger)).chain(outages(ledger, now));
    let mut told = told.chain(corrections(ledger, now)).peekable();
    if told.peek().is_some() {
        writeln!(out)?;
    }
    // What somebody else said is never cut: it is all there is to go by.
    for (tone, who, what) in told {
        let head = Line::new(look)
            .then(tone, words::tone_mark(tone, look))
            .then(Tone::Strong, &format!(" {who}"))
            .gap(2);
        Flow::after(head).then(Tone::Normal, &what).write(out)?;
    }
    match Costs::of(ledger) {
        Some(costs) => {
            writeln!(out)?;
            costs.write(out, look)
        }
        None => Ok(()),
    }
}

/// Writes what was asked of the run and waits for its next engine.
///
/// # Errors
/// When `out` cannot be written.
pub fn write_noted(
    run: &RunId,
    noted: &[String],
    out: &mut impl Write,
    look: &Look,
) -> io::Result<()> {
    if !noted.is_empty() {
        writeln!(out)?;
    }
    let resume = commands::resume(run);
    for what in noted {
        let head = Line::new(look).then(Tone::Warn, words::tone_mark(Tone::Warn, look)).gap(1);
        let text = format!("{what}: noted; `{resume}` takes it up");
        Flow::after(head).then(Tone::Normal, &text).write(out)?;
    }
    Ok(())
}

type Told = (Tone, String, String);

/// What was done to the repository and stood when an engine last looked.
fn tampering(ledger: &Ledger) -> impl Iterator<Item = Told> + '_ {
    ledger.tampering.iter().map(|standing| {
        let back = standing.put_back.as_ref().map(|command| format!("; put it back: {command}"));
        let accept = format!("; or accept it: {}", commands::accept_changes(&ledger.run));
        let text = format!("{standing}{}{accept}", back.unwrap_or_default());
        (Tone::Bad, "the repository:".to_owned(), text)
    })
}

/// Questions that wait.
fn asked<'a>(
    ledger: &'a Ledger,
    plan: Option<&'a Plan>,
    now: Timestamp,
) -> impl Iterator<Item = Told> + 'a {
    let waiting = ledger.wps.iter().filter(|wp| wp.phase == Phase::AwaitingAnswer);
    waiting.flat_map(move |wp| {
        let due = taken_at(plan, wp).map(|at| format!("; taken {}", words::due(at, now)));
        let due = due.unwrap_or_default();
        let asks = move |fork| (Tone::Warn, format!("{} asks", wp.id), question(fork) + &due);
        wp.unanswered().map(asks)
    })
}

/// The last error of each worker and reviewer that is still at work, in its own words.
fn in_trouble<'a>(
    ledger: &'a Ledger,
    troubles: &'a [Trouble],
    now: Timestamp,
) -> impl Iterator<Item = Told> + 'a {
    troubles.iter().filter_map(move |Trouble { wp, lens, text, at }| {
        let state = wp.as_ref().and_then(|wp| ledger.wp(wp));
        let (who, worker, tier) = match (lens, state) {
            (None, Some(wp)) if wp.phase == Phase::Working => {
                (format!("{} start {}", wp.id, wp.attempt), wp.worker.as_ref()?, &wp.tier)
            }
            (Some(lens), _) => {
                let review = match wp {
                    Some(_) => &state?.review,
                    None => &ledger.verify.as_ref()?.review,
                };
                let sitting = review.reviewer(lens)?.at_work.as_ref()?;
                (reviewer(wp.as_ref(), lens), &sitting.worker, &sitting.tier)
            }
            _ => return None,
        };
        let ago = words::took(now.since(*at));
        Some((Tone::Warn, who, format!("{worker} on {tier} said {ago} ago: {text}")))
    })
}

/// A reviewer, by what it looks at and for.
fn reviewer(wp: Option<&WpId>, lens: &str) -> String {
    match wp {
        Some(wp) => format!("{wp} reviewer for {lens}"),
        None => "reviewer of the whole".to_owned(),
    }
}

/// Reviewers that wait for their provider.
fn paused<'a>(
    ledger: &'a Ledger,
    plan: Option<&'a Plan>,
    now: Timestamp,
) -> impl Iterator<Item = Told> + 'a {
    let paused = plan.map(|plan| paused_reviewers(plan, ledger, now)).unwrap_or_default();
    paused
        .into_iter()
        .map(move |(wp, lens, pause)| (Tone::Warn, reviewer(wp, &lens), pause.text(now)))
}

/// The last error of each worker that did not get to its end, in its own words: before any theory.
fn faults(ledger: &Ledger) -> impl Iterator<Item = Told> + '_ {
    let of_wps = ledger.wps.iter().filter(|wp| !wp.phase.got_through()).flat_map(|wp| {
        let work = wp.fault.as_ref().map(|Faulted { tier, worker, attempt, fault }| {
            let who = format!("{} start {attempt}", wp.id);
            let what = format!("{worker} on {tier}: {} ({})", fault.message, fault.class);
            (Tone::Bad, who, what)
        });
        work.into_iter().chain(unheard(&wp.review, Some(&wp.id)))
    });
    let open = ledger.verify.iter().filter(|look| !look.ended);
    of_wps.chain(open.flat_map(|look| unheard(&look.review, None)))
}

/// The last error of each reviewer that has not answered.
fn unheard<'a>(review: &'a ReviewState, wp: Option<&'a WpId>) -> impl Iterator<Item = Told> + 'a {
    let unheard = review.reviewers.iter().filter(|it| it.verdict.is_none());
    unheard.filter_map(move |it| {
        let last = it.spoilt.last()?;
        Some((Tone::Bad, reviewer(wp, &it.lens), format!("on {}: {}", last.tier, last.what)))
    })
}

/// Providers that no start is tried on for now.
fn outages(ledger: &Ledger, now: Timestamp) -> impl Iterator<Item = Told> + '_ {
    ledger.outages.iter().filter_map(move |outage| {
        let left_alone = match outage.means() {
            Means::Try => return None,
            Means::NotBefore(at) | Means::LeftAlone(at) if at <= now => return None,
            Means::NotBefore(at) => format!("it can be tried again {}", words::due(at, now)),
            Means::LeftAlone(at) => format!("left alone; looked at again {}", words::due(at, now)),
            Means::Down => "out until somebody has acted and resumes".to_owned(),
        };
        let who = match &outage.tier {
            Some(tier) => format!("{} on {tier}", outage.worker),
            None => outage.worker.to_string(),
        };
        let what = format!("{left_alone}: {} ({})", outage.what, outage.class);
        Some((Tone::Warn, who, what))
    })
}

fn corrections(ledger: &Ledger, now: Timestamp) -> impl Iterator<Item = Told> + '_ {
    ledger.notes.iter().map(move |note| {
        let who = format!("corrected by {} at {}", note.by, words::instant(note.at, now));
        (Tone::Warn, who, note.text.clone())
    })
}

fn head<'a>(ledger: &Ledger, now: Timestamp, held: bool, look: &'a Look) -> Line<'a> {
    let (word, tone) = words::stand(ledger.stands(held));
    let word = words::with_reason(word, words::failed_in(ledger).as_deref().filter(|_| !held));
    let until = if held { now } else { ledger.updated_at };
    let dot = look.dot();
    Line::new(look)
        .then(tone, words::tone_mark(tone, look))
        .gap(1)
        .then(Tone::Strong, ledger.run.as_str())
        .then(Tone::Faint, dot)
        .then(tone, &word)
        .then(Tone::Faint, dot)
        .then(Tone::Normal, &format!("{} of {} WPs through", through(ledger), ledger.wps.len()))
        .then(Tone::Faint, dot)
        .then(Tone::Normal, &words::clock(until.since(ledger.created_at)))
}

struct Columns {
    id: usize,
    stage: usize,
    state: usize,
    tier: usize,
    round: usize,
}

impl Columns {
    fn title(&self, look: &Look) -> String {
        let line = Line::new(look)
            .gap(2)
            .cell(Tone::Faint, "WP", self.id + 2)
            .cell(Tone::Faint, "STAGE", self.stage + 2)
            .cell(Tone::Faint, "STATE", self.state + 2)
            .cell(Tone::Faint, "ROUND", self.round)
            .cell(Tone::Faint, "TIER", self.tier + 2)
            .cell(Tone::Faint, "  TIME", 8)
            .then(Tone::Faint, "WHAT");
        line.done().trimmed().to_owned()
    }

    /// `until` when time passes for those that are not done.
    fn row(
        &self,
        wp: &WpState,
        at_work: AtWork<'_>,
        until: Timestamp,
        look: &Look,
        what: &str,
    ) -> String {
        let left = words::is_left(wp.phase, at_work.on(wp));
        let (tone, mark) = match left {
            true => (Tone::Warn, words::tone_mark(Tone::Warn, look)),
            false => (words::tone(wp.phase), words::mark(wp.phase, look)),
        };
        let running = wp.started_at.filter(|_| !wp.phase.settled()).map(|at| until.since(at));
        let time = length_of(wp).or(running).map(words::clock).unwrap_or_default();
        let line = Line::new(look)
            .then(tone, mark)
            .gap(1)
            .cell(Tone::Strong, wp.id.as_str(), self.id)
            .gap(2)
            .cell(Tone::Normal, wp.stage.as_str(), self.stage)
            .gap(2)
            .cell(tone, at_work.state(wp), self.state)
            .gap(2)
            .cell(Tone::Normal, &round(wp), self.round)
            .cell(Tone::Normal, wp.tier.as_str(), self.tier)
            .gap(2)
            .cell(Tone::Normal, &format!("{time:>6}"), 8)
            .then(Tone::Normal, what);
        line.done().trimmed().to_owned()
    }
}

/// The round that it is in; of a retry, what that gave it.
fn round(wp: &WpState) -> String {
    let round = words::round(wp);
    match wp.rounds_before_retry() {
        0 => round,
        _ if wp.phase.settled() => round,
        before if wp.round > before => format!("{round} again"),
        before => format!("{round}, {} more", wp.last_round - before),
    }
}

/// The one thing to know of a WP besides its state.
fn what(wp: &WpState, ledger: &Ledger, plan: Option<&Plan>, now: Timestamp) -> String {
    match wp.phase {
        Phase::Passed | Phase::Integrated => match (&wp.branch, &wp.commit) {
            (Some(branch), Some(commit)) => format!("{branch} at {}", commit.short()),
            _ => wp.report.clone().unwrap_or_default(),
        },
        Phase::Escalated => wp.carried().first().map(one).unwrap_or_default(),
        Phase::Blocked => wp.blocked_by.as_ref().map(one).unwrap_or_default(),
        Phase::Taken => {
            let by = wp.hands.as_ref().map_or("", |hands| hands.by.as_str());
            format!("by {by}; {}", commands::recheck(&ledger.run, &wp.id))
        }
        Phase::Deferred => wp.because.as_ref().map(|id| format!("needs {id}")).unwrap_or_default(),
        Phase::Starting => match plan.and_then(|plan| Pause::of(plan, ledger, wp, now)) {
            Some(pause) => pause.text(now),
            None => words::title(&wp.id, &wp.title).to_owned(),
        },
        _ => words::title(&wp.id, &wp.title).to_owned(),
    }
}
