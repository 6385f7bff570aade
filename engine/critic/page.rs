//! The plan as the critic is shown it: what the checkpoint report says, and every brief. What the plan's author wrote
//! stands in fences and code spans, so that it is read as what is judged and cannot pass for what is asked.

use std::fmt::Write as _;

use crate::brief::fence::{block, span};
use crate::model::checkpoint::{Checkpoint, PlannedDod, PlannedStage, PlannedWp};
use crate::model::outcome::DodClass;
use crate::model::plan::{Kind, Mode, Plan, Wp};

/// Bytes of briefs that a critic is shown whole. In a plan with more each is cut to its share.
const BRIEFS: usize = 200_000;

/// `plan` with what is known of it.
#[must_use]
pub fn text(plan: &Plan, report: &Checkpoint) -> String {
    let mut page = Page { text: String::new(), most: most(plan) };
    page.whole(plan, report);
    for stage in &report.stages {
        page.stage(stage, plan);
    }
    page.meetings(report);
    page.text
}

/// Bytes of each brief that are shown.
fn most(plan: &Plan) -> usize {
    let all: usize = plan.wps.iter().map(|wp| wp.brief.len()).sum();
    if all <= BRIEFS { usize::MAX } else { BRIEFS / plan.wps.len().max(1) }
}

struct Page {
    text: String,
    most: usize,
}

impl Page {
    fn line(&mut self, text: &str) {
        // Writing to a string does not fail.
        let _ = writeln!(self.text, "{text}");
    }

    fn fact(&mut self, name: &str, text: &str) {
        self.line(&format!("- {name}: {text}"));
    }

    fn facts(&mut self, name: &str, texts: impl IntoIterator<Item = String>) {
        let texts: Vec<String> = texts.into_iter().collect();
        if !texts.is_empty() {
            self.fact(name, &texts.join(", "));
        }
    }

    fn whole(&mut self, plan: &Plan, report: &Checkpoint) {
        let wps = plan.wps.len();
        let mode = match plan.mode {
            Mode::Independent => {
                "independent: each work package starts from the base and ends on a branch of its own"
            }
            Mode::Staged => {
                "staged: the work packages of a stage run side by side, and the next stage starts from their merged \
                 result"
            }
        };
        self.line(&format!("Plan {}, {wps} work packages, {mode}.\n", span(plan.name.as_str())));
        self.line(&format!("{}\n", block(&plan.goal)));
        let base = format!("{} at commit {}", span(&plan.base), report.commit.short());
        self.fact("base", &base);
        self.facts("copied into every worktree", spans(&plan.provision.copy));
        self.facts("run in every worktree first", spans(&report.provision.setup));
        if let Some(verify) = &report.verify {
            self.facts("run on the whole at the end", spans(&verify.live));
            self.facts("read as a whole at the end by", verify.review.iter().map(|who| span(who)));
        }
        if let Some(delivery) = &report.delivery {
            self.facts("pushed", spans(&delivery.branches));
        }
    }

    fn stage(&mut self, stage: &PlannedStage, plan: &Plan) {
        if plan.mode == Mode::Staged {
            self.line(&format!("\n### Stage {}\n", span(stage.stage.as_str())));
            self.facts("files that none of its work packages may touch", spans(&stage.shared));
        }
        for wp in &stage.wps {
            if let Some(resolved) = plan.wp(&wp.id) {
                self.wp(wp, resolved);
            }
        }
    }

    fn wp(&mut self, wp: &PlannedWp, resolved: &Wp) {
        self.line(&format!("\n#### {} {}\n", span(wp.id.as_str()), span(&wp.title)));
        match wp.kind {
            Kind::Scout => self.fact("may change", "nothing: it reports"),
            Kind::Change => {
                self.facts("may change", spans(&wp.whitelist));
                self.fact("files of the base that this matches", &wp.files.to_string());
            }
        }
        self.fact("risk", crate::report::words::risk(wp.risk));
        self.fact("tier", &format!("{}, at most {} rounds", span(wp.tier.as_str()), wp.rounds));
        for dod in &wp.dod {
            self.fact("proven by", &proof(dod));
        }
        if wp.review != "none" {
            self.fact("reviewed by", &span(&wp.review));
        }
        self.facts("starts from the result of", wp.needs.iter().map(|it| span(it.as_str())));
        self.facts("holds alone", spans(&wp.locks));
        self.facts("deals with", spans(&resolved.findings));
        for fork in &resolved.forks {
            self.fact("settled", &format!("{} {}", span(&fork.question), span(&fork.default)));
        }
        let brief = resolved.brief.trim_end();
        let most = self.most.min(brief.len());
        let cut = (0..=most).rev().find(|at| brief.is_char_boundary(*at)).unwrap_or_default();
        self.line(&format!("\n{}", block(&brief[..cut])));
        if cut < brief.len() {
            self.line(&format!("({} bytes more are not shown)", brief.len() - cut));
        }
    }

    fn meetings(&mut self, report: &Checkpoint) {
        if report.overlaps.is_empty() {
            return;
        }
        self.line("\n### Where packages that run side by side can meet\n");
        for overlap in &report.overlaps {
            let (left, right) = (span(overlap.left.as_str()), span(overlap.right.as_str()));
            let paths: Vec<String> = spans(&overlap.paths).collect();
            self.fact(&format!("{left} and {right}"), &paths.join(", "));
        }
    }
}

fn spans(texts: &[String]) -> impl Iterator<Item = String> {
    texts.iter().map(|text| span(text))
}

fn proof(dod: &PlannedDod) -> String {
    let class = match dod.class {
        Some(DodClass::Red) => "fails on the base",
        Some(DodClass::Green) => "passes on the base",
        Some(DodClass::Broken) => "cannot run on the base",
        None => "not run on the base",
    };
    format!("{} ({class})", span(&dod.run))
}
