//! Tiers and workers: what they say of each other, and what they are once resolved.

use std::collections::{BTreeMap, HashSet};

use super::names::Names;
use super::{LOG_LIMIT, Notes, WORK_TIMEOUT, id};
use crate::model::ids::{TierId, WorkerId};
use crate::model::plan as model;
use crate::plan::document::Tier;
use crate::plan::pointer;
use crate::plan::scalar::Name;
use crate::plan::shape::{Named, Table};
use crate::plan::stand_in::nameless;
use crate::plan::wording::quoted;

/// Checks what tiers say of each other and of workers.
pub fn check(tiers: &Named<Name, Table<Tier>>, names: &Names, notes: &mut Notes) {
    for (name, tier) in &tiers.0 {
        let at = pointer::join("/tiers", &name.0);
        names.worker(&tier.worker, || format!("{at}/worker"), notes);
        if let Some(next) = &tier.escalate_to {
            names.tier(next, || format!("{at}/escalate_to"), notes);
        }
        for (i, next) in tier.fallback.iter().enumerate() {
            names.tier(next, || format!("{at}/fallback/{i}"), notes);
        }
    }
    let escalations = |name: &str| {
        let next = tiers
            .0
            .get_key_value(&Name(name.to_owned()))
            .and_then(|(_, tier)| tier.escalate_to.as_ref());
        next.map(|next| (next.0.clone(), "escalate_to".to_owned())).into_iter().collect()
    };
    cycles(tiers, escalations, "tier-cycle", "escalate to each other for ever", notes);
    let fallbacks = |name: &str| {
        let tier = tiers.0.get(&Name(name.to_owned()));
        let fallback = tier.map(|tier| tier.fallback.as_slice()).unwrap_or_default();
        let edge = |(i, next): (usize, &Name)| (next.0.clone(), format!("fallback/{i}"));
        fallback.iter().enumerate().map(edge).collect()
    };
    cycles(tiers, fallbacks, "fallback-cycle", "fall back on each other for ever", notes);
}

/// Where a step from a tier leads, and the key below the tier that says so.
type Step = (String, String);

/// Notes each cycle once, whole, at the step that closes it.
fn cycles(
    tiers: &Named<Name, Table<Tier>>,
    steps: impl Fn(&str) -> Vec<Step>,
    code: &'static str,
    what: &str,
    notes: &mut Notes,
) {
    let mut done: BTreeMap<String, bool> = BTreeMap::new();
    for start in tiers.0.keys() {
        if done.contains_key(&start.0) {
            continue;
        }
        // Depth first: the path down to here, each with the steps that are left.
        done.insert(start.0.clone(), false);
        let mut path: Vec<(String, Vec<Step>)> = vec![(start.0.clone(), steps(&start.0))];
        while let Some((name, left)) = path.last_mut() {
            if left.is_empty() {
                done.insert(name.clone(), true);
                path.pop();
                continue;
            }
            let (next, key) = left.remove(0);
            let at = format!("{}/{key}", pointer::join("/tiers", &*name));
            match done.get(&next) {
                Some(true) => {}
                Some(false) => {
                    let round = path
                        .iter()
                        .skip_while(|(name, _)| *name != next)
                        .map(|(name, _)| name.as_str());
                    let round: Vec<String> = round.chain([next.as_str()]).map(quoted).collect();
                    let message = match round.as_slice() {
                        [only, _] => format!("tier {only} names itself"),
                        _ => format!("the tiers {} {what}", round.join(" → ")),
                    };
                    notes.error(at, code, message).help("leave one of these steps out");
                }
                None => {
                    done.insert(next.clone(), false);
                    let further = steps(&next);
                    path.push((next, further));
                }
            }
        }
    }
}

/// The tiers as resolved.
pub fn lower(tiers: Named<Name, Table<Tier>>) -> BTreeMap<TierId, model::Tier> {
    let lower = |(name, tier): (Name, Table<Tier>)| {
        let tier = tier.0;
        let resolved = model::Tier {
            worker: id(tier.worker.0),
            model: tier.model.map(String::from),
            effort: tier.effort.map(String::from),
            escalate_to: tier.escalate_to.map(|next| id(next.0)),
            fallback: tier.fallback.into_iter().map(|next| id(next.0)).collect(),
            max_parallel: tier.max_parallel.map(|most| most.0 as usize),
            timeout: tier.timeout.map_or(WORK_TIMEOUT, |time| time.0),
            idle_timeout: tier.idle_timeout.map(|time| time.0),
            log_limit: tier.log_limit.map_or(LOG_LIMIT, |size| size.0),
            grace: tier.grace.map_or_else(model::grace, |time| time.0),
            max_turns: tier.max_turns.map(|most| most.0 as u32),
            continues: tier.continues.map(|word| word.0).unwrap_or_default(),
        };
        (id(name.0), resolved)
    };
    tiers.0.into_iter().map(lower).collect()
}

/// Adds the built-in workers that tiers name, and makes every name of a draft lead somewhere. In a plan
/// without findings they all do.
pub fn close(plan: &mut model::Plan) {
    let worker: WorkerId = id(nameless("worker"));
    let reviewing = |wp: &model::Wp| match &wp.review {
        model::Review::Worker { tier, .. } => Some(tier.clone()),
        _ => None,
    };
    let verifying = plan.verify.iter().filter_map(|verify| verify.review_tier.clone());
    let reading = plan.critic.iter().filter_map(|critic| critic.tier.clone());
    let named =
        plan.wps.iter().map(|wp| wp.tier.clone()).chain(plan.wps.iter().filter_map(reviewing));
    let unknown: HashSet<TierId> = named
        .chain(verifying)
        .chain(reading)
        .filter(|tier| !plan.tiers.contains_key(tier))
        .collect();
    for name in unknown {
        let tier = model::Tier {
            worker: worker.clone(),
            model: None,
            effort: None,
            escalate_to: None,
            fallback: Vec::new(),
            max_parallel: None,
            timeout: WORK_TIMEOUT,
            idle_timeout: None,
            log_limit: LOG_LIMIT,
            grace: model::grace(),
            max_turns: None,
            continues: model::Continue::default(),
        };
        plan.tiers.insert(name, tier);
    }
    let names: HashSet<TierId> = plan.tiers.keys().cloned().collect();
    for tier in plan.tiers.values_mut() {
        tier.escalate_to = tier.escalate_to.take().filter(|next| names.contains(next));
        tier.fallback.retain(|next| names.contains(next));
        plan.workers.entry(tier.worker.clone()).or_insert_with(|| {
            model::Worker::built_in(tier.worker.as_str()).unwrap_or_else(stand_in)
        });
    }
}

fn stand_in() -> model::Worker {
    let does =
        model::Does::Command { command: vec!["true".to_owned()], brief: model::BriefBy::default() };
    model::Worker { does, env: BTreeMap::new() }
}
