//! Is there a path that these patterns match and those do not? A search for the cheapest such path
//! through the product of the automata.
//!
//! A product state holds one state of each of the two patterns that must match (they may guess: only
//! one run has to get through), *every* state that the excluded patterns can be in (no run of theirs may get
//! through), and the place in the component. Without excluded patterns there are at most
//! |a| · |b| · 7 product states. Excluded ones could in theory multiply that by 2 to the number of
//! their states; two things keep that out of practice: a product state is dropped when one with fewer
//! excluded states was seen before it at no higher cost (what is open from here is open from there),
//! and when an excluded pattern takes everything from here on (`!dir/**`, once inside).

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};

use super::automaton::{Automaton, Label};
use super::sequence::Sequence;
use super::symbol::{self, STRAY, Symbol};
use super::universe::Place;

/// Steps (transitions made and state sets compared) that one question may take: a pair of whitelists,
/// or a pattern of a list. After that the cautious answer is given: an overlap is possible, a pattern
/// may match. Everyday patterns take some hundred.
pub const MAX_STEPS: u64 = 4_000_000;

/// Cost of beginning a component with a dot, so that `*.rs` is shown as `a.rs` rather than `.rs`.
const HIDDEN: u32 = 8;

/// What was done to find an answer: the measure by which growth is tested.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Effort {
    /// Patterns held against paths of the base.
    pub matches: u64,
    /// Pairs of patterns looked at.
    pub candidates: u64,
    /// Pairs of patterns that took a search.
    pub searches: u64,
    /// Steps of all searches.
    pub steps: u64,
}

/// The answer to a search.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Answer {
    /// There is no such path.
    Empty,
    /// There is: the cheapest one, after its cost.
    Witness(u32, Vec<u8>),
    /// Not known after as many steps as were allowed.
    GaveUp,
}

/// Looks for a path that matches `a` (and `b`, if given) and nothing of `none`, in at most `budget`
/// steps.
pub(super) fn find(
    a: &Sequence,
    b: Option<&Sequence>,
    none: &[&Sequence],
    budget: u64,
    effort: &mut Effort,
) -> Answer {
    let mut automaton = Automaton::default();
    let a = automaton.add(a);
    let b = match b {
        Some(b) => automaton.add(b),
        None => automaton.add_everything(),
    };
    let mut excluded: Vec<u32> = none.iter().map(|s| automaton.add(s)).collect();
    excluded.sort_unstable();
    let mut search = Search::new(&automaton, budget);
    effort.searches += 1;
    let answer = if excluded.iter().any(|s| automaton.state(*s).all) {
        Answer::Empty
    } else {
        search.run(a, b, excluded)
    };
    effort.steps += search.steps;
    answer
}

/// A product state, without the excluded states.
type Spot = (u32, u32, Place);

/// A product state that was reached, and how.
struct Node {
    spot: Spot,
    /// Index into [`Search::sets`].
    excluded: u32,
    /// The node before this one; the first has itself.
    from: u32,
    symbol: Symbol,
}

struct Search<'a> {
    automaton: &'a Automaton,
    nodes: Vec<Node>,
    /// Sets of excluded states, each sorted, each once.
    sets: Vec<Vec<u32>>,
    numbers: HashMap<Vec<u32>, u32>,
    settled: HashMap<Spot, Vec<u32>>,
    steps: u64,
    budget: u64,
}

impl<'a> Search<'a> {
    fn new(automaton: &'a Automaton, budget: u64) -> Self {
        Self {
            automaton,
            nodes: Vec::new(),
            sets: Vec::new(),
            numbers: HashMap::new(),
            settled: HashMap::new(),
            steps: 0,
            budget,
        }
    }

    fn run(&mut self, a: u32, b: u32, excluded: Vec<u32>) -> Answer {
        let excluded = self.number(excluded);
        let mut queue = BinaryHeap::from([Reverse((0, 0))]);
        self.nodes.push(Node { spot: (a, b, Place::Start), excluded, from: 0, symbol: 0 });
        while let Some(Reverse((cost, at))) = queue.pop() {
            let (spot, excluded) = (self.nodes[at as usize].spot, self.nodes[at as usize].excluded);
            if self.is_settled(spot, excluded) {
                continue;
            }
            self.settled.entry(spot).or_default().push(excluded);
            if self.accepts(spot, excluded) {
                return Answer::Witness(cost, self.spell(at));
            }
            for (symbol, place) in self.symbols(spot, excluded) {
                let Some(excluded) = self.step_excluded(excluded, symbol) else {
                    continue;
                };
                let hidden = place == Place::Dot && spot.2 == Place::Start;
                let cost = cost + symbol::cost(symbol) + if hidden { HIDDEN } else { 0 };
                for to in self.step_both(spot, symbol) {
                    let spot = (to.0, to.1, place);
                    if !self.is_settled(spot, excluded) {
                        queue.push(Reverse((cost, self.nodes.len() as u32)));
                        self.nodes.push(Node { spot, excluded, from: at, symbol });
                    }
                }
            }
            if self.steps > self.budget {
                return Answer::GaveUp;
            }
        }
        Answer::Empty
    }

    fn accepts(&self, (a, b, place): Spot, excluded: u32) -> bool {
        let accept = |state: &u32| self.automaton.state(*state).accept;
        place.may_end()
            && accept(&a)
            && accept(&b)
            && !self.sets[excluded as usize].iter().any(accept)
    }

    /// Whether a product state at this spot was settled that excludes no more.
    fn is_settled(&mut self, spot: Spot, excluded: u32) -> bool {
        let Some(known) = self.settled.get(&spot) else {
            return false;
        };
        let set = &self.sets[excluded as usize];
        known.iter().any(|known| {
            self.steps += 1;
            *known == excluded || is_subset(&self.sets[*known as usize], set)
        })
    }

    fn number(&mut self, set: Vec<u32>) -> u32 {
        if let Some(number) = self.numbers.get(&set) {
            return *number;
        }
        let number = self.sets.len() as u32;
        self.sets.push(set.clone());
        self.numbers.insert(set, number);
        number
    }

    /// The excluded states after `symbol`; `None` when they take everything from there on.
    fn step_excluded(&mut self, from: u32, symbol: Symbol) -> Option<u32> {
        let mut set = Vec::new();
        for state in &self.sets[from as usize] {
            for edge in &self.automaton.state(*state).edges {
                self.steps += 1;
                if edge.on.takes(symbol) {
                    if self.automaton.state(edge.to).all {
                        return None;
                    }
                    set.push(edge.to);
                }
            }
        }
        set.sort_unstable();
        set.dedup();
        Some(self.number(set))
    }

    fn step_both(&mut self, (a, b, _): Spot, symbol: Symbol) -> Vec<(u32, u32)> {
        let after = |state: u32| {
            let edges = self.automaton.state(state).edges.iter();
            edges.filter(move |e| e.on.takes(symbol)).map(|e| e.to)
        };
        let pairs: Vec<_> = after(a).flat_map(|a| after(b).map(move |b| (a, b))).collect();
        self.steps += 1 + pairs.len() as u64;
        pairs
    }

    /// The symbols worth trying here, the most readable first, each with the place it leads to. Of
    /// symbols that no transition at hand tells apart, one is enough.
    fn symbols(&self, (a, b, place): Spot, excluded: u32) -> Vec<(Symbol, Place)> {
        let mut cuts: Vec<Symbol> = Vec::new();
        let symbols: Vec<Symbol> = if let Some(only) = self.named(a).or_else(|| self.named(b)) {
            only
        } else {
            cuts.extend([0, STRAY, STRAY + 1]);
            for symbol in place.special() {
                cuts.extend([*symbol, symbol + 1]);
            }
            for state in self.sets[excluded as usize].iter().chain([&a, &b]) {
                for edge in &self.automaton.state(*state).edges {
                    cut(&edge.on, &mut cuts);
                }
            }
            cuts.sort_unstable();
            cuts.dedup();
            let intervals = cuts.windows(2).map(|w| w[0]..=w[1] - 1);
            intervals.filter_map(symbol::best).collect()
        };
        let mut open: Vec<_> =
            symbols.into_iter().filter_map(|s| Some((s, place.step(s)?))).collect();
        open.sort_by_key(|(s, _)| (symbol::rank(*s), *s));
        open.dedup_by_key(|(s, _)| *s);
        open
    }

    /// The symbols that lead on from a state, if its transitions name them one by one.
    fn named(&self, state: u32) -> Option<Vec<Symbol>> {
        let edges = self.automaton.state(state).edges.iter();
        edges
            .map(|edge| match edge.on {
                Label::Just(symbol) => Some(symbol),
                Label::Any | Label::Class(_) => None,
            })
            .collect()
    }

    fn spell(&self, mut at: u32) -> Vec<u8> {
        let mut symbols = Vec::new();
        while at != 0 {
            let node = &self.nodes[at as usize];
            symbols.push(node.symbol);
            at = node.from;
        }
        let mut path = Vec::new();
        for symbol in symbols.into_iter().rev() {
            symbol::spell(symbol, &mut path);
        }
        path
    }
}

/// Adds the symbols at which `label` begins to take or to refuse.
fn cut(label: &Label, cuts: &mut Vec<Symbol>) {
    match label {
        Label::Just(symbol) => cuts.extend([*symbol, symbol + 1]),
        Label::Any => {}
        Label::Class(class) => {
            for (low, high) in &class.ranges {
                cuts.extend([Symbol::from(*low), Symbol::from(*high) + 1]);
            }
        }
    }
}

/// Whether every member of `small` is in `large`; both sorted.
fn is_subset(small: &[u32], large: &[u32]) -> bool {
    let mut large = large.iter();
    small.len() <= large.len() && small.iter().all(|s| large.any(|l| l == s))
}
