//! The checkpoint report for people: what a run would do, in the order in which it would do it, and
//! last what is wrong with that.

use std::io::{self, Write};

use super::cells::{output_line, width, wrap};
use super::commands;
use super::critic;
use super::escape::visible;
use super::estimate;
use super::limits;
use super::line::Line;
use super::palette::{Look, Tone};
use super::preflight;
use super::whole;
use super::words;
use crate::model::approval::Cover;
use crate::model::checkpoint::{
    Checkpoint, Overlap, OverlapSort, PlannedDod, PlannedStage, PlannedWp,
};
use crate::model::ids::WpId;
use crate::model::outcome::DodClass;
use crate::model::plan::{Approval, Kind, Mode, Risk, block_from};
use crate::model::preflight::State;

/// Columns of the words that stand before facts.
const NAMES: usize = 11;

/// Paths of an overlap that are listed.
const LISTED: usize = 6;

/// Lines of output that show why a DoD command could not run.
const TAIL: usize = 5;

/// Writes `checkpoint` to `out`.
///
/// # Errors
/// When `out` cannot be written.
pub fn write(checkpoint: &Checkpoint, out: &mut impl Write, look: &Look) -> io::Result<()> {
    let bare = Look { width: None, ..*look };
    let page = Page { look: &bare, width: look.width };
    page.head(checkpoint, out)?;
    for stage in &checkpoint.stages {
        page.stage(stage, checkpoint, out)?;
    }
    page.after(checkpoint, out)?;
    page.wrong(checkpoint, out)
}

/// Writes `checkpoint` as JSON.
///
/// # Errors
/// When `out` cannot be written.
pub fn json(checkpoint: &Checkpoint, out: &mut impl Write) -> io::Result<()> {
    super::json::pretty(checkpoint, out)
}

/// Where it is written. Nothing is cut: what a person says yes to stands there whole.
struct Page<'a> {
    look: &'a Look,
    width: Option<usize>,
}

impl Page<'_> {
    fn head(&self, plan: &Checkpoint, out: &mut impl Write) -> io::Result<()> {
        let title = Line::new(self.look)
            .then(Tone::Strong, plan.run.as_str())
            .then(Tone::Faint, self.look.dot())
            .then(Tone::Normal, &plan.goal);
        writeln!(out, "{}", title.done().trimmed())?;
        let wps = plan.wps().count() as u64;
        let mode = match plan.mode {
            Mode::Independent => "independent: each WP has a branch of its own".to_owned(),
            Mode::Staged => format!("in {}", words::count(plan.stages.len() as u64, "stage")),
        };
        let plan_line = format!(
            "{} (resolved: sha256 {})",
            plan.plan,
            plan.plan_sha256.get(..12).unwrap_or("")
        );
        self.fact(out, 2, "plan", Tone::Normal, &plan_line)?;
        let base = format!("{} at {}", plan.base, plan.commit.short());
        self.fact(out, 2, "base", Tone::Normal, &base)?;
        let most = words::count(plan.max_parallel as u64, "worker");
        let work = format!("{} {mode}; at most {most} at once", words::count(wps, "WP"));
        self.fact(out, 2, "work", Tone::Normal, &work)?;
        if plan.approval == Approval::Auto {
            self.fact(
                out,
                2,
                "approval",
                Tone::Warn,
                "`approval = \"auto\"`: nobody will be asked",
            )?;
        }
        let provision = &plan.provision;
        self.list(out, 2, "copies", &provision.copy)?;
        for setup in &provision.setup {
            self.fact(out, 2, "setup", Tone::Normal, setup)?;
        }
        self.list(out, 2, "must have", &provision.expect)?;
        self.limits(plan, out)?;
        let tone = if plan.estimate.is_some() { Tone::Normal } else { Tone::Faint };
        self.fact(out, 2, "estimate", tone, &estimate::run(plan))
    }

    /// What holds the run, and then each session on each tier.
    fn limits(&self, plan: &Checkpoint, out: &mut impl Write) -> io::Result<()> {
        let run = limits::budget(plan.budget).unwrap_or_else(|| "no budget".to_owned());
        self.fact(out, 2, "limits", Tone::Normal, &format!("the run: {run}"))?;
        for (name, tier) in &plan.tiers {
            self.fact(out, 2, "", Tone::Normal, &format!("{name}: {}", limits::tier(tier)))?;
        }
        Ok(())
    }

    fn stage(
        &self,
        stage: &PlannedStage,
        plan: &Checkpoint,
        out: &mut impl Write,
    ) -> io::Result<()> {
        writeln!(out)?;
        if plan.mode == Mode::Staged {
            let mut line = Line::new(self.look)
                .then(Tone::Active, "stage ")
                .then(Tone::Strong, stage.stage.as_str());
            if let Some(branch) = &stage.merged_on {
                line = line.then(Tone::Faint, &format!("  merged on {branch}"));
            }
            writeln!(out, "{}", line.done().trimmed())?;
            self.list(out, 2, "nobody's", &stage.shared)?;
        }
        for (n, wp) in stage.wps.iter().enumerate() {
            if n > 0 {
                writeln!(out)?;
            }
            self.wp(wp, plan.estimate.is_some(), out)?;
            self.request(plan, Some(&wp.id), 4, out)?;
        }
        Ok(())
    }

    fn wp(&self, wp: &PlannedWp, estimated: bool, out: &mut impl Write) -> io::Result<()> {
        let title = Line::new(self.look)
            .gap(2)
            .then(Tone::Strong, wp.id.as_str())
            .gap(2)
            .then(Tone::Normal, words::title(&wp.id, &wp.title));
        writeln!(out, "{}", title.done().trimmed())?;
        let dot = self.look.dot();
        let mut who = format!("{} ({})", wp.tier, wp.worker);
        who.push_str(&format!("{dot}at most {}", words::count(u64::from(wp.rounds), "round")));
        let mut line = self.named(4, "worker").then(Tone::Normal, &who).then(Tone::Faint, dot);
        let risk = format!("{} risk", words::risk(wp.risk));
        let tone = if wp.risk == Risk::High { Tone::Warn } else { Tone::Normal };
        line = line.then(tone, &risk);
        writeln!(out, "{}", line.done().trimmed())?;
        match wp.kind {
            Kind::Scout => self.fact(out, 4, "may touch", Tone::Normal, "nothing: it reports")?,
            Kind::Change => {
                let base = match wp.files {
                    0 => "no file of the base yet".to_owned(),
                    files => format!("{} of the base", words::count(files, "file")),
                };
                self.list(out, 4, "may touch", &wp.whitelist)?;
                self.fact(out, 4, "", Tone::Faint, &base)?;
            }
        }
        let widest = wp.dod.iter().map(|dod| width(&dod.run)).max().unwrap_or(0).min(48);
        for (n, dod) in wp.dod.iter().enumerate() {
            self.dod(if n == 0 { "proven by" } else { "" }, dod, widest, out)?;
        }
        if let Some(budget) = limits::budget(wp.budget) {
            self.fact(out, 4, "limits", Tone::Normal, &budget)?;
        }
        if estimated {
            self.fact(out, 4, "past runs", Tone::Normal, &estimate::wp(wp))?;
        }
        let needs: Vec<String> = wp.needs.iter().map(ToString::to_string).collect();
        self.list(out, 4, "needs", &needs)?;
        self.list(out, 4, "locks", &wp.locks)?;
        self.list(out, 4, "findings", &wp.findings)?;
        match wp.review.as_str() {
            "none" => {}
            "human" => self.fact(out, 4, "review", Tone::Warn, "by a person: the WP will wait")?,
            command => self.fact(out, 4, "review", Tone::Normal, &format!("by {command}"))?,
        }
        match &wp.committed_on {
            Some(branch) => self.fact(out, 4, "committed", Tone::Normal, &format!("on {branch}")),
            None => Ok(()),
        }
    }

    fn dod(
        &self,
        name: &str,
        dod: &PlannedDod,
        widest: usize,
        out: &mut impl Write,
    ) -> io::Result<()> {
        let line =
            self.named(4, name).cell(Tone::Normal, &dod.run, widest.max(width(&dod.run))).gap(2);
        let (tone, word) = match dod.class {
            Some(class) => (words::class_tone(class), said(class)),
            None => (Tone::Faint, "not run on the base"),
        };
        let mut text = Line::new(self.look).then(tone, word);
        if dod.violated
            && let Some(expect) = dod.expect
        {
            text = text.then(Tone::Bad, &format!("; the plan expects {expect}"));
        }
        let (line, text) = (line.done(), text.done());
        if self.width.is_none_or(|room| line.width + text.width <= room) {
            writeln!(out, "{}{}", line.text, text.trimmed())?;
        } else {
            let below = self.named(4, "").gap(2).done();
            writeln!(out, "{}\n{}{}", line.trimmed(), below.text, text.trimmed())?;
        }
        if !dod.violated && dod.class != Some(DodClass::Broken) {
            return Ok(());
        }
        if let Some(ran) = &dod.ran {
            // Its log goes with the dry run's folder: what follows is what can be seen of it.
            let text = ran.end.to_string();
            writeln!(out, "{}", self.named(4, "").then(Tone::Faint, &text).done().trimmed())?;
        }
        let lines: Vec<&str> = dod.tail.as_deref().unwrap_or_default().lines().collect();
        for text in &lines[lines.len().saturating_sub(TAIL)..] {
            let line = self.named(4, "").gap(2).then(Tone::Faint, &output_line(text));
            writeln!(out, "{}", line.done().trimmed())?;
        }
        Ok(())
    }

    /// What becomes of it all.
    fn after(&self, plan: &Checkpoint, out: &mut impl Write) -> io::Result<()> {
        let commits = plan.wps().filter(|wp| wp.committed_on.is_some()).count() as u64;
        let merges = plan.stages.iter().filter(|stage| stage.merged_on.is_some()).count() as u64;
        writeln!(out)?;
        let made = match commits {
            0 => "nothing".to_owned(),
            n => format!("{}, each on a branch of its own", words::count(n, "WP")),
        };
        self.fact(out, 0, "commits", Tone::Normal, &made)?;
        let merged = match merges {
            0 => "nothing: your branch and checkout stay as they are".to_owned(),
            n => format!(
                "{} on branches of their own; your branch and checkout stay as they are",
                words::count(n, "stage")
            ),
        };
        self.fact(out, 0, "merges", Tone::Normal, &merged)?;
        let Some(verify) = &plan.verify else {
            self.fact(out, 0, "last look", Tone::Faint, whole::NONE)?;
            return self.cleans(plan, merges, out);
        };
        let review = match &verify.review {
            Some(who) => {
                let from = verify.block_from.unwrap_or_else(block_from).name();
                format!("everything is read by {who}, findings block from `{from}` on")
            }
            None => "no review leg".to_owned(),
        };
        let live = match verify.live.as_slice() {
            [] => "no live leg".to_owned(),
            live => format!("end to end: {}", live.join("; ")),
        };
        let asked = verify.review.is_some() || !verify.live.is_empty();
        let tone = if asked { Tone::Normal } else { Tone::Faint };
        let text = format!("{review}{}{live}", self.look.dot());
        self.fact(out, 0, "last look", tone, &text)?;
        self.cleans(plan, merges, out)
    }

    /// What becomes of the request of a WP, or of the whole: the merge column.
    fn request(
        &self,
        plan: &Checkpoint,
        wp: Option<&WpId>,
        indent: usize,
        out: &mut impl Write,
    ) -> io::Result<()> {
        let requests = plan.delivery.iter().flat_map(|delivery| &delivery.requests);
        for request in requests.filter(|request| request.wp.as_ref() == wp) {
            let (tone, word) = match request.merges {
                true => (Tone::Warn, "by itself"),
                false => (Tone::Normal, "not by itself"),
            };
            self.fact(out, indent, "merge", tone, &format!("{word}: {}", request.why))?;
        }
        Ok(())
    }

    /// What leaves the machine.
    fn delivers(&self, plan: &Checkpoint, out: &mut impl Write) -> io::Result<()> {
        let Some(delivery) = &plan.delivery else {
            let text = "nothing: no `[delivery]`; all of it stays on this machine";
            return self.fact(out, 0, "delivers", Tone::Faint, text);
        };
        let url = delivery.url.as_deref().unwrap_or("no such remote");
        let branches = match delivery.branches.len() {
            1 => "1 branch".to_owned(),
            n => format!("{n} branches"),
        };
        let text = format!("{branches} to {} ({url})", delivery.remote);
        self.fact(out, 0, "pushes", Tone::Warn, &text)?;
        let requests = delivery.requests.len() as u64;
        if requests > 0 {
            let into = delivery.into.as_deref().unwrap_or("?");
            let itself = delivery.requests.iter().filter(|request| request.merges).count();
            let protected = match delivery.protected {
                Some(true) => ", which is protected",
                Some(false) => ", which is not protected",
                None => "",
            };
            let text = format!(
                "{} into {into}{protected} ({}); {itself} by itself, as one {}",
                words::count(requests, "request"),
                delivery.forge.name(),
                delivery.merge_method
            );
            self.fact(out, 0, "requests", Tone::Warn, &text)?;
            self.request(plan, None, 0, out)?;
        }
        for command in &delivery.after_merge {
            let text = format!("{command} (asked about each time)");
            self.fact(out, 0, "afterwards", Tone::Normal, &text)?;
        }
        for unknown in &delivery.unknown {
            self.fact(out, 0, "unknown", Tone::Warn, unknown)?;
        }
        Ok(())
    }

    fn cleans(&self, plan: &Checkpoint, merges: u64, out: &mut impl Write) -> io::Result<()> {
        self.delivers(plan, out)?;
        if !plan.covers.has(Cover::Cleanup) {
            return self.fact(out, 0, "cleans", Tone::Normal, "nothing (`cleanup = false`)");
        }
        match plan.cleaned.len() as u64 {
            0 => self.fact(out, 0, "cleans", Tone::Normal, "nothing"),
            n => {
                let when = if merges == 0 { "is on its branch" } else { "is proven merged" };
                let text = format!("{}, each once its work {when}", words::count(n, "worktree"));
                self.fact(out, 0, "cleans", Tone::Normal, &text)
            }
        }
    }

    fn wrong(&self, plan: &Checkpoint, out: &mut impl Write) -> io::Result<()> {
        if plan.overlaps.is_empty() {
            self.fact(out, 0, "overlaps", Tone::Normal, "none")?;
        }
        let preflight = plan.preflight.as_ref();
        if let Some(found) = preflight {
            let cannot_deliver = plan.delivery.iter().any(|delivery| !delivery.stops.is_empty());
            let (tone, text) = match found.state {
                State::Go | State::Warn if cannot_deliver => {
                    (Tone::Bad, "it can start, and cannot be delivered; see below")
                }
                State::Go => (Tone::Normal, "nothing stands in the way"),
                State::Warn => (Tone::Warn, "it can start; see below"),
                State::Stop => (Tone::Bad, "it cannot start; see below"),
            };
            self.fact(out, 0, "preflight", tone, text)?;
        }
        let looked_at = preflight.is_some_and(|found| found.state > State::Go);
        match &plan.approved {
            Some(approved) if *approved != plan.covers => {
                let rest = plan.covers.without(approved);
                let text = format!("{approved}; not {rest}, which the plan asks for as well");
                self.fact(out, 0, "approved", Tone::Normal, &text)?;
            }
            Some(approved) => self.fact(out, 0, "approved", Tone::Normal, &approved.to_string())?,
            None => {
                self.fact(out, 0, "a yes", Tone::Normal, &format!("covers {}", plan.covers))?;
            }
        }
        if let Some(critic) = &plan.critic {
            let (tone, text) = critic::planned(critic);
            self.fact(out, 0, "critic", tone, &text)?;
        }
        if let Some(why) = &plan.session_split {
            let resume = commands::resume(&plan.run);
            let text = format!("it stops there; `{resume}` goes on from any session ({why})");
            self.fact(out, 0, "split", Tone::Warn, &text)?;
        }
        if !plan.overlaps.is_empty() || !plan.warnings.is_empty() || looked_at {
            writeln!(out)?;
        }
        for overlap in &plan.overlaps {
            self.overlap(overlap, out)?;
        }
        for warning in &plan.warnings {
            let line =
                Line::new(self.look).then(Tone::Warn, "warning ").then(Tone::Normal, warning);
            writeln!(out, "{}", line.done().trimmed())?;
        }
        if let Some(preflight) = &plan.preflight {
            preflight::draw_words(preflight, self.look, out)?;
        }
        for stop in plan.delivery.iter().flat_map(|delivery| &delivery.stops) {
            let line = Line::new(self.look)
                .then(Tone::Bad, "cannot be delivered ")
                .then(Tone::Normal, stop);
            writeln!(out, "{}", line.done().trimmed())?;
        }
        if let Some(reading) = plan.critic.iter().find_map(|critic| critic.reading.as_ref())
            && reading.all().next().is_some()
        {
            let title = Line::new(self.look).then(Tone::Strong, "What the critic says of it");
            writeln!(out, "\n{}", title.done().trimmed())?;
            let look = Look { width: self.width, ..*self.look };
            critic::draw(reading.all(), out, &look)?;
        }
        if plan.would_stop() {
            let text = "This run would stop before any worker is paid: see above.";
            writeln!(out, "\n{}", Line::new(self.look).then(Tone::Bad, text).done().trimmed())?;
        }
        Ok(())
    }

    fn overlap(&self, overlap: &Overlap, out: &mut impl Write) -> io::Result<()> {
        let (tone, word, how) = match overlap.sort {
            OverlapSort::Overlap => (Tone::Bad, "OVERLAP ", "both match"),
            OverlapSort::Possible => (Tone::Warn, "POSSIBLE ", "both would match"),
            OverlapSort::Clash => {
                (Tone::Warn, "POSSIBLE ", "a file for one, a folder for the other:")
            }
        };
        let named = overlap.paths.len().min(LISTED);
        let mut paths = listed(&overlap.paths[..named]);
        let all = overlap.total.max(overlap.paths.len() as u64);
        let more = all - named as u64;
        if more > 0 {
            paths.push_str(&format!(" and {more} more"));
        }
        let line = Line::new(self.look)
            .then(tone, word)
            .then(Tone::Strong, &format!("{} and {}", overlap.left, overlap.right))
            .then(Tone::Normal, &format!(": {how} {paths}"));
        writeln!(out, "{}", line.done().trimmed())
    }

    fn named(&self, indent: usize, name: &str) -> Line<'_> {
        Line::new(self.look).gap(indent).cell(Tone::Faint, name, NAMES)
    }

    fn fact(
        &self,
        out: &mut impl Write,
        indent: usize,
        name: &str,
        tone: Tone,
        text: &str,
    ) -> io::Result<()> {
        let room = self.width.map_or(usize::MAX, |width| width.saturating_sub(indent + NAMES));
        for (n, line) in wrap(&visible(text), room.max(20)).iter().enumerate() {
            let line = self.named(indent, if n == 0 { name } else { "" }).then(tone, line);
            writeln!(out, "{}", line.done().trimmed())?;
        }
        Ok(())
    }

    fn list(
        &self,
        out: &mut impl Write,
        indent: usize,
        name: &str,
        texts: &[String],
    ) -> io::Result<()> {
        if texts.is_empty() {
            return Ok(());
        }
        self.fact(out, indent, name, Tone::Normal, &listed(texts))
    }
}

/// What a class on the base means.
fn said(class: DodClass) -> &'static str {
    match class {
        DodClass::Red => "red: fails now, will prove the work",
        DodClass::Green => "green: passes now, guards",
        DodClass::Broken => "broken: could not run",
    }
}

/// Texts on a line, each whole and apart from the next.
fn listed(texts: &[String]) -> String {
    texts.join("  ")
}
