//! The graph, sealed, or each of its faults at the entry of `needs` that makes it.

use crate::finding::Finding;
use crate::graph::{self, Cycle, Fault, Sealed};
use crate::model::ids::WpId;

use super::subject::Subject;

/// Seals the graph, or says why it cannot be.
pub(super) fn seal(subject: Subject<'_>, findings: &mut Vec<Finding>) -> Option<Sealed> {
    match graph::seal(subject.plan) {
        Ok(sealed) => Some(sealed),
        Err(faults) => {
            for fault in &faults {
                let new = finding(subject, fault);
                // In a draft some of this has been found already, by name.
                let told = |f: &Finding| (f.code, &f.span) == (new.code, &new.span);
                if !findings.iter().any(told) {
                    findings.push(new);
                }
            }
            None
        }
    }
}

fn finding(subject: Subject<'_>, fault: &Fault) -> Finding {
    match fault {
        Fault::Cycle(ring) => cycle(subject, ring),
        Fault::LaterStage { wp, need, .. } => {
            let at = entry(subject, wp, need);
            subject
                .error("late-need", &at, fault.to_string())
                .help("move one of the two to another stage, or drop the entry")
        }
        Fault::UnknownNeed { wp, need } => {
            let at = entry(subject, wp, need);
            subject.error("unknown-wp", &at, fault.to_string())
        }
        Fault::UnknownStage { wp, .. } => {
            let at = subject.wp(index(subject, wp), "stage");
            subject.error("unknown-stage", &at, fault.to_string())
        }
    }
}

fn cycle(subject: Subject<'_>, ring: &Cycle) -> Finding {
    const CODE: &str = "cycle";
    let mut pairs = ring.ids.iter().zip(ring.ids.iter().cycle().skip(1));
    let Some((first, second)) = pairs.next() else {
        return Finding::error(CODE, subject.file, ring.to_string());
    };
    let at = entry(subject, first, second);
    if first == second {
        return subject
            .error(CODE, &at, ring.to_string())
            .label("can never start")
            .help("drop the entry");
    }
    let names: Vec<&str> = ring.ids.iter().map(WpId::as_str).collect();
    let message = format!(
        "WPs wait for each other, so none of them can start: {} → {first}",
        names.join(" → ")
    );
    let waits = |one: &WpId, other: &WpId| format!("`{one}` waits for `{other}`");
    let mut finding = subject
        .error(CODE, &at, message)
        .label(waits(first, second))
        .help("drop one of these entries");
    for (one, other) in pairs {
        finding = finding.related(waits(one, other), subject.place(&entry(subject, one, other)));
    }
    finding
}

/// Pointer to the entry of `wp`'s `needs` that names `need`.
fn entry(subject: Subject<'_>, wp: &WpId, need: &WpId) -> String {
    let list = subject.wp(index(subject, wp), "needs");
    // Asked of the file: the plan names each need once, however often it is written.
    let mut entries = (0..).map(|j| format!("{list}/{j}"));
    let found = entries
        .by_ref()
        .map_while(|at| subject.places.text(&at).map(|text| (at, text)))
        .find(|(_, text)| text == need.as_str());
    found.map_or(list, |(at, _)| at)
}

fn index(subject: Subject<'_>, id: &WpId) -> usize {
    let found = subject.plan.wps.iter().position(|wp| &wp.id == id);
    found.unwrap_or(usize::MAX)
}
