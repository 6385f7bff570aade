//! The runs of a repository, a line each.

use std::io::{self, Write};

use crate::model::time::Timestamp;
use crate::model::upkeep::{RunLine, RunState};
use crate::report::cells::width;
use crate::report::line::{Flow, Line};
use crate::report::palette::{Look, Tone};
use crate::report::words;

/// Writes the runs at `now`.
///
/// # Errors
/// When `out` cannot be written.
pub fn list(runs: &[RunLine], now: Timestamp, out: &mut impl Write, look: &Look) -> io::Result<()> {
    if runs.is_empty() {
        return writeln!(out, "This repository has no run yet.");
    }
    let names = runs.iter().map(|run| width(run.run.as_str())).max().unwrap_or(0).min(32);
    let states = runs.iter().map(|run| width(state(run).0)).max().unwrap_or(0);
    for run in runs {
        let (word, tone) = state(run);
        let name = run.run.as_str();
        let head = Line::new(look)
            .then(tone, words::tone_mark(tone, look))
            .gap(1)
            .cell(Tone::Strong, name, names.max(width(name)))
            .gap(2)
            .cell(tone, word, states.max(width(word)));
        let mut text = Flow::after(head);
        match &run.unreadable {
            Some(why) => text = text.then(Tone::Bad, why),
            None => {
                text =
                    text.then(Tone::Normal, &format!("{} of {} WPs through", run.through, run.wps));
            }
        }
        if let Some(updated) = run.updated {
            text =
                text.dot().then(Tone::Faint, &format!("{} ago", words::clock(now.since(updated))));
        }
        for (n, what) in [(run.worktrees, "worktree"), (run.branches, "branch")] {
            if n > 0 {
                let text_of = words::count(n as u64, what).replace("branchs", "branches");
                text = text.dot().then(Tone::Normal, &format!("{text_of} left"));
            }
        }
        text.write(out)?;
        if !run.goal.is_empty() {
            super::remark(Tone::Faint, &run.goal, out, look)?;
        }
    }
    Ok(())
}

/// How it stands, in the word of all reports, but for what only this list knows.
fn state(run: &RunLine) -> (&'static str, Tone) {
    match (run.state, run.stand) {
        (RunState::Archived, _) => ("archived", Tone::Faint),
        (RunState::Unreadable, _) | (_, None) => ("unreadable", Tone::Bad),
        (_, Some(stand)) => words::stand(stand),
    }
}
