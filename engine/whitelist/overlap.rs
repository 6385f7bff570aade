//! Which whitelists of one stage can tread on each other.

use std::collections::BTreeMap;

use bstr::BString;

use super::Whitelist;
use super::neighbours::Neighbours;
use super::search::{self, Answer, Effort, MAX_STEPS};
use super::sequence::Sequence;
use super::universe;

/// Pairs that one report holds. A stage with more is broken beyond what a list can tell.
pub const MAX_PAIRS: usize = 10_000;

/// Paths of the base that a pair shows; all are counted.
pub const MAX_PATHS: usize = 5;

/// Pairs of patterns that are kept before they are searched, to bound what a stage in which everything meets
/// everything takes.
const BATCH: usize = 1 << 20;

/// Further pairs of patterns that are searched for a shorter witness once there is one.
const IMPROVEMENTS: usize = 32;

/// All pairs that can meet.
#[derive(Debug, Clone, Default)]
pub struct Overlaps {
    /// Sorted by `a`, then `b`; each pair once.
    pub pairs: Vec<Overlap>,
    /// There are more than [`MAX_PAIRS`] pairs, and the rest is not listed. Pairs of kind
    /// [`OverlapKind::Overlap`] are taken first.
    pub truncated: bool,
    /// What it took.
    pub effort: Effort,
}

/// Two whitelists that can meet, by index into the list they came in; `a < b`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Overlap {
    /// The earlier one.
    pub a: usize,
    /// The later one.
    pub b: usize,
    /// Where.
    pub kind: OverlapKind,
}

/// Where two whitelists meet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OverlapKind {
    /// On paths of the base.
    Overlap {
        /// The first [`MAX_PATHS`] of them, in the order of the base.
        paths: Vec<BString>,
        /// How many there are.
        count: usize,
    },
    /// On no path of the base, but on paths that could come to be.
    Possible {
        /// A short one of these, matched by both. `None` when [`MAX_STEPS`] were not enough to
        /// decide, and the two may yet be apart.
        witness: Option<BString>,
    },
    /// On no path at all, but one could make a file where a pattern of the other one spells out a
    /// folder, and a tree holds only one of the two. The base holds neither.
    Clash {
        /// The path.
        path: BString,
        /// Who could make it a file: the pair's `a`, or else its `b`.
        file_by_a: bool,
        /// A short path within the folder that the other one matches. `None` when [`MAX_STEPS`] were
        /// not enough to tell of one.
        within: Option<BString>,
    },
}

/// Finds the pairs of `whitelists` that share a path: one of `base` (relative, `/`-separated, as git
/// gives them; what no whitelist reaches is passed over), or one that could exist; and those of which
/// one could make a file where the other one needs a folder.
///
/// Only pairs whose patterns agree where both are literal, from the start or from the end, are compared:
/// a stage with a folder or a name to each work package takes time in proportion to their number,
/// n · log n.
#[must_use]
pub fn overlaps<P: AsRef<[u8]>>(whitelists: &[&Whitelist], base: &[P]) -> Overlaps {
    let of_each = whitelists.iter().enumerate().flat_map(|(owner, w)| {
        let sequences = w.positive.items().iter();
        sequences.map(move |sequence| Entry { owner, sequence })
    });
    let entries: Vec<Entry<'_>> = of_each.collect();
    let sequences: Vec<&Sequence> = entries.iter().map(|entry| entry.sequence).collect();
    let neighbours = Neighbours::new(&sequences);
    let mut stage = Stage { whitelists, entries, neighbours, effort: Effort::default() };
    let (mut pairs, mut truncated) = stage.on_base(base);
    truncated = truncated || stage.possible(&mut pairs);
    truncated = truncated || stage.clashes(base, &mut pairs);
    Overlaps {
        pairs: pairs.into_iter().map(|((a, b), kind)| Overlap { a, b, kind }).collect(),
        truncated,
        effort: stage.effort,
    }
}

pub(super) type Pairs = BTreeMap<(usize, usize), OverlapKind>;

/// A positive pattern and whose it is.
pub(super) struct Entry<'a> {
    pub(super) owner: usize,
    pub(super) sequence: &'a Sequence,
}

/// Two patterns of two whitelists that may meet: the whitelists, the earlier first, and the patterns.
type Partners = (usize, usize, usize, usize);

/// The whitelists of one stage under comparison.
pub(super) struct Stage<'a> {
    pub(super) whitelists: &'a [&'a Whitelist],
    pub(super) entries: Vec<Entry<'a>>,
    neighbours: Neighbours,
    pub(super) effort: Effort,
}

impl Stage<'_> {
    /// The pairs that meet on the base, and whether there are too many of them.
    fn on_base<P: AsRef<[u8]>>(&mut self, base: &[P]) -> (Pairs, bool) {
        // Paths with the same owners say the same about the same pairs: by owners, not path by path.
        let mut shared: BTreeMap<Vec<usize>, Vec<usize>> = BTreeMap::new();
        for (at, path) in base.iter().enumerate() {
            let owners = self.owners(path.as_ref());
            if owners.len() > 1 {
                shared.entry(owners).or_default().push(at);
            }
        }
        let mut found: BTreeMap<(usize, usize), (Vec<usize>, usize)> = BTreeMap::new();
        let mut truncated = false;
        for (owners, paths) in &shared {
            for (first, a) in owners.iter().enumerate() {
                for b in &owners[first + 1..] {
                    if found.len() == MAX_PAIRS && !found.contains_key(&(*a, *b)) {
                        truncated = true;
                        break;
                    }
                    let (some, count) = found.entry((*a, *b)).or_default();
                    some.extend(paths.iter().take(MAX_PATHS));
                    *count += paths.len();
                }
            }
        }
        let kind = |(mut some, count): (Vec<usize>, usize)| {
            some.sort_unstable();
            some.truncate(MAX_PATHS);
            let paths = some.into_iter().map(|at| base[at].as_ref().into()).collect();
            OverlapKind::Overlap { paths, count }
        };
        let pairs = found.into_iter().map(|(pair, f)| (pair, kind(f))).collect();
        (pairs, truncated)
    }

    /// The whitelists that allow `path`, sorted; but one that is alone in reaching it is not asked
    /// whether it takes it away again.
    fn owners(&mut self, path: &[u8]) -> Vec<usize> {
        let Some(key) = universe::key(path) else {
            return Vec::new();
        };
        let mut owners = self.reaching(&key);
        if owners.len() > 1 {
            owners.retain(|owner| !self.whitelists[*owner].subtracts(&key));
        }
        owners
    }

    /// The whitelists with a pattern that matches the path of `key`, sorted.
    pub(super) fn reaching(&mut self, key: &[u8]) -> Vec<usize> {
        let near = self.neighbours.of_path(key);
        self.effort.matches += near.len() as u64;
        let entries = near.into_iter().map(|at| &self.entries[at]);
        let mut owners: Vec<usize> =
            entries.filter(|entry| entry.sequence.matches(key)).map(|entry| entry.owner).collect();
        owners.sort_unstable();
        owners.dedup();
        owners
    }

    /// Adds the pairs that meet elsewhere. Says whether there are too many.
    fn possible(&mut self, pairs: &mut Pairs) -> bool {
        let mut batch: Vec<Partners> = Vec::new();
        for at in 0..self.entries.len() {
            self.partners(at, &mut batch);
            if batch.len() >= BATCH && self.decide(&mut batch, pairs) {
                return true;
            }
        }
        self.decide(&mut batch, pairs)
    }

    /// Adds to `batch` what the pattern `at` may meet among those that start like it or with less.
    fn partners(&mut self, at: usize, batch: &mut Vec<Partners>) {
        let mine = &self.entries[at];
        for other in self.neighbours.of(mine.sequence) {
            let theirs = &self.entries[other];
            let told_by_both = mine.sequence.head() == theirs.sequence.head();
            if other == at || told_by_both && other < at {
                continue;
            }
            self.effort.candidates += 1;
            if mine.owner == theirs.owner || !mine.sequence.may_meet(theirs.sequence) {
                continue;
            }
            batch.push(match mine.owner < theirs.owner {
                true => (mine.owner, theirs.owner, at, other),
                false => (theirs.owner, mine.owner, other, at),
            });
        }
    }

    /// Adds the pairs of `batch` that meet, and empties it. Says whether there are too many.
    fn decide(&mut self, batch: &mut Vec<Partners>, pairs: &mut Pairs) -> bool {
        batch.sort_unstable();
        for group in batch.chunk_by(|x, y| (x.0, x.1) == (y.0, y.1)) {
            let pair = (group[0].0, group[0].1);
            if pairs.contains_key(&pair) {
                continue;
            }
            if let Some(witness) = self.witness(group) {
                if pairs.len() == MAX_PAIRS {
                    return true;
                }
                pairs.insert(pair, OverlapKind::Possible { witness });
            }
        }
        batch.clear();
        false
    }

    /// A path that both whitelists of a group of partners match, if there is one: `Some(None)` when
    /// that could not be decided.
    fn witness(&mut self, group: &[Partners]) -> Option<Option<BString>> {
        let mut best: Option<(u32, Vec<u8>)> = None;
        let mut undecided = false;
        let mut to_improve = IMPROVEMENTS;
        let before = self.effort.steps;
        for (a, b, mine, theirs) in group {
            let (x, y) = (self.entries[*mine].sequence, self.entries[*theirs].sequence);
            let subtracted = [*a, *b].map(|w| self.whitelists[w].negative.items());
            let none: Vec<&Sequence> = subtracted
                .into_iter()
                .flatten()
                .filter(|n| n.may_meet(x) && n.may_meet(y))
                .collect();
            let budget = MAX_STEPS.saturating_sub(self.effort.steps - before);
            match search::find(x, Some(y), &none, budget, &mut self.effort) {
                Answer::Empty => {}
                Answer::GaveUp => undecided = true,
                Answer::Witness(cost, path) => {
                    let found = (cost, path);
                    best = Some(best.map_or(found.clone(), |best| best.min(found)));
                }
            }
            if best.is_some() {
                if to_improve == 0 {
                    break;
                }
                to_improve -= 1;
            }
        }
        match best {
            Some((_, path)) => Some(Some(path.into())),
            None => undecided.then_some(None),
        }
    }
}
