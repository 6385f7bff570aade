//! What was taken down of the rest of the repository, brought up to what became of it since by rights.

use std::collections::BTreeMap;

use super::guard::{Guarded, changed};

impl Guarded {
    /// The same, with what changed between `left` and `now` as it is now. A place that was another at `left` already
    /// stays as it is here: what was done to it before is in `now` too.
    #[must_use]
    pub fn following(mut self, left: &Self, now: &Self) -> Self {
        follow(&mut self.files, &left.files, &now.files);
        follow(&mut self.refs, &left.refs, &now.refs);
        self
    }
}

fn follow<K: Ord + Clone, V: PartialEq + Clone>(
    known: &mut BTreeMap<K, V>,
    left: &BTreeMap<K, V>,
    now: &BTreeMap<K, V>,
) {
    for (key, _) in changed(left, now) {
        if known.get(key) != left.get(key) {
            continue;
        }
        match now.get(key) {
            Some(value) => drop(known.insert(key.clone(), value.clone())),
            None => drop(known.remove(key)),
        }
    }
}
