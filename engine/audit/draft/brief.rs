//! The task of a drafted package: its findings, each with its place. What scouts wrote stands in fences,
//! so that it is read as what somebody says, and cannot pass for a part of the brief.

use crate::brief::fence;
use crate::model::gap::Gap;
use crate::model::ids::CommitId;

/// The text of the brief that asks to mend `gaps`.
pub(super) fn of(gaps: &[&Gap], commit: &CommitId) -> String {
    let mut text = format!(
        "Mend what an audit found at commit {}: {}. Each finding was looked up there: the file says what is \
         quoted. Whether it is right is yours to see; if one is not, leave it and say so in your report. Change \
         nothing else.\n",
        commit.short(),
        match gaps.len() {
            1 => "one finding".to_owned(),
            n => format!("{n} findings"),
        }
    );
    for gap in gaps {
        text.push_str(&one(gap));
    }
    text
}

fn one(gap: &Gap) -> String {
    let concerns: Vec<&str> = gap.concerns.iter().map(|concern| concern.name()).collect();
    let lines = match gap.end_line {
        end if end > gap.line => format!("{}-{end}", gap.line),
        _ => gap.line.to_string(),
    };
    let mut text = format!(
        "\n### {} ({}, {})\n\nAt\n\n{}\n\nwhich says\n\n{}\n\nFound:\n\n{}\n",
        gap.id,
        gap.severity.name(),
        concerns.join(", "),
        fence::block(&format!("{}:{lines}", gap.path)),
        fence::block(&gap.quote),
        fence::block(&said(gap)),
    );
    if !gap.fix.trim().is_empty() {
        text.push_str(&format!("\nProposed:\n\n{}\n", fence::block(&gap.fix)));
    }
    if !gap.depends_on.is_empty() {
        text.push_str(&format!("\nIt builds on {}.\n", gap.depends_on.join(", ")));
    }
    text
}

fn said(gap: &Gap) -> String {
    match (gap.title.trim(), gap.evidence.trim()) {
        ("", evidence) => evidence.to_owned(),
        (title, evidence) if evidence.starts_with(title) => evidence.to_owned(),
        (title, evidence) => format!("{title}\n\n{evidence}"),
    }
}
