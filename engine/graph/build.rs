//! From a plan to a sealed graph, or to everything that is wrong with it.

use std::collections::HashMap;

use petgraph::graph::{DiGraph, NodeIndex};

use crate::model::ids::StageId;
use crate::model::plan::{Mode, Plan};

use super::{Fault, Group, Need, Sealed, cycle, declared, levels};

/// Seals the graph of `plan`.
///
/// In independent mode all WPs are one level. With stages, each stage is one level, or several in a
/// row where its WPs need each other. With `needs` and no stages, levels are cut by the longest
/// chain that leads to each WP and are named `level-1`, `level-2`, …
///
/// # Errors
/// Everything that is wrong, in the order of the plan: names that lead nowhere and needs that point
/// to a later stage first, then one ring for each knot of WPs that wait for each other.
pub fn seal(plan: &Plan) -> Result<Sealed, Vec<Fault>> {
    let mut faults = Vec::new();
    let homes = homes(plan, &mut faults);
    let explicit = explicit(plan, &homes, &mut faults);
    faults.extend(
        cycle::knots(&explicit).into_iter().map(|knot| Fault::Cycle(cycle::name(plan, knot))),
    );
    if !faults.is_empty() {
        return Err(faults);
    }
    let homes: Vec<usize> = homes.into_iter().flatten().collect();

    let (groups, levels) = levels::cut(plan, &homes, &explicit);
    let mut level_of = vec![0; plan.wps.len()];
    for (l, level) in levels.iter().enumerate() {
        level.wps.iter().for_each(|&wp| level_of[wp] = l);
    }
    let needs = needs(explicit, &groups);
    Ok(Sealed { graph: graph(&needs, &groups), levels, level_of, needs, groups })
}

/// For each WP the index of its stage, where it has one. All zero where stages play no part.
fn homes(plan: &Plan, faults: &mut Vec<Fault>) -> Vec<Option<usize>> {
    let stages = match (plan.mode, declared(plan)) {
        (Mode::Independent, _) | (_, None) => return vec![Some(0); plan.wps.len()],
        (Mode::Staged, Some(stages)) => stages,
    };
    let by_id: HashMap<&StageId, usize> =
        stages.iter().enumerate().map(|(i, s)| (&s.id, i)).collect();
    plan.wps
        .iter()
        .map(|wp| {
            let home = by_id.get(&wp.stage).copied();
            if home.is_none() {
                faults.push(Fault::UnknownStage { wp: wp.id.clone(), stage: wp.stage.clone() });
            }
            home
        })
        .collect()
}

/// For each WP what its `needs` name, in their order and each once; `None` where it has none.
fn explicit(
    plan: &Plan,
    homes: &[Option<usize>],
    faults: &mut Vec<Fault>,
) -> Vec<Option<Vec<usize>>> {
    if plan.mode == Mode::Independent {
        return vec![Some(Vec::new()); plan.wps.len()];
    }
    // A doubled id is the plan room's finding; here the first one counts.
    let mut by_id = HashMap::with_capacity(plan.wps.len());
    for (i, wp) in plan.wps.iter().enumerate() {
        by_id.entry(&wp.id).or_insert(i);
    }
    let mut all = Vec::with_capacity(plan.wps.len());
    for (i, wp) in plan.wps.iter().enumerate() {
        all.push(wp.needs.as_ref().map(|ids| {
            let mut found = Vec::with_capacity(ids.len());
            for need in ids {
                match by_id.get(need) {
                    None => {
                        faults.push(Fault::UnknownNeed { wp: wp.id.clone(), need: need.clone() })
                    }
                    // Without a stage of its own a WP is neither earlier nor later.
                    Some(&j) if homes[i].is_some() && homes[j] > homes[i] => {
                        faults.push(Fault::LaterStage {
                            wp: wp.id.clone(),
                            stage: wp.stage.clone(),
                            need: need.clone(),
                            later: plan.wps[j].stage.clone(),
                        })
                    }
                    Some(&j) if !found.contains(&j) => found.push(j),
                    Some(_) => {}
                }
            }
            found
        }));
    }
    all
}

/// What each WP waits for, once groups are known.
fn needs(explicit: Vec<Option<Vec<usize>>>, groups: &[Group]) -> Vec<Need> {
    let mut group_of = vec![0; explicit.len()];
    for (g, group) in groups.iter().enumerate() {
        for &wp in &group.wps {
            group_of[wp] = g;
        }
    }
    explicit
        .into_iter()
        .zip(group_of)
        .map(|(needs, group)| match (needs, group.checked_sub(1)) {
            (Some(wps), _) if wps.is_empty() => Need::Nothing,
            (Some(wps), _) => Need::Wps(wps),
            (None, Some(before)) => Need::Group(before),
            (None, None) => Need::Nothing,
        })
        .collect()
}

/// The graph itself. A hub is wired to its group only if somebody waits for the whole group.
fn graph(needs: &[Need], groups: &[Group]) -> DiGraph<(), ()> {
    let n = needs.len();
    let mut graph = DiGraph::with_capacity(n + groups.len(), 2 * n);
    for _ in 0..n + groups.len() {
        graph.add_node(());
    }
    let node = NodeIndex::new;
    let mut wired = vec![false; groups.len()];
    for (wp, need) in needs.iter().enumerate() {
        match need {
            Need::Nothing => {}
            Need::Wps(wps) => {
                for &other in wps {
                    graph.add_edge(node(other), node(wp), ());
                }
            }
            Need::Group(group) => {
                graph.add_edge(node(n + group), node(wp), ());
                wired[*group] = true;
            }
        }
    }
    for (g, group) in groups.iter().enumerate().filter(|(g, _)| wired[*g]) {
        for &wp in &group.wps {
            graph.add_edge(node(wp), node(n + g), ());
        }
    }
    graph
}
