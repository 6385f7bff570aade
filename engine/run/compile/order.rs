//! The order of the WPs: the sealed graph, and each of its faults at the entry of `needs` that makes it. Where
//! there are faults, the order of the WPs that are not touched by them.

use std::collections::{BTreeSet, HashMap};

use crate::finding::Finding;
use crate::graph::{self, Cycle, Fault, Sealed};
use crate::model::ids::{StageId, WpId};
use crate::model::plan::Plan;

use super::subject::Subject;

/// So many WPs of a ring are named and shown: enough to cut it, and the cost of a long one does not grow with its
/// length times that of the file.
const SHOWN: usize = 12;

/// In which order the WPs run, as far as that is known.
pub(super) struct Order {
    /// The graph. Without faults it is the plan's.
    pub graph: Sealed,
    /// WPs whose place in it says nothing.
    pub unplaced: BTreeSet<usize>,
}

/// Seals the graph, or says why it cannot be; then it is that of what is left without the faults. Of the WPs in
/// `unplaced` it has been said already why they have no place.
pub(super) fn seal(
    subject: Subject<'_>,
    unplaced: &BTreeSet<usize>,
    findings: &mut Vec<Finding>,
) -> Option<Order> {
    let faults = match graph::seal(subject.plan) {
        Ok(graph) => {
            let unplaced = reached(subject.plan, unplaced.clone());
            return Some(Order { graph, unplaced });
        }
        Err(faults) => faults,
    };
    let mut torn = unplaced.clone();
    for fault in &faults {
        let told = match fault {
            Fault::UnknownStage { wp, .. } => {
                index(subject, wp).is_some_and(|wp| unplaced.contains(&wp))
            }
            _ => false,
        };
        if !told {
            findings.push(finding(subject, fault));
        }
        match fault {
            Fault::Cycle(cycle) => torn.extend(&cycle.knot),
            Fault::LaterStage { wp, .. }
            | Fault::UnknownNeed { wp, .. }
            | Fault::UnknownStage { wp, .. } => torn.extend(index(subject, wp)),
        }
    }
    let graph = graph::seal(&without(subject.plan, &torn)).ok()?;
    Some(Order { graph, unplaced: reached(subject.plan, torn) })
}

/// The plan, in which the WPs in `torn` wait for nothing and are somewhere.
fn without(plan: &Plan, torn: &BTreeSet<usize>) -> Plan {
    let mut plan = plan.clone();
    let first: Option<StageId> = plan.stages.first().map(|stage| stage.id.clone());
    for &wp in torn {
        let wp = &mut plan.wps[wp];
        wp.needs = Some(Vec::new());
        if let Some(first) =
            first.as_ref().filter(|_| !plan.stages.iter().any(|s| s.id == wp.stage))
        {
            wp.stage = first.clone();
        }
    }
    plan
}

/// The WPs in `torn`, and those whose place depends on one of them: they need it, and are in its stage or may be.
fn reached(plan: &Plan, torn: BTreeSet<usize>) -> BTreeSet<usize> {
    if torn.is_empty() {
        return torn;
    }
    let by_id: HashMap<&WpId, usize> =
        plan.wps.iter().enumerate().map(|(i, wp)| (&wp.id, i)).collect();
    let mut needed_by: HashMap<usize, Vec<usize>> = HashMap::new();
    for (i, wp) in plan.wps.iter().enumerate() {
        for need in wp.needs.iter().flatten().filter_map(|need| by_id.get(need)) {
            needed_by.entry(*need).or_default().push(i);
        }
    }
    let stages: BTreeSet<&StageId> = plan.stages.iter().map(|stage| &stage.id).collect();
    let together = |a: usize, b: usize| {
        let (a, b) = (&plan.wps[a].stage, &plan.wps[b].stage);
        a == b || !stages.contains(a) || !stages.contains(b)
    };
    let mut left: Vec<usize> = torn.iter().copied().collect();
    let mut reached = torn;
    while let Some(wp) = left.pop() {
        for &other in needed_by.get(&wp).into_iter().flatten() {
            if together(wp, other) && reached.insert(other) {
                left.push(other);
            }
        }
    }
    reached
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
            let at = index(subject, wp).map(|wp| subject.wp(wp, "stage"));
            subject.error("unknown-stage", &at.unwrap_or_default(), fault.to_string())
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
    let mut names: Vec<String> = ring.ids.iter().take(SHOWN).map(ToString::to_string).collect();
    if let more @ 1.. = ring.ids.len().saturating_sub(SHOWN) {
        names.push(format!("… {more} more …"));
    }
    let message = format!(
        "WPs wait for each other, so none of them can start: {} → {first}",
        names.join(" → ")
    );
    let waits = |one: &WpId, other: &WpId| format!("`{one}` waits for `{other}`");
    let mut finding = subject
        .error(CODE, &at, message)
        .label(waits(first, second))
        .help("drop one of these entries");
    for (one, other) in pairs.take(SHOWN - 1) {
        finding = finding.related(waits(one, other), subject.place(&entry(subject, one, other)));
    }
    finding
}

/// Pointer to the entry of `wp`'s `needs` that names `need`.
fn entry(subject: Subject<'_>, wp: &WpId, need: &WpId) -> String {
    let list = index(subject, wp).map(|wp| subject.wp(wp, "needs")).unwrap_or_default();
    // Asked of the file: the plan names each need once, however often it is written.
    let mut entries = (0..).map(|j| format!("{list}/{j}"));
    let found = entries
        .by_ref()
        .map_while(|at| subject.places.text(&at).map(|text| (at, text)))
        .find(|(_, text)| text == need.as_str());
    found.map_or(list, |(at, _)| at)
}

fn index(subject: Subject<'_>, id: &WpId) -> Option<usize> {
    subject.plan.wps.iter().position(|wp| &wp.id == id)
}
