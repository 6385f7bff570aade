//! Budgets of money over agents that never tell what they cost: nothing is ever counted against them, so
//! they hold nobody.

use std::collections::{BTreeMap, BTreeSet};

use super::Notes;
use crate::model::ids::TierId;
use crate::model::plan::{Budget, Plan, Review, Worker, Wp};
use crate::plan::origins::Origins;
use crate::plan::pointer;
use crate::plan::wording::quoted;

/// Notes each `budget_usd` that governs a session of an agent which tells no cost. Where `budget_tokens`
/// stands beside it that one holds, and the money is noted only if it could never hold anybody.
pub fn check(plan: &Plan, origins: &Origins, notes: &mut Notes) {
    let mut all = BTreeSet::new();
    for (i, wp) in plan.wps.iter().enumerate() {
        let tiers = tiers_of(plan, wp);
        look(plan, wp.budget, &tiers, &origins.wp(i).at("budget_usd"), notes);
        all.extend(tiers);
    }
    let last = plan.verify.as_ref().and_then(|verify| verify.review_tier.as_ref());
    all.extend(last.into_iter().flat_map(|tier| reached(plan, tier, false)));
    look(plan, plan.budget, &all, "/plan/budget_usd", notes);
}

/// Every tier that a session of the WP may be of.
fn tiers_of<'a>(plan: &'a Plan, wp: &'a Wp) -> BTreeSet<&'a TierId> {
    let mut tiers = reached(plan, &wp.tier, true);
    if let Review::Worker { tier, .. } = &wp.review {
        tiers.extend(reached(plan, tier, false));
    }
    tiers
}

/// A tier and those that may stand in for it; of a worker's, also those that later rounds may go to.
fn reached<'a>(plan: &'a Plan, first: &'a TierId, later: bool) -> BTreeSet<&'a TierId> {
    let (mut found, mut open) = (BTreeSet::new(), vec![first]);
    while let Some(name) = open.pop() {
        let Some(tier) = plan.tiers.get(name) else { continue };
        if found.insert(name) && (later || name == first) {
            open.extend(&tier.fallback);
            open.extend(tier.escalate_to.iter().filter(|_| later));
        }
    }
    found
}

fn look(plan: &Plan, budget: Budget, tiers: &BTreeSet<&TierId>, at: &str, notes: &mut Notes) {
    if budget.usd.is_none() {
        return;
    }
    // By worker: the tiers that it works on.
    let mut silent: BTreeMap<&str, Vec<&TierId>> = BTreeMap::new();
    let mut held = false;
    for name in tiers {
        let Some(tier) = plan.tiers.get(*name) else { continue };
        match plan.workers.get(&tier.worker).and_then(Worker::tells_cost) {
            Some(false) => silent.entry(tier.worker.as_str()).or_default().push(name),
            Some(true) | None => held = true,
        }
    }
    let Some(first) = silent.values().flatten().next().copied() else { return };
    if budget.tokens.is_some() && held {
        return;
    }
    let who = silent.iter().map(|(worker, tiers)| {
        let names: Vec<String> = tiers.iter().map(|tier| quoted(tier.as_str())).collect();
        let noun = if names.len() == 1 { "tier" } else { "tiers" };
        format!("{worker} ({noun} {})", names.join(", "))
    });
    let who = who.collect::<Vec<_>>().join(" and ");
    let tell = if silent.len() == 1 { "tells" } else { "tell" };
    let message = match held {
        true => format!("this budget does not hold {who}, which {tell} no cost"),
        false => format!("this budget holds nobody: {who} {tell} no cost"),
    };
    let help = match (budget.tokens, held) {
        (Some(_), _) => "leave it out: `budget_tokens` beside it is what holds",
        (None, true) => "add `budget_tokens`: tokens are told by all of them",
        (None, false) => "say it in tokens, which are told: `budget_tokens`",
    };
    notes
        .warning(at, "untold-cost", message)
        .key()
        .related("who tells none", pointer::join("/tiers", first.as_str()) + "/worker")
        .help(help);
}
