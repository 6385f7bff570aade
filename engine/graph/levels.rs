//! Cutting needs without cycles into stages and levels.

use crate::model::ids::StageId;
use crate::model::plan::Plan;

use super::{Group, Level, declared};

/// The stages that have WPs, and the levels, both in order. `homes` is the declared stage of each
/// WP, `needs` what it names; without declared stages each level is a stage of its own.
pub(super) fn cut(
    plan: &Plan,
    homes: &[usize],
    needs: &[Option<Vec<usize>>],
) -> (Vec<Group>, Vec<Level>) {
    let depths = depths(homes, needs);
    // Sorting is stable, and so WPs keep the order of the plan within a level.
    let mut order: Vec<usize> = (0..plan.wps.len()).collect();
    order.sort_by_key(|&wp| (homes[wp], depths[wp]));

    let mut groups: Vec<Group> = Vec::new();
    let mut levels: Vec<Level> = Vec::new();
    for same_level in order.chunk_by(|&a, &b| (homes[a], depths[a]) == (homes[b], depths[b])) {
        let Some(&first) = same_level.first() else {
            continue;
        };
        let stage = name(plan, homes[first], levels.len());
        match groups.last_mut().filter(|g| g.stage == stage) {
            Some(group) => group.wps.extend(same_level),
            None => groups.push(Group { stage: stage.clone(), wps: same_level.to_vec() }),
        }
        levels.push(Level { stage, wps: same_level.to_vec() });
    }
    for group in &mut groups {
        group.wps.sort_unstable();
    }
    (groups, levels)
}

/// For each WP the length of the longest chain of needs within its own stage that leads to it.
fn depths(homes: &[usize], needs: &[Option<Vec<usize>>]) -> Vec<usize> {
    let inner = |wp: usize| {
        let all = needs[wp].as_deref().unwrap_or_default();
        all.iter().copied().filter(move |&n| homes[n] == homes[wp])
    };
    let mut waiting: Vec<usize> = (0..needs.len()).map(|wp| inner(wp).count()).collect();
    let mut needed_by = vec![Vec::new(); needs.len()];
    for wp in 0..needs.len() {
        inner(wp).for_each(|need| needed_by[need].push(wp));
    }
    let mut depths = vec![0; needs.len()];
    let mut ready: Vec<usize> = (0..needs.len()).filter(|&wp| waiting[wp] == 0).collect();
    while let Some(need) = ready.pop() {
        for &wp in &needed_by[need] {
            depths[wp] = depths[wp].max(depths[need] + 1);
            waiting[wp] -= 1;
            if waiting[wp] == 0 {
                ready.push(wp);
            }
        }
    }
    depths
}

/// The stage that a level belongs to.
fn name(plan: &Plan, home: usize, level: usize) -> StageId {
    match declared(plan) {
        Some(stages) => stages[home].id.clone(),
        None => StageId::new(format!("level-{}", level + 1)).expect("a word, a dash, a number"),
    }
}
