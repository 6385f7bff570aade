//! Room for work in all: how many WPs at once, and which resources are taken.

use std::collections::{HashMap, HashSet};

use crate::model::ids::WpId;
use crate::model::plan::Plan;

/// What is taken, against what the plan allows.
#[derive(Debug)]
pub struct Slots {
    most: usize,
    taken: HashMap<WpId, Vec<String>>,
    locks: HashSet<String>,
}

impl Slots {
    /// All free.
    #[must_use]
    pub fn new(plan: &Plan) -> Self {
        Self { most: plan.max_parallel, taken: HashMap::new(), locks: HashSet::new() }
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

    /// Gives a WP's room back.
    pub fn give_back(&mut self, wp: &WpId) {
        for lock in self.taken.remove(wp).unwrap_or_default() {
            self.locks.remove(&lock);
        }
    }
}
