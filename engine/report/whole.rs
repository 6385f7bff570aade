//! The last look at the whole, leg by leg: what there was of it, and what it came to. A leg that a plan
//! does not have is said as well, so that nobody takes it for one that passed.

use std::io::{self, Write};

use schemars::JsonSchema;
use serde::Serialize;

use super::line::{Flow, Line};
use super::narrate::one;
use super::palette::{Look, Tone};
use super::words;
use crate::ledger::{Ledger, VerifyRan};
use crate::model::ids::CommitId;
use crate::model::outcome::Problem;
use crate::model::plan::{Mode, block_from};
use crate::model::verdict::{Judgment, ReviewFinding};

/// What is said where each WP stays on a branch of its own.
pub const NONE: &str = "none: nothing is integrated";

/// The last look of a run whose work is integrated.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Whole {
    /// Whether the plan has a last look at all.
    pub planned: bool,
    /// What was looked at, once it was begun.
    pub commit: Option<CommitId>,
    /// Whether it is over.
    pub ended: bool,
    /// DoD commands that were run on the integrated tree.
    pub dod: CommandLeg,
    /// The reviewer who reads the whole.
    pub review: ReviewLeg,
    /// The end-to-end commands.
    pub live: CommandLeg,
    /// Everything that is wrong.
    pub problems: Vec<Problem>,
    /// What is in its way.
    pub halted: Option<Problem>,
}

/// Commands of the last look.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, JsonSchema)]
pub struct CommandLeg {
    /// How many the plan has; nothing where that is not known yet.
    pub planned: Option<u32>,
    /// How many ran.
    pub ran: u32,
    /// How many of them passed.
    pub passed: u32,
}

/// The reviewer of the last look.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, JsonSchema)]
pub struct ReviewLeg {
    /// Whether the plan has one; nothing where that is not known yet.
    pub planned: Option<bool>,
    /// Who.
    pub by: Option<String>,
    /// What they say.
    pub verdict: Option<Judgment>,
    /// How much they found.
    pub findings: u32,
    /// What of it is recorded and does not keep the whole from holding, as `message: file:line (severity)`.
    pub noted: Vec<String>,
}

impl Whole {
    /// The last look of `ledger`'s run; nothing where nothing is integrated.
    #[must_use]
    pub fn of(ledger: &Ledger) -> Option<Self> {
        if ledger.mode == Mode::Independent {
            return None;
        }
        let mut whole = Self {
            planned: ledger.to_verify,
            commit: None,
            ended: false,
            dod: CommandLeg::default(),
            review: ReviewLeg::default(),
            live: CommandLeg::default(),
            problems: Vec::new(),
            halted: None,
        };
        let Some(look) = &ledger.verify else { return Some(whole) };
        whole.commit = Some(look.commit.clone());
        whole.ended = look.ended;
        for one in &look.ran {
            let leg = if one.wp.is_some() { &mut whole.dod } else { &mut whole.live };
            leg.ran += 1;
            leg.passed += u32::from(one.ran.end.success());
        }
        whole.live.planned = Some(look.live);
        let findings = look.verdict.as_ref().map_or(0, |verdict| verdict.findings.len());
        let block_from = look.review.block_from.unwrap_or_else(block_from);
        let found = look.verdict.iter().flat_map(|verdict| &verdict.findings);
        let noted = found.filter(|finding| finding.severity < block_from).map(noted);
        whole.review = ReviewLeg {
            planned: Some(look.reviewer.is_some()),
            by: look.reviewer.as_ref().map(ToString::to_string),
            verdict: look.verdict.as_ref().map(|verdict| verdict.verdict),
            findings: u32::try_from(findings).unwrap_or(u32::MAX),
            noted: noted.collect(),
        };
        // Before its end what failed is known all the same, and a person waits for no reviewer to hear it.
        whole.problems = match look.ended {
            true => look.problems.clone(),
            false => look.ran.iter().filter_map(VerifyRan::problem).collect(),
        };
        whole.halted.clone_from(&look.halted);
        Some(whole)
    }

    /// Says that there is none, of a run whose plan integrates nothing.
    ///
    /// # Errors
    /// When `out` cannot be written.
    pub fn write_none(out: &mut impl Write, look: &Look) -> io::Result<()> {
        let head = Line::new(look).then(Tone::Faint, look.pick("–", "-"));
        let head = head.then(Tone::Strong, " last look ");
        Flow::after(head).then(Tone::Faint, NONE).write(out)
    }

    /// Writes it, one line for the whole and one for each problem.
    ///
    /// # Errors
    /// When `out` cannot be written.
    pub fn write(&self, out: &mut impl Write, look: &Look) -> io::Result<()> {
        let (tone, word) = match (self.planned, &self.commit) {
            (false, _) => (Tone::Faint, "not in this plan: no review leg and no live leg"),
            (true, None) => (Tone::Faint, "not reached: neither its review leg nor its live leg"),
            _ if self.halted.is_some() => (Tone::Bad, "cannot go on"),
            _ if !self.ended => (Tone::Active, "open"),
            _ if self.problems.is_empty() => (Tone::Good, "the whole holds"),
            _ => (Tone::Bad, "the whole does not hold"),
        };
        let mark = match tone {
            // Not the dot that stands between facts.
            Tone::Faint => look.pick("–", "-"),
            tone => words::tone_mark(tone, look),
        };
        let head = Line::new(look).then(tone, mark).then(Tone::Strong, " last look ");
        let mut text = Flow::after(head).then(tone, word);
        if self.commit.is_some() {
            for (tone, leg) in self.legs() {
                text = text.dot().then(tone, &leg);
            }
        }
        text.write(out)?;
        for problem in self.problems.iter().chain(&self.halted) {
            let text = Flow::after(Line::new(look).gap(4));
            text.then(Tone::Bad, &one(problem)).write(out)?;
        }
        // Where something is wrong, what is not is for the verdict's file.
        let noted = self.review.noted.iter().filter(|_| self.problems.is_empty());
        for finding in noted {
            let text = Flow::after(Line::new(look).gap(4));
            text.then(Tone::Normal, &format!("noted: {finding}")).write(out)?;
        }
        Ok(())
    }

    /// What each leg came to.
    #[must_use]
    pub fn legs(&self) -> Vec<(Tone, String)> {
        let tone = |leg: &CommandLeg| if leg.ran == leg.passed { Tone::Normal } else { Tone::Bad };
        let mut legs = Vec::new();
        if self.dod.ran > 0 {
            let text = format!("DoD {}/{}", self.dod.passed, self.dod.ran);
            legs.push((tone(&self.dod), text));
        }
        legs.push(match (self.live.planned, self.live.ran) {
            (Some(0), _) => (Tone::Faint, "no live leg in this plan".to_owned()),
            (_, 0) => (Tone::Faint, "live leg not run".to_owned()),
            (planned, _) => {
                let of = planned.unwrap_or(self.live.ran);
                (tone(&self.live), format!("live {}/{of}", self.live.passed))
            }
        });
        let by = self.review.by.as_deref().unwrap_or_default();
        legs.push(match (self.review.planned, self.review.verdict) {
            (Some(false), _) => (Tone::Faint, "no review leg in this plan".to_owned()),
            (_, None) => (Tone::Faint, "review leg not run".to_owned()),
            (_, Some(Judgment::Approve)) => {
                let noted = match self.review.noted.len() as u64 {
                    0 => String::new(),
                    n => format!(", who noted {}", words::count(n, "finding")),
                };
                (Tone::Normal, format!("approved by {by}{noted}"))
            }
            (_, Some(Judgment::RequestChanges)) => {
                let findings = words::count(u64::from(self.review.findings), "finding");
                (Tone::Bad, format!("{findings} by {by}"))
            }
        });
        legs
    }
}

/// A finding that does not block.
fn noted(finding: &ReviewFinding) -> String {
    let said = finding.message.lines().collect::<Vec<_>>().join("; ");
    let severity = finding.severity.name();
    match (finding.file.as_deref(), finding.line) {
        (Some(file), Some(line)) => format!("{said}: {file}:{line} ({severity})"),
        (Some(file), None) => format!("{said}: {file} ({severity})"),
        (None, _) => format!("{said} ({severity})"),
    }
}
