//! What a plan leaves out is taken from the layers below it; what the layers above say goes before it.

use std::collections::{BTreeSet, HashSet};

use super::{Layer, Layers};
use crate::model::ids::TierId;
use crate::model::plan::{Plan, Review};
use crate::plan::document::{Config, Document, PlanTable};
use crate::plan::scalar::Name;
use crate::plan::shape::{Named, Table};
use crate::plan::{Sites, pointer};

/// What a plan says itself.
#[derive(Debug, Default)]
pub struct Own {
    /// Tiers that it declares.
    tiers: BTreeSet<String>,
    /// Workers that it declares.
    workers: BTreeSet<String>,
    /// Whether a WP of it says no tier.
    wants_tier: bool,
}

impl Layers {
    /// Completes `document`, and notes in `sites` what of it stands elsewhere now. `None` without layers.
    pub(in crate::plan) fn lend(&self, document: &mut Document, sites: &mut Sites) -> Option<Own> {
        if self.0.is_empty() {
            return None;
        }
        let names = |names: Vec<&Name>| names.into_iter().map(|name| name.0.clone()).collect();
        let own = Own {
            tiers: names(document.tiers.0.keys().collect()),
            workers: names(document.workers.0.keys().collect()),
            wants_tier: document.wp.iter().any(|wp| wp.tier.is_none())
                || document.stage.iter().any(|stage| {
                    let said = stage.consolidate.as_ref().is_some_and(|it| it.tier.is_some());
                    !stage.shared.is_empty() && !said
                }),
        };
        let (above, below): (Vec<_>, Vec<_>) =
            self.0.iter().enumerate().partition(|(_, layer)| layer.whose.overrules());
        for (n, Layer { config, .. }) in below.into_iter().rev() {
            Lending { sites, n, over: false }.all(config, document, &own);
        }
        for (n, Layer { config, .. }) in above {
            Lending { sites, n, over: true }.all(config, document, &own);
        }
        // A plan that declares one tier says by that which one it means, whatever else there is.
        if document.plan.tier.is_none() && own.tiers.len() == 1 {
            document.plan.0.tier = own.tiers.first().cloned().map(Name);
        }
        Some(own)
    }
}

/// One layer, as it is put below or above what is there.
struct Lending<'a> {
    sites: &'a mut Sites,
    n: usize,
    over: bool,
}

impl Lending<'_> {
    fn all(&mut self, config: &Config, document: &mut Document, own: &Own) {
        let Config { defaults, provision, review, critic, delivery, tiers, workers } = config;
        self.named("/tiers", &mut document.tiers, tiers);
        self.named("/workers", &mut document.workers, workers);
        // A `[review]` says who reviews, and so says more than a `review` further down.
        let reviewed = document.review.is_some() && !self.over;
        self.value(&mut document.review, review, ("/review", "/review"));
        self.value(&mut document.critic, critic, ("/critic", "/critic"));
        self.value(&mut document.delivery, delivery, ("/delivery", "/delivery"));
        let PlanTable {
            max_parallel,
            approval,
            checkout,
            autonomy,
            decide_within,
            lead_may_fix,
            session_split,
            tier,
            rounds,
            review,
            template,
            ..
        } = &mut document.plan.0;
        self.default(max_parallel, &defaults.max_parallel, "max_parallel");
        self.default(approval, &defaults.approval, "approval");
        self.default(checkout, &defaults.checkout, "checkout");
        self.default(autonomy, &defaults.autonomy, "autonomy");
        self.default(decide_within, &defaults.decide_within, "decide_within");
        self.default(lead_may_fix, &defaults.lead_may_fix, "lead_may_fix");
        self.default(session_split, &defaults.session_split, "session_split");
        self.default(rounds, &defaults.rounds, "rounds");
        self.default(template, &defaults.template, "template");
        if self.over || own.tiers.len() != 1 {
            self.default(tier, &defaults.tier, "tier");
        }
        if !reviewed {
            self.default(review, &defaults.review, "review");
        }
        let own = &mut document.provision.0;
        self.list(&mut own.copy, &provision.copy, "/provision/copy");
        self.list(&mut own.setup, &provision.setup, "/provision/setup");
        let timeout = "/provision/timeout";
        self.value(&mut document.provision.0.timeout, &provision.timeout, (timeout, timeout));
    }

    fn default<T: Clone>(&mut self, to: &mut Option<T>, from: &Option<T>, key: &str) {
        self.value(to, from, (&format!("/plan/{key}"), &format!("/defaults/{key}")));
    }

    fn value<T: Clone>(&mut self, to: &mut Option<T>, from: &Option<T>, places: (&str, &str)) {
        if from.is_some() && (self.over || to.is_none()) {
            to.clone_from(from);
            self.sites.lend(places.0.to_owned(), self.n, places.1.to_owned());
        }
    }

    /// A list that the plan leaves empty.
    fn list<T: Clone>(&mut self, to: &mut Vec<T>, from: &Option<Vec<T>>, at: &str) {
        let from = from.as_ref().filter(|from| !from.is_empty());
        if let Some(from) = from.filter(|_| self.over || to.is_empty()) {
            to.clone_from(from);
            self.sites.lend(at.to_owned(), self.n, at.to_owned());
        }
    }

    fn named<T: Clone>(
        &mut self,
        table: &str,
        to: &mut Named<Name, Table<T>>,
        from: &Named<Name, Table<T>>,
    ) {
        for (name, value) in &from.0 {
            if !to.0.contains_key(name) {
                to.0.insert(name.clone(), value.clone());
                let at = pointer::join(table, &name.0);
                self.sites.lend(at.clone(), self.n, at);
            }
        }
    }
}

impl Own {
    /// Whether the plan, pruned, makes use of what it has from a layer at `at`, or whatever holds that.
    pub(in crate::plan) fn uses(&self, plan: &Plan, at: &str) -> bool {
        let parts: Vec<_> = pointer::parts(at).collect();
        let parts: Vec<&str> = parts.iter().map(AsRef::as_ref).collect();
        match parts.as_slice() {
            ["tiers", name, ..] => plan.tiers.keys().any(|it| it.as_str() == *name),
            ["workers", name, ..] => plan.workers.keys().any(|it| it.as_str() == *name),
            ["review", ..] => plan.wps.iter().any(|wp| matches!(wp.review, Review::Worker { .. })),
            ["plan", "tier"] => self.wants_tier,
            ["plan", "decide_within"] => plan.decide_within.is_some(),
            _ => true,
        }
    }

    /// Takes out of the plan what layers hold and nothing in it uses: what it means is the same for whoever
    /// has other tiers at hand.
    pub(in crate::plan) fn prune(&self, plan: &mut Plan) {
        let mut due: Vec<TierId> = plan.wps.iter().map(|wp| wp.tier.clone()).collect();
        for wp in &plan.wps {
            if let Review::Worker { tier, .. } = &wp.review {
                due.push(tier.clone());
            }
        }
        due.extend(plan.verify.iter().filter_map(|verify| verify.review_tier.clone()));
        due.extend(plan.critic.iter().filter_map(|critic| critic.tier.clone()));
        due.extend(plan.tiers.keys().filter(|name| self.tiers.contains(name.as_str())).cloned());
        let mut used: HashSet<TierId> = HashSet::new();
        while let Some(name) = due.pop() {
            let Some(tier) = plan.tiers.get(&name) else { continue };
            if used.insert(name) {
                due.extend(tier.escalate_to.iter().chain(&tier.fallback).cloned());
            }
        }
        plan.tiers.retain(|name, _| used.contains(name));
        let at_work: HashSet<_> = plan.tiers.values().map(|tier| tier.worker.clone()).collect();
        plan.workers
            .retain(|name, _| self.workers.contains(name.as_str()) || at_work.contains(name));
    }
}
