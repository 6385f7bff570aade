//! A gap report for people: ground truth, findings, and what is missing from it. And the draft of a plan
//! that was made of one.

use std::collections::BTreeMap;
use std::io::{self, Write};

use super::cells::width;
use super::line::{Flow, Line};
use super::palette::{Look, Tone};
use super::words;
use crate::model::gap::draft::{Draft, Drafted};
use crate::model::gap::{Gap, GapReport, Ground, Rejected, Severity};
use crate::model::outcome::DodClass;
use crate::model::plan::Risk;

/// Rejected leads, and parts that were not read, that are listed.
const LISTED: usize = 20;

/// Widest that the place of a finding is before its title goes on below.
const WIDEST: usize = 48;

/// Writes `report` to `out`.
///
/// # Errors
/// When `out` cannot be written.
pub fn write(report: &GapReport, out: &mut impl Write, look: &Look) -> io::Result<()> {
    let concerns: Vec<&str> = report.concerns.iter().map(|concern| concern.name()).collect();
    let scope = match report.scope.as_slice() {
        [] => "everything".to_owned(),
        scope => scope.join("  "),
    };
    let head = Line::new(look).then(Tone::Strong, &format!("Audit {}", report.run)).gap(1);
    Flow::after(head)
        .then(Tone::Normal, &format!("of {} ({})", report.base, report.commit.short()))
        .dot()
        .then(Tone::Normal, &concerns.join(", "))
        .dot()
        .then(Tone::Normal, &scope)
        .write(out)?;
    ground(report, out, look)?;
    findings(&report.findings, out, look)?;
    missing(report, out, look)
}

fn title(text: &str, out: &mut impl Write, look: &Look) -> io::Result<()> {
    writeln!(out, "\n{}", Line::new(look).then(Tone::Strong, text).done().trimmed())
}

fn ground(report: &GapReport, out: &mut impl Write, look: &Look) -> io::Result<()> {
    if report.ground.is_empty() {
        let head = Line::new(look).gap(2);
        title("Ground truth", out, look)?;
        return Flow::after(head).then(Tone::Faint, "no command of the project was run").write(out);
    }
    title("Ground truth", out, look)?;
    for Ground { kind, class, ran, tail, .. } in &report.ground {
        let (tone, word) = match class {
            DodClass::Green => (Tone::Good, "passes"),
            DodClass::Red => (Tone::Bad, "fails"),
            DodClass::Broken => (Tone::Bad, "cannot run"),
        };
        let head = Line::new(look)
            .gap(2)
            .then(tone, words::tone_mark(tone, look))
            .then(Tone::Normal, " ")
            .cell(tone, word, 12)
            .cell(Tone::Faint, kind.name(), 7);
        Flow::after(head)
            .then(Tone::Normal, &ran.run)
            .dot()
            .then(Tone::Faint, &ran.end.to_string())
            .dot()
            .then(Tone::Faint, &words::took(ran.took))
            .dot()
            .then(Tone::Faint, &ran.log)
            .write(out)?;
        if let Some(last) = tail.last() {
            let head = Line::new(look).gap(23);
            Flow::after(head).then(Tone::Faint, last).write(out)?;
        }
    }
    match &report.left_behind {
        Some(paths) => {
            let text = format!("they changed files that the commit does not ignore: {paths}");
            Flow::after(Line::new(look).gap(2)).then(Tone::Warn, &text).write(out)
        }
        None => Ok(()),
    }
}

fn findings(findings: &[Gap], out: &mut impl Write, look: &Look) -> io::Result<()> {
    let of = |severity: Severity| {
        let n = findings.iter().filter(|gap| gap.severity == severity).count();
        (n > 0).then(|| format!("{n} {}", severity.name()))
    };
    let counts: Vec<String> = Severity::ALL.into_iter().filter_map(of).collect();
    let all = words::count(findings.len() as u64, "finding");
    title(
        &match counts.len() {
            0 => "No findings".to_owned(),
            _ => format!("{all}: {}", counts.join(", ")),
        },
        out,
        look,
    )?;
    let widest = |texts: &mut dyn Iterator<Item = usize>| texts.max().unwrap_or_default();
    let ids = widest(&mut findings.iter().map(|gap| width(&gap.id)));
    let places = widest(&mut findings.iter().map(|gap| width(&place(gap)))).min(WIDEST);
    let concerns = widest(&mut findings.iter().map(|gap| width(&concern(gap))));
    for gap in findings {
        let tone = match gap.severity {
            Severity::Critical | Severity::High => Tone::Bad,
            Severity::Medium => Tone::Warn,
            Severity::Low => Tone::Faint,
        };
        let place = place(gap);
        let head = Line::new(look)
            .gap(2)
            .cell(Tone::Strong, &gap.id, ids + 2)
            .cell(tone, gap.severity.name(), 10)
            .cell(Tone::Normal, &concern(gap), concerns + 2)
            .cell(Tone::Normal, &place, places.max(width(&place)) + 2);
        Flow::after(head).then(Tone::Normal, &gap.title).write(out)?;
    }
    Ok(())
}

fn place(gap: &Gap) -> String {
    format!("{}:{}", gap.path, gap.line)
}

fn concern(gap: &Gap) -> String {
    let names: Vec<&str> = gap.concerns.iter().map(|concern| concern.name()).collect();
    names.join("+")
}

/// What somebody who trusts the findings has to know: leads that did not stand, and what nobody read.
fn missing(report: &GapReport, out: &mut impl Write, look: &Look) -> io::Result<()> {
    if !report.rejected.is_empty() {
        let n = words::count(report.rejected.len() as u64, "lead");
        title(&format!("{n} did not stand up to a look at the commit"), out, look)?;
        // What several scouts said alike is listed once.
        let mut alike: Vec<(&str, &str, u64)> = Vec::new();
        for Rejected { place, why, .. } in &report.rejected {
            match alike.iter_mut().find(|(at, because, _)| *at == place && *because == why) {
                Some((_, _, times)) => *times += 1,
                None => alike.push((place, why, 1)),
            }
        }
        for (place, why, times) in alike.iter().take(LISTED) {
            let place = if place.is_empty() { "(no place)" } else { place };
            let head = Line::new(look).gap(2).then(Tone::Normal, place).gap(2);
            let times = if *times > 1 { format!(", {times} times") } else { String::new() };
            Flow::after(head).then(Tone::Faint, &format!("{why}{times}")).write(out)?;
        }
        more(alike.len(), out, look)?;
    }
    let unread: Vec<_> = report.unread().collect();
    if !unread.is_empty() {
        let n = words::count(report.slices.len() as u64, "part");
        title(&format!("{} of {n} not read", unread.len()), out, look)?;
        for slice in unread.iter().take(LISTED) {
            let head = Line::new(look).gap(2).then(Tone::Bad, slice.wp.as_str()).gap(2);
            let why = slice.unread.as_deref().unwrap_or_default();
            Flow::after(head).then(Tone::Normal, why).write(out)?;
        }
        more(unread.len(), out, look)?;
    }
    let mut kinds: BTreeMap<&str, u64> = BTreeMap::new();
    for left in &report.left_out {
        *kinds.entry(&left.why).or_default() += 1;
    }
    if kinds.is_empty() {
        return Ok(());
    }
    let counts: Vec<String> = kinds.iter().map(|(why, n)| format!("{n} {why}")).collect();
    let files = words::count(report.left_out.len() as u64, "file");
    let head = Line::new(look).then(Tone::Faint, &format!("{files} given to nobody:")).gap(1);
    writeln!(out)?;
    Flow::after(head).then(Tone::Faint, &counts.join(", ")).write(out)
}

fn more(all: usize, out: &mut impl Write, look: &Look) -> io::Result<()> {
    if all <= LISTED {
        return Ok(());
    }
    let text = format!("and {} more, all of them in the report", all - LISTED);
    writeln!(out, "{}", Line::new(look).gap(2).then(Tone::Faint, &text).done().trimmed())
}

/// Writes what `draft` came to.
///
/// # Errors
/// When `out` cannot be written.
pub fn write_draft(draft: &Draft, out: &mut impl Write, look: &Look) -> io::Result<()> {
    let dealt: usize = draft.wps.iter().map(|wp| wp.findings.len()).sum();
    let text = format!(
        "{} in {}",
        words::count(dealt as u64, "finding"),
        words::count(draft.wps.len() as u64, "work package")
    );
    writeln!(out, "{}", Line::new(look).then(Tone::Strong, &text).done().trimmed())?;
    for wp in &draft.wps {
        drafted(wp, out, look)?;
    }
    if draft.undecided.is_empty() {
        return Ok(());
    }
    title("To decide, marked `# DECIDE:` in the plan", out, look)?;
    for open in &draft.undecided {
        let tone = Tone::Warn;
        let who = open.wp.as_deref().map(|wp| format!("{wp}  ")).unwrap_or_default();
        let head = Line::new(look)
            .gap(2)
            .then(tone, words::tone_mark(tone, look))
            .gap(1)
            .then(Tone::Strong, &who);
        Flow::after(head).then(Tone::Normal, &open.what).write(out)?;
    }
    Ok(())
}

fn drafted(wp: &Drafted, out: &mut impl Write, look: &Look) -> io::Result<()> {
    let tone = match wp.risk {
        Risk::Low => Tone::Faint,
        Risk::Medium => Tone::Normal,
        Risk::High => Tone::Warn,
    };
    let head = Line::new(look).gap(2).then(Tone::Strong, &wp.id).gap(2);
    let mut flow = Flow::after(head)
        .then(Tone::Normal, &wp.findings.join(" "))
        .dot()
        .then(Tone::Normal, &words::count(wp.whitelist.len() as u64, "file"))
        .dot()
        .then(Tone::Normal, &wp.tier)
        .dot()
        .then(tone, &format!("{} risk", words::risk(wp.risk)));
    if !wp.needs.is_empty() {
        flow = flow.dot().then(Tone::Normal, &format!("after {}", wp.needs.join(", ")));
    }
    flow.write(out)
}
