//! Room for work in all: how many WPs at once, and which resources are taken.

use std::collections::{HashMap, HashSet};

use crate::model::ids::WpId;
use crate::model::plan::Plan;

/// What is taken, against what the plan allows.
#[derive(Debug, Default)]
pub struct Slots {
    most: usize,
    taken: HashMap<WpId, Vec<String>>,
    /// What the lead's own work has: it takes nobody's room.
    beside: HashMap<WpId, Vec<String>>,
    locks: HashSet<String>,
}

impl Slots {
    /// All free.
    #[must_use]
    pub fn new(plan: &Plan) -> Self {
        Self { most: plan.max_parallel, ..Self::default() }
    }

    /// Nothing more fits, whatever it is.
    #[must_use]
    pub fn full(&self) -> bool {
        self.taken.len() >= self.most
    }

    /// Whether this WP, which has no room yet, could have some.
    #[must_use]
    pub fn fits(&self, wp: &WpId, locks: &[String]) -> bool {
        let free = !locks.iter().any(|lock| self.locks.contains(lock));
        free && !self.full() && !self.taken.contains_key(wp)
    }

    /// Takes room for a WP that [fits](Self::fits).
    pub fn take(&mut self, wp: &WpId, locks: &[String]) {
        self.locks.extend(locks.iter().cloned());
        self.taken.insert(wp.clone(), locks.to_vec());
    }

    /// Takes the resources that the checks of the lead's work need, if they are free. It waits for no worker.
    pub fn take_beside(&mut self, wp: &WpId, locks: &[String]) -> bool {
        let held = self.taken.contains_key(wp) || self.beside.contains_key(wp);
        if held || locks.iter().any(|lock| self.locks.contains(lock)) {
            return false;
        }
        self.locks.extend(locks.iter().cloned());
        self.beside.insert(wp.clone(), locks.to_vec());
        true
    }

    /// Gives a WP's room back.
    pub fn give_back(&mut self, wp: &WpId) {
        let held = [self.taken.remove(wp), self.beside.remove(wp)];
        for lock in held.into_iter().flatten().flatten() {
            self.locks.remove(&lock);
        }
    }
}
