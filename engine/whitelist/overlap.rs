//! Which whitelists of one stage can tread on each other.

use std::collections::BTreeMap;

use bstr::BString;

use super::Whitelist;
use super::index::{Keyed, PrefixTree};
use super::search::{self, Answer, Effort, MAX_STEPS};
use super::sequence::Sequence;
use super::universe;

/// Pairs that one report holds. A stage with more is broken beyond what a list can tell.
pub const MAX_PAIRS: usize = 10_000;

/// Paths of the base that a pair shows; all are counted.
pub const MAX_PATHS: usize = 5;

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
}

/// Finds the pairs of `whitelists` that share a path: one of `base` (relative, `/`-separated, as git
/// gives them; what no whitelist reaches is passed over), or one that could exist.
///
/// Only pairs whose patterns start and end alike, as far as they are literal, are compared: a stage
/// with a folder to each work package takes time in proportion to their number, n · log n.
#[must_use]
pub fn overlaps<P: AsRef<[u8]>>(whitelists: &[&Whitelist], base: &[P]) -> Overlaps {
    let entries = whitelists.iter().enumerate().flat_map(|(owner, w)| {
        let sequences = w.positive.items().iter();
        sequences.map(move |sequence| Entry { owner, sequence })
    });
    let mut stage = Stage {
        whitelists,
        entries: PrefixTree::new(entries.collect()),
        effort: Effort::default(),
    };
    let (mut pairs, mut truncated) = stage.on_base(base);
    if !truncated {
        truncated = stage.possible(&mut pairs);
    }
    Overlaps {
        pairs: pairs.into_iter().map(|((a, b), kind)| Overlap { a, b, kind }).collect(),
        truncated,
        effort: stage.effort,
    }
}

type Pairs = BTreeMap<(usize, usize), OverlapKind>;

/// A positive pattern and whose it is.
struct Entry<'a> {
    owner: usize,
    sequence: &'a Sequence,
}

impl Keyed for Entry<'_> {
    fn key(&self) -> &[u8] {
        self.sequence.key()
    }
}

struct Stage<'a> {
    whitelists: &'a [&'a Whitelist],
    entries: PrefixTree<Entry<'a>>,
    effort: Effort,
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

    /// The whitelists that allow `path`, sorted.
    fn owners(&mut self, path: &[u8]) -> Vec<usize> {
        let Some(key) = universe::key(path) else {
            return Vec::new();
        };
        let mut owners = Vec::new();
        for entry in self.entries.above(&key) {
            self.effort.matches += 1;
            if entry.sequence.matches(&key) {
                owners.push(entry.owner);
            }
        }
        owners.sort_unstable();
        owners.dedup();
        if owners.len() > 1 {
            owners.retain(|owner| !self.whitelists[*owner].subtracts(&key));
        }
        owners
    }

    /// Adds the pairs that meet elsewhere. Says whether there are too many.
    fn possible(&mut self, pairs: &mut Pairs) -> bool {
        let mut of: Vec<Vec<usize>> = vec![Vec::new(); self.whitelists.len()];
        for (at, entry) in self.entries.items().iter().enumerate() {
            of[entry.owner].push(at);
        }
        for (a, entries) in of.iter().enumerate() {
            let mut partners: Vec<(usize, usize, usize)> = Vec::new();
            for mine in entries {
                partners.extend(self.partners(a, *mine));
            }
            partners.sort_unstable();
            for group in partners.chunk_by(|x, y| x.0 == y.0) {
                let b = group[0].0;
                if pairs.contains_key(&(a, b)) {
                    continue;
                }
                if let Some(witness) = self.witness(a, group) {
                    if pairs.len() == MAX_PAIRS {
                        return true;
                    }
                    pairs.insert((a, b), OverlapKind::Possible { witness });
                }
            }
        }
        false
    }

    /// The patterns of later whitelists that the entry `mine` of `a` may meet: owner, mine, theirs.
    fn partners(&mut self, a: usize, mine: usize) -> Vec<(usize, usize, usize)> {
        let items = self.entries.items();
        let mut looked_at = 0;
        let found = self
            .entries
            .related(mine)
            .filter(|theirs| items[*theirs].owner > a)
            .inspect(|_| looked_at += 1)
            .filter(|theirs| items[mine].sequence.may_meet(items[*theirs].sequence))
            .map(|theirs| (items[theirs].owner, mine, theirs))
            .collect();
        self.effort.candidates += looked_at;
        found
    }

    /// A path that both whitelists of a group of partners match, if there is one: `Some(None)` when
    /// that could not be decided.
    fn witness(&mut self, a: usize, group: &[(usize, usize, usize)]) -> Option<Option<BString>> {
        let mut best: Option<(u32, Vec<u8>)> = None;
        let mut undecided = false;
        let mut to_improve = IMPROVEMENTS;
        let before = self.effort.steps;
        for (b, mine, theirs) in group {
            let items = self.entries.items();
            let (x, y) = (items[*mine].sequence, items[*theirs].sequence);
            let subtracted = [a, *b].map(|w| self.whitelists[w].negative.items());
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
