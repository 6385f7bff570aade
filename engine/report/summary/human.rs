//! The summary for people. The worst comes last, where the eye is: the first cause of a failure with
//! its log, right above the prompt.

use std::io::{self, Write};

use super::closing::NAMES as CLOSING;
use super::{Failure, StageSummary, Summary, Verified, WpSummary};
use crate::ledger::{GatePhase, Means, Note};
use crate::model::outcome::End;
use crate::model::stand::Stand;
use crate::model::verdict::Judgment;
use crate::report::cells::width;
use crate::report::commands;
use crate::report::critic;
use crate::report::line::{Flow, Line};
use crate::report::narrate::{one, question, sentence};
use crate::report::palette::{Look, Tone};
use crate::report::whole::Whole;
use crate::report::words;

/// Widest that names push the rest to the right.
const WIDEST_ID: usize = 24;

/// Columns of what a row is about.
const NAMES: usize = 9;

/// Commands that are listed.
const COMMANDS: usize = 8;

impl Summary {
    /// Writes the summary to `out`. Facts are never cut: what does not fit goes on in the next line, but
    /// for commands and output, which stay in one.
    ///
    /// # Errors
    /// When `out` cannot be written; a reader that has gone is the caller's to forgive
    /// ([`quiet`](crate::report::quiet)).
    pub fn write(&self, out: &mut impl Write, look: &Look) -> io::Result<()> {
        self.head(out, look)?;
        let ids = self.wps.iter().map(|wp| width(wp.id.as_str())).max().unwrap_or(0).min(WIDEST_ID);
        for wp in &self.wps {
            wp.write(out, look, ids, self.stand == Stand::Running)?;
        }
        writeln!(out)?;
        for stage in &self.stages {
            stage.write(out, look)?;
        }
        match &self.verify {
            Some(verify) => verify.write(out, look)?,
            None => Whole::write_none(out, look)?,
        }
        if let Some(delivery) = &self.delivery {
            delivery.write(out, look)?;
        }
        self.write_critic(out, look)?;
        self.write_tampering(out, look)?;
        self.closing.write(out, look)?;
        self.write_told(out, look)?;
        if let Some(costs) = &self.costs {
            writeln!(out)?;
            costs.write(out, look)?;
        }
        self.write_lessons(out, look)?;
        self.write_next(out, look)?;
        match &self.failure {
            Some(failure) => failure.write(out, look),
            None => Ok(()),
        }
    }

    /// What the critic of the plan said, in a line, and what the lead did not take, each with its reason.
    fn write_critic(&self, out: &mut impl Write, look: &Look) -> io::Result<()> {
        let Some(reading) = &self.critic else { return Ok(()) };
        let head = Line::new(look).cell(Tone::Faint, "critic", CLOSING);
        write_rows(out, Flow::after(head).then(Tone::Normal, &critic::tally(reading)))?;
        for (remark, reason) in reading.refused() {
            let text = format!("{} refused: {reason}", remark.number);
            let below = Line::new(look).gap(CLOSING);
            write_rows(out, Flow::after(below).then(Tone::Faint, &text))?;
        }
        Ok(())
    }

    /// What was done to the repository and stands, each with what puts it back.
    fn write_tampering(&self, out: &mut impl Write, look: &Look) -> io::Result<()> {
        for standing in &self.tampering {
            let mark = Line::new(look).then(Tone::Bad, words::tone_mark(Tone::Bad, look)).gap(1);
            write_rows(out, Flow::after(mark).then(Tone::Bad, &standing.to_string()))?;
            if let Some(command) = &standing.put_back {
                write_command(out, look, 4, command)?;
            }
        }
        Ok(())
    }

    /// What is so of the whole run: what was accepted, corrections, providers that are out.
    fn write_told(&self, out: &mut impl Write, look: &Look) -> io::Result<()> {
        let noted = self.corrections.iter().map(|note| {
            let Note { by, text, .. } = note;
            format!("corrected by {by}: {text}")
        });
        let out_of_order = self.outages.iter().filter(|outage| outage.means() != Means::Try);
        let down =
            out_of_order.map(|it| format!("{} is out: {} ({})", it.worker, it.what, it.class));
        let left = self.not_cleared();
        let taken = self.accepted.iter().filter(|it| !it.changed.is_empty());
        let taken = taken.map(|it| words::accepted(&it.changed, it.by.as_deref()));
        let told: Vec<String> = taken.chain(noted).chain(down).chain(left).collect();
        if !told.is_empty() {
            writeln!(out)?;
        }
        for text in told {
            write_rows(
                out,
                Flow::after(Line::new(look).then(Tone::Warn, "? ")).then(Tone::Normal, &text),
            )?;
        }
        Ok(())
    }

    /// Sessions that were launched and settled, and not cleared away.
    fn not_cleared(&self) -> Option<String> {
        if !self.is_over() {
            return None;
        }
        // Those that nobody is told to look after otherwise are named where the run is closed.
        let clean = commands::clean(&self.run);
        let worktrees = self.closing.remains.iter().filter(|it| it.command != clean);
        let mut named: Vec<String> = worktrees.map(|it| it.wp.to_string()).collect();
        let running = self.left.iter();
        named.extend(running.map(|left| format!("{} (its {} still runs)", left.unit, left.step)));
        (!named.is_empty()).then(|| format!("not cleared away: {} ({clean})", named.join(", ")))
    }

    fn head(&self, out: &mut impl Write, look: &Look) -> io::Result<()> {
        let (word, tone) = words::stand(self.stand);
        let word = words::with_reason(word, self.failed_in.as_deref());
        let mark = Line::new(look).then(tone, words::tone_mark(tone, look)).gap(1);
        let text = Flow::after(mark)
            .then(Tone::Strong, self.run.as_str())
            .dot()
            .then(tone, &word)
            .dot()
            .then(Tone::Normal, &format!("{} of {} WPs through", self.through, self.wps.len()))
            .dot()
            .then(Tone::Normal, &words::took(self.took));
        write_rows(out, text)?;
        write_rows(out, Flow::after(Line::new(look).gap(2)).then(Tone::Normal, &self.goal))?;
        writeln!(out)
    }

    /// Writes what the run has taught, for whoever wants to keep it.
    fn write_lessons(&self, out: &mut impl Write, look: &Look) -> io::Result<()> {
        if self.lessons.is_empty() {
            return Ok(());
        }
        writeln!(out, "\n{}", look.paint(Tone::Strong, "Worth keeping?"))?;
        let wide = Look { width: None, ..*look };
        for lesson in &self.lessons {
            let why = format!("# {}", lesson.why);
            write_rows(out, Flow::after(Line::new(look).gap(2)).then(Tone::Faint, &why))?;
            let line = Line::new(&wide).gap(2).then(Tone::Command, &lesson.command);
            writeln!(out, "{}", line.done().trimmed())?;
        }
        Ok(())
    }

    /// Writes what to type next.
    ///
    /// # Errors
    /// When `out` cannot be written.
    pub fn write_next(&self, out: &mut impl Write, look: &Look) -> io::Result<()> {
        if self.archived {
            writeln!(out)?;
            let text = "it is in the archive: it can be looked at, and not gone on with";
            write_rows(out, Flow::after(Line::new(look)).then(Tone::Faint, text))?;
        }
        if self.next.is_empty() {
            return Ok(());
        }
        writeln!(out, "\n{}", look.paint(Tone::Strong, "Next"))?;
        let shown = self.next.iter().take(COMMANDS);
        let widest = shown.clone().map(|next| width(&next.command)).max().unwrap_or(0).min(60);
        let wide = Look { width: None, ..*look };
        for next in shown {
            let command = width(&next.command);
            let why = format!("# {}", next.why);
            let beside = 2 + widest.max(command) + 2;
            let line = Line::new(&wide).gap(2);
            if look.width.is_none_or(|room| beside + width(&why) <= room) {
                let line = line.cell(Tone::Command, &next.command, widest.max(command)).gap(2);
                writeln!(out, "{}", line.then(Tone::Faint, &why).done().trimmed())?;
            } else {
                write_rows(out, Flow::after(Line::new(look).gap(2)).then(Tone::Faint, &why))?;
                let line = line.then(Tone::Command, &next.command);
                writeln!(out, "{}", line.done().trimmed())?;
            }
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
    fn write(
        &self,
        out: &mut impl Write,
        look: &Look,
        ids: usize,
        running: bool,
    ) -> io::Result<()> {
        let (tone, mark) = match words::is_left(self.state, running) {
            true => (Tone::Warn, words::tone_mark(Tone::Warn, look)),
            false => (words::tone(self.state), words::mark(self.state, look)),
        };
        let id = self.id.as_str();
        let head = Line::new(look)
            .then(tone, mark)
            .gap(1)
            .cell(Tone::Strong, id, ids.max(width(id)))
            .gap(2);
        let mut text = Flow::after(head).then(tone, words::state_of(self.state, running));
        for fact in self.course() {
            text = text.dot().then(Tone::Normal, &fact);
        }
        if let Some(branch) = &self.branch {
            text = text.dot().then(Tone::Normal, branch);
            if let Some(commit) = self.commit.as_ref().filter(|_| self.moved.is_none()) {
                text = text.then(Tone::Normal, &format!(" at {}", commit.short()));
            }
        }
        write_rows(out, text)?;
        let row = |name: &str| Flow::after(Line::new(look).gap(4).cell(Tone::Faint, name, NAMES));
        if self.verified.any() {
            write_rows(out, self.verified.after(row("verified")))?;
        }
        if let Some(by) = &self.taken_by {
            write_rows(out, row("taken").then(Tone::Warn, &format!("by {by}")))?;
        }
        if !self.by_lead.is_empty() {
            let files = format!("changed by the lead: {}", self.by_lead.join(", "));
            write_rows(out, row("by hand").then(Tone::Warn, &files))?;
        }
        for fork in &self.asks {
            write_rows(out, row("asks").then(Tone::Warn, &question(fork)))?;
        }
        if let Some(fault) = &self.fault {
            let text = format!("{} ({})", fault.message, fault.class);
            write_rows(out, row("last").then(Tone::Warn, &text))?;
        }
        for problem in &self.problems {
            write_rows(out, row("problem").then(Tone::Bad, &one(problem)))?;
        }
        if let Some(moved) = &self.moved {
            write_rows(out, row("moved").then(Tone::Bad, &moved.what))?;
            write_command(out, look, 4 + NAMES, &moved.command)?;
        }
        for note in &self.notes {
            write_rows(out, row("seen").then(Tone::Warn, note))?;
        }
        if let Some(report) = self.report.as_deref().filter(|_| self.state.got_through()) {
            write_rows(out, row("report").then(Tone::Normal, report))?;
        }
        if let Some(worktree) = self.worktree.as_ref().filter(|_| self.kept.is_none())
            && !self.state.got_through()
        {
            write_rows(out, row("worktree").then(Tone::Normal, worktree))?;
        }
        if let (Some(why), Some(worktree)) = (&self.kept, &self.worktree) {
            write_rows(out, row("kept").then(Tone::Warn, &format!("{worktree}: {why}")))?;
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

    fn after<'a>(&self, mut text: Flow<'a>) -> Flow<'a> {
        let mut first = true;
        let mut dot = |text: Flow<'a>| if std::mem::take(&mut first) { text } else { text.dot() };
        if let Some(scope) = &self.scope {
            let paths = words::count(scope.paths, "path");
            let (tone, word) = if scope.ok { (Tone::Good, "ok") } else { (Tone::Bad, "broken") };
            text = dot(text).then(Tone::Normal, "scope ").then(tone, word);
            text = text.then(Tone::Normal, &format!(" ({paths})"));
        }
        for dod in &self.dod {
            let tone = if dod.end.success() { Tone::Good } else { Tone::Bad };
            let end = match &dod.end {
                End::Exit { code } => format!("exit={code}"),
                end => end.to_string(),
            };
            text = dot(text).then(Tone::Normal, &format!("{} ", dod.run)).then(tone, &end);
        }
        if let Some(review) = &self.review {
            let (tone, word) = match review.verdict {
                Judgment::Approve => (Tone::Good, "approved"),
                Judgment::RequestChanges => (Tone::Bad, "changes asked for"),
            };
            text = dot(text).then(tone, word).then(Tone::Normal, &format!(" by {}", review.by));
        }
        text
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
        let mark = Line::new(look).then(tone, words::tone_mark(tone, look)).gap(1);
        let mut text = Flow::after(mark)
            .then(Tone::Strong, &format!("stage {} ", self.stage))
            .then(tone, word)
            .dot()
            .then(Tone::Normal, &words::count(self.wps.len() as u64, "WP"));
        let (ran, passed) = self.dod;
        if ran > 0 {
            let proven = format!("DoD {passed}/{ran} on the merged tree");
            text = text.dot().then(Tone::Normal, &proven);
        }
        if let (Some(branch), Some(commit), GatePhase::Passed) =
            (&self.branch, &self.commit, self.state)
        {
            let at = if self.moved.is_some() { "was at" } else { "at" };
            let stands = format!("{branch} {at} {}", commit.short());
            text = text.dot().then(Tone::Normal, &stands);
        }
        write_rows(out, text)?;
        let row = |text: &str| Flow::after(Line::new(look).gap(4)).then(Tone::Bad, text);
        if let Some(moved) = &self.moved {
            write_rows(out, row(&moved.what))?;
            write_command(out, look, 4, &moved.command)?;
        }
        if self.state == GatePhase::Failed {
            for problem in &self.problems {
                write_rows(out, row(&one(problem)))?;
            }
        }
        Ok(())
    }
}

impl Failure {
    fn write(&self, out: &mut impl Write, look: &Look) -> io::Result<()> {
        let bar = |look| Line::new(look).then(Tone::Bad, look.pick("│", "|")).gap(1);
        let corner = Line::new(look).then(Tone::Bad, look.pick("┌ ", ", "));
        let head = Flow::after(corner)
            .then(Tone::Bad, "First failure: ")
            .then(Tone::Strong, &self.what)
            .dot()
            .then(Tone::Normal, &format!("{} ({})", self.check, self.class));
        writeln!(out)?;
        write_below(out, head, look)?;
        let what = sentence(self.check, self.subject.as_deref(), &self.message);
        let others = match self.others {
            0 => String::new(),
            n => format!(" (and {} with it)", words::count(n as u64, "problem")),
        };
        let text = Flow::after(bar(look)).then(Tone::Normal, &what).then(Tone::Faint, &others);
        write_below(out, text, look)?;
        if !self.tail.is_empty() {
            writeln!(out, "{}", bar(look).done().trimmed())?;
        }
        let wide = Look { width: None, ..*look };
        for line in &self.tail {
            let line = bar(&wide).gap(2).then(Tone::Normal, line);
            writeln!(out, "{}", line.done().trimmed())?;
        }
        let corner = Line::new(&wide).then(Tone::Bad, look.pick("└ ", "` "));
        let end = match &self.log {
            Some(log) => corner.then(Tone::Faint, "log ").then(Tone::Normal, log),
            None => corner.then(Tone::Faint, "no log"),
        };
        let end = match &self.log_error {
            Some(error) => end.then(Tone::Warn, &format!(" (incomplete: {error})")),
            None => end,
        };
        writeln!(out, "{}", end.done().trimmed())
    }
}

/// A command stays in one line, for whoever copies it.
fn write_command(out: &mut impl Write, look: &Look, indent: usize, text: &str) -> io::Result<()> {
    let wide = Look { width: None, ..*look };
    let line = Line::new(&wide).gap(indent).then(Tone::Command, text);
    writeln!(out, "{}", line.done().trimmed())
}

fn write_rows(out: &mut impl Write, text: Flow<'_>) -> io::Result<()> {
    text.write(out)
}

/// Writes a text of a failure's block, whose bar goes on below the first line.
fn write_below(out: &mut impl Write, text: Flow<'_>, look: &Look) -> io::Result<()> {
    let bar = look.paint(Tone::Bad, look.pick("│", "|"));
    for (n, row) in text.rows().iter().enumerate() {
        match row.trimmed().strip_prefix(' ').filter(|_| n > 0) {
            Some(rest) => writeln!(out, "{bar}{rest}")?,
            None => writeln!(out, "{}", row.trimmed())?,
        }
    }
    Ok(())
}
