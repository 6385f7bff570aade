//! Budgets of money over agents that never tell what they cost: nothing is ever counted against them, so
//! they hold nobody.

use std::collections::{BTreeMap, BTreeSet};

use super::Notes;
use crate::model::ids::TierId;
use crate::model::plan::{Budget, Plan, Worker};
use crate::plan::origins::Origins;
use crate::plan::pointer;
use crate::plan::wording::quoted;

/// Notes each `budget_usd` that governs a session of an agent which tells no cost. Where `budget_tokens`
/// stands beside it that one holds, and the money is noted only if it could never hold anybody.
pub fn check(plan: &Plan, origins: &Origins, notes: &mut Notes) {
    for (i, wp) in plan.wps.iter().enumerate() {
        look(plan, wp.budget, &plan.tiers_of(wp), &origins.wp(i).at("budget_usd"), notes);
    }
    look(plan, plan.budget, &plan.tiers_in_use(), "/plan/budget_usd", notes);
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
