//! What the live view shows at one instant: a line for each WP that something happens to, as many as
//! the terminal has room for, and a bar for the run.

use super::canvas::Size;
use super::tail::Tails;
use crate::event::After;
use crate::ledger::{GatePhase, Ledger, Phase, WpState};
use crate::model::plan::{Kind, Plan};
use crate::model::time::{Length, Timestamp};
use crate::report::cells::width;
use crate::report::commands;
use crate::report::line::{Line, Row};
use crate::report::narrate::question;
use crate::report::outlook::{Pause, taken_at};
use crate::report::palette::{Look, Tone};
use crate::report::words;

/// Widest that a WP's name is shown.
const WIDEST_ID: usize = 20;

/// Widest that a stage's name is shown.
const WIDEST_STAGE: usize = 14;

/// Below this many columns a line says nothing of the stage.
const ROOM_FOR_STAGE: usize = 72;

/// WPs that wait and are shown: those that come next.
const NEXT: usize = 5;

/// Columns of the run's bar.
const BAR: usize = 24;

/// Draws the run as it stands at `now`, `elapsed` after this engine took it.
pub(super) fn frame(
    ledger: &Ledger,
    plan: Option<&Plan>,
    now: Timestamp,
    elapsed: Length,
    size: Size,
    look: &Look,
    tails: &mut Tails,
) -> Vec<Row> {
    // One column stays free, so that no terminal wraps a full line.
    let look = Look { width: Some(size.columns.saturating_sub(1)), ..*look };
    let (shown, hidden) = choose(ledger, room(ledger, size));
    let grid = Grid::of(ledger, size);
    let mut rows: Vec<Row> = shown
        .iter()
        .map(|wp| {
            let tail = tails.line(wp, ledger, now);
            grid.row(wp, now, &look, &doing(wp, ledger, plan, now, tail))
        })
        .collect();
    if let Some(more) = hidden.text(&look) {
        rows.push(Line::new(&look).then(Tone::Faint, &more).done());
    }
    rows.extend(gate(ledger, now, &look));
    rows.push(bar(ledger, now, elapsed, &look));
    // A terminal of two rows still gets the bar.
    let keep = size.rows.saturating_sub(1).max(1);
    rows.split_off(rows.len().saturating_sub(keep))
}

/// Rows for WPs: without the cursor's, the bar's and the gate's.
fn room(ledger: &Ledger, size: Size) -> usize {
    let gate = usize::from(ledger.gates.last().is_some_and(|gate| gate.phase.open()));
    size.rows.saturating_sub(2 + gate)
}

/// What there is no room for.
#[derive(Debug, Default)]
struct Hidden {
    active: usize,
    waiting: usize,
}

impl Hidden {
    fn text(&self, look: &Look) -> Option<String> {
        let dots = look.ellipsis();
        match (self.active, self.waiting) {
            (0, 0) => None,
            (0, waiting) => Some(format!("{dots} {waiting} more waiting")),
            (active, 0) => Some(format!("{dots} {active} more at work")),
            (active, waiting) => Some(format!("{dots} {active} more at work, {waiting} waiting")),
        }
    }
}

/// Those at work first, then those that wait for a person, then those that wait for others.
fn choose(ledger: &Ledger, room: usize) -> (Vec<&WpState>, Hidden) {
    let of = |sort: fn(Phase) -> bool| ledger.wps.iter().filter(move |wp| sort(wp.phase));
    let at_work: Vec<_> = of(Phase::active).chain(of(Phase::awaits_person)).collect();
    let waiting: Vec<_> = of(|phase| phase == Phase::Waiting).collect();
    let next = waiting.len().min(NEXT);
    let all = at_work.len() + next;
    let room = if all > room || next < waiting.len() { room.saturating_sub(1) } else { room };
    let next = next.min(room.saturating_sub(at_work.len()));
    let hidden =
        Hidden { active: at_work.len().saturating_sub(room), waiting: waiting.len() - next };
    let shown = at_work.into_iter().take(room).chain(waiting.into_iter().take(next));
    (shown.collect(), hidden)
}

/// Columns of the table.
struct Grid {
    id: usize,
    stage: usize,
    state: usize,
}

impl Grid {
    fn of(ledger: &Ledger, size: Size) -> Self {
        let widest = |text: fn(&WpState) -> &str| {
            ledger.wps.iter().map(|wp| width(text(wp))).max().unwrap_or_default()
        };
        let first = ledger.wps.first().map(|wp| &wp.stage);
        let stages = ledger.wps.iter().any(|wp| Some(&wp.stage) != first);
        let stage = if stages && size.columns >= ROOM_FOR_STAGE {
            widest(|wp| wp.stage.as_str()).min(WIDEST_STAGE)
        } else {
            0
        };
        Self {
            id: widest(|wp| wp.id.as_str()).min(WIDEST_ID),
            stage,
            // Wide enough for every state that a line is shown in, so that nothing jumps.
            state: words::state(Phase::AwaitingReview).len(),
        }
    }

    fn row(&self, wp: &WpState, now: Timestamp, look: &Look, doing: &str) -> Row {
        let tone = words::tone(wp.phase);
        let name = if wp.phase == Phase::Waiting { Tone::Faint } else { Tone::Strong };
        let mut line = Line::new(look)
            .then(tone, words::mark(wp.phase, look))
            .gap(1)
            .cell(name, wp.id.as_str(), self.id)
            .gap(2);
        if self.stage > 0 {
            line = line.cell(Tone::Faint, wp.stage.as_str(), self.stage).gap(2);
        }
        line = line.cell(tone, words::state(wp.phase), self.state).gap(1);
        let (round, time) = match (wp.phase, wp.since) {
            (Phase::Waiting, _) | (_, None) => (String::new(), String::new()),
            (_, Some(since)) => (words::round(wp), words::clock(now.since(since))),
        };
        let line =
            line.cell(Tone::Normal, &round, 3).cell(Tone::Normal, &format!("{time:>7}"), 7).gap(2);
        line.then(Tone::Faint, doing).done()
    }
}

/// What the line ends with: which check runs, and the last thing it or the worker printed.
fn doing(
    wp: &WpState,
    ledger: &Ledger,
    plan: Option<&Plan>,
    now: Timestamp,
    tail: Option<String>,
) -> String {
    let pause = || Pause::of(plan?, ledger, wp, now);
    match wp.phase {
        Phase::Waiting => match &wp.after {
            After::Base => "for a free worker".to_owned(),
            After::Stage(stage) => format!("after stage {stage}"),
            After::Wps(needs) => {
                let named = |so: fn(&WpState) -> bool| {
                    let ids = needs.iter().filter(|id| ledger.wp(id).is_none_or(so));
                    ids.map(ToString::to_string).collect::<Vec<_>>().join(", ")
                };
                let open = named(|wp| !wp.phase.got_through());
                // What is committed can be built on once its stage is merged.
                let unmerged = named(|wp| wp.phase == Phase::Passed && wp.kind == Kind::Change);
                match (open.as_str(), unmerged.as_str()) {
                    ("", "") => "for a free worker".to_owned(),
                    ("", unmerged) => format!("for the merge of {unmerged}"),
                    (open, _) => format!("after {open}"),
                }
            }
        },
        Phase::AwaitingReview => commands::approve(&ledger.run, &wp.id),
        Phase::Taken => format!("{}{}", by_lead(wp), commands::recheck(&ledger.run, &wp.id)),
        Phase::AwaitingAnswer => {
            let asked: Vec<String> = wp.unanswered().map(question).collect();
            let at = taken_at(plan, wp).map(|at| format!("; taken {}", words::due(at, now)));
            format!("{}{}", asked.join("; "), at.unwrap_or_default())
        }
        Phase::Starting => match (pause(), wp.spoilt.last()) {
            (Some(pause), _) => pause.text(now),
            (None, Some(spoilt)) => format!("again on {}: {}", wp.tier, spoilt.what),
            (None, None) => format!("on {}", wp.tier),
        },
        Phase::Proving => {
            let n = wp.proved.len();
            let run = wp.classes.get(n).map_or("", |class| &class.ran.run);
            let step = format!("{}/{} {run}", n + 1, wp.classes.len());
            tail.map_or(step.clone(), |tail| format!("{step}: {tail}"))
        }
        Phase::Working => tail.unwrap_or_else(|| format!("on {}", wp.tier)),
        _ => tail.unwrap_or_default(),
    }
}

/// Who of the lead has it.
fn by_lead(wp: &WpState) -> String {
    wp.hands.as_ref().map_or_else(String::new, |hands| format!("by {}: ", hands.by))
}

/// A stage that is being merged.
fn gate(ledger: &Ledger, now: Timestamp, look: &Look) -> Option<Row> {
    let gate = ledger.gates.last().filter(|gate| gate.phase.open())?;
    let stage = ledger.wps.iter().find(|wp| wp.level == gate.level).map(|wp| wp.stage.as_str())?;
    let what = match gate.phase {
        GatePhase::Merging => format!("merging {}", words::count(gate.wps.len() as u64, "WP")),
        _ => format!("DoD on the merged tree, {} done", gate.proved.len()),
    };
    let time = words::clock(now.since(gate.started_at));
    let line = Line::new(look).then(Tone::Active, look.pick("●", "*")).gap(1);
    let line = line.then(Tone::Strong, &format!("stage {stage}")).gap(2);
    Some(line.then(Tone::Active, &what).gap(2).then(Tone::Normal, &time).done())
}

/// How far the run is.
fn bar(ledger: &Ledger, now: Timestamp, elapsed: Length, look: &Look) -> Row {
    let count = |sort: fn(Phase) -> bool| ledger.wps.iter().filter(|wp| sort(wp.phase)).count();
    let total = ledger.wps.len();
    let done = count(Phase::got_through);
    let mut facts = vec![(Tone::Strong, format!("{done}/{total} done"))];
    let more: [(Tone, usize, &str); 4] = [
        (Tone::Active, count(Phase::active), "running"),
        (Tone::Warn, count(Phase::awaits_person), "waiting for you"),
        (Tone::Bad, count(|p| matches!(p, Phase::Escalated | Phase::Blocked)), "failed"),
        (Tone::Faint, count(|p| p == Phase::Deferred), "deferred"),
    ];
    facts.extend(
        more.into_iter().filter(|f| f.1 > 0).map(|(tone, n, w)| (tone, format!("{n} {w}"))),
    );
    facts.push((Tone::Normal, words::clock(elapsed)));

    let wanted: usize = facts.iter().map(|(_, text)| width(text) + 3).sum();
    let columns = look.width.unwrap_or(80).saturating_sub(wanted + 2).min(BAR);
    let filled = (columns * done).checked_div(total).unwrap_or_default();
    let mut line = Line::new(look)
        .then(Tone::Active, turning(now, look))
        .gap(1)
        .then(Tone::Good, &look.pick("━", "#").repeat(filled))
        .then(Tone::Faint, &look.pick("─", "-").repeat(columns - filled))
        .gap(usize::from(columns > 0));
    for (n, (tone, text)) in facts.iter().enumerate() {
        if n > 0 {
            line = line.then(Tone::Faint, look.dot());
        }
        line = line.then(*tone, text);
    }
    line.done()
}

/// A sign of life that costs one line of drawing.
fn turning(now: Timestamp, look: &Look) -> &'static str {
    const TURNS: [&str; 10] = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];
    const ASCII: [&str; 4] = ["|", "/", "-", "\\"];
    let tick = usize::try_from(now.0.as_millisecond() / 100).unwrap_or_default();
    look.pick(TURNS[tick % TURNS.len()], ASCII[tick % ASCII.len()])
}
