//! Rings of WPs that need each other, each named whole.

use std::collections::VecDeque;

use petgraph::algo::tarjan_scc;
use petgraph::graph::{DiGraph, NodeIndex};

use crate::model::plan::Plan;

use super::Cycle;

/// WPs that all wait for each other, in one way or another, and the ring that shows it.
pub(super) struct Knot {
    ring: Vec<usize>,
    all: Vec<usize>,
}

/// Each knot (strongly connected component) of `needs`, in the order of the plan. Its ring is the
/// shortest through its first WP: each needs the next, the last the first.
///
/// Only written needs can make a ring: waiting for a whole stage always points backwards.
pub(super) fn knots(needs: &[Option<Vec<usize>>]) -> Vec<Knot> {
    let of = |wp: usize| needs[wp].as_deref().unwrap_or_default();
    let edges =
        (0..needs.len()).flat_map(|wp| of(wp).iter().map(move |&need| (wp as u32, need as u32)));
    let graph = DiGraph::<(), ()>::from_edges(edges);

    let mut knot_of = vec![usize::MAX; needs.len()];
    let mut starts = Vec::new();
    for (k, knot) in tarjan_scc(&graph).iter().enumerate() {
        let mut all: Vec<usize> = knot.iter().copied().map(NodeIndex::index).collect();
        all.iter().for_each(|&wp| knot_of[wp] = k);
        all.sort_unstable();
        let Some(&first) = all.first() else { continue };
        if all.len() > 1 || of(first).contains(&first) {
            starts.push(all);
        }
    }
    starts.sort_unstable();
    starts
        .into_iter()
        .map(|all| {
            let ring = shortest(all[0], needs.len(), |wp| {
                of(wp).iter().copied().filter(|&n| knot_of[n] == knot_of[all[0]])
            });
            Knot { ring, all }
        })
        .collect()
}

/// The shortest way from `start` back to it, breadth first. Within its knot there always is one.
fn shortest<I: Iterator<Item = usize>>(
    start: usize,
    n: usize,
    next: impl Fn(usize) -> I,
) -> Vec<usize> {
    let mut came_from = vec![None; n];
    let mut queue = VecDeque::from([start]);
    while let Some(wp) = queue.pop_front() {
        for need in next(wp) {
            if need == start {
                let back = |&wp: &usize| if wp == start { None } else { came_from[wp] };
                let mut ring: Vec<usize> = std::iter::successors(Some(wp), back).collect();
                ring.reverse();
                return ring;
            }
            if came_from[need].is_none() {
                came_from[need] = Some(wp);
                queue.push_back(need);
            }
        }
    }
    vec![start]
}

/// The ring with its names.
pub(super) fn name(plan: &Plan, Knot { ring, all }: Knot) -> Cycle {
    let ids = ring.iter().map(|&wp| plan.wps[wp].id.clone()).collect();
    Cycle { wps: ring, ids, knot: all }
}
