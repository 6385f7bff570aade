//! Sealing, held against a naive reading of the same plan on random graphs.

use proptest::prelude::*;

use sop::graph::{Fault, Waits, seal};
use sop::model::ids::WpId;
use sop::model::plan::Plan;

use crate::support::small_plan::{plan, wp};

/// Up to 9 WPs in up to 3 stages (or in none), with needs at random: rings, self-needs and needs of later stages come up often.
fn any_plan() -> impl Strategy<Value = Plan> {
    let one = (0_usize..3, proptest::option::of(proptest::collection::vec(0_usize..9, 0..3)));
    (any::<bool>(), proptest::collection::vec(one, 1..9)).prop_map(|(with_stages, wps)| {
        let names = ["s0", "s1", "s2"];
        let mut plan = plan(if with_stages { &names } else { &[] });
        for (i, (stage, needs)) in wps.iter().enumerate() {
            let mut wp = wp(&format!("w{i}"), names[*stage], None);
            wp.needs = needs.as_ref().map(|needs| {
                let name = |n: &usize| WpId::new(format!("w{}", n % wps.len())).unwrap();
                needs.iter().map(name).collect()
            });
            plan.wps.push(wp);
        }
        plan
    })
}

/// What `needs` says, by index.
fn written(plan: &Plan, i: usize) -> Vec<usize> {
    let ids = plan.wps[i].needs.iter().flatten();
    ids.map(|id| plan.wps.iter().position(|w| &w.id == id).unwrap()).collect()
}

fn stage(plan: &Plan, i: usize) -> usize {
    plan.stages.iter().position(|s| s.id == plan.wps[i].stage).unwrap_or(0)
}

/// Everything `i` waits for directly, without hubs.
fn all_needs(plan: &Plan, i: usize) -> Vec<usize> {
    if plan.wps[i].needs.is_some() {
        return written(plan, i);
    }
    let others = || (0..plan.wps.len()).map(|j| (j, stage(plan, j)));
    let before = others().map(|(_, s)| s).filter(|&s| s < stage(plan, i)).max();
    others().filter(|&(_, s)| Some(s) == before).map(|(j, _)| j).collect()
}

/// Whether `to` can be reached from `from` in one step or more.
fn reaches(next: &dyn Fn(usize) -> Vec<usize>, from: usize, to: usize, n: usize) -> bool {
    let mut seen = vec![false; n];
    let mut stack = next(from);
    while let Some(i) = stack.pop() {
        if i == to {
            return true;
        }
        if !std::mem::replace(&mut seen[i], true) {
            stack.extend(next(i));
        }
    }
    false
}

proptest! {
    #[test]
    fn rings_are_found_exactly_when_there_are_some(plan in any_plan()) {
        let n = plan.wps.len();
        // A need of a later stage is a fault of its own and counts for no ring.
        let allowed = |i: usize| -> Vec<usize> {
            written(&plan, i).into_iter().filter(|&j| stage(&plan, j) <= stage(&plan, i)).collect()
        };
        let has_ring = (0..n).any(|i| reaches(&allowed, i, i, n));
        let has_later = (0..n).any(|i| allowed(i).len() < written(&plan, i).len());
        match seal(&plan) {
            Ok(_) => prop_assert!(!has_ring && !has_later),
            Err(faults) => {
                let later = faults.iter().any(|f| matches!(f, Fault::LaterStage { .. }));
                let rings: Vec<_> = faults.iter().filter_map(|f| match f {
                    Fault::Cycle(cycle) => Some(cycle),
                    _ => None,
                }).collect();
                prop_assert_eq!(later, has_later);
                prop_assert_eq!(!rings.is_empty(), has_ring);
                for ring in rings {
                    for (k, &wp) in ring.wps.iter().enumerate() {
                        let next = ring.wps[(k + 1) % ring.wps.len()];
                        prop_assert!(allowed(wp).contains(&next), "{} at {}", ring, wp);
                        prop_assert_eq!(&plan.wps[wp].id, &ring.ids[k]);
                        prop_assert!(!ring.wps[..k].contains(&wp), "each once: {}", ring);
                    }
                }
            }
        }
    }

    #[test]
    fn levels_come_after_all_that_is_waited_for(plan in any_plan()) {
        let n = plan.wps.len();
        let Ok(sealed) = seal(&plan) else { return Ok(()) };
        let mut order: Vec<usize> = sealed.order().collect();
        for i in 0..n {
            let mut expected = all_needs(&plan, i);
            expected.sort_unstable();
            expected.dedup();
            let mut waits = sealed.waits(i).wps().to_vec();
            waits.sort_unstable();
            prop_assert_eq!(&waits, &expected);
            prop_assert!(waits.iter().all(|&j| sealed.level_of(j) < sealed.level_of(i)));
            prop_assert_eq!(waits.is_empty(), sealed.waits(i) == Waits::Nothing);
            prop_assert!(sealed.levels()[sealed.level_of(i)].wps.contains(&i));
            if !plan.stages.is_empty() {
                prop_assert_eq!(&sealed.levels()[sealed.level_of(i)].stage, &plan.wps[i].stage);
            }

            let mut dependents: Vec<usize> = sealed.dependents(i).collect();
            dependents.sort_unstable();
            let naive: Vec<usize> =
                (0..n).filter(|&j| reaches(&|k| all_needs(&plan, k), j, i, n)).collect();
            prop_assert_eq!(dependents, naive);
        }
        order.sort_unstable();
        prop_assert_eq!(order, (0..n).collect::<Vec<_>>());

        let chain = sealed.longest_chain();
        prop_assert!(chain.windows(2).all(|w| sealed.waits(w[1]).wps().contains(&w[0])));
        fn depth(plan: &Plan, i: usize) -> usize {
            1 + all_needs(plan, i).into_iter().map(|j| depth(plan, j)).max().unwrap_or(0)
        }
        prop_assert_eq!(chain.len(), (0..n).map(|i| depth(&plan, i)).max().unwrap_or(0));
    }
}
