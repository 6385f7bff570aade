//! The summary for people. The worst comes last, where the eye is: the first cause of a failure with
//! its log, right above the prompt.

use std::io::{self, Write};

use super::{Failure, StageSummary, Summary, Verified, WpSummary};
use crate::event::StopReason;
use crate::ledger::GatePhase;
use crate::model::outcome::End;
use crate::model::verdict::Judgment;
use crate::report::cells::width;
use crate::report::commands;
use crate::report::line::Line;
use crate::report::narrate::{one, sentence};
use crate::report::palette::{Look, Tone};
use crate::report::words;

/// Widest that names push the rest to the right.
const WIDEST_ID: usize = 24;

/// Commands that are listed.
const COMMANDS: usize = 8;

impl Summary {
    /// Writes the summary to `out`. Facts are never cut: what does not fit wraps.
    ///
    /// # Errors
    /// When `out` cannot be written; a reader that has gone is the caller's to forgive
    /// ([`quiet`](crate::report::quiet)).
    pub fn write(&self, out: &mut impl Write, look: &Look) -> io::Result<()> {
        let look = &Look { width: None, ..*look };
        self.head(out, look)?;
        let ids = self.wps.iter().map(|wp| width(wp.id.as_str())).max().unwrap_or(0).min(WIDEST_ID);
        for wp in &self.wps {
            wp.write(out, look, ids)?;
        }
        if !self.stages.is_empty() {
            writeln!(out)?;
        }
        for stage in &self.stages {
            stage.write(out, look)?;
        }
        if let Some(whole) = self.whole.as_ref().filter(|_| !self.stages.is_empty()) {
            whole.write(out, look)?;
        }
        self.write_next(out, look)?;
        match &self.failure {
            Some(failure) => failure.write(out, look),
            None => Ok(()),
        }
    }

    fn head(&self, out: &mut impl Write, look: &Look) -> io::Result<()> {
        let (word, tone) = match self.stopped {
            Some(StopReason::Interrupted) => ("interrupted", Tone::Warn),
            _ => words::outcome(self.outcome),
        };
        let dot = look.dot();
        let line = Line::new(look)
            .then(tone, words::tone_mark(tone, look))
            .gap(1)
            .then(Tone::Strong, self.run.as_str())
            .then(Tone::Faint, dot)
            .then(tone, word)
            .then(Tone::Faint, dot)
            .then(Tone::Normal, &format!("{} of {} WPs through", self.through, self.wps.len()))
            .then(Tone::Faint, dot)
            .then(Tone::Normal, &words::took(self.took));
        writeln!(out, "{}", line.done().trimmed())?;
        writeln!(out, "  {}\n", Line::new(look).then(Tone::Normal, &self.goal).done().trimmed())
    }

    /// Writes what to type next.
    ///
    /// # Errors
    /// When `out` cannot be written.
    pub fn write_next(&self, out: &mut impl Write, look: &Look) -> io::Result<()> {
        writeln!(out, "\n{}", look.paint(Tone::Strong, "Next"))?;
        let shown = self.next.iter().take(COMMANDS);
        let widest = shown.clone().map(|next| width(&next.command)).max().unwrap_or(0).min(60);
        for next in shown {
            let line = Line::new(look)
                .gap(2)
                .cell(Tone::Command, &next.command, widest.max(width(&next.command)))
                .then(Tone::Faint, &format!("  # {}", next.why));
            writeln!(out, "{}", line.done().trimmed())?;
        }
        match self.next.len().saturating_sub(COMMANDS) {
            0 => Ok(()),
            more => {
                let text =
                    format!("  {} {more} more: {}", look.ellipsis(), commands::status(&self.run));
                writeln!(out, "{}", look.paint(Tone::Faint, &text))
            }
        }
    }
}

impl WpSummary {
    fn write(&self, out: &mut impl Write, look: &Look, ids: usize) -> io::Result<()> {
        let tone = words::tone(self.state);
        let id = self.id.as_str();
        let mut line = Line::new(look)
            .then(tone, words::mark(self.state, look))
            .gap(1)
            .cell(Tone::Strong, id, ids.max(width(id)))
            .gap(2)
            .then(tone, words::state(self.state));
        for fact in self.course() {
            line = line.then(Tone::Faint, look.dot()).then(Tone::Normal, &fact);
        }
        if let Some(branch) = &self.branch {
            line = line.then(Tone::Faint, look.dot()).then(Tone::Normal, branch);
            if let Some(commit) = self.commit.as_ref().filter(|_| self.moved.is_none()) {
                line = line.then(Tone::Normal, &format!(" at {}", commit.short()));
            }
        }
        writeln!(out, "{}", line.done().trimmed())?;
        let row = |out: &mut dyn Write, name: &str, line: Line<'_>| {
            let name = look.paint(Tone::Faint, &format!("{name:<8}"));
            writeln!(out, "    {name}{}", line.done().trimmed())
        };
        if self.verified.any() {
            row(out, "verified", self.verified.line(Line::new(look).gap(1), look))?;
        }
        for problem in &self.problems {
            let text = one(problem);
            row(out, "problem", Line::new(look).gap(1).then(Tone::Bad, &text))?;
        }
        if let Some(moved) = &self.moved {
            row(out, "moved", Line::new(look).gap(1).then(Tone::Bad, moved))?;
        }
        for note in &self.notes {
            row(out, "seen", Line::new(look).gap(1).then(Tone::Warn, note))?;
        }
        if let Some(report) = self.report.as_deref().filter(|_| self.state.got_through()) {
            row(out, "report", Line::new(look).gap(1).then(Tone::Normal, report))?;
        }
        if let Some(worktree) = self.worktree.as_ref().filter(|_| self.kept.is_none())
            && !self.state.got_through()
        {
            row(out, "worktree", Line::new(look).gap(1).then(Tone::Normal, worktree))?;
        }
        if let (Some(why), Some(worktree)) = (&self.kept, &self.worktree) {
            let line = Line::new(look).gap(1).then(Tone::Warn, &format!("{worktree}: {why}"));
            row(out, "kept", line)?;
        }
        Ok(())
    }

    /// How it came to where it is.
    fn course(&self) -> Vec<String> {
        let mut facts = Vec::new();
        if let Some(because) = &self.because {
            facts.push(format!("needs {because}"));
        }
        if self.rounds > 0 {
            facts.push(words::count(u64::from(self.rounds), "round"));
        }
        if self.attempts > self.rounds {
            facts.push(words::count(u64::from(self.attempts), "start"));
        }
        if !self.tiers.is_empty() {
            let tiers: Vec<_> = self.tiers.iter().map(ToString::to_string).collect();
            facts.push(tiers.join(", then "));
        }
        facts.extend(self.took.map(words::took));
        facts
    }
}

impl Verified {
    fn any(&self) -> bool {
        self.scope.is_some() || !self.dod.is_empty() || self.review.is_some()
    }

    fn line<'a>(&self, mut line: Line<'a>, look: &'a Look) -> Line<'a> {
        let mut first = true;
        let mut dot = |line: Line<'a>| {
            if std::mem::take(&mut first) { line } else { line.then(Tone::Faint, look.dot()) }
        };
        if let Some(scope) = &self.scope {
            let paths = words::count(scope.paths, "path");
            let (tone, word) = if scope.ok { (Tone::Good, "ok") } else { (Tone::Bad, "broken") };
            line = dot(line).then(Tone::Normal, "scope ").then(tone, word);
            line = line.then(Tone::Normal, &format!(" ({paths})"));
        }
        for dod in &self.dod {
            let tone = if dod.end.success() { Tone::Good } else { Tone::Bad };
            let end = match &dod.end {
                End::Exit { code } => format!("exit={code}"),
                end => end.to_string(),
            };
            line = dot(line).then(Tone::Normal, &format!("{} ", dod.run)).then(tone, &end);
        }
        if let Some(review) = &self.review {
            let (tone, word) = match review.verdict {
                Judgment::Approve => (Tone::Good, "approved"),
                Judgment::RequestChanges => (Tone::Bad, "changes asked for"),
            };
            line = dot(line).then(tone, word).then(Tone::Normal, &format!(" by {}", review.by));
        }
        line
    }
}

impl StageSummary {
    fn write(&self, out: &mut impl Write, look: &Look) -> io::Result<()> {
        let (tone, word) = match self.state {
            GatePhase::Passed => (Tone::Good, "holds together"),
            GatePhase::Failed => (Tone::Bad, "does not hold together"),
            GatePhase::Superseded => (Tone::Faint, "did not hold together; tried again"),
            GatePhase::Merging | GatePhase::Proving => (Tone::Active, "being merged"),
        };
        let mut line = Line::new(look)
            .then(tone, words::tone_mark(tone, look))
            .then(Tone::Strong, &format!(" stage {} ", self.stage))
            .then(tone, word)
            .then(Tone::Faint, look.dot())
            .then(Tone::Normal, &words::count(self.wps.len() as u64, "WP"));
        let (ran, passed) = self.dod;
        if ran > 0 {
            let text = format!("DoD {passed}/{ran} on the merged tree");
            line = line.then(Tone::Faint, look.dot()).then(Tone::Normal, &text);
        }
        if let (Some(branch), Some(commit), GatePhase::Passed) =
            (&self.branch, &self.commit, self.state)
        {
            let at = if self.moved.is_some() { "was at" } else { "at" };
            let text = format!("{branch} {at} {}", commit.short());
            line = line.then(Tone::Faint, look.dot()).then(Tone::Normal, &text);
        }
        writeln!(out, "{}", line.done().trimmed())?;
        if let Some(moved) = &self.moved {
            writeln!(out, "{}", Line::new(look).gap(4).then(Tone::Bad, moved).done().trimmed())?;
        }
        if self.state == GatePhase::Failed {
            for problem in &self.problems {
                let line = Line::new(look).gap(4).then(Tone::Bad, &one(problem));
                writeln!(out, "{}", line.done().trimmed())?;
            }
        }
        Ok(())
    }
}

impl Failure {
    fn write(&self, out: &mut impl Write, look: &Look) -> io::Result<()> {
        let bar = look.paint(Tone::Bad, look.pick("│", "|"));
        let head = Line::new(look)
            .then(Tone::Bad, look.pick("┌ ", ", "))
            .then(Tone::Bad, "First failure: ")
            .then(Tone::Strong, &self.what)
            .then(Tone::Faint, look.dot())
            .then(Tone::Normal, &format!("{} ({})", self.check, self.class));
        writeln!(out, "\n{}", head.done().trimmed())?;
        let what = sentence(self.check, self.subject.as_deref(), &self.message);
        let others = match self.others {
            0 => String::new(),
            n => format!(" (and {} with it)", words::count(n as u64, "problem")),
        };
        let line = Line::new(look).then(Tone::Normal, &what).then(Tone::Faint, &others).done();
        writeln!(out, "{bar} {}", line.trimmed())?;
        if !self.tail.is_empty() {
            writeln!(out, "{bar}")?;
        }
        for line in &self.tail {
            writeln!(out, "{bar}   {}", Line::new(look).then(Tone::Normal, line).done().trimmed())?;
        }
        let end = match &self.log {
            Some(log) => Line::new(look).then(Tone::Faint, "log ").then(Tone::Normal, log),
            None => Line::new(look).then(Tone::Faint, "no log"),
        };
        let corner = look.paint(Tone::Bad, look.pick("└", "`"));
        writeln!(out, "{corner} {}", end.done().trimmed())
    }
}
