//! Room for work: how many WPs at once in all and on each tier, and which resources are taken.

use std::collections::{HashMap, HashSet};

use crate::model::ids::{TierId, WpId};
use crate::model::plan::Plan;

/// What is taken, against what the plan allows.
#[derive(Debug)]
pub struct Slots {
    most: usize,
    per_tier: HashMap<TierId, usize>,
    taken: HashMap<WpId, Taken>,
    on_tier: HashMap<TierId, usize>,
    locks: HashSet<String>,
}

#[derive(Debug)]
struct Taken {
    /// Nothing for the lead's own work, which takes nobody's room.
    tier: Option<TierId>,
    locks: Vec<String>,
}

impl Slots {
    /// All free.
    #[must_use]
    pub fn new(plan: &Plan) -> Self {
        let limits =
            plan.tiers.iter().filter_map(|(id, tier)| Some((id.clone(), tier.max_parallel?)));
        Self {
            most: plan.max_parallel,
            per_tier: limits.collect(),
            taken: HashMap::new(),
            on_tier: HashMap::new(),
            locks: HashSet::new(),
        }
    }

    /// Nothing more fits, whatever it is.
    #[must_use]
    pub fn full(&self) -> bool {
        self.taken.values().filter(|taken| taken.tier.is_some()).count() >= self.most
    }

    /// Whether this WP has room already.
    #[must_use]
    pub fn has(&self, wp: &WpId) -> bool {
        self.taken.contains_key(wp)
    }

    /// WPs that have room now.
    pub fn holders(&self) -> impl Iterator<Item = &WpId> {
        self.taken.keys()
    }

    /// Takes room for a WP, if there is some.
    pub fn take(&mut self, wp: &WpId, tier: &TierId, locks: &[String]) -> bool {
        let limit = self.per_tier.get(tier).copied().unwrap_or(usize::MAX);
        let at_work = self.on_tier.get(tier).copied().unwrap_or(0);
        if self.full()
            || self.has(wp)
            || at_work >= limit
            || locks.iter().any(|lock| self.locks.contains(lock))
        {
            return false;
        }
        *self.on_tier.entry(tier.clone()).or_default() += 1;
        self.locks.extend(locks.iter().cloned());
        let tier = Some(tier.clone());
        self.taken.insert(wp.clone(), Taken { tier, locks: locks.to_vec() });
        true
    }

    /// Takes the resources that the checks of the lead's work need, if they are free. It waits for no worker.
    pub fn take_beside(&mut self, wp: &WpId, locks: &[String]) -> bool {
        if self.has(wp) || locks.iter().any(|lock| self.locks.contains(lock)) {
            return false;
        }
        self.locks.extend(locks.iter().cloned());
        self.taken.insert(wp.clone(), Taken { tier: None, locks: locks.to_vec() });
        true
    }

    /// Gives a WP's room back.
    pub fn give_back(&mut self, wp: &WpId) {
        if let Some(taken) = self.taken.remove(wp) {
            if let Some(n) = taken.tier.and_then(|tier| self.on_tier.get_mut(&tier)) {
                *n -= 1;
            }
            for lock in &taken.locks {
                self.locks.remove(lock);
            }
        }
    }
}
