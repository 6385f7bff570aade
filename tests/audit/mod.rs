//! Audits: slices, ground truth, leads against a commit, the draft, and the way from one to the next.

mod cut;
mod drafts;
mod drafts_any;
mod ground;
mod leads;
mod merging;
mod verbs;
mod whole;

use sop::model::gap::{Concern, Format, Gap, GapReport, Severity};
use sop::model::ids::{CommitId, RunId, TierId, WpId};

/// A finding as a report has it.
fn gap(n: usize, path: &str, files: &[&str], after: &[usize]) -> Gap {
    Gap {
        id: format!("G{n}"),
        path: path.to_owned(),
        line: 3,
        end_line: 3,
        severity: Severity::Medium,
        concerns: vec![Concern::Debt],
        title: format!("finding {n}"),
        quote: "let x = 1;".to_owned(),
        evidence: "It is never read.".to_owned(),
        fix: "Take it out.".to_owned(),
        files: std::iter::once(path).chain(files.iter().copied()).map(str::to_owned).collect(),
        depends_on: after.iter().map(|n| format!("G{n}")).collect(),
        found_in: vec![WpId::new("s1").expect("an id")],
        notes: Vec::new(),
    }
}

/// A report of an audit without ground truth.
fn report(commit: &str, findings: Vec<Gap>) -> GapReport {
    GapReport {
        format: Format::GapReport,
        version: GapReport::VERSION,
        run: RunId::new("audit-1").expect("an id"),
        base: "main".to_owned(),
        commit: CommitId(commit.to_owned()),
        scope: Vec::new(),
        concerns: Concern::ALL.to_vec(),
        tier: TierId::new("scout").expect("an id"),
        ground: Vec::new(),
        left_behind: None,
        slices: Vec::new(),
        left_out: Vec::new(),
        findings,
        rejected: Vec::new(),
    }
}
