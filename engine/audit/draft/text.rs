//! The text of a drafted plan.

use std::time::Duration;

use super::{Around, guards, setup};
use crate::model::gap::draft::{Drafted, Undecided};
use crate::model::gap::{Gap, GapReport, Ground, Severity};
use crate::model::plan::Risk;
use crate::model::time::Length;
use crate::plan::undecided::MARK;
use crate::plan::write::Writer;

/// A command that says, on the base and ever after, that there is none.
const NONE: &str = "echo 'no check is known: name one in the plan' >&2; exit 1";

/// What every command of a plan has.
const USUAL: Duration = Duration::from_secs(600);

/// How much longer than on the base a command may take.
const SLACK: u32 = 4;

pub(super) fn plan(
    report: &GapReport,
    around: &Around<'_>,
    wps: &[Drafted],
    undecided: &[Undecided],
) -> String {
    let mut plan = Writer::new();
    plan.comment(&format!(
        "Drafted from the gap report of {} (commit {}). Rules cut it; what they could not decide is marked\n\
         `{MARK}` where it stands.",
        report.run,
        report.commit.short()
    ));
    for open in undecided.iter().filter(|it| it.wp.is_none()) {
        plan.comment(&format!("{MARK} {}", open.what));
    }
    plan.number("version", 1);
    plan.blank();
    plan.table(&["plan"]);
    plan.text("name", around.name);
    plan.text("goal", &goal(report, wps));
    let stands = around.stands_at == Some(&report.commit);
    plan.text("base", if stands { &report.base } else { report.commit.as_str() });
    if !around.instructions.is_empty() {
        plan.texts("instructions", around.instructions);
    }
    let ready: Vec<&str> = setup(report).map(|it| it.ran.run.as_str()).collect();
    if !ready.is_empty() {
        plan.blank();
        plan.table(&["provision"]);
        plan.texts("setup", &ready);
    }
    if around.tiers.is_empty() {
        plan.blank();
        plan.table(&["tiers", "standard"]);
        plan.text("worker", "codex");
    }
    let dod = dod(report);
    for wp in wps {
        plan.blank();
        for open in undecided.iter().filter(|it| it.wp.as_ref() == Some(&wp.id)) {
            plan.comment(&format!("{MARK} {}", open.what));
        }
        plan.one_more("wp");
        plan.text("id", &wp.id);
        plan.text("title", &wp.title);
        plan.texts("findings", &wp.findings);
        plan.text("tier", &wp.tier);
        plan.text("risk", risk(wp.risk));
        if !wp.needs.is_empty() {
            plan.texts("needs", &wp.needs);
        }
        plan.texts("whitelist", &wp.whitelist);
        plan.tables("dod", &dod);
        plan.long("brief_text", &wp.brief);
    }
    plan.finish()
}

fn goal(report: &GapReport, wps: &[Drafted]) -> String {
    let dealt: usize = wps.iter().map(|wp| wp.findings.len()).sum();
    let here = |id: &String| wps.iter().any(|wp| wp.findings.contains(id));
    let of = |severity: Severity| {
        let is = |gap: &&Gap| gap.severity == severity && here(&gap.id);
        let n = report.findings.iter().filter(is).count();
        (n > 0).then(|| format!("{n} {}", severity.name()))
    };
    let kinds: Vec<String> = Severity::ALL.into_iter().filter_map(of).collect();
    let s = if dealt == 1 { "" } else { "s" };
    format!("Mend {dealt} finding{s} of the audit {} ({}).", report.run, kinds.join(", "))
}

/// The commands that pass on the base. Where one took long there, it may take longer than usual.
fn dod(report: &GapReport) -> Vec<Vec<(&'static str, String)>> {
    let command = |ground: &Ground| {
        let mut table = vec![("run", ground.ran.run.clone())];
        let most = ground.ran.took.0.saturating_mul(SLACK);
        if most > USUAL {
            let minutes = most.as_secs().div_ceil(60);
            table.push(("timeout", Length::secs(minutes * 60).to_string()));
        }
        table.push(("expect", "green".to_owned()));
        table
    };
    let commands: Vec<_> = guards(report).map(command).collect();
    if commands.is_empty() { vec![vec![("run", NONE.to_owned())]] } else { commands }
}

fn risk(risk: Risk) -> &'static str {
    match risk {
        Risk::Low => "low",
        Risk::Medium => "medium",
        Risk::High => "high",
    }
}
