//! What became of the findings that a plan deals with: those of an audit, or of whatever else its packages
//! name under `findings`.

use std::collections::HashMap;
use std::io::{self, Write};

use schemars::JsonSchema;
use serde::Serialize;

use super::closing::row;
use super::facts;
use crate::ledger::{Ledger, Phase, WpState};
use crate::model::ids::WpId;
use crate::model::plan::{Kind, Mode};
use crate::report::narrate::one;
use crate::report::palette::{Look, Tone};
use crate::report::words;

/// Findings, by what became of them, in the order of the plan. One that several WPs name is dealt with once
/// all of them have got through.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Findings {
    /// Those whose WPs got through; of a plan with stages, whose work is in the integrated result.
    pub dealt_with: Vec<DealtWith>,
    /// Those whose WP was put off because another one did not get through.
    pub deferred: Vec<Left>,
    /// All others: their WP is escalated, blocked or cancelled, waits for somebody, or is not done yet.
    pub open: Vec<Left>,
}

/// A finding that is dealt with.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "FindingDealtWith")]
pub struct DealtWith {
    /// Its name in the plan.
    pub finding: String,
    /// The WPs that name it.
    pub wps: Vec<WpId>,
}

/// A finding that is not.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "FindingLeft")]
pub struct Left {
    /// Its name in the plan.
    pub finding: String,
    /// The WP that names it and is not through; the first, where there are several.
    pub wp: WpId,
    /// Where that is.
    pub state: Phase,
    /// Why, in words.
    pub why: String,
}

impl Findings {
    /// What became of the findings of `ledger`'s run; nothing where its plan names none.
    pub(super) fn of(ledger: &Ledger) -> Option<Self> {
        let mut all = Self { dealt_with: Vec::new(), deferred: Vec::new(), open: Vec::new() };
        let named = || ledger.wps.iter().flat_map(|wp| wp.findings.iter().map(move |it| (it, wp)));
        let mut wps_of: HashMap<&str, Vec<&WpState>> = HashMap::new();
        for (finding, wp) in named() {
            let wps = wps_of.entry(finding).or_default();
            if wps.last().is_none_or(|last| last.id != wp.id) {
                wps.push(wp);
            }
        }
        for (finding, _) in named() {
            // Told where it is named first.
            let Some(wps) = wps_of.remove(finding.as_str()) else { continue };
            let Some(left) = wps.iter().find(|wp| !is_done(wp, ledger)) else {
                let wps = wps.iter().map(|wp| wp.id.clone()).collect();
                all.dealt_with.push(DealtWith { finding: finding.clone(), wps });
                continue;
            };
            let (wp, state) = (left.id.clone(), left.phase);
            let one = Left { finding: finding.clone(), wp, state, why: why(left) };
            match state {
                Phase::Deferred => all.deferred.push(one),
                _ => all.open.push(one),
            }
        }
        (all.total() > 0).then_some(all)
    }

    fn total(&self) -> usize {
        self.dealt_with.len() + self.deferred.len() + self.open.len()
    }

    /// Writes them, those of one WP together.
    pub(super) fn write(&self, out: &mut impl Write, look: &Look) -> io::Result<()> {
        let done = self.dealt_with.len();
        let (tone, text) = match (done, self.total()) {
            (done, total) if done == total => (Tone::Good, format!("all {total} dealt with")),
            (done, total) => (Tone::Normal, format!("{done} of {total} dealt with")),
        };
        let mut head = row(look, "findings").then(tone, &text);
        let parts = self.dealt_with.chunk_by(|a, b| a.wps == b.wps);
        for (n, part) in parts.enumerate() {
            let names: Vec<&str> = part.iter().map(|it| it.finding.as_str()).collect();
            let wps: Vec<&str> = part[0].wps.iter().map(WpId::as_str).collect();
            let before = if n == 0 { ": " } else { "; " };
            let text = format!("{before}{} ({})", names.join(", "), wps.join(", "));
            head = head.then(Tone::Normal, &text);
        }
        head.write(out)?;
        let left = [("deferred", Tone::Faint, &self.deferred), ("open", Tone::Warn, &self.open)];
        for (word, tone, list) in left {
            for part in list.chunk_by(|a, b| a.wp == b.wp) {
                let names: Vec<&str> = part.iter().map(|it| it.finding.as_str()).collect();
                let Left { wp, state, why, .. } = &part[0];
                let state = match state {
                    Phase::Deferred => String::new(),
                    state => format!(" {}", words::state(*state)),
                };
                let text = format!("{word}: {} ({wp}{state}): {why}", names.join(", "));
                row(look, "").then(tone, &text).write(out)?;
            }
        }
        Ok(())
    }
}

/// Whether what a WP does stands: on its branch, or in the integrated result where there is to be one.
fn is_done(wp: &WpState, ledger: &Ledger) -> bool {
    let integrated = ledger.mode == Mode::Staged && wp.kind == Kind::Change;
    if integrated { wp.phase == Phase::Integrated } else { wp.phase.got_through() }
}

fn why(wp: &WpState) -> String {
    match (wp.phase, &wp.because) {
        (Phase::Deferred, Some(because)) => return format!("needs {because}"),
        (Phase::Cancelled, _) => return "somebody cancelled it".to_owned(),
        _ => {}
    }
    if let Some(problem) = facts::problems(wp).first() {
        return one(problem);
    }
    let text = match wp.phase {
        Phase::Escalated => "a person decides",
        Phase::AwaitingReview => "it waits for a review",
        Phase::AwaitingAnswer => "it waits for an answer",
        Phase::Taken => "the lead has it in hand",
        Phase::Waiting => "it has not begun",
        Phase::Passed => "its work is checked, and not integrated",
        _ => "it is not done",
    };
    text.to_owned()
}
