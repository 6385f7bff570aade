//! What a worker is told: the brief of a round, and what is told to one that begins or goes on later.

use crate::brief::{Answer, BriefError, Context, Correction, ScoutReport, WiringLine};
use crate::event::Event;
use crate::model::ids::WpId;
use crate::model::outcome::{Check, Problem};
use crate::model::verdict::Report;
use crate::plain_file;

use super::Unit;
use crate::run::directory::{RunDir, write_whole};
use crate::run::lessons;
use crate::run::site::Halt;

/// Most bytes of a report: of what a worker prints, and of what briefs carry.
pub(super) const REPORT_LIMIT: u64 = 1 << 20;

impl Unit {
    /// Writes the brief of the next round.
    pub(super) fn brief(&self) -> Result<Event, Halt> {
        let round = self.state.round + 1;
        let name = RunDir::brief_name(&self.state.id, round);
        self.write_brief(&name, round, false)?;
        Ok(Event::RoundStarted {
            wp: self.state.id.clone(),
            round,
            tier: self.state.tier.clone(),
            brief: name,
        })
    }

    /// What the next attempt is told, as a name within the run directory: the round's brief, or a text of
    /// its own where something has come since, or where it goes on with a session that has the brief.
    pub(super) fn prompt(&self, attempt: u32, goes_on: bool) -> Result<String, Halt> {
        let round = self.state.round;
        let first = self.state.asked == 0 && self.state.spoilt.is_empty();
        if first && !goes_on {
            return Ok(RunDir::brief_name(&self.state.id, round));
        }
        let name = RunDir::prompt_name(&self.state.id, round, attempt);
        self.write_brief(&name, round, goes_on)?;
        Ok(name)
    }

    fn write_brief(&self, name: &str, round: u32, goes_on: bool) -> Result<(), Halt> {
        let text = self.render_brief(round, goes_on)?;
        write_whole(&self.site.dir.named(name), text.as_bytes())
            .map_err(|error| Halt::blocked(Problem::new(Check::Worker, error.to_string())))
    }

    fn render_brief(&self, round: u32, goes_on: bool) -> Result<String, Halt> {
        let (site, wp, base) = (&self.site, self.wp(), self.base()?);
        let texts = self.reports_before();
        let reports: Vec<ScoutReport<'_>> =
            texts.iter().map(|(wp, text)| ScoutReport { wp, text }).collect();
        let told: Vec<(WpId, Report)> = texts
            .iter()
            .filter_map(|(wp, text)| Some((wp.clone(), Report::in_text(text)?)))
            .collect();
        let wiring: Vec<WiringLine<'_>> = told
            .iter()
            .flat_map(|(wp, report)| report.wiring.iter().map(move |line| (wp, line)))
            .map(|(wp, line)| WiringLine { wp, file: &line.file, lines: &line.lines })
            .collect();
        let answers: Vec<Answer<'_>> = self
            .state
            .forks
            .iter()
            .filter_map(|fork| {
                let answer = fork.answer.as_deref().filter(|answer| !answer.is_empty())?;
                Some(Answer { question: &fork.question, answer })
            })
            .collect();
        let corrections = site.lookout.notes();
        let notes: Vec<Correction<'_>> =
            corrections.iter().map(|note| Correction { at: note.at, text: &note.text }).collect();
        // The number of the attempt is not known yet: infrastructure may spoil some. The worker is
        // told the exact path in SOP_REPORT as well.
        let report = site.dir.named(&RunDir::report_name(&wp.id, self.state.attempt + 1));
        let context = Context {
            plan: &site.plan,
            wp,
            stage: &self.state.stage,
            tier: &self.state.tier,
            run: site.dir.run(),
            base: &base,
            round,
            problems: self.state.to_mend(),
            reports: &reports,
            report_file: &crate::process::escape_path(&report),
            answers: &answers,
            notes: &notes,
            wiring: if wp.consolidates.is_some() { &wiring } else { &[] },
            lessons: &lessons::concerning(&site.lessons, wp),
            cut_off: self.state.spoilt.last().map(|spoilt| spoilt.what.as_str()),
        };
        let rendered = match goes_on {
            true => site.briefs.go_on(&context),
            false => site.briefs.render(&wp.template, &context),
        };
        rendered.map_err(|error: BriefError| {
            let text = format!("the brief cannot be rendered: {error}");
            Halt::blocked(Problem::new(Check::Worker, text))
        })
    }

    /// Reports that this WP builds on, as far as they can be read: those of the scouts that it waits for,
    /// and for a consolidation those of its stage.
    fn reports_before(&self) -> Vec<(WpId, String)> {
        let read = |(wp, name): &(WpId, String)| {
            let bytes = plain_file::read(&self.site.dir.named(name), REPORT_LIMIT).ok()?;
            Some((wp.clone(), String::from_utf8_lossy(&bytes).into_owned()))
        };
        self.reports.iter().filter_map(read).collect()
    }
}
