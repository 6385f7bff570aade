//! Which of many patterns a pattern or a path may meet, found without looking at the others.
//!
//! Patterns that start alike are a group. What meets a pattern starts like it, and so it is in a group
//! whose beginning is a prefix of its own, or the other way round. Within a large group (that of
//! `**/a.rs` and `**/b.rs`, say, which start with nothing) the [`Facet`] on which the fewest
//! agree with what is asked for decides who is looked at.

use super::facet::Facet;
use super::index::{Keyed, PrefixTree};
use super::sequence::Sequence;

/// Members of a group that are looked at without asking their facets.
const SMALL: usize = 8;

/// Patterns, known by their number.
pub(super) struct Neighbours {
    groups: PrefixTree<Group>,
}

struct Group {
    head: Vec<u8>,
    members: Vec<usize>,
    /// By facet; none in a small group, and none of which nothing can be told.
    facets: Vec<(Facet, PrefixTree<Spoke>)>,
}

/// A member under its key of one facet.
struct Spoke {
    key: Vec<u8>,
    member: usize,
}

impl Keyed for Group {
    fn key(&self) -> &[u8] {
        &self.head
    }
}

impl Keyed for Spoke {
    fn key(&self) -> &[u8] {
        &self.key
    }
}

impl Neighbours {
    pub(super) fn new(sequences: &[&Sequence]) -> Self {
        let mut order: Vec<usize> = (0..sequences.len()).collect();
        order.sort_by_key(|at| sequences[*at].head());
        let alike = order.chunk_by(|a, b| sequences[*a].head() == sequences[*b].head());
        let groups = alike.map(|members| Group::new(members, sequences)).collect();
        Self { groups: PrefixTree::new(groups) }
    }

    /// The patterns that start like `sequence` or with less, and may meet it. Among them is
    /// every one with the same start, itself too if it is one of these patterns; so of two
    /// patterns that may meet, one at least is told of the other.
    pub(super) fn of(&self, sequence: &Sequence) -> Vec<usize> {
        let mut found = Vec::new();
        for group in self.groups.above(sequence.head()) {
            group.near(|facet| facet.of(sequence), &mut found);
        }
        found
    }

    /// The patterns that may match the path of this key.
    pub(super) fn of_path(&self, key: &[u8]) -> Vec<usize> {
        let mut found = Vec::new();
        for group in self.groups.above(key) {
            group.near(|facet| facet.of_path(key), &mut found);
        }
        found
    }
}

impl Group {
    fn new(members: &[usize], sequences: &[&Sequence]) -> Self {
        let spokes = |facet: Facet| {
            let spoke =
                |member: &usize| Spoke { key: facet.of(sequences[*member]), member: *member };
            (facet, PrefixTree::new(members.iter().map(spoke).collect()))
        };
        let facets = match members.len() {
            0..=SMALL => Vec::new(),
            _ => Facet::all().map(spokes).filter(|(_, tree)| tree.keys() > 1).collect(),
        };
        Self { head: sequences[members[0]].head().to_vec(), members: members.to_vec(), facets }
    }

    fn near(&self, key: impl Fn(Facet) -> Vec<u8>, found: &mut Vec<usize>) {
        let mut best = (self.members.len(), None);
        for (facet, tree) in &self.facets {
            if best.0 <= SMALL {
                break;
            }
            let key = key(*facet);
            let count = tree.count_related(&key);
            if count < best.0 {
                best = (count, Some((tree, key)));
            }
        }
        match best.1 {
            Some((tree, key)) => found.extend(tree.related(&key).map(|spoke| spoke.member)),
            None => found.extend(&self.members),
        }
    }
}
